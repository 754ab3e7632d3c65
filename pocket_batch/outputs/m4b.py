"""M4B files: AAC frames, a chapter track, and time stamps that make the length exact."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pocket_batch.audio.ffmpeg import encode
from pocket_batch.audio.metadata import ChapterSpan, dump_chapters
from pocket_batch.outputs.aac import FRAME

ADTS_TIME_BASE = 28_224_000  # ticks per second of ffmpeg's ADTS reader: all AAC rates divide it
MAX_NERO_CHAPTERS = 255  # the count of the atom `chpl` is one byte


def mux(
    frames: Iterable[bytes],
    spans: Sequence[ChapterSpan],
    num_samples: int,
    sampling_rate_hz: int,
    ffmpeg: str,
    folder: Path,
    target: Path,
) -> Path:
    """Put ADTS frames and chapters into an M4B that plays exactly `num_samples`.

    Time stamps start one frame before zero, which tells players to skip the priming frame, and
    the last frame is declared as short as it is.

    Args:
        spans: the chapters, in samples; none for a file without chapters.
        num_samples: of the whole file.
        folder: where the file `muxed.m4b` and the chapters for ffmpeg are put.
    """
    chapters, muxed = folder / "chapters.txt", folder / "muxed.m4b"
    chapters.write_text(dump_chapters(spans, sampling_rate_hz), encoding="utf-8")
    num_frames = 1 + -(-num_samples // FRAME)
    last = num_samples - (num_frames - 2) * FRAME
    tick = ADTS_TIME_BASE // sampling_rate_hz
    durations = rf"if(eq(N\,{num_frames - 1})\,{last * tick}\,{FRAME * tick})"
    stamps = f"setts=ts=(N-1)*{FRAME * tick}:duration={durations}"
    flags = "+faststart" + ("+disable_chpl" if len(spans) > MAX_NERO_CHAPTERS else "")
    inputs = ["-f", "aac", "-i", "pipe:0", "-f", "ffmetadata", "-i", str(chapters)]
    streams = ["-map", "0:a", "-map_metadata", "1", "-map_chapters", "1", "-c", "copy"]
    container = ["-movie_timescale", str(sampling_rate_hz), "-movflags", flags, "-f", "ipod"]
    command = [ffmpeg, "-hide_banner", "-v", "error", *inputs, *streams]
    command += ["-bsf:a", f"aac_adtstoasc,{stamps}", "-fflags", "+bitexact", *container]
    encode(frames, [*command, "-y", str(muxed)], target)
    return muxed
