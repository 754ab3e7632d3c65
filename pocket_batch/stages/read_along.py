"""The audio of a book to read along with: one file a chapter, of the same samples as the output."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pocket_batch.data import Book, ScriptChapter
from pocket_batch.outputs.audiobook import EncodeSettings, WrittenFile
from pocket_batch.outputs.split import write_split
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.stages.master import Joiner, Mastered
from pocket_batch.stages.write import Write, _marks

KIND = "m4b"  # AAC in MP4, which every reading system plays, and whose length is exact


class ReadAlongAudio(Write):
    """Encodes chapters as they sound in the output: the same gain and limit, without cover."""

    name = "read_along_audio"

    def __init__(
        self,
        folder: Path,
        pipeline: AudiobookPipeline,
        book: Book,
        narrator: str,
        script: tuple[ScriptChapter, ...],
        joiner: Joiner,
        num_threads: int,
        progress: Callable[[int], None] = lambda num_samples: None,
    ) -> None:
        """`folder` is where the files go; the other arguments are those of `Write`."""
        book = replace(book, cover=None)
        super().__init__(folder, pipeline, book, narrator, script, joiner, num_threads, progress)

    def run(self, items: Iterable[Mastered]) -> Iterator[WrittenFile]:
        """Yield the file of each chapter, in order.

        Raises:
            OutputError: a file cannot be written, or is not as wanted when read back.
        """
        mastered = list(items)
        is_split = self._pipeline.write.split_chapters
        gains = [self._gain([chapter] if is_split else mastered) for chapter in mastered]
        yield from write_split(
            self._output,
            KIND,
            lambda index: self._pieces(mastered[index]),
            self._joiner.sampling_rate_hz,
            _marks(mastered),
            self._book,
            self._narrator,
            gains,
            self._ceiling_dbtp(),
            EncodeSettings(
                use_system_ffmpeg=self._pipeline.write.system_ffmpeg,
                num_threads=self._num_threads,
            ),
            self._progress,
        )
