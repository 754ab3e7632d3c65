"""Stage `read`: a path becomes a Book."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pocket_batch.data import Book, Chapter
from pocket_batch.errors import UsageError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import read_book


class Read:
    """Reads books. `chapters` are the numbers to keep, empty for all."""

    name = "read"

    def __init__(self, settings: ReadSettings, chapters: frozenset[int] = frozenset()) -> None:
        self._settings = settings
        self._chapters = chapters

    def run(self, items: Iterable[Path]) -> Iterator[Book]:
        """Yield the book of each path.

        Raises:
            InputError: the book is refused.
            UsageError: a chapter that was asked for does not exist.
        """
        for path in items:
            book = read_book(path, self._settings)
            yield replace(book, chapters=_selected(book.chapters, self._chapters, path))


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
