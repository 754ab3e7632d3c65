"""EPUB 2 and 3 -> Book: container, package, spine, table of contents, text, chapters."""

from dataclasses import dataclass
from pathlib import Path

from pocket_batch.data import Book, Chapter, Dropped, Respelling
from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.archive import Archive, UnsafeArchiveError
from pocket_batch.sources.base import sha256_of_file
from pocket_batch.sources.book_language import foreign_words
from pocket_batch.sources.chapters import (
    build_chapters,
    cut_into_parts,
    join_small_parts,
    omit_by_title,
)
from pocket_batch.sources.container import package_paths, refuse_encrypted, scheme
from pocket_batch.sources.documents import read_documents
from pocket_batch.sources.features import has_recorded_speech, notable_features
from pocket_batch.sources.flow import list_dropped, settle_omissions
from pocket_batch.sources.metadata import Metadata, read_cover, read_metadata
from pocket_batch.sources.package import Package, read_package
from pocket_batch.sources.pronunciations import read_pronunciations
from pocket_batch.sources.reading_order import package_of_files, with_spine
from pocket_batch.sources.spoken_notes import place_notes
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
        package, text = _read_rendition(archive, settings)
        metadata = text.metadata
        cover = read_cover(archive, package)
        archive.warnings.extend(notable_features(archive, package))
        archive.warnings.extend(foreign_words(text.chapters, text.language))
        lexicon = (*text.lexicon, *read_pronunciations(archive, package))
        warnings = (*package.warnings, *archive.warnings)
    return Book(
        id=sha256_of_file(path),
        title=metadata.title or path.stem,
        chapters=text.chapters,
        authors=metadata.authors,
        language=text.language,
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
        lexicon=lexicon,
    )


@dataclass(frozen=True, slots=True)
class _Text:
    metadata: Metadata
    language: str
    chapters: tuple[Chapter, ...]
    dropped: tuple[Dropped, ...]
    lexicon: tuple[Respelling, ...]
    has_gaps: bool


def _read_rendition(archive: Archive, settings: ReadSettings) -> tuple[Package, _Text]:
    """The first package document that gives text; the error of the first when none does."""
    paths = package_paths(archive)
    if not paths:
        package = package_of_files(archive)
        return package, _read_text(archive, package, settings)
    first_error: InputError | None = None
    for name in paths:
        try:
            package = read_package(archive, name)
            text = _read_text(archive, package, settings)
            if len(paths) > 1:
                archive.warnings.append(f"The book has {len(paths)} renditions; {name} is read.")
            return package, text
        except UnsafeArchiveError:
            raise
        except InputError as error:
            archive.warnings.append(f"{name} gives no text: {error}")
            first_error = first_error or error
    assert first_error is not None, "the loop was entered"
    raise first_error


def _read_text(archive: Archive, package: Package, settings: ReadSettings) -> _Text:
    refuse_encrypted(archive, _text_names(package))
    navigation = read_navigation(archive, package)
    package = with_spine(archive, package, navigation)
    metadata = read_metadata(package, archive.warnings)
    title = metadata.title or archive.path.stem
    flow, num_lost = read_documents(archive, package, navigation, settings, metadata.language)
    settle_omissions(flow, archive.warnings)
    parts = cut_into_parts(flow, navigation.tables, title, archive.warnings)
    parts = join_small_parts(parts)
    omit_by_title(parts, flow, settings)
    place_notes([part.pieces for part in parts], flow, settings, flow.language)
    chapters = build_chapters(parts)
    if not chapters:
        raise InputError(_no_text(archive, package, num_lost))
    return _Text(
        metadata=metadata,
        language=flow.language,
        chapters=chapters,
        dropped=list_dropped(flow),
        lexicon=tuple(flow.lexicon),
        has_gaps=num_lost > 0,
    )


def _check_mimetype(archive: Archive) -> None:
    name = archive.find("mimetype")
    try:
        content = archive.read(name, 1_000) if name else b""
    except InputError:
        content = b""
    if content != MIMETYPE:
        found = "is missing" if not content else f"holds {content[:40]!r}"
        archive.warnings.append(f"The member `mimetype` {found}; ignored.")
    elif not archive.is_plain_at_start(name):
        archive.warnings.append("The member `mimetype` is packed or not the first; ignored.")


def _text_names(package: Package) -> set[str]:
    names = {entry.item.name for entry in package.spine or package.extras} | {package.name}
    return names | {item.name for item in (package.nav, package.ncx) if item is not None}


def _no_text(archive: Archive, package: Package, num_lost: int) -> str:
    reason = f"{num_lost} of them cannot be read" if num_lost else "they are pictures or empty"
    details = "".join(f"\n  {warning}" for warning in archive.warnings[:5]) if num_lost else ""
    if num_lost and (protection := scheme(archive)) != "DRM":
        details += f"\n  The archive holds a licence ({protection}): use a DRM-free copy."
    speech = " The book brings its own recorded speech." * has_recorded_speech(archive, package)
    return (
        f"{archive.path.name}: text was expected, but the documents of the spine give none; "
        f"{reason}.{speech} Use an edition with text.{details}"
    )
