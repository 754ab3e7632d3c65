"""From raw utterances to the samples of a file: trim, fade, pause; gain and limit."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from pocket_batch.audio.ffmpeg import find_ffmpeg
from pocket_batch.audio.limiter import Limiter
from pocket_batch.audio.pcm import FULL_SCALE, Pcm, bounded_chunks, to_float, to_int16
from pocket_batch.errors import OutputError
from pocket_batch.settings import MasterSettings

WINDOW_MS = 5  # resolution at which silence is found
SILENT_DBFS = -70.0  # an utterance that never gets louder has no speech in it


def utterance_piece(
    pcm: Pcm, sampling_rate_hz: int, pause_after_ms: int, settings: MasterSettings
) -> Pcm:
    """Trim an utterance, fade its ends, and append its pause.

    Args:
        pcm: shape (num_samples,), mono.
        settings: of these `trim_below_peak_db`, `keep_ms` and `fade_ms`.

    Returns:
        Shape (num_kept + pause,), a new array; only the pause when there is no speech.
    """
    begin, end = speech_bounds(pcm, sampling_rate_hz, settings)
    segment = _audio_segment()
    piece = segment.silent(duration=pause_after_ms, frame_rate=sampling_rate_hz)
    if begin < end:
        speech = segment(
            data=pcm[begin:end].tobytes(), sample_width=2, frame_rate=sampling_rate_hz, channels=1
        )
        fade_ms = min(settings.fade_ms, len(speech) // 2)
        piece = speech.fade_in(fade_ms).fade_out(fade_ms).append(piece, crossfade=0)
    return np.frombuffer(piece.raw_data, np.int16)


def silence(duration_ms: int, sampling_rate_hz: int) -> Pcm:
    """Digital silence, shape (num_samples,), as long as a pause of `utterance_piece`."""
    return utterance_piece(np.zeros(0, np.int16), sampling_rate_hz, duration_ms, MasterSettings())


def speech_bounds(pcm: Pcm, sampling_rate_hz: int, settings: MasterSettings) -> tuple[int, int]:
    """First sample and end of the speech in an utterance, with `keep_ms` around it.

    Silence is what stays `trim_below_peak_db` under the loudest 5 ms, since voices differ in
    level. (0, 0) when there is no speech. The length is a whole number of milliseconds where the
    rate allows.
    """
    window = max(sampling_rate_hz * WINDOW_MS // 1000, 1)
    num_windows = -(-len(pcm) // window)
    padded = np.zeros(num_windows * window, np.float32)
    padded[: len(pcm)] = pcm
    windows = padded.reshape(num_windows, window)
    powers = np.einsum("ij,ij->i", windows, windows) / (window * FULL_SCALE**2)
    peak = float(powers.max(initial=0.0))
    if peak < 10 ** (SILENT_DBFS / 10):
        return 0, 0
    loud = np.flatnonzero(powers > peak * 10 ** (-settings.trim_below_peak_db / 10))
    keep = sampling_rate_hz * settings.keep_ms // 1000
    begin = max(int(loud[0]) * window - keep, 0)
    end = min((int(loud[-1]) + 1) * window + keep, len(pcm))
    millisecond = max(sampling_rate_hz // 1000, 1)  # pydub cuts at whole milliseconds
    return begin, begin + (end - begin) // millisecond * millisecond


def gained(
    pieces: Iterable[Pcm], sampling_rate_hz: int, gain: float, ceiling_dbtp: float
) -> Iterator[Pcm]:
    """Scale by a constant gain and limit the true peak; as many samples come out as go in.

    Args:
        gain: linear factor; with 1.0 and no peak near the ceiling samples pass unchanged.
        ceiling_dbtp: highest true peak of the result.
    """
    limiter = Limiter(sampling_rate_hz, ceiling_dbtp)
    for chunk in bounded_chunks(pieces, sampling_rate_hz):
        yield to_int16(limiter.process(to_float(chunk, gain)))
    yield to_int16(limiter.flush())


@cache
def _audio_segment() -> Any:
    """pydub's class, imported when needed and pointed at our ffmpeg.

    pydub warns on import when no ffmpeg is on the path. It never starts one here: it only cuts,
    fades and joins samples.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydub import AudioSegment

    with suppress(OutputError):
        AudioSegment.converter = find_ffmpeg()
    return AudioSegment
