"""The language a book is read in, and how we know."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pocket_batch.bcp47 import SAYS_NOTHING, TAG, primary
from pocket_batch.data import Book
from pocket_batch.errors import UsageError
from pocket_batch.models.presets import load_presets
from pocket_batch.sources.book_language import TAGS
from pocket_batch.text.language import contradicts, guess_language

MAX_BLOCKS_TO_GUESS = 400


@dataclass(frozen=True, slots=True)
class BookLanguage:
    """A BCP 47 tag, empty when unknown, and how we know: `says` begins a sentence.

    `warning` is for the user when the book is not believed.
    """

    tag: str
    says: str
    warning: str = ""


def book_language(book: Book, asked: str, source: Path, is_script: bool = False) -> BookLanguage:
    """The language that was asked for, is declared, or is guessed, in this order.

    A declaration that the text surely contradicts is not believed: files are often labelled with
    the language they were to be translated into. A script declares what was decided for its book.

    Raises:
        UsageError: what was asked for is no language code.
    """
    if asked:
        check_code(asked)
        return BookLanguage(asked, "You asked for")
    texts = (block.text for chapter in book.chapters for block in chapter.blocks)
    seems = f"{source.name} seems to be written in"
    if primary(book.language) in ("", *SAYS_NOTHING):
        sample = " ".join(islice(texts, MAX_BLOCKS_TO_GUESS))
        return BookLanguage(guess_language(sample), seems)
    real = "" if is_script else contradicts(" ".join(texts), primary(book.language))
    if real:
        return BookLanguage(
            real,
            f"{source.name} declares `{book.language}`, but seems to be written in",
            f"The book says its language is `{book.language}`, but it is written in `{real}`, and "
            f"is read so. If not, give --language {book.language}.",
        )
    return BookLanguage(book.language, f"{source.name} says its language is")


def check_code(language: str) -> None:
    """Refuse what cannot be the code of a language.

    Raises:
        UsageError: with the code, when it is the name of a language.
    """
    code = TAGS.get(language.strip().lower())
    if code:
        raise UsageError(
            f"--language {language} is not a code. The code of {language.strip().capitalize()} is "
            f"`{code}`."
        )
    if not TAG.fullmatch(language):
        raise UsageError(
            f"--language `{language:.40}` is not a language code, such as en or pt-BR."
        )


def spoken_languages() -> list[str]:
    """The codes of all languages that a released model reads."""
    return sorted({source.language for source in load_presets().values()})
