"""One audio file of a book, or of one chapter: encode, tag, read back, and only then name it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, log10
from pathlib import Path

from pocket_batch.audio.ffmpeg import encode, find_ffmpeg, pcm_input
from pocket_batch.audio.loudness import integrated_lufs, rms_db
from pocket_batch.audio.metadata import ChapterSpan, one_line
from pocket_batch.audio.probe import Probe
from pocket_batch.audio.tags import Tags, book_tags, write_tags
from pocket_batch.data import Book
from pocket_batch.errors import AudioError
from pocket_batch.outputs.aac import aac_command, encode_book
from pocket_batch.outputs.folder import move, work_folder
from pocket_batch.outputs.formats import (
    AudioFormat,
    check_size,
    encoder_options,
    output_format,
    output_rate,
)
from pocket_batch.outputs.m4b import mux
from pocket_batch.outputs.pcm import ChapterPcm, FinishedPcm, Progress
from pocket_batch.outputs.verify import Expected, verify

BARE = ("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact")  # tags come later


@dataclass(frozen=True, slots=True)
class ChapterMark:
    """A chapter by its title and its exact length, pauses included."""

    title: str
    num_samples: int


@dataclass(frozen=True, slots=True)
class EncodeSettings:
    """How to encode. None means what suits the format, or the rate of the samples.

    `num_threads` encode parts of an M4B, or several files of a split book, at the same time.
    """

    bit_rate_kbps: int | None = None
    sampling_rate_hz: int | None = None
    use_system_ffmpeg: bool = False
    num_threads: int = 1


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A finished file. Bit rate and size are those of the file with cover and tags.

    `lufs`, `rms_db` and `true_peak_dbtp` were measured on the samples given to the encoder.
    `warnings` are sentences about what could not be written, such as a broken cover.
    """

    path: Path
    num_samples: int
    duration_s: float
    num_chapters: int
    num_bytes: int
    bit_rate_kbps: float
    sampling_rate_hz: int
    lufs: float
    rms_db: float
    true_peak_dbtp: float
    warnings: tuple[str, ...] = ()


def write_audiobook(
    target: Path,
    file_format: str,
    chapter_pcm: ChapterPcm,
    sampling_rate_hz: int,
    marks: Sequence[ChapterMark],
    book: Book,
    narrator: str,
    gain: float,
    ceiling_dbtp: float,
    settings: EncodeSettings | None = None,
    progress: Progress = lambda num_samples: None,
) -> WrittenFile:
    """Write a book as one file with chapters.

    Args:
        target: the file to make or replace; its folder is made if needed.
        file_format: a key of `OUTPUTS`.
        chapter_pcm: gives the int16 pieces of the chapter with an index into `marks`, before gain.
            It may be called again, and from other threads.
        sampling_rate_hz: of the pieces.
        marks: the chapters in order; those without samples are left out.
        gain: linear factor, such as `gain_to_target` gives.
        ceiling_dbtp: highest true peak of the samples given to the encoder.
        progress: see `FinishedPcm`.

    Raises:
        UsageError: there is no such format.
        AudioError: there are no samples.
        OutputError: the file cannot be written, or was not as wanted; `target` is untouched then.
    """
    tags, warnings = book_tags(book, narrator)
    spans = chapter_spans(marks)
    pcm = FinishedPcm(chapter_pcm, spans, sampling_rate_hz, gain, ceiling_dbtp, progress)
    chapters = [span for span in spans if span.end > span.begin]
    written = write_file(target, file_format, pcm, tags, chapters, settings or EncodeSettings())
    return replace(written, warnings=warnings)


def write_file(
    target: Path,
    file_format: str,
    pcm: FinishedPcm,
    tags: Tags,
    chapters: Sequence[ChapterSpan],
    settings: EncodeSettings,
) -> WrittenFile:
    """Write samples with tags and chapters as one file; errors as in `write_audiobook`."""
    kind = output_format(file_format)
    if not pcm.num_samples:
        raise AudioError(f"{target} was not written, because there is no audio to put into it.")
    rate_hz = output_rate(kind, settings.sampling_rate_hz or pcm.sampling_rate_hz)
    expected = Expected(
        file_format,
        kind.codec,
        Fraction(pcm.num_samples, pcm.sampling_rate_hz),
        kind.tolerance_s,
        tuple(chapters),
        pcm.sampling_rate_hz,
        tags,
    )
    check_size(kind, round(expected.duration_s * rate_hz), str(target))
    with work_folder(target) as folder:
        made = _encode(folder, target, kind, pcm, chapters, rate_hz, settings)
        write_tags(made, file_format, tags, chapters, pcm.sampling_rate_hz)
        found = verify(made, expected, settings.use_system_ffmpeg)
        move(made, target)
    return _written(target, pcm, len(chapters), rate_hz, found)


def chapter_spans(marks: Sequence[ChapterMark]) -> list[ChapterSpan]:
    """Where each chapter lies: the first begins at 0, each at the end of the one before.

    An empty title becomes the number of the chapter, since players show nothing for it.
    """
    spans: list[ChapterSpan] = []
    begin = 0
    for number, mark in enumerate(marks, start=1):
        title = one_line(mark.title) or str(number)
        spans.append(ChapterSpan(title, begin, begin + mark.num_samples))
        begin += mark.num_samples
    return spans


def _encode(
    folder: Path,
    target: Path,
    kind: AudioFormat,
    pcm: FinishedPcm,
    chapters: Sequence[ChapterSpan],
    rate_hz: int,
    settings: EncodeSettings,
) -> Path:
    """Encode everything to a file in `folder`."""
    ffmpeg = find_ffmpeg(settings.use_system_ffmpeg)
    bit_rate = settings.bit_rate_kbps or kind.bit_rate_kbps or 0
    if kind.codec == "aac":
        command = aac_command(ffmpeg, pcm.sampling_rate_hz, rate_hz, bit_rate)
        frames = encode_book(pcm, command, rate_hz, folder, settings.num_threads, target)
        ratio = Fraction(rate_hz, pcm.sampling_rate_hz)
        scaled = [
            ChapterSpan(c.title, round(c.begin * ratio), round(c.end * ratio)) for c in chapters
        ]
        return mux(frames, scaled, round(pcm.num_samples * ratio), rate_hz, ffmpeg, folder, target)
    made = folder / f"encoded{kind.suffix}"
    options = [*encoder_options(kind, bit_rate), "-ar", str(rate_hz), *BARE, "-y", str(made)]
    begin = [ffmpeg, "-hide_banner", "-v", "error", *pcm_input(pcm.sampling_rate_hz)]
    encode(pcm.everything(), [*begin, *options], target)
    return made


def _written(
    target: Path, pcm: FinishedPcm, num_chapters: int, rate_hz: int, found: Probe
) -> WrittenFile:
    measured = pcm.measured()
    return WrittenFile(
        path=target,
        num_samples=pcm.num_samples,
        duration_s=pcm.num_samples / pcm.sampling_rate_hz,
        num_chapters=num_chapters,
        num_bytes=target.stat().st_size,
        bit_rate_kbps=found.bit_rate_kbps,
        sampling_rate_hz=rate_hz,
        lufs=integrated_lufs(measured.block_powers),
        rms_db=rms_db(measured.mean_square),
        true_peak_dbtp=20 * log10(measured.true_peak) if measured.true_peak else -inf,
    )
