"""Everything that is measured on joined audio, in one pass over its pieces."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pocket_batch.audio.loudness import LoudnessMeter, Powers
from pocket_batch.audio.pcm import Pcm, bounded_chunks, to_float
from pocket_batch.audio.quiet import Quiet, QuietMeter, joined
from pocket_batch.audio.true_peak import TruePeakMeter


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured on a chapter, on a part of one, or on a book.

    `block_powers` are for `integrated_lufs`, alone or concatenated with those of other chapters;
    `mean_square` is for `rms_db`; `true_peak` is a linear amplitude; `quiet` is for
    `noise_floor_db` and `silence_at_ends_s`.
    """

    num_samples: int
    block_powers: Powers
    mean_square: float
    true_peak: float
    quiet: Quiet


class Measuring:
    """Measures audio that arrives piece by piece."""

    def __init__(self, sampling_rate_hz: int) -> None:
        self._rate = sampling_rate_hz
        self._loudness = LoudnessMeter(sampling_rate_hz)
        self._peak = TruePeakMeter()
        self._quiet = QuietMeter(sampling_rate_hz)
        self._energy = 0.0
        self._num_samples = 0

    def add(self, piece: Pcm) -> None:
        """Measure the next piece: shape (num_samples,)."""
        for chunk in bounded_chunks([piece], self._rate):
            samples = to_float(chunk)
            self._loudness.add(samples)
            self._peak.add(samples)
            self._quiet.add(samples)
            self._energy += float(np.dot(samples, samples))
            self._num_samples += len(samples)

    def result(self) -> Measurement:
        """What was measured so far."""
        mean_square = self._energy / self._num_samples if self._num_samples else 0.0
        return Measurement(
            num_samples=self._num_samples,
            block_powers=self._loudness.result(),
            mean_square=mean_square,
            true_peak=self._peak.result(),
            quiet=self._quiet.result(),
        )


def measure(pieces: Iterable[Pcm], sampling_rate_hz: int) -> Measurement:
    """Measure the pieces of a chapter in order, holding one of them at a time."""
    measuring = Measuring(sampling_rate_hz)
    for piece in pieces:
        measuring.add(piece)
    return measuring.result()


def combined(parts: Sequence[Measurement]) -> Measurement:
    """The measurement of consecutive parts together.

    Loudness blocks across their borders are left out.
    """
    num_samples = sum(part.num_samples for part in parts)
    energy = sum(part.mean_square * part.num_samples for part in parts)
    return Measurement(
        num_samples=num_samples,
        block_powers=np.concatenate(
            [np.zeros(0, np.float32), *(part.block_powers for part in parts)]
        ),
        mean_square=energy / num_samples if num_samples else 0.0,
        true_peak=max((part.true_peak for part in parts), default=0.0),
        quiet=joined([part.quiet for part in parts]),
    )
