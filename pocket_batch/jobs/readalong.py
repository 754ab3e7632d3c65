"""The book to read along with: the source's own EPUB with the speech of a finished run."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pocket_batch.data import Book, Choices, ScriptChapter
from pocket_batch.errors import writing
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.heard import read_heard, source_of_text, written_book
from pocket_batch.outputs.readalong import ChapterAudio, ReadAlong
from pocket_batch.outputs.readalong import write_readalong as write_file
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.stages.master import Joiner, Mastered
from pocket_batch.stages.read_along import ReadAlongAudio
from pocket_batch.work_folder import WorkFolder

PART = "read-along.part"  # a folder of the work folder, while its files are encoded


def write_readalong(
    source: Path,
    work: WorkFolder,
    target: Path,
    pipeline: AudiobookPipeline,
    book: Book,
    narrators: Sequence[str],
    script: tuple[ScriptChapter, ...],
    joiner: Joiner,
    mastered: Sequence[Mastered],
    choices: Choices | None = None,
    progress: Callable[[int], None] = lambda num_samples: None,
) -> ReadAlong:
    """Write an EPUB 3 with media overlays.

    Args:
        source: the book; of a script the one that it was made from, if it is there.
        work: the folder of its finished run.
        target: the EPUB to make.
        pipeline: that of the run.
        book: as planned, for the tags.
        narrators: names of the voices.
        script: the lines of each chapter.
        joiner: of the run, which knows all utterances.
        mastered: the chapters that are heard.
        choices: those of the run.
        progress: called with the number of samples encoded since its last call.

    Raises:
        InputError: source or work folder cannot be read any more.
        OutputError: the file cannot be written, or has faults.
        DamagedAudioError: the audio of an utterance is damaged.
    """
    heard = read_heard(work)
    origin = source_of_text(source)
    written = written_book(origin, choices or Choices(), pipeline)
    with _folder(work) as folder:
        stage = ReadAlongAudio(
            folder,
            pipeline,
            book,
            ", ".join(narrators),
            script,
            joiner,
            usable_cores(),
            progress,
        )
        files = list(stage.run(mastered))
        audio = [
            ChapterAudio(item.chapter.number, file.path, item.chapter.num_samples)
            for item, file in zip(mastered, files, strict=True)
        ]
        rate_hz = heard.sampling_rate_hz
        return write_file(target, origin, written, heard.lines, audio, rate_hz, narrators)


@contextmanager
def _folder(work: WorkFolder) -> Iterator[Path]:
    """An empty folder that is gone afterwards."""
    folder = work.file(PART)
    shutil.rmtree(folder, ignore_errors=True)
    with writing(folder):
        folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
