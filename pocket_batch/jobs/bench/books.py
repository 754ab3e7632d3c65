"""The texts of books for a measurement: read, normalised and cut as for an audiobook."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pocket_batch.bcp47 import primary
from pocket_batch.config import load_pipeline
from pocket_batch.errors import InputError
from pocket_batch.sources.base import SOURCES, read_book
from pocket_batch.stages.normalize import Normalize
from pocket_batch.stages.segment import SegmentText


@dataclass(frozen=True, slots=True)
class Reader:
    """How texts are cut: `language` is that of the model, empty when any will do."""

    language: str
    max_tokens: int
    count_tokens: Callable[[str], int]

    def texts(self, path: Path, skip: Callable[[str], None]) -> list[str]:
        """The segments of a book, or of all books in a folder, in reading order.

        Of a folder, books that are refused or in another language are told to `skip`.

        Raises:
            InputError: the book is refused, or there is nothing to speak.
        """
        texts = list(self._folder(path, skip) if path.is_dir() else self._book(path))
        if not texts:
            raise InputError(f"{path}: there is no text to speak. Name a book, or another folder.")
        return texts

    def _folder(self, path: Path, skip: Callable[[str], None]) -> Iterator[str]:
        for file in sorted(file for file in path.iterdir() if file.suffix.lower() in SOURCES):
            try:
                yield from self._book(file, only=self.language)
            except InputError as error:
                skip(str(error))

    def _book(self, path: Path, only: str = "") -> Iterator[str]:
        """The segments of one book; `only` is the language that it has to be in, if any."""
        book = read_book(path)
        language = book.language or self.language or "en"
        if only and primary(language) != primary(only):
            raise InputError(f"{path.name}: it is in `{language}`, and the model reads `{only}`.")
        settings = load_pipeline(None, {}).segment
        stage = SegmentText(settings, "", language, self.max_tokens, self.count_tokens)
        for segment in stage.run(Normalize(language).run(book.chapters)):
            if self.count_tokens(segment.text):
                yield segment.text
