"""The tags of an audiobook: what is written, and the kinds of files it is written into."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pocket_batch.audio.cover import usable_cover
from pocket_batch.audio.metadata import ChapterSpan, one_line
from pocket_batch.data import Book, Cover
from pocket_batch.errors import InputError, OutputError, no_space

WRITERS = {
    "m4b": "pocket_batch.audio.tags_mp4",
    "mp3": "pocket_batch.audio.tags_id3",
    "wav": "pocket_batch.audio.tags_id3",
    "flac": "pocket_batch.audio.tags_vorbis",
    "opus": "pocket_batch.audio.tags_vorbis",
}
MAX_TEXT_BYTES = 1000  # of a one-line tag
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # `a\x00b` -> `ab`; keeps tab and newline
# `2011-04-05T00:00:00Z` -> `2011-04-05`, `2011-04` -> `2011`: ID3 has no year with just a month
_DATE = re.compile(r"\d{4}(-\d\d-\d\d)?(?!\d)")
# `urn:isbn:9780306406157` -> `9780306406157`
_ISBN = re.compile(r"(?i)^(?:urn:)?(?:isbn[: ]*)?((?:97[89])?\d{9}[\dX])$")
# `asin:B00ABCDEF1` -> `B00ABCDEF1`
_ASIN = re.compile(r"(?i)^(?:urn:)?(?:[a-z-]*asin|amazon)[: ]*([A-Z0-9]{10})$")


@dataclass(frozen=True, slots=True)
class Tags:
    """What the tags of one file say; empty fields are not written.

    `title` is the file's (a book, or one chapter of it), `album` the book's. Names of several
    authors are joined, since most players show only the first of several values. `track` of
    `num_tracks` counts from 1; 0 when the file is the whole book. `cover` is JPEG or PNG.
    """

    title: str
    album: str
    author: str = ""
    narrator: str = ""
    date: str = ""
    description: str = ""
    genre: str = ""
    publisher: str = ""
    series: str = ""
    series_part: str = ""
    language: str = ""
    isbn: str = ""
    asin: str = ""
    track: int = 0
    num_tracks: int = 0
    cover: Cover | None = None


def book_tags(book: Book, narrator: str) -> tuple[Tags, tuple[str, ...]]:
    """The tags of a whole book in one file, and sentences about what had to be left out."""
    warnings: tuple[str, ...] = ()
    cover = None
    if book.cover is not None:
        try:
            cover = usable_cover(book.cover)
        except InputError as error:
            warnings = (f"{error} The audiobook has no cover.",)
    date = _DATE.search(book.date)
    tags = Tags(
        title=book.title,
        album=book.title,
        author=_joined(book.authors, ", "),
        narrator=narrator,
        date=date.group() if date else "",
        genre=_joined(book.subjects, "; "),
        publisher=book.publisher,
        series=book.series,
        series_part=book.series_part,
        language=book.language,
        isbn=_isbn(book.identifiers),
        asin=_asin(book.identifiers),
        cover=cover,
    )
    lines = {
        field.name: one_line(getattr(tags, field.name), MAX_TEXT_BYTES)
        for field in fields(tags)
        if isinstance(getattr(tags, field.name), str)
    }
    lines["description"] = _CONTROL.sub("", book.description.replace("\r\n", "\n")).strip()
    return replace(tags, **lines), warnings  # type: ignore[arg-type]


def write_tags(
    path: Path,
    file_format: str,
    tags: Tags,
    chapters: Sequence[ChapterSpan] = (),
    sampling_rate_hz: int = 0,
) -> None:
    """Write tags, cover and chapters into a finished file.

    The chapters of an M4B are in the file already, since only the muxer can write their track.

    Raises:
        OutputError: the disk is full, or the file is not what its format says.
    """
    writer: Callable[..., None] = _module(file_format).write
    with _tagging(path):
        writer(path, tags, chapters, sampling_rate_hz)


def read_tags(path: Path, file_format: str) -> Tags:
    """Read the tags back.

    Raises:
        OutputError: the file cannot be read.
    """
    reader: Callable[[Path], Tags] = _module(file_format).read
    with _tagging(path):
        return reader(path)


def _module(file_format: str) -> ModuleType:
    return import_module(WRITERS[file_format])


@contextmanager
def _tagging(path: Path) -> Iterator[None]:
    import errno

    from mutagen import MutagenError

    try:
        yield
    except (MutagenError, OSError) as error:
        cause = error.__cause__ or error.__context__ or error
        if errno.ENOSPC in (getattr(error, "errno", None), getattr(cause, "errno", None)):
            raise no_space(path) from error
        raise OutputError(f"{path}: its tags could not be written or read: {error}.") from error


def _joined(names: Sequence[str], separator: str) -> str:
    """`("A", "B")` -> `A, B`, but `("King, Jr.", "B")` -> `King, Jr.; B`."""
    if any(separator.strip() in name for name in names):
        separator = "; "
    return separator.join(names)


def _isbn(identifiers: Sequence[str]) -> str:
    """The first ISBN among the identifiers of a book, without hyphens; its check digit is right."""
    for identifier in identifiers:
        found = _ISBN.match(identifier.strip().replace("-", ""))
        if found and _has_check_digit(found[1].upper()):
            return found[1].upper()
    return ""


def _has_check_digit(isbn: str) -> bool:
    """Whether the digits of an ISBN-10 or ISBN-13 add up. Source: ISO 2108."""
    digits = [10 if digit == "X" else int(digit) for digit in isbn]
    if len(digits) == 13:
        return sum(digits[0::2]) % 10 == -3 * sum(digits[1::2]) % 10
    return (
        sum(weight * digit for weight, digit in zip(range(10, 0, -1), digits, strict=True)) % 11
        == 0
    )


def _asin(identifiers: Sequence[str]) -> str:
    found = (_ASIN.match(identifier.strip()) for identifier in identifiers)
    return next((match[1].upper() for match in found if match), "")
