"""AAC in M4B, encoded in several parts at once and spliced frame by frame.

An AAC frame is 1,024 samples and overlaps its neighbours by half its window. The encoder puts one
priming frame before the first sample. A part begins at a multiple of 1,024 samples of the book,
inside the silence that ends a chapter; its priming frame is dropped, and the last frame of the
part before takes its place. Both hold nothing but silence there, so nothing is heard or lost, and
the joined frames are those of one encode. Where parts begin depends on the book alone, so the
bytes do not depend on the number of threads.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from pocket_batch.audio.ffmpeg import encode, pcm_input
from pocket_batch.audio.metadata import ChapterSpan
from pocket_batch.audio.pcm import Pcm
from pocket_batch.errors import OutputError
from pocket_batch.outputs.pcm import FinishedPcm
from pocket_batch.outputs.threads import Tasks

FRAME = 1024  # samples; ISO/IEC 14496-3, section 4.5.1.1
HEADER_BYTES = 7  # of an ADTS frame without checksum; ISO/IEC 14496-3, section 1.A.2
COPY_BYTES = 1 << 20
MIN_PART_S = 600  # shorter parts gain nothing: starting an encoder costs 0.05 s
LEAD_IN = 2 * FRAME  # silent samples, at least, between the splice and the next chapter
SILENT_TAIL = 4 * FRAME  # silent samples that a chapter before a splice must end with


@dataclass(frozen=True, slots=True)
class Part:
    """Chapters `first` up to `end`, encoded at once: samples `begin` up to `stop` of the book."""

    first: int
    end: int
    begin: int
    stop: int


class NotSilentError(Exception):
    """A chapter before a planned splice does not end in silence."""


def encode_book(
    pcm: FinishedPcm,
    command: Callable[[Path], list[str]],
    rate_hz: int,
    folder: Path,
    num_threads: int,
    target: Path,
) -> Iterator[bytes]:
    """Encode all chapters, in parts where their silences allow, to the ADTS frames of the book.

    Arguments and errors are those of `encode_parts`; `rate_hz` is that of the frames. Resampling
    moves samples off the borders of frames, so a book at another rate is encoded in one part.
    """
    is_resampled = rate_hz != pcm.sampling_rate_hz
    parts = (whole(pcm.spans),) if is_resampled else plan_parts(pcm.spans, rate_hz)
    try:
        paths = encode_parts(pcm, parts, command, folder, num_threads, target)
    except NotSilentError:
        pcm.forget()
        parts = (whole(pcm.spans),)
        paths = encode_parts(pcm, parts, command, folder, 1, target)
    lengths = [(part.stop - part.begin) * rate_hz // pcm.sampling_rate_hz for part in parts]
    return joined_frames(paths, lengths)


def whole(spans: Sequence[ChapterSpan]) -> Part:
    """A book as one part."""
    return Part(0, len(spans), 0, spans[-1].end)


def plan_parts(spans: Sequence[ChapterSpan], sampling_rate_hz: int) -> tuple[Part, ...]:
    """Group chapters into parts of at least MIN_PART_S; the last may be shorter."""
    parts: list[Part] = []
    first, begin = 0, 0
    for end, span in enumerate(spans, start=1):
        is_last = end == len(spans)
        if is_last or span.end - begin >= MIN_PART_S * sampling_rate_hz:
            stop = span.end if is_last else (span.end - LEAD_IN) // FRAME * FRAME
            parts.append(Part(first, end, begin, stop))
            first, begin = end, stop
    return tuple(parts)


def part_pcm(pcm: FinishedPcm, part: Part) -> Iterator[Pcm]:
    """The raw samples of a part: silence up to its first chapter, then without its last silence.

    Raises:
        NotSilentError: there is sound where the part was to end.
    """
    yield np.zeros(pcm.spans[part.first].begin - part.begin, np.int16)
    pieces = pcm.raw(part.first, part.end)
    num_left_out = pcm.spans[part.end - 1].end - part.stop
    yield from _without_tail(pieces, num_left_out) if num_left_out else pieces


def _without_tail(pieces: Iterable[Pcm], num_left_out: int) -> Iterator[Pcm]:
    held = np.zeros(0, np.int16)
    for piece in pieces:
        held = np.concatenate((held, piece))
        if len(held) > SILENT_TAIL:
            yield held[:-SILENT_TAIL]
            held = held[-SILENT_TAIL:]
    if held.any() or len(held) < SILENT_TAIL:
        raise NotSilentError
    yield held[:-num_left_out]


def aac_command(
    ffmpeg: str, input_hz: int, output_hz: int, bit_rate_kbps: int
) -> Callable[[Path], list[str]]:
    """The command that encodes PCM on standard input to ADTS frames.

    The fast coder costs a third less than ffmpeg's usual one at the same bit rate.
    """
    options = ["-c:a", "aac", "-aac_coder", "fast", "-b:a", f"{bit_rate_kbps}k"]
    rate = ["-ar", str(output_hz)]
    begin = [ffmpeg, "-hide_banner", "-v", "error", *pcm_input(input_hz), *options, *rate]
    return lambda path: [*begin, "-f", "adts", "-y", str(path)]


def encode_parts(
    pcm: FinishedPcm,
    parts: Sequence[Part],
    command: Callable[[Path], list[str]],
    folder: Path,
    num_threads: int,
    target: Path,
) -> list[Path]:
    """Encode each part to a file of ADTS frames in `folder`; the files in order.

    Args:
        command: gives the ffmpeg command that encodes standard input to a path.
        target: the file that errors are about.

    Raises:
        NotSilentError: the book cannot be spliced where `parts` says.
        OutputError: an encoder failed.
    """
    tasks = Tasks(num_threads)

    def encode_part(number: int) -> Path:
        path = folder / f"part{number:04d}.aac"
        pieces = tasks.stoppable(part_pcm(pcm, parts[number]))
        encode(pcm.finished(pieces), command(path), target)
        return path

    return tasks.run([partial(encode_part, number) for number in range(len(parts))])


def joined_frames(paths: Sequence[Path], lengths: Sequence[int]) -> Iterator[bytes]:
    """The ADTS frames of a whole book from those of its parts; a part that was read is deleted.

    Args:
        lengths: samples of each part, all but the last a multiple of FRAME.

    Returns:
        One priming frame, then ceil(num_samples / FRAME) frames.

    Raises:
        OutputError: a part has too few frames.
    """
    for number, (path, num_samples) in enumerate(zip(paths, lengths, strict=True)):
        num_wanted = 1 + -(-num_samples // FRAME)
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            begin = 0 if number == 0 else _skip_frames(data, 0, 1, path)
            end = _skip_frames(data, 0, num_wanted, path)
            for start in range(begin, end, COPY_BYTES):
                yield data[start : min(start + COPY_BYTES, end)]
        path.unlink()


def _skip_frames(data: mmap, position: int, num_frames: int, path: Path) -> int:
    """The offset `num_frames` ADTS frames after `position`."""
    size = len(data)
    for number in range(num_frames):
        if position + HEADER_BYTES > size:
            raise OutputError(
                f"{path.name} has {number} AAC frames, and {num_frames} were wanted. "
                "This encoder cannot be used: choose the ffmpeg that came along."
            )
        high, middle, low = data[position + 3 : position + 6]  # 13 bits of length among others
        position += (high & 3) << 11 | middle << 3 | low >> 5
    return min(position, size)
