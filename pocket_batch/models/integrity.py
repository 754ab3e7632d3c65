"""Whether a file is what it should be: hashes, and whether a safetensors file is whole."""

import hashlib
import json
import os
import re
from functools import lru_cache
from pathlib import Path

_CHUNK_BYTES = 1 << 20
_MAX_HEADER_BYTES = 100_000_000  # Source: safetensors, which refuses longer ones


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal digits. Reads it all: about 1 s per GB."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cached_sha256_of(path: Path) -> str:
    """The same, read again only when size or time of the file have changed in this process."""
    status = os.stat(path)
    return _cached_sha256(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=256)
def _cached_sha256(path: str, num_bytes: int, mtime_ns: int) -> str:
    return sha256_of(Path(path))


def git_blob_id_of(path: Path) -> str:
    """SHA-1 of a file as git names it, which is how hubs name files that are small.

    Source: git-hash-object(1): "blob", the size in decimal, a zero byte, the content.
    """
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def is_checkable(digest: str) -> bool:
    """Whether it is a SHA-256 or a git blob id, and not some other ETag."""
    return bool(re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", digest))


def is_intact(path: Path, digest: str) -> bool:
    """Whether a file has that SHA-256 or git blob id; true when the digest is neither."""
    if not is_checkable(digest):
        return True
    return digest == (sha256_of(path) if len(digest) == 64 else git_blob_id_of(path))


def safetensors_problem(path: Path) -> str:
    """Why a file is no whole safetensors file, empty if it is; reads its header alone.

    Source: safetensors, "Format": the length of the header in 8 bytes, the header in JSON, and
    the data, which ends where the last tensor does.
    """
    num_bytes = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(num_bytes - 8, _MAX_HEADER_BYTES):
            return "it is not safetensors"
        try:
            header = json.loads(file.read(length))
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name[:2] != "__"]
            wanted = 8 + length + max(ends, default=0)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return "its header is not that of safetensors"
    return "" if wanted == num_bytes else f"it has {num_bytes:,} bytes of {wanted:,}"
