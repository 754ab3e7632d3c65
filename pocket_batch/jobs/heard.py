"""When each line of a finished book is heard, and how it is written in the book itself."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pocket_batch.audio.flac import decode_flac
from pocket_batch.audio.mastering import speech_bounds
from pocket_batch.data import Book, Choices, Segment, Utterance
from pocket_batch.errors import AudioError, InputError
from pocket_batch.jobs.reading import MARKED_SUFFIXES, is_script, read_chosen
from pocket_batch.manifest import Manifest
from pocket_batch.outputs.cues import WordTimes
from pocket_batch.outputs.overlays import Said
from pocket_batch.outputs.readalong_text import written_pieces, written_texts
from pocket_batch.records import MasteredChapter, TimedLine
from pocket_batch.settings import AudiobookPipeline, MasterSettings
from pocket_batch.sources.script import read_head
from pocket_batch.text.markup import apply_marks, without_marks
from pocket_batch.work_folder import WorkFolder


@dataclass(frozen=True, slots=True)
class Heard:
    """The chapters of a finished book in order, and its lines; `keys` are those of `lines`."""

    sampling_rate_hz: int
    chapters: tuple[MasteredChapter, ...]
    lines: tuple[Said, ...]
    keys: tuple[str, ...]


def read_heard(work: WorkFolder) -> Heard:
    """What a run left in its work folder.

    Raises:
        InputError: the folder lacks it.
    """
    texts = {s.id: s.text for s in Manifest(work.file("segments.jsonl"), Segment).read()}
    chapters = tuple(Manifest(work.file("chapters.jsonl"), MasteredChapter).read())
    timed = list(Manifest(work.file("timeline.jsonl"), TimedLine).read())
    first = next(Manifest(work.file("utterances.jsonl"), Utterance).read(damaged=[]), None)
    place = {chapter.number: i for i, chapter in enumerate(chapters)}
    if not chapters or first is None or any(t.segment_id not in texts for t in timed):
        raise InputError(
            f"{work.path}: when its lines are heard is not known, because no run of it was "
            "finished. Run the command of the book again."
        )
    timed = sorted((t for t in timed if t.chapter in place), key=lambda t: place[t.chapter])
    return Heard(
        first.sampling_rate_hz,
        chapters,
        tuple(Said(t.chapter, texts[t.segment_id], t.begin, t.end) for t in timed),
        tuple(t.key for t in timed),
    )


def source_of_text(source: Path) -> Path:
    """The book that a text is from: that of a script, if it is still there."""
    if is_script(source):
        name = read_head(source).source
        origin = source.parent / name
        if name and origin.is_file():
            return origin
    return source


def written_book(source: Path, choices: Choices, pipeline: AudiobookPipeline) -> Book:
    """A book in written form, as its reader sees it: without the marks for voices and pauses.

    Raises:
        InputError: it cannot be read any more.
        UsageError: a chapter that was asked for does not exist.
    """
    book = read_chosen(source, choices, pipeline.read)
    if source.suffix.lower() not in MARKED_SUFFIXES:
        return book
    chapters = tuple(apply_marks(chapter)[0] for chapter in book.chapters)
    return replace(book, title=without_marks(book.title), chapters=chapters)


def as_written(heard: Heard, book: Book) -> list[str]:
    """The text of each line as the book has it; in spoken form where it is not found."""
    return written_texts(written_pieces(book.chapters, heard.lines), heard.lines)


def from_speech(
    word_times: Mapping[str, WordTimes], work: WorkFolder, settings: MasterSettings, rate_hz: int
) -> dict[str, WordTimes]:
    """Times from the beginning of the audio of utterances -> from that of their speech as heard.

    Silence at the ends is cut off when a chapter is joined. Utterances whose audio is gone have no
    times.
    """
    found: dict[str, WordTimes] = {}
    for key, times in word_times.items():
        try:
            pcm = decode_flac(work.audio(key))
        except (AudioError, OSError):
            continue
        begin_s = speech_bounds(pcm, rate_hz, settings)[0] / rate_hz
        found[key] = [(w, max(0.0, b - begin_s), max(0.0, e - begin_s)) for w, b, e in times]
    return found
