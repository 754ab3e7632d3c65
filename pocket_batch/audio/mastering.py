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
from pocket_batch.audio.room_tone import room_tone
from pocket_batch.errors import OutputError
from pocket_batch.settings import MasterSettings

WINDOW_MS = 5  # resolution at which silence is found
SILENT_DBFS = -70.0  # an utterance that never gets louder has no speech in it


def utterance_piece(
    pcm: Pcm,
    sampling_rate_hz: int,
    pause_after_ms: int,
    settings: MasterSettings,
    gain_db: float = 0.0,
    place: int = 0,
) -> Pcm:
    """Trim an utterance, set its level, fade its ends, and append its pause.

    Args:
        pcm: shape (num_samples,), mono.
        settings: of these `trim_below_peak_db`, `keep_ms`, `fade_ms` and `room_tone_db`.
        gain_db: of the speech; less where its peak would exceed full scale.
        place: where the noise of the pause begins, see `room_tone`.

    Returns:
        Shape (num_kept + pause,), a new array; only the pause when there is no speech.
    """
    begin, end = speech_bounds(pcm, sampling_rate_hz, settings)
    segment = _audio_segment()
    piece = segment.silent(duration=pause_after_ms, frame_rate=sampling_rate_hz)
    num_pause = int(piece.frame_count())
    if begin < end:
        speech = segment(
            data=_scaled(pcm[begin:end], gain_db).tobytes(),
            sample_width=2,
            frame_rate=sampling_rate_hz,
            channels=1,
        )
        fade_ms = min(settings.fade_ms, len(speech) // 2)
        piece = speech.fade_in(fade_ms).fade_out(fade_ms).append(piece, crossfade=0)
    samples = np.frombuffer(piece.raw_data, np.int16)
    if settings.room_tone_db is None or not num_pause:
        return samples
    noise = room_tone(num_pause, sampling_rate_hz, settings.room_tone_db, place)
    return np.concatenate([samples[: len(samples) - num_pause], noise])


def _scaled(pcm: Pcm, gain_db: float) -> Pcm:
    """The same speech louder or softer, but not beyond full scale."""
    if not gain_db:
        return pcm
    peak = float(np.abs(pcm.astype(np.int32)).max(initial=1))
    gain = min(10 ** (gain_db / 20), max(1.0, (FULL_SCALE - 1) / peak))
    return to_int16(to_float(pcm, gain))


def silence(duration_ms: int, sampling_rate_hz: int, settings: MasterSettings | None = None) -> Pcm:
    """A pause alone, shape (num_samples,), as long as one of `utterance_piece`."""
    nothing = np.zeros(0, np.int16)
    return utterance_piece(nothing, sampling_rate_hz, duration_ms, settings or MasterSettings())


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
