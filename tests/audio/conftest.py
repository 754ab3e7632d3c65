"""Signals that the audio tests share."""

import numpy as np
import pytest
from numpy.typing import NDArray

RATE_HZ = 24_000


@pytest.fixture(scope="session")
def speechlike() -> NDArray[np.float32]:
    """Twelve seconds at 24 kHz of band-limited noise in syllables, with peaks up to 1.0."""
    from scipy.signal import butter, sosfilt

    noise = np.random.default_rng(7).standard_normal(12 * RATE_HZ)
    band = sosfilt(butter(4, [120, 4000], "band", fs=RATE_HZ, output="sos"), noise)
    syllables = np.clip(np.sin(np.arange(len(band)) / RATE_HZ * 8), 0, 1) ** 2
    signal = band * syllables
    return np.asarray(signal / np.abs(signal).max(), np.float32)
