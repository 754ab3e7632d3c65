"""The books of a job: files, folders, globs, and what arrives in an inbox while a run works."""

import hashlib
import os
import time
from collections.abc import Collection, Iterator
from glob import glob, has_magic
from pathlib import Path

from pocket_batch.jobs.extras import READ_ALONG_SUFFIX
from pocket_batch.jobs.night.job import NightJob
from pocket_batch.jobs.night.summary import SUMMARY, SUMMARY_TEXT
from pocket_batch.jobs.reading import SCRIPT_SUFFIX
from pocket_batch.sources.base import SOURCES

SETTLE_S = 2.0  # a file that did not change for so long is whole, see `Inputs.look`
OLD_S = 10.0
PATIENCE_S = 600.0  # a file that grows for longer is left to the next run
OURS = (".work", ".run")  # folders that hold our own files

Stat = tuple[int, int]  # bytes, time of its last change


class Inputs:
    """Finds each book once, and again when its file has changed.

    Attributes:
        num_unsettled: files of the inbox that are on their way, or in work and changed since.
        warnings: what is odd, a sentence each, until somebody takes them.
    """

    def __init__(self, job: NightJob, shard: tuple[int, int] | None = None) -> None:
        """With `shard` (i, n), only part i of n, by a hash of the name."""
        self._job = job
        self._shard = shard
        self._taken: dict[Path, Stat] = {}
        self._real: set[tuple[str, str]] = set()
        self._seen: dict[Path, tuple[Stat, float]] = {}
        self._first_seen: dict[Path, float] = {}
        self._told: set[str] = set()
        self.num_unsettled = 0
        self.warnings: list[str] = []

    def first(self) -> list[Path]:
        """All that the job names and what is in its inbox; what is missing too, to be told of."""
        named = (path for name in self._job.settings.inputs for path in self._named(name))
        found = [path for path in named if self._is_new(path)]
        inbox = self._inbox()
        if inbox is not None and not os.path.isdir(inbox):
            found.append(inbox)
        for path in found:
            self._taken[path] = _stat(path) or (0, 0)
        return [path for path in found if self._is_mine(path)] + self.look()

    def look(self, in_work: Collection[Path] = ()) -> list[Path]:
        """What is new in the inbox and whole: a file that is being copied changes all the time.

        Args:
            in_work: what is spoken now; a newer state of it has to wait for that.
        """
        inbox = self._inbox()
        if inbox is None:
            return []
        new, now = [], time.monotonic()
        self.num_unsettled = 0
        for path in self._books_in(inbox):
            found = _stat(path)
            if found is None or self._taken.get(path) == found or not self._is_mine(path):
                continue
            if path in in_work:
                self.num_unsettled += 1
            elif not self._is_settled(path, found, now):
                self._await(path, now)
            else:
                is_new = path in self._taken or self._is_new(path)
                self._taken[path] = found
                new += [path] if is_new else []
        return new

    def _inbox(self) -> Path | None:
        inbox = self._job.settings.inbox
        return None if inbox is None else self._job.place(inbox)

    def _is_settled(self, path: Path, found: Stat, now: float) -> bool:
        before, since = self._seen.get(path, (None, now))
        if before != found:
            self._seen[path] = (found, now)
            return time.time() - found[1] / 1e9 > OLD_S
        return now - since >= SETTLE_S

    def _await(self, path: Path, now: float) -> None:
        """A run waits for a file that is on its way, but not for one that grows for ever."""
        if now - self._first_seen.setdefault(path, now) < PATIENCE_S:
            self.num_unsettled += 1
        else:
            self._warn(f"{path.name} is written to all the time, and left to the next run.")

    def _is_mine(self, path: Path) -> bool:
        if self._shard is None:
            return True
        part, whole = self._shard
        digest = hashlib.sha256(os.fsencode(path.name)).digest()  # a CRC is uneven over numbers
        return int.from_bytes(digest[:8], "big") % whole == part

    def _is_new(self, path: Path) -> bool:
        """Whether a file was not found before on another way, such as a link to its folder."""
        try:
            real = (os.path.realpath(path), path.name)
        except ValueError:  # a name with a zero byte: whoever opens it tells
            return True
        is_new = real not in self._real
        self._real.add(real)
        return is_new

    def _named(self, name: str) -> Iterator[Path]:
        place = self._job.place(name)
        if os.path.isdir(place):
            yield from self._books_in(place)
        elif os.path.exists(place) or not has_magic(name):
            yield place
        else:
            found = list(self._globbed(name))
            if not found:
                self._warn(f"`{name}` of `inputs` fits no book.")
            yield from found

    def _globbed(self, name: str) -> Iterator[Path]:
        """The books that a glob of the job file stands for."""
        folder, pattern = self._job.folder, os.path.expanduser(name)
        for each in sorted(glob(pattern, root_dir=folder, recursive=True)):
            if any(part.endswith(OURS) for part in Path(each).parts):
                continue
            path = folder / each
            if os.path.isdir(path):
                yield from self._books_in(path)
            elif path.suffix.lower() in SOURCES and not each.endswith(READ_ALONG_SUFFIX):
                yield path

    def _books_in(self, folder: Path) -> list[Path]:
        found, unreadable = books_in(folder)
        for name in unreadable:
            self._warn(f"The folder {name} may not be read: books in it are passed over.")
        return found

    def _warn(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.warnings.append(text)


def books_in(folder: Path) -> tuple[list[Path], list[str]]:
    """All files below a folder that could be books, by name; none of our own, none hidden.

    Returns:
        The books, and the folders that may not be read. What vanishes meanwhile is passed over.
    """
    found: list[str] = []
    unreadable: list[str] = []

    def on_error(error: OSError) -> None:
        if isinstance(error, PermissionError):
            unreadable.append(str(error.filename))

    for root, folders, names in os.walk(folder, onerror=on_error):
        if _is_ours(names, folders):
            if root != str(folder):
                folders.clear()
                continue
            names = [name for name in names if name not in (SUMMARY, SUMMARY_TEXT)]
        folders[:] = [each for each in folders if not each.startswith(".")]
        folders[:] = [each for each in folders if not each.endswith(OURS)]
        paths = (os.path.join(root, name) for name in names if _is_book(name))
        found += [path for path in paths if os.path.isfile(path)]
    return [Path(path) for path in sorted(found)], unreadable


def _is_ours(names: list[str], folders: list[str]) -> bool:
    """Whether a folder is that of a run or a data set."""
    return "status.json" in names and ("lock" in names or "locks" in folders)


def _is_book(name: str) -> bool:
    suffix = os.path.splitext(name)[1].lower()
    if name.endswith(READ_ALONG_SUFFIX):
        return False  # made of a book beside it: each night would read aloud that of the last one
    return suffix in SOURCES and suffix != SCRIPT_SUFFIX and not name.startswith(".")


def _stat(path: Path) -> Stat | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None  # it was moved away just now, or is no name at all
    return found.st_size, found.st_mtime_ns
