"""Locations of files: on the hub, on another server, in a mirror folder, or a path."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pocket_batch.errors import UsageError

MIRROR_VARIABLE = "POCKET_BATCH_MIRROR"
_MAX_NAME_BYTES = 255  # of one part of a path, on all usual disks


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository. `revision` is a commit, a branch, or empty for the main branch."""

    repository: str
    path: str
    revision: str

    @property
    def is_pinned(self) -> bool:
        """Whether the revision is a whole commit id, so the content can never change."""
        return is_commit(self.revision)


def is_commit(revision: str) -> bool:
    """Whether it is the whole id of a commit, and not a branch or a part of one."""
    return bool(re.fullmatch(r"[0-9a-f]{40}", revision))


def parse_hub(location: str) -> HubFile | None:
    """`hf://kyutai/pocket-tts/a/b.json@1f` -> kyutai/pocket-tts, a/b.json, 1f; None for others.

    Raises:
        UsageError: it starts like a location of the hub and is none.
    """
    if not location.startswith("hf://"):
        return None
    rest, _, revision = location.removeprefix("hf://").partition("@")
    parts = rest.split("/")
    is_whole = len(parts) >= 3 and not any(part in ("", ".", "..") for part in parts)
    if not is_whole or ".." in revision.split("/"):
        raise UsageError(
            f"{location:.300} is not a file on the hub. Write hf://owner/repository/path@revision."
        )
    return HubFile("/".join(parts[:2]), "/".join(parts[2:]), revision)


def is_url(location: str) -> bool:
    """Whether it is on a server that is not the hub."""
    return location.startswith(("https://", "http://"))


def is_possible(location: str) -> bool:
    """Whether a file can be there: no zero byte, no half of a surrogate pair, no too long name."""
    try:
        content = location.encode() if "://" in location else os.fsencode(location)
        urlsplit(location if is_url(location) else "")
    except ValueError:  # half a surrogate pair is one too
        return False
    path = content.partition(b"@")[0] if location.startswith("hf://") else content
    names = () if is_url(location) else path.split(b"/")
    return b"\0" not in content and all(len(name) <= _MAX_NAME_BYTES for name in names)


def local_path(name: str) -> Path | None:
    """A path as given, absolute but no link followed; None when it cannot be one."""
    if not is_possible(name):
        return None
    try:
        return Path(os.path.expanduser(name)).absolute()
    except OSError:  # the current folder was removed
        return None


def mirror_folder() -> Path | None:
    """The folder that POCKET_BATCH_MIRROR names, if it is set."""
    name = os.environ.get(MIRROR_VARIABLE, "")
    return Path(os.path.expanduser(name)) if name else None


def mirror_remark() -> str:
    """A sentence, with a space before it, when the mirror is set to what is no folder."""
    folder = mirror_folder()
    if folder is None or os.path.isdir(folder):
        return ""
    return f" {MIRROR_VARIABLE} is set to {folder}, and there is no such folder."
