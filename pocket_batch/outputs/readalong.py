"""A book to read along with: its own EPUB, with the speech and what is spoken when (EPUB 3)."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pocket_batch.data import Book
from pocket_batch.errors import InputError, OutputError
from pocket_batch.outputs.edition import Edition
from pocket_batch.outputs.folder import move, work_folder
from pocket_batch.outputs.overlays import Clip, Said, clock, make_clips, smil
from pocket_batch.outputs.readalong_book import edition_of_chapters, edition_of_epub
from pocket_batch.outputs.readalong_check import find_faults
from pocket_batch.outputs.readalong_text import mark_documents, written_pieces
from pocket_batch.sources.archive import Archive, UnsafeArchiveError
from pocket_batch.sources.markup import Element

ACTIVE_CLASS = "-epub-media-overlay-active"
_CSS = """/* What is being read aloud. */
.CLASS { background-color: #fde68a; color: #000; }
@media (prefers-color-scheme: dark) {
  .CLASS { background-color: #854d0e; color: #fff; }
}
"""
# Source: https://www.w3.org/TR/epub-a11y-11/, and the vocabulary of schema.org it names
_ACCESS = {"schema:accessMode": "auditory", "schema:accessibilityFeature": "synchronizedAudioText"}


@dataclass(frozen=True, slots=True)
class ChapterAudio:
    """The audio file (AAC in MP4) of a chapter, and its length in samples of the speech."""

    number: int
    path: Path
    num_samples: int


@dataclass(frozen=True, slots=True)
class ReadAlong:
    """What was written; `num_placed` of `num_utterances` with speech have a place in the text."""

    path: Path
    duration_s: float
    num_documents: int
    num_utterances: int
    num_placed: int


def write_readalong(
    target: Path,
    source: Path,
    book: Book,
    said: Sequence[Said],
    audio: Sequence[ChapterAudio],
    sampling_rate_hz: int,
    narrators: Sequence[str],
) -> ReadAlong:
    """Write an EPUB 3 with media overlays.

    Of an EPUB all files, metadata and contents stay; only its documents get spans around what is
    spoken. Of other sources simple documents are made, one a chapter.

    Args:
        target: the file to make; what is there is replaced.
        source: what the book was read from.
        book: as read, with its blocks in written form.
        said: all utterances, in order.
        audio: the chapters that are heard.
        sampling_rate_hz: of the samples in `said` and `audio`.
        narrators: names of the voices.

    Raises:
        InputError: the source cannot be read any more.
        OutputError: the file cannot be written, or has faults.
    """
    edition = _edition(source, book)
    try:
        pieces = written_pieces(edition.chapters, said)
        roots, wrapped = mark_documents(pieces, said, edition.take)
        lengths = {chapter.number: chapter.num_samples for chapter in audio}
        clips = make_clips(wrapped, said, lengths, sampling_rate_hz)
        if not clips:
            raise OutputError(
                f"{target} was not written: no word of the speech is found in the text of "
                f"{source.name}. Make it from the file that was spoken."
            )
        _add_overlays(edition, roots, clips, {c.number: c.path for c in audio}, narrators)
        with work_folder(target) as folder:
            made = folder / "book.epub"
            edition.write(made)
            faults = find_faults(made)
            if faults:
                raise OutputError(
                    f"{target} was not written, because it would have had {len(faults)} faults, "
                    f"the first: {faults[0]} Report this with the book."
                )
            move(made, target)
    finally:
        edition.close()
    placed = {span.stretch for spans in wrapped.values() for span in spans}
    total_ms = sum(clip.end_ms - clip.begin_ms for clip in clips)
    num_heard = sum(line.is_heard for line in said)
    return ReadAlong(target, total_ms / 1000, len(roots), num_heard, len(placed))


def _edition(source: Path, book: Book) -> Edition:
    """The book's own files; simple documents of its text where they cannot be taken over."""
    if source.suffix.lower() == ".epub":
        try:
            return edition_of_epub(Archive(source), book)
        except UnsafeArchiveError:
            raise
        except InputError:
            return edition_of_chapters(book)
    return edition_of_chapters(book)


def _add_overlays(
    edition: Edition,
    roots: dict[str, Element],
    clips: Sequence[Clip],
    audio: dict[int, Path],
    narrators: Iterable[str],
) -> None:
    folder = edition.new_folder("readalong")
    heard = dict.fromkeys(clip.chapter for clip in clips)
    names = {number: f"{folder}/chapter-{number:03d}.m4a" for number in heard}
    for number, name in names.items():
        edition.add(name, "audio/mp4", audio[number])
    own_class = re.fullmatch(r"-?[A-Za-z_][\w-]*", edition.active_class)
    active, sheet = own_class[0] if own_class else ACTIVE_CLASS, f"{folder}/active.css"
    edition.add(sheet, "text/css", _CSS.replace("CLASS", active).encode())
    for document, root in roots.items():
        own = [clip for clip in clips if clip.document == document]
        if not own:
            continue
        name = f"{folder}/{edition.number_of(document):04d}.smil"
        seen_from = posixpath.dirname(name)
        data = smil(
            own,
            edition.link(seen_from, document),
            {number: edition.link(seen_from, path) for number, path in names.items()},
        )
        duration_ms = sum(clip.end_ms - clip.begin_ms for clip in own)
        overlay = edition.add(name, "application/smil+xml", data)
        edition.say("media:duration", clock(duration_ms), overlay)
        edition.put_document(document, root, sheet, overlay)
    edition.say("media:duration", clock(sum(clip.end_ms - clip.begin_ms for clip in clips)))
    for narrator in dict.fromkeys(narrators):
        edition.say("media:narrator", narrator)
    edition.say("media:active-class", active)
    for prop, value in _ACCESS.items():
        edition.say(prop, value)
