"""Offline mirrors, and the hash that a file on this machine should have.

A mirror is a folder laid out as `owner/repository/path`. Each repository in it has a file of
hashes, so that a damaged copy is found on the machine it was carried to.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pocket_batch.errors import ModelUnavailableError, UsageError, writing
from pocket_batch.models.integrity import cached_sha256_of, is_checkable, sha256_of
from pocket_batch.models.location import mirror_folder, parse_hub

SUMS_FILE = "SHA256SUMS"  # as sha256sum(1) writes and reads it


def mirror_file(folder: Path, location: str) -> Path | None:
    """Where a mirror in `folder` has a file of the hub; None for other locations."""
    file = parse_hub(location)
    return folder / file.repository / file.path if file else None


def copy_to_mirror(location: str, path: Path, folder: Path) -> Path:
    """Copy a file of the hub from `path` into a mirror, and note its SHA-256 there.

    Several processes may do so at the same time.

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
            with _replaced(target) as part:
                shutil.copyfile(path, part)
        digest = known_digest(path) or sha256_of(path)
        sums = folder / file.repository / SUMS_FILE
        with _locked(sums.parent):
            lines = _read_sums(sums) | {file.path: digest}
            with _replaced(sums) as part:
                text = "".join(f"{digest}  {name}\n" for name, digest in sorted(lines.items()))
                part.write_text(text, encoding="utf-8")
    return target


def known_digest(path: Path, length: int = 64) -> str:
    """The hash that a file should have, without reading it; empty when nobody knows.

    In the hub's cache a file is a link to a blob named by its SHA-256 (64 digits) or, when it is
    small, by its git blob id (40 digits).
    """
    blob = Path(os.readlink(path)) if path.is_symlink() else path
    is_known = blob.parent.name == "blobs" and is_checkable(blob.name) and len(blob.name) == length
    return blob.name if is_known else ""


def expected_digest(location: str, path: Path, sha256: str = "") -> tuple[str, str]:
    """The hash that the file at `path` should have: SHA-256 or git blob id.

    Returns:
        The hash, and an empty text; or an empty hash, and why there is none and what to do.
    """
    if sha256:
        return _usable(sha256, "the hash in the table of models")
    file, folder = parse_hub(location), in_mirror(location, path)
    if file and folder:
        sums = folder / file.repository / SUMS_FILE
        digest = _read_sums(sums).get(file.path, "")
        if digest:
            return _usable(digest, f"what {sums} says")
        return "", f"none in {sums}: `models pull NAME --to {folder}` notes it"
    digest = known_digest(path) or known_digest(path, length=40)
    return digest, "" if digest else "only files from the hub have one: compare it yourself"


def sha256_at(location: str, path: Path) -> str:
    """SHA-256 of the file at `path`: as the cache or the mirror notes it, else of its bytes.

    What a mirror notes counts unless the file is newer than the note.

    Raises:
        ModelUnavailableError: it cannot be read.
    """
    try:
        file, folder = parse_hub(location), in_mirror(location, path)
        if file and folder:
            sums = folder / file.repository / SUMS_FILE
            digest = _read_sums(sums).get(file.path, "")
            is_hash = len(digest) == 64 and is_checkable(digest)
            if is_hash and path.stat().st_mtime_ns <= sums.stat().st_mtime_ns:
                return digest
        return known_digest(path) or cached_sha256_of(path)
    except OSError as error:
        raise ModelUnavailableError(f"{path} cannot be read ({error.strerror}).") from error


def in_mirror(location: str, path: Path) -> Path | None:
    """The folder of the mirror if `path` is its file of that location."""
    folder = mirror_folder()
    return folder if folder and path == mirror_file(folder, location) else None


def _usable(digest: str, origin: str) -> tuple[str, str]:
    if is_checkable(digest.lower()):
        return digest.lower(), ""
    return "", f"{origin} is no hash: `{digest:.70}`"


def _read_sums(path: Path) -> dict[str, str]:
    """Lines `<sha256>  <path>` -> path to hash, in small letters; none of a file not there."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8", errors="replace")  # what is damaged is no hash
    lines = (line.split(maxsplit=1) for line in text.splitlines())
    return {parts[1].lstrip("*"): parts[0].lower() for parts in lines if len(parts) == 2}


@contextmanager
def _replaced(target: Path) -> Iterator[Path]:
    """A file of this process alone to write, which then takes the place of `target`."""
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder, so that two processes do not forget each other's hashes."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network disks have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
