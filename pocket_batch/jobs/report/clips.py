"""What of an utterance goes into a page: its outline, and its sound as text."""

import base64
import io
from dataclasses import dataclass

import numpy as np

from pocket_batch.audio.flac import decode_flac
from pocket_batch.audio.pcm import FULL_SCALE, Pcm
from pocket_batch.errors import AudioError
from pocket_batch.jobs.report.facts import Facts

NUM_BARS = 120  # of a waveform
# Of LAME at 24 kHz: 40 kbit/s, in which one voice sounds as in the FLAC file. MP3, since it plays
# in every browser; Opus where this libsndfile writes no MP3.
_KINDS = (
    ("MP3", "MPEG_LAYER_III", "audio/mpeg", {"compression_level": 0.8, "bitrate_mode": "CONSTANT"}),
    ("OGG", "OPUS", "audio/ogg", {"compression_level": 0.9}),
)


@dataclass(frozen=True, slots=True)
class Clip:
    """An utterance as a page shows it. `bars` are peaks, 0 to 1; `uri` is empty without sound."""

    bars: tuple[float, ...]
    duration_s: float
    uri: str = ""


def make_clip(facts: Facts, key: str, with_sound: bool) -> Clip | None:
    """The outline and perhaps the sound of an utterance; None when it is not there."""
    utterance = facts.utterances.get(key)
    if utterance is None:
        return None
    try:
        pcm = decode_flac(facts.work.audio(key))
    except AudioError:
        return None  # not spoken, speech that is not kept, or damaged
    rate = utterance.sampling_rate_hz
    uri = _data_uri(pcm, rate) if with_sound else ""
    return Clip(outline(pcm), len(pcm) / rate, uri)


def outline(pcm: Pcm, num_bars: int = NUM_BARS) -> tuple[float, ...]:
    """The peak of each of `num_bars` equal parts, 0 to 1; pcm of shape (num_samples,), int16."""
    if not len(pcm):
        return ()
    num_bars = min(num_bars, len(pcm))
    edges = np.arange(num_bars) * len(pcm) // num_bars
    peaks = np.maximum.reduceat(np.abs(pcm.astype(np.int32)), edges)
    return tuple(round(float(peak) / FULL_SCALE, 3) for peak in peaks)


def _data_uri(pcm: Pcm, rate_hz: int) -> str:
    """The sound as a `data:` URI; empty when nothing here can encode it."""
    import soundfile

    for file_format, subtype, media_type, options in _KINDS:
        buffer = io.BytesIO()
        try:
            soundfile.write(buffer, pcm, rate_hz, format=file_format, subtype=subtype, **options)
        except (soundfile.LibsndfileError, ValueError, TypeError):
            continue  # an older libsndfile
        return f"data:{media_type};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
    return ""
