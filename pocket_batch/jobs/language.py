"""The language a book is read in, and how we know."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pocket_batch.data import Book
from pocket_batch.text.language import guess_language

MAX_BLOCKS_TO_GUESS = 400

# Three-letter codes that EPUBs use in place of the two-letter ones (ISO 639-2).
_SHORT_CODES = {
    "eng": "en", "fre": "fr", "fra": "fr", "ger": "de", "deu": "de", "ita": "it",
    "por": "pt", "spa": "es", "dut": "nl", "nld": "nl",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BookLanguage:
    """A BCP 47 tag, empty when unknown, and how we know: `says` begins a sentence."""

    tag: str
    says: str


def book_language(book: Book, asked: str, source: Path) -> BookLanguage:
    """The language that was asked for, is declared, or is guessed, in this order."""
    if asked:
        return BookLanguage(asked, "You asked for")
    if primary(book.language) not in ("", "und", "mul", "zxx"):
        return BookLanguage(book.language, f"{source.name} says its language is")
    blocks = islice((b.text for c in book.chapters for b in c.blocks), MAX_BLOCKS_TO_GUESS)
    guess = guess_language(" ".join(blocks))
    return BookLanguage(guess, f"{source.name} seems to be written in")


def primary(tag: str) -> str:
    """`en_GB`, `eng` and `en-US` -> `en`."""
    first = tag.replace("_", "-").split("-")[0].lower()
    return _SHORT_CODES.get(first, first)
