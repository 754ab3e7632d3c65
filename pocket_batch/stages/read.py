"""Stage `read`: a path becomes a Book; what it is and what is left out goes to the work folder."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

from pocket_batch.data import Book, Chapter, Dropped
from pocket_batch.errors import UsageError
from pocket_batch.manifest import Manifest, WorkFolder, write_atomic
from pocket_batch.sources.base import read_book


class Read:
    """Reads books. `chapters` are the numbers to keep, empty for all; `work` may be None."""

    name = "read"

    def __init__(self, work: WorkFolder | None = None, chapters: frozenset[int] = frozenset()) -> None:
        self._work = work
        self._chapters = chapters

    def run(self, items: Iterable[Path]) -> Iterator[Book]:
        """Yield the book of each path.

        Raises:
            InputError: the book is refused.
            UsageError: a chapter that was asked for does not exist.
        """
        for path in items:
            book = read_book(path)
            book = replace(book, chapters=_selected(book.chapters, self._chapters, path))
            if self._work:
                _record(book, self._work)
            yield book


def _selected(
    chapters: tuple[Chapter, ...], numbers: frozenset[int], path: Path
) -> tuple[Chapter, ...]:
    unknown = numbers - {chapter.number for chapter in chapters}
    if unknown:
        raise UsageError(
            f"{path.name} has chapters 1 to {len(chapters)}; there is no chapter {min(unknown)}. "
            f"`pocket-batch inspect {path.name}` lists them."
        )
    return tuple(c for c in chapters if c.number in numbers) if numbers else chapters


def _record(book: Book, work: WorkFolder) -> None:
    """Write `book.json` (metadata and chapter titles, no text) and `dropped.jsonl`."""
    summary = asdict(replace(book, chapters=(), dropped=(), cover=None))
    summary["chapters"] = [{"number": c.number, "title": c.title} for c in book.chapters]
    write_atomic(work.file("book.json"), json.dumps(summary, ensure_ascii=False, indent=1).encode())
    Manifest(work.file("dropped.jsonl"), Dropped).replace(list(book.dropped))
