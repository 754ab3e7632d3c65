"""The language a book is read in, and how we know."""

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pocket_batch.data import Book
from pocket_batch.errors import UsageError
from pocket_batch.models.presets import load_presets
from pocket_batch.text.language import contradicts, guess_language

MAX_BLOCKS_TO_GUESS = 400

# Three-letter codes that EPUBs use in place of the two-letter ones (ISO 639-2).
_SHORT_CODES = {
    "eng": "en", "fre": "fr", "fra": "fr", "ger": "de", "deu": "de", "ita": "it",
    "por": "pt", "spa": "es", "dut": "nl", "nld": "nl",
}  # fmt: skip

_NAMES = {
    "english": "en", "french": "fr", "german": "de", "italian": "it", "portuguese": "pt",
    "spanish": "es", "dutch": "nl", "français": "fr", "deutsch": "de", "italiano": "it",
    "português": "pt", "español": "es", "nederlands": "nl",
}  # fmt: skip
_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")  # `en`, `pt-BR`


@dataclass(frozen=True, slots=True)
class BookLanguage:
    """A BCP 47 tag, empty when unknown, and how we know: `says` begins a sentence.

    `warning` is for the user when the book is not believed.
    """

    tag: str
    says: str
    warning: str = ""


def book_language(book: Book, asked: str, source: Path) -> BookLanguage:
    """The language that was asked for, is declared, or is guessed, in this order.

    A declaration that the text surely contradicts is not believed: files are often labelled with
    the language they were to be translated into.

    Raises:
        UsageError: what was asked for is no language code.
    """
    if asked:
        check_code(asked)
        return BookLanguage(asked, "You asked for")
    blocks = islice((b.text for c in book.chapters for b in c.blocks), MAX_BLOCKS_TO_GUESS)
    sample = " ".join(blocks)
    seems = f"{source.name} seems to be written in"
    if primary(book.language) in ("", "und", "mul", "zxx"):
        return BookLanguage(guess_language(sample), seems)
    if real := contradicts(sample, primary(book.language)):
        return BookLanguage(
            real,
            seems,
            f"The book says its language is `{book.language}`, but it is written in `{real}`, and "
            f"is read so. If not, give --language {book.language}.",
        )
    return BookLanguage(book.language, f"{source.name} says its language is")


def check_code(language: str) -> None:
    """Refuse what cannot be the code of a language.

    Raises:
        UsageError: with the code, when it is the name of a language that is spoken here.
    """
    code = _NAMES.get(language.strip().lower())
    if code:
        raise UsageError(
            f"--language {language} is not a code. The code of {language.strip().capitalize()} is "
            f"`{code}`."
        )
    if not _CODE.fullmatch(language):
        raise UsageError(
            f"--language `{language:.40}` is not a language code, such as en or pt-BR."
        )


def spoken_languages() -> list[str]:
    """The codes of all languages that a released model reads."""
    return sorted({source.language for source in load_presets().values()})


def primary(tag: str) -> str:
    """`en_GB`, `eng` and `en-US` -> `en`."""
    first = tag.replace("_", "-").split("-")[0].lower()
    return _SHORT_CODES.get(first, first)
