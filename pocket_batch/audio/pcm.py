"""Mono samples as int16, and their conversion to and from floating point."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

Pcm = NDArray[np.int16]
Samples = NDArray[np.float32]

FULL_SCALE = 32768  # int16 value of 1.0; the largest positive sample is 32767
MAX_CHUNK_S = 10  # longer pieces are processed in parts, so memory stays bounded


def to_float(pcm: Pcm, gain: float = 1.0) -> Samples:
    """int16 to float32 with full scale 1.0, times `gain`."""
    return pcm * np.float32(gain / FULL_SCALE)


def to_int16(samples: Samples) -> Pcm:
    """Round to the nearest int16; what exceeds full scale is clipped."""
    scaled = np.rint(samples * np.float32(FULL_SCALE))
    return np.asarray(np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1), np.int16)


def bounded_chunks(pieces: Iterable[Pcm], sampling_rate_hz: int) -> Iterator[Pcm]:
    """The same samples in chunks of at most MAX_CHUNK_S."""
    size = MAX_CHUNK_S * sampling_rate_hz
    for piece in pieces:
        for begin in range(0, len(piece), size):
            yield piece[begin : begin + size]
