"""EPUB 2 and 3 -> Book: container, package, spine, table of contents, text, chapters."""

from dataclasses import dataclass
from pathlib import Path

from pocket_batch.data import Book, Chapter, Dropped
from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.base import sha256_of_file
from pocket_batch.sources.chapters import (
    build_chapters,
    cut_into_parts,
    join_small_parts,
    omit_by_title,
)
from pocket_batch.sources.container import package_paths, refuse_encrypted
from pocket_batch.sources.documents import read_documents
from pocket_batch.sources.flow import list_dropped, settle_omissions
from pocket_batch.sources.metadata import read_cover, read_metadata
from pocket_batch.sources.package import Package, read_package
from pocket_batch.sources.toc import read_navigation

MIMETYPE = b"application/epub+zip"


def read_epub(path: Path, settings: ReadSettings) -> Book:
    """Read an EPUB.

    Flaws that leave the text readable become warnings; a document of the spine that cannot be
    read becomes a warning and `has_gaps`.

    Raises:
        InputError: the file is no EPUB, is damaged beyond reading, encrypted, unsafe, or without
            text.
    """
    with Archive(path) as archive:
        _check_mimetype(archive)
        package = _first_package(archive)
        refuse_encrypted(archive, _text_names(package))
        metadata = read_metadata(package)
        title = metadata.title or path.stem
        text = _read_text(archive, package, title)
        cover = read_cover(archive, package)
        warnings = (*package.warnings, *archive.warnings)
    return Book(
        id=sha256_of_file(path),
        title=title,
        chapters=text.chapters,
        authors=metadata.authors,
        language=metadata.language,
        date=metadata.date,
        publisher=metadata.publisher,
        series=metadata.series,
        series_part=metadata.series_part,
        description=metadata.description,
        subjects=metadata.subjects,
        identifiers=metadata.identifiers,
        cover=cover,
        dropped=text.dropped,
        warnings=tuple(dict.fromkeys(warnings)),
        has_gaps=package.has_gaps or text.has_gaps,
    )


@dataclass(frozen=True, slots=True)
class _Text:
    chapters: tuple[Chapter, ...]
    dropped: tuple[Dropped, ...]
    has_gaps: bool


def _read_text(archive: Archive, package: Package, title: str) -> _Text:
    navigation = read_navigation(archive, package)
    flow, num_lost = read_documents(archive, package, navigation)
    settle_omissions(flow, archive.warnings)
    parts = cut_into_parts(flow, navigation.tables, title, archive.warnings)
    parts = join_small_parts(parts)
    omit_by_title(parts, flow)
    chapters = build_chapters(parts)
    if not chapters:
        raise InputError(_no_text(archive, num_lost))
    if any(name.lower().endswith(".smil") for name in archive.names):
        archive.warnings.append("The book brings its own recorded speech, which is not used.")
    return _Text(chapters, list_dropped(flow), num_lost > 0)


def _check_mimetype(archive: Archive) -> None:
    try:
        content = archive.read("mimetype", 1_000) if archive.find("mimetype") else b""
    except InputError:
        content = b""
    if content != MIMETYPE:
        found = "is missing" if not content else f"holds {content[:40]!r}"
        archive.warnings.append(f"The member `mimetype` {found}; ignored.")


def _first_package(archive: Archive) -> Package:
    """The first package document that can be read; the error of the first when none can."""
    first_error: InputError | None = None
    for name in package_paths(archive):
        try:
            return read_package(archive, name)
        except InputError as error:
            archive.warnings.append(str(error))
            first_error = first_error or error
    assert first_error is not None, "package_paths never returns an empty list"
    raise first_error


def _text_names(package: Package) -> set[str]:
    names = {entry.item.name for entry in package.spine} | {package.name}
    return names | {item.name for item in (package.nav, package.ncx) if item is not None}


def _no_text(archive: Archive, num_lost: int) -> str:
    reason = f"{num_lost} of them cannot be read" if num_lost else "they are pictures or empty"
    details = "".join(f"\n  {warning}" for warning in archive.warnings[:5]) if num_lost else ""
    return (
        f"{archive.path.name}: text was expected, but the documents of the spine give none; "
        f"{reason}. Use an edition with text.{details}"
    )
