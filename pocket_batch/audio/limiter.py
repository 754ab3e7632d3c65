"""A look-ahead limiter for true peaks that works on a stream and leaves quiet audio untouched."""

import math

import numpy as np
from numpy.typing import NDArray

from pocket_batch.audio.pcm import Samples
from pocket_batch.audio.true_peak import (
    LEFT,
    RIGHT,
    interval_peaks,
    max_overshoot,
    spans_above,
)

Reduction = NDArray[np.float64]

HEADROOM_DB = 0.1  # 4x oversampling reads up to 0.1 dB low on speech, and rounding adds a little
ATTACK_MS = 2.5  # the gain falls within twice this time before a peak
RELEASE_MS = 80.0  # time constant of the recovery; shorter ones follow the pitch and distort
NEGLIGIBLE = 1e-4  # a reduction below 0.001 dB is none


class Limiter:
    """Keeps the true peak of mono audio at or below a ceiling.

    Where no peak comes near, samples pass bit for bit. Around a peak the gain falls smoothly
    beforehand and recovers exponentially afterwards. As many samples come out as went in, not
    delayed: `process` holds back the last few milliseconds and `flush` returns them.

    Reduction means 1 - gain, so "none" is zero. It is worked out in three steps: what each sample
    needs; a running maximum that decays (release); the maximum over a window, smoothed by a
    kernel no longer than that window (attack), so the result is never less than needed.
    """

    def __init__(self, sampling_rate_hz: int, ceiling_dbtp: float) -> None:
        self._ceiling = 10 ** ((ceiling_dbtp - HEADROOM_DB) / 20)
        self._box = 2 * math.ceil(ATTACK_MS * sampling_rate_hz / 2000) + 1
        self._hold = self._box - 1 + RIGHT  # the gain stays flat over the interpolator's taps
        self._reach = self._hold + self._box - 1  # of hold and smoothing together
        self._decay = 1000 / (RELEASE_MS * sampling_rate_hz)  # nepers per sample
        self._carry = 0.0  # reduction at the last sample, for the release
        self._latency = self._reach + RIGHT
        self._samples = np.zeros(self._latency, np.float32)  # not returned yet
        self._reduction = np.zeros(2 * self._reach)  # around the next sample to return
        self._num_to_skip = self._latency  # the zeros above

    def process(self, chunk: Samples) -> Samples:
        """Limit the next chunk (num_samples,) and return what is finished, of any length."""
        if not len(chunk):
            return chunk
        num_new = len(chunk)
        samples = np.concatenate((self._samples, chunk))
        needed = self._needed(samples[self._reach - RIGHT :])  # (num_new,)
        reduction = np.concatenate((self._reduction, self._release(needed)))
        limited = samples[:num_new]
        if reduction.any():
            limited = (limited * (1.0 - self._smooth(reduction))).astype(np.float32)
        self._samples, self._reduction = samples[num_new:], reduction[num_new:]
        num_skipped = min(self._num_to_skip, num_new)
        self._num_to_skip -= num_skipped
        return limited[num_skipped:]

    def flush(self) -> Samples:
        """Return the samples still held back; the limiter is not used afterwards."""
        return self.process(np.zeros(self._latency, np.float32))

    def _needed(self, samples: Samples) -> Reduction:
        """Reduction that each sample needs, itself and in the intervals beside it.

        Args:
            samples: shape (num_new + 2 * RIGHT,), with RIGHT samples of context on both sides.
        """
        peaks = np.zeros(len(samples), np.float32)
        for begin, end in spans_above(samples, self._ceiling / max_overshoot()):
            peaks[begin:end] = np.maximum(peaks[begin:end], np.abs(samples[begin:end]))
            first = max(begin - LEFT, 0)
            between = interval_peaks(samples[first : end + RIGHT])  # starts at first + LEFT
            for shift in (0, 1):  # an interval concerns the samples at both its ends
                part = peaks[first + LEFT + shift :][: len(between)]
                np.maximum(part, between[: len(part)], out=part)
        peaks = peaks[RIGHT:-RIGHT]
        needed = np.zeros(len(peaks))
        over = np.flatnonzero(peaks > self._ceiling)
        needed[over] = 1.0 - self._ceiling / peaks[over]
        return needed

    def _release(self, needed: Reduction) -> Reduction:
        """Running maximum of `needed` that decays exponentially: max(needed[n], k * result[n-1]).

        In logarithms the recursion is a cumulative maximum, which numpy does in one pass.
        """
        over = np.flatnonzero(needed)
        if not len(over) and self._carry == 0.0:
            return needed
        decay_length = math.ceil(-math.log(NEGLIGIBLE) / self._decay)
        end = min((int(over[-1]) if len(over) else 0) + decay_length, len(needed))
        begin = 0 if self._carry > 0 else int(over[0])
        ramp = self._decay * np.arange(end - begin)
        with np.errstate(divide="ignore"):  # log(0) = -inf is what "no reduction" means here
            logs = np.log(needed[begin:end]) + ramp
            logs[0] = max(logs[0], float(np.log(self._carry)) - self._decay)
        released = np.exp(np.maximum.accumulate(logs) - ramp)
        released[released < NEGLIGIBLE] = 0.0
        result = np.zeros(len(needed))
        result[begin:end] = released
        self._carry = float(result[-1])
        return result

    def _smooth(self, reduction: Reduction) -> Reduction:
        """Hold and smooth: shape (num_new + 2 * reach,) -> (num_new,)."""
        from scipy.ndimage import maximum_filter1d, uniform_filter1d

        num_new = len(reduction) - 2 * self._reach
        smooth = np.zeros(num_new)
        active = np.flatnonzero(reduction)
        begin = max(int(active[0]) - 2 * self._reach, 0)
        end = min(int(active[-1]) + 1 + 2 * self._reach, len(reduction))
        held = maximum_filter1d(reduction[begin:end], 2 * self._hold + 1, mode="constant")
        for _ in range(2):  # two boxes make a triangle, 2 * box - 1 samples long
            held = uniform_filter1d(held, self._box, mode="constant")
        inner = held[self._reach : len(held) - self._reach]
        smooth[begin : begin + len(inner)] = np.maximum(inner, 0.0)
        return smooth
