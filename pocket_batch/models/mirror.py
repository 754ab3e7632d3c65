"""Offline mirrors, and the hash that a file on this machine should have.

A mirror is a folder laid out as `owner/repository/path`. Each repository in it has a file of
hashes, so that a damaged copy is found on the machine it was carried to.
"""

import os
import shutil
from pathlib import Path

from pocket_batch.errors import UsageError, writing
from pocket_batch.models.download import is_checkable, sha256_of
from pocket_batch.models.hub import mirror_folder, parse_hub

SUMS_FILE = "SHA256SUMS"  # as sha256sum(1) writes and reads it


def mirror_file(folder: Path, location: str) -> Path | None:
    """Where a mirror in `folder` has a file of the hub; None for other locations."""
    file = parse_hub(location)
    return folder / file.repository / file.path if file else None


def copy_to_mirror(location: str, path: Path, folder: Path) -> Path:
    """Copy a file of the hub from `path` into a mirror, and note its SHA-256 there.

    Raises:
        UsageError: it is not a file of the hub.
        OutputError: no space, or no permission.
    """
    file, target = parse_hub(location), mirror_file(folder, location)
    if not file or not target:
        raise UsageError(f"{location} is not on the hub, so a mirror cannot hold it.")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (target.exists() and target.samefile(path)):
            part = target.with_name(target.name + ".part")
            shutil.copyfile(path, part)
            os.replace(part, target)
        sums = folder / file.repository / SUMS_FILE
        lines = _read_sums(sums) | {file.path: known_digest(path) or sha256_of(path)}
        part = sums.with_name(SUMS_FILE + ".part")
        part.write_text(
            "".join(f"{digest}  {name}\n" for name, digest in sorted(lines.items())),
            encoding="utf-8",
        )
        os.replace(part, sums)
    return target


def known_digest(path: Path, length: int = 64) -> str:
    """The hash that a file should have, without reading it; empty when nobody knows.

    In the hub's cache a file is a link to a blob named by its SHA-256 (64 digits) or, when it is
    small, by its git blob id (40 digits).
    """
    blob = Path(os.readlink(path)) if path.is_symlink() else path
    is_known = blob.parent.name == "blobs" and is_checkable(blob.name) and len(blob.name) == length
    return blob.name if is_known else ""


def expected_digest(location: str, path: Path, sha256: str = "") -> str:
    """The hash that the file at `path` should have: SHA-256 or git blob id; empty if unknown."""
    if sha256:
        return sha256
    file, mirror = parse_hub(location), mirror_folder()
    if file and mirror and path == mirror / file.repository / file.path:
        return _read_sums(mirror / file.repository / SUMS_FILE).get(file.path, "")
    return known_digest(path) or known_digest(path, length=40)


def _read_sums(path: Path) -> dict[str, str]:
    """Lines `<sha256>  <path>` -> path to hash; a file that is not there has none."""
    if not path.is_file():
        return {}
    lines = (line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines())
    return {parts[1].lstrip("*"): parts[0] for parts in lines if len(parts) == 2}
