"""Stage `write`: mastered chapters become the finished file, or one file each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pocket_batch.audio import acx
from pocket_batch.audio.loudness import gain_to_target, integrated_lufs, rms_db
from pocket_batch.audio.measure import combined
from pocket_batch.audio.pcm import Pcm
from pocket_batch.data import Book, ScriptChapter
from pocket_batch.errors import AudioError
from pocket_batch.outputs.audiobook import (
    ChapterMark,
    EncodeSettings,
    WrittenFile,
    write_audiobook,
)
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.stages.master import Joiner, Mastered


class Write:
    """Sets one gain per output file, limits, encodes, tags, and reads back."""

    name = "write"

    def __init__(
        self,
        output: Path,
        pipeline: AudiobookPipeline,
        book: Book,
        narrator: str,
        script: tuple[ScriptChapter, ...],
        joiner: Joiner,
        num_threads: int,
        progress: Callable[[int], None] = lambda num_samples: None,
    ) -> None:
        """Take what all files have in common.

        Args:
            narrator: the names of the voices, for the tags.
            progress: called with the number of samples encoded since its last call.
        """
        self._output = output
        self._pipeline = pipeline
        self._book = book
        self._narrator = narrator
        self._chapters = {chapter.number: chapter for chapter in script}
        self._joiner = joiner
        self._num_threads = num_threads
        self._progress = progress

    def run(self, items: Iterable[Mastered]) -> Iterator[WrittenFile]:
        """Yield what was written.

        Raises:
            OutputError: a file cannot be written, or is not as wanted when read back.
        """
        mastered = list(items)
        settings = self._pipeline.write
        if settings.split_chapters:
            yield from self._split(mastered)
        else:
            yield write_audiobook(
                self._output,
                settings.format,
                lambda index: self._pieces(mastered[index]),
                self._joiner.sampling_rate_hz,
                _marks(mastered),
                self._book,
                self._narrator,
                self._gain(mastered),
                self._ceiling_dbtp(),
                self._encoding(),
                self._progress,
            )

    def _split(self, mastered: list[Mastered]) -> Iterator[WrittenFile]:
        from pocket_batch.outputs.split import write_split

        yield from write_split(
            self._output,
            self._pipeline.write.format,
            lambda index: self._pieces(mastered[index]),
            self._joiner.sampling_rate_hz,
            _marks(mastered),
            self._book,
            self._narrator,
            [self._gain([chapter]) for chapter in mastered],
            self._ceiling_dbtp(),
            self._encoding(),
            self._progress,
        )

    def _pieces(self, mastered: Mastered) -> Iterator[Pcm]:
        number = mastered.chapter.number
        return self._joiner.pieces(number, self._chapters[number].lines, lead_in=True)

    def _gain(self, mastered: Sequence[Mastered]) -> float:
        """The linear gain of one output file. 1.0 when it is too quiet to have a loudness."""
        settings = self._pipeline.master
        whole = combined([m.measurement for m in mastered])
        if settings.loudness == "acx":
            return float(10 ** ((acx.AIM_RMS_DB - rms_db(whole.mean_square)) / 20))
        try:
            return gain_to_target(integrated_lufs(whole.block_powers), settings.target_lufs)
        except AudioError:
            return 1.0  # below the absolute gate: such a chapter is a breath, not speech

    def _ceiling_dbtp(self) -> float:
        settings = self._pipeline.master
        if settings.loudness != "acx":
            return settings.true_peak_dbtp
        return min(settings.true_peak_dbtp, acx.AIM_PEAK_DBTP)

    def _encoding(self) -> EncodeSettings:
        settings = self._pipeline.write
        return EncodeSettings(
            bit_rate_kbps=bit_rate_kbps(self._pipeline),
            sampling_rate_hz=acx.AIM_SAMPLING_RATE_HZ if _is_acx_mp3(self._pipeline) else None,
            use_system_ffmpeg=settings.system_ffmpeg,
            num_threads=self._num_threads,
        )


def bit_rate_kbps(pipeline: AudiobookPipeline) -> int | None:
    """The bit rate that is asked for; None is what suits the format."""
    acx_kbps = acx.AIM_MP3_KBPS if _is_acx_mp3(pipeline) else None
    return pipeline.write.bitrate_kbps or acx_kbps


def _is_acx_mp3(pipeline: AudiobookPipeline) -> bool:
    return pipeline.master.loudness == "acx" and pipeline.write.format == "mp3"


def _marks(mastered: Iterable[Mastered]) -> list[ChapterMark]:
    return [ChapterMark(m.chapter.title, m.chapter.num_samples) for m in mastered]
