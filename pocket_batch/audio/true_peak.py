"""True peak after ITU-R BS.1770-4, annex 2: the peak of the signal between its samples."""

from functools import cache

import numpy as np

from pocket_batch.audio.pcm import Samples

OVERSAMPLING = 4  # ITU-R BS.1770-4, annex 2: at least 192 kHz for 48 kHz audio
NUM_TAPS = 12  # per phase, as the 48-tap filter of annex 2
LEFT = NUM_TAPS // 2 - 1  # samples needed before the one an interval starts at
RIGHT = NUM_TAPS // 2  # samples needed after it
BLOCK = 128  # granularity, in samples, at which quiet passages are skipped
ROWS = 4096  # windows multiplied at once, so that they stay in the cache
KAISER_BETA = 5.0  # reads within 0.15 dB of 32x oversampling up to 0.35 of the sampling rate


class TruePeakMeter:
    """The largest true peak of mono audio that arrives chunk by chunk.

    Passages that cannot exceed the peak found so far are not oversampled, which changes nothing:
    an interpolated value is at most `max_overshoot()` times the samples around it.
    """

    def __init__(self) -> None:
        self._peak = 0.0
        self._context = np.zeros(NUM_TAPS - 1, np.float32)

    def add(self, samples: Samples) -> None:
        """Measure the next chunk: shape (num_samples,), mono, full scale is 1.0."""
        if not len(samples):
            return
        self._peak = max(self._peak, float(samples.max()), -float(samples.min()))
        joined = np.concatenate((self._context, samples))
        for begin, end in spans_above(joined, self._peak / max_overshoot()):
            found = interval_peaks(joined[max(begin - LEFT, 0) : end + RIGHT])
            self._peak = max(self._peak, float(found.max(initial=0.0)))
        self._context = joined[-(NUM_TAPS - 1) :]

    def result(self) -> float:
        """The true peak so far as a linear amplitude, 1.0 is full scale (0 dBTP)."""
        return self._peak


@cache
def interpolation_filter() -> Samples:
    """Windowed-sinc taps (OVERSAMPLING - 1, NUM_TAPS) of the points between two samples."""
    offsets = np.arange(-LEFT, RIGHT + 1)
    fractions = np.arange(1, OVERSAMPLING)[:, None] / OVERSAMPLING
    distance = fractions - offsets  # (phases, taps), in samples
    window = np.i0(KAISER_BETA * np.sqrt(1 - (distance / (NUM_TAPS / 2)) ** 2))
    taps = np.sinc(distance) * window
    return np.asarray(taps / taps.sum(axis=1, keepdims=True), np.float32)


@cache
def max_overshoot() -> float:
    """How far an interpolated value can exceed the samples around it: the filter's L1 norm."""
    return float(np.abs(interpolation_filter()).sum(axis=1).max())


def interval_peaks(samples: Samples) -> Samples:
    """Largest interpolated magnitude between each two neighbouring samples.

    Args:
        samples: shape (num_samples,).

    Returns:
        Shape (num_samples - NUM_TAPS + 1,): entry i is for the interval from sample i + LEFT to
        sample i + LEFT + 1; empty when there are fewer than NUM_TAPS samples.
    """
    if len(samples) < NUM_TAPS:
        return np.zeros(0, np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(samples, NUM_TAPS)  # (S, NUM_TAPS)
    taps = interpolation_filter()
    peaks = np.empty(len(windows), np.float32)
    for begin in range(0, len(windows), ROWS):
        points = taps @ windows[begin : begin + ROWS].T  # (phases, rows)
        np.abs(points, out=points)
        np.max(points, axis=0, out=peaks[begin : begin + ROWS])
    return peaks


def spans_above(samples: Samples, threshold: float) -> list[tuple[int, int]]:
    """Spans [begin, end) outside which no sample within NUM_TAPS exceeds `threshold`.

    Whole blocks with the blocks beside them; spans that touch are merged.
    """
    num_blocks = -(-len(samples) // BLOCK)
    padded = np.zeros(num_blocks * BLOCK, np.float32)
    np.abs(samples, out=padded[: len(samples)])
    loud = np.flatnonzero(padded.reshape(num_blocks, BLOCK).max(axis=1) > threshold)
    spans: list[tuple[int, int]] = []
    for block in loud.tolist():
        begin, end = max(block - 1, 0) * BLOCK, min((block + 2) * BLOCK, len(samples))
        if spans and begin <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((begin, end))
    return spans
