"""Tar files of a given size, the same bytes for the same members."""

import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from pocket_batch.units.unit import add_member, new_tar

BLOCK = 512
END = 1024  # bytes of zeros that end a tar, before it is filled up


class TarShards:
    """Writes members into `name(0)`, `name(1)`, ..., each at most `max_bytes` long.

    What is added at once stays together, and a single addition that is longer has a shard alone.
    """

    def __init__(self, folder: Path, name: Callable[[int], str], max_bytes: int) -> None:
        self._folder = folder
        self._name = name
        self._max_bytes = max_bytes
        self._size = 0
        self._file: IO[bytes] | None = None
        self._tar: tarfile.TarFile | None = None
        self.num_shards = 0

    def add(self, members: list[tuple[str, bytes]]) -> int:
        """Add files; returns the number of their shard."""
        size = sum(BLOCK + -(-len(data) // BLOCK) * BLOCK for _, data in members)
        if self._tar is None or (self._size and self._size + size + END > self._max_bytes):
            self._next()
        assert self._tar is not None
        for name, data in members:
            add_member(self._tar, name, data)
        self._size += size
        return self.num_shards - 1

    def close(self) -> None:
        """Finish the last shard."""
        if self._tar is not None and self._file is not None:
            self._tar.close()
            self._file.close()
            self._tar = None

    def _next(self) -> None:
        self.close()
        path = self._folder / self._name(self.num_shards)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        self._tar = new_tar(self._file)
        self._size = 0
        self.num_shards += 1


def read_tar(path: Path, problems: list[str]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the members; whatever is wrong with the file is told."""
    try:
        with path.open("rb") as file:
            with tarfile.open(fileobj=file, mode="r:") as tar:
                for member in tar:
                    content = tar.extractfile(member)
                    data = content.read() if content else b""
                    if len(data) < member.size:
                        problems.append(f"{path.name}: cut off inside {member.name}")
                        return
                    yield member.name, data
                end = tar.offset
            _check_end(file, end, path, problems)
    except (tarfile.TarError, OSError, EOFError) as error:
        problems.append(f"{path.name}: not a whole tar file ({error})")


def _check_end(file: IO[bytes], end: int, path: Path, problems: list[str]) -> None:
    """After the last member there are zeros, and nothing else."""
    file.seek(end)
    rest = file.read()
    if rest.strip(b"\0"):
        problems.append(f"{path.name}: something follows its end; readers pass over it")
    elif len(rest) < BLOCK:
        problems.append(f"{path.name}: it has no end, so it was cut off")


def check_numbers(found: list[int], what: str, problems: list[str]) -> None:
    """Name the gaps in the numbers of shards, which count from 0."""
    missing = sorted(set(range(max(found, default=-1) + 1)) - set(found))
    problems.extend(f"{what}: number {number} is missing" for number in missing)
