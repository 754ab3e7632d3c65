"""What is really in an audio file, as ffmpeg reads it; imageio-ffmpeg brings no ffprobe."""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pocket_batch.audio.ffmpeg import find_ffmpeg, run
from pocket_batch.audio.metadata import FoundChapter
from pocket_batch.errors import OutputError

# `  Stream #0:0[0x1](und): Audio: aac (LC) (mp4a / 0x6134706D), 24000 Hz, mono, fltp, 58 kb/s`
_AUDIO = re.compile(r"Stream #0:\d+.*?: Audio: (\w+).*?, (\d+) Hz, ([^,\n]+)")
_COVER = re.compile(r"Stream #0:\d+.*?: Video: \w+.*\(attached pic\)")
_END = re.compile(r"(?m)^out_time_us=(\d+)$")  # `out_time_us=19037500` -> 19037500
# `    Chapter #0:1: start 14.013000, end 28.026000\n      Metadata:\n        title           : Two`
_CHAPTER = re.compile(
    r"Chapter #0:\d+: start ([\d.]+), end ([\d.]+)\n(?: +Metadata:\n +title +: (.*))?"
)
_LOUDNESS = re.compile(r"I:\s+(-?[\d.]+|-inf|nan) LUFS")  # `    I:  -23.0 LUFS` -> -23.0
_PEAK = re.compile(r"Peak:\s+(-?[\d.]+|-inf) dBFS")  # `    Peak:  -1.1 dBFS` -> -1.1


@dataclass(frozen=True, slots=True)
class Probe:
    """A file as read back. `duration_s` is where its last audio packet ends.

    `bit_rate_kbps` is that of the whole file, with cover and tags.
    """

    codec: str
    sampling_rate_hz: int
    num_channels: int
    duration_s: Fraction
    bit_rate_kbps: float
    has_cover: bool
    chapters: tuple[FoundChapter, ...]


def probe(path: Path, use_system: bool = False) -> Probe:
    """Read all packets of a file, without decoding them, and its chapters.

    Raises:
        OutputError: the file is damaged or has no audio.
    """
    begin = [find_ffmpeg(use_system), "-hide_banner", "-nostdin", "-progress", "pipe:2"]
    every_packet = ["-map", "0:a:0", "-c", "copy", "-f", "null", "-"]
    done = run([*begin, "-xerror", "-i", str(path), *every_packet], path)
    messages = done.stderr.decode("utf-8", "replace")
    source = messages.partition("Output #0")[0]
    audio, ends = _AUDIO.search(source), _END.findall(messages)
    if audio is None or not ends:
        raise OutputError(f"{path} has no audio in it after writing. Report this as a bug.")
    duration_s = Fraction(int(ends[-1]), 1_000_000)
    return Probe(
        codec=audio[1],
        sampling_rate_hz=int(audio[2]),
        num_channels={"mono": 1, "stereo": 2}.get(audio[3], 0),
        duration_s=duration_s,
        bit_rate_kbps=float(path.stat().st_size * 8 / 1000 / duration_s) if duration_s else 0.0,
        has_cover=_COVER.search(source) is not None,
        chapters=tuple(
            FoundChapter(title, Fraction(begin_s), Fraction(end_s))
            for begin_s, end_s, title in _CHAPTER.findall(source)
        ),
    )


def measure_loudness(path: Path, use_system: bool = False) -> tuple[float, float]:
    """Integrated loudness in LUFS and true peak in dBTP, as ffmpeg's ebur128 filter measures them.

    It decodes the whole file: for tests and reports.
    """
    filters = ["-af", "ebur128=peak=true:framelog=quiet", "-f", "null", "-"]
    done = run(
        [find_ffmpeg(use_system), "-hide_banner", "-nostdin", "-i", str(path), "-vn", *filters],
        path,
    )
    summary = done.stderr.decode("utf-8", "replace").rpartition("Summary:")[2]
    loudness, peak = _LOUDNESS.search(summary), _PEAK.search(summary)
    assert loudness, summary
    assert peak, summary
    return float(loudness[1]), float(peak[1])
