"""The quiet noise of a room, for pauses that shall not be digitally silent."""

from functools import lru_cache

import numpy as np

from pocket_batch.audio.pcm import FULL_SCALE, Pcm

LOOP_S = 10
SEED = 0
CUTOFF_HZ = 400.0  # a room hums below, and hisses little above


def room_tone(num_samples: int, sampling_rate_hz: int, level_db: float, start: int) -> Pcm:
    """A stretch of the same endless noise, shape (num_samples,), from sample `start` of it.

    Args:
        level_db: RMS, dB of full scale.
    """
    loop = _loop(sampling_rate_hz)
    indices = (start + np.arange(num_samples)) % len(loop)
    noise = loop[indices] * np.float32(FULL_SCALE * 10 ** (level_db / 20))  # (S,)
    return np.asarray(np.rint(noise), np.int16)


@lru_cache(maxsize=4)
def _loop(sampling_rate_hz: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Noise of RMS 1 that falls by 6 dB an octave above the cut-off; its end fits its beginning."""
    num = LOOP_S * sampling_rate_hz
    white = np.fft.rfft(np.random.default_rng(SEED).standard_normal(num))
    frequencies = np.fft.rfftfreq(num, 1 / sampling_rate_hz)
    shaped = np.fft.irfft(white / np.sqrt(1 + (frequencies / CUTOFF_HZ) ** 2), num)
    return np.asarray(shaped / np.sqrt(np.mean(shaped**2)), np.float32)
