"""Subtitles of a finished audiobook, beside each of its files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pocket_batch.data import Choices
from pocket_batch.jobs.heard import (
    Heard,
    as_written,
    from_speech,
    read_heard,
    source_of_text,
    written_book,
)
from pocket_batch.outputs.cues import SpokenLine, WordTimes
from pocket_batch.outputs.subtitles import write_subtitles as write_file
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.work_folder import WorkFolder

NO_WORDS: Mapping[str, WordTimes] = {}


def write_subtitles(
    source: Path,
    work: WorkFolder,
    files: Sequence[Path],
    pipeline: AudiobookPipeline,
    kinds: Sequence[str],
    choices: Choices | None = None,
    word_times: Mapping[str, WordTimes] = NO_WORDS,
) -> dict[Path, str]:
    """Write subtitles with the text as the book has it, at the times at which it is heard.

    Args:
        source: the book.
        work: the folder of its finished run.
        files: the finished audio: one file, or one for each chapter that is heard.
        pipeline: that of the run.
        kinds: keys of `outputs.subtitles.SUBTITLES`.
        choices: those of the run.
        word_times: words in spoken form with their times, seconds from the beginning of the
            utterance's own audio, by its key; VTT and ASS show them.

    Returns:
        What was written, with its kind.

    Raises:
        InputError: source or work folder cannot be read any more.
        OutputError: a file cannot be written.
    """
    heard = read_heard(work)
    book = written_book(source_of_text(source), choices or Choices(), pipeline)
    rate_hz = heard.sampling_rate_hz
    words = from_speech(word_times, work, pipeline.master, rate_hz)
    texts = as_written(heard, book)
    is_split = pipeline.write.split_chapters
    parts = [[chapter] for chapter in heard.chapters] if is_split else [list(heard.chapters)]
    made: dict[Path, str] = {}
    for file, chapters in zip(files, parts, strict=True):
        lines = _lines(heard, texts, words, [chapter.number for chapter in chapters])
        title = chapters[0].title if is_split else book.title
        for kind in kinds:
            target = file.with_suffix(f".{kind}")
            write_file(target, kind, lines, rate_hz, title)
            made[target] = kind
    return made


def _lines(
    heard: Heard, texts: Sequence[str], words: Mapping[str, WordTimes], numbers: Sequence[int]
) -> list[SpokenLine]:
    """The lines of some chapters that follow each other in one file."""
    offsets: dict[int, int] = {}
    total = 0
    for chapter in heard.chapters:
        if chapter.number in numbers:
            offsets[chapter.number] = total
            total += chapter.num_samples
    return [
        SpokenLine(text, offsets[line.chapter] + line.begin, offsets[line.chapter] + line.end,
                   words.get(key, ()))
        for line, text, key in zip(heard.lines, texts, heard.keys, strict=True)
        if line.chapter in offsets
    ]  # fmt: skip
