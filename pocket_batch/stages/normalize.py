"""Stage `normalize`: chapters in written form become chapters in spoken form."""

from collections.abc import Iterable, Iterator

from pocket_batch.data import Chapter
from pocket_batch.text.normalize import normalize_chapter


class Normalize:
    """Writes out numbers, abbreviations and marks as they are said. `language` is a BCP 47 tag."""

    name = "normalize"

    def __init__(self, language: str) -> None:
        self._language = language

    def run(self, items: Iterable[Chapter]) -> Iterator[Chapter]:
        """Yield each chapter in spoken form."""
        for chapter in items:
            yield normalize_chapter(chapter, self._language)
