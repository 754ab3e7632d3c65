"""The books of a job: files, folders, globs, and what arrives in an inbox while a run works."""

import time
import zlib
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path

from pocket_batch.jobs.night.job import NightJob
from pocket_batch.jobs.reading import SCRIPT_SUFFIX
from pocket_batch.sources.base import SOURCES

SETTLE_S = 2.0  # a file that did not change for so long is whole, see `Inputs.look`
OLD_S = 10.0
OURS = (".work", ".run")  # folders that hold our own files
_PARTIAL = (".part", ".partial", ".crdownload", ".tmp", "~")

Stat = tuple[int, int]  # bytes, time of its last change


class Inputs:
    """Finds each book once, and again when its file has changed."""

    def __init__(self, job: NightJob, shard: tuple[int, int] | None = None) -> None:
        """With `shard` (i, n), only part i of n, by a hash of the name."""
        self._job = job
        self._shard = shard
        self._taken: dict[Path, Stat] = {}
        self._seen: dict[Path, tuple[Stat, float]] = {}
        self.num_unsettled = 0

    def first(self) -> list[Path]:
        """All that the job names, a file that is missing too, and what is in its inbox."""
        found = list(
            dict.fromkeys(path for name in self._job.settings.inputs for path in self._named(name))
        )
        for path in found:
            self._taken[path] = _stat(path) or (0, 0)
        return [path for path in found if self._is_mine(path)] + self.look()

    def look(self) -> list[Path]:
        """What is new in the inbox and whole: a file that is being copied changes all the time."""
        if self._job.settings.inbox is None:
            return []
        new, now = [], time.monotonic()
        self.num_unsettled = 0
        for path in books_in(self._job.place(self._job.settings.inbox)):
            found = _stat(path)
            if found is None or self._taken.get(path) == found or not self._is_mine(path):
                continue
            if not self._is_settled(path, found, now):
                self.num_unsettled += 1
                continue
            self._taken[path] = found
            new.append(path)
        return new

    def _is_settled(self, path: Path, found: Stat, now: float) -> bool:
        before, since = self._seen.get(path, (None, now))
        if before != found:
            self._seen[path] = (found, now)
            return time.time() - found[1] / 1e9 > OLD_S
        return now - since >= SETTLE_S

    def _is_mine(self, path: Path) -> bool:
        if self._shard is None:
            return True
        part, whole = self._shard
        return zlib.crc32(path.name.encode("utf-8", "surrogateescape")) % whole == part

    def _named(self, name: str) -> Iterator[Path]:
        place = self._job.place(name)
        if place.is_dir():
            yield from books_in(place)
        elif place.exists() or not has_magic(str(name)):
            yield place
        else:
            for found in sorted(glob(str(place), recursive=True)):
                yield from books_in(Path(found)) if Path(found).is_dir() else (Path(found),)


def books_in(folder: Path) -> list[Path]:
    """All files below a folder that could be books, by name; none of our own, none hidden."""
    found = []
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        parts = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") for part in parts)
        is_ours = any(part.endswith(OURS) for part in parts[:-1])
        suffix = path.suffix.lower()
        if is_hidden or is_ours or path.name.endswith(_PARTIAL):
            continue
        if suffix in SOURCES and suffix != SCRIPT_SUFFIX and path.is_file():
            found.append(path)
    return found


def _stat(path: Path) -> Stat | None:
    try:
        found = path.stat()
    except OSError:
        return None  # it was moved away just now
    return found.st_size, found.st_mtime_ns
