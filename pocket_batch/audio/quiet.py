"""What is not speech: the noise floor of a recording, and the silence at its head and tail."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pocket_batch.audio.loudness import Powers
from pocket_batch.audio.pcm import Samples

BLOCKS_PER_S = 100
WINDOW_BLOCKS = 50  # 500 ms, as the plug-in `ACX Check` of Audacity has it
EDGE_BLOCKS = 1_000  # of each end, 10 s are kept
SOUND_BELOW_RMS_DB = 40.0  # of a file at the -20 dB that ACX wants: its noise limit, -60 dB
SOUND_ABOVE_FLOOR_DB = 10.0
LOUDEST_SILENCE_DB = -10.0  # under the RMS: a steady sound has no silence at its ends


@dataclass(frozen=True, slots=True)
class Quiet:
    """What was measured of the quiet of a recording, before gain. Powers are mean squares.

    `floor` is that of the quietest 500 ms, infinite where there are fewer. `head` and `tail` are
    those of the first and the last 10 s or less, of 10 ms each.
    """

    floor: float
    head: Powers
    tail: Powers


NO_SOUND_DB = -200.0  # JSON knows no infinity
FAINTEST_DB = -150.0  # half a second of 16 bits with any sound in it is louder, whatever its gain
NOTHING = Quiet(math.inf, np.zeros(0, np.float32), np.zeros(0, np.float32))


class QuietMeter:
    """Measures the quiet of mono audio chunk by chunk; how it is cut changes nothing.

    Source: ACX Check 1.0 for Audacity, whose noise floor is the RMS level of the quietest 500 ms.
    """

    def __init__(self, sampling_rate_hz: int) -> None:
        self._rate = sampling_rate_hz
        self._num_samples = 0
        self._open_energy, self._open_begin = 0.0, 0  # of the block that is not full yet
        self._quiet = NOTHING

    def add(self, samples: Samples) -> None:
        """Measure the next chunk: shape (num_samples,), mono, full scale is 1.0."""
        if not len(samples):
            return
        begin, end = self._num_samples, self._num_samples + len(samples)
        edges = self._edges(begin, end)
        squares = np.square(samples)
        sums = np.add.reduceat(squares, np.concatenate(([0], edges - begin)), dtype=np.float64)
        if len(edges) and edges[0] == begin:
            sums[0] = 0.0  # reduceat gives the one sample there, and the next sum has it too
        sums[0] += self._open_energy
        self._open_energy = float(sums[-1])
        self._open_begin = int(edges[-1]) if len(edges) else self._open_begin
        self._num_samples = end
        blocks = np.asarray(sums[:-1] * (BLOCKS_PER_S / self._rate), np.float32)
        new = Quiet(_quietest(blocks), blocks[:EDGE_BLOCKS], blocks[-EDGE_BLOCKS:])
        self._quiet = joined([self._quiet, new])

    def result(self) -> Quiet:
        """What was measured so far; the last block counts when at least half of it is there."""
        num_open = self._num_samples - self._open_begin
        if num_open * 2 * BLOCKS_PER_S < self._rate:
            return self._quiet
        last = np.array([self._open_energy / num_open], np.float32)
        return joined([self._quiet, Quiet(math.inf, last, last)])

    def _edges(self, begin: int, end: int) -> NDArray[np.int64]:
        """Positions in [begin, end) at which a block starts, but for the very first."""
        first = max(begin * BLOCKS_PER_S // self._rate, 1)
        last = end * BLOCKS_PER_S // self._rate + 1
        edges = np.arange(first, last + 1, dtype=np.int64) * self._rate // BLOCKS_PER_S
        return edges[(edges >= begin) & (edges < end)]


def joined(parts: Sequence[Quiet]) -> Quiet:
    """The quiet of consecutive parts together, windows across their borders too."""
    whole = NOTHING
    for part in parts:
        reach = WINDOW_BLOCKS - 1
        across = np.concatenate([whole.tail[-reach:], part.head[:reach]])
        head, tail = whole.head, part.tail
        if len(head) < EDGE_BLOCKS:
            head = np.concatenate([head, part.head])[:EDGE_BLOCKS]
        if len(tail) < EDGE_BLOCKS:
            tail = np.concatenate([whole.tail, tail])[-EDGE_BLOCKS:]
        whole = Quiet(min(whole.floor, part.floor, _quietest(across)), head, tail)
    return whole


def noise_floor_db(quiet: Quiet) -> float:
    """RMS level of the quietest 500 ms, dB of full scale, `NO_SOUND_DB` for digital silence.

    Of a recording that is shorter it is the level of all of it.
    """
    power = quiet.floor if math.isfinite(quiet.floor) else _mean(quiet.head)
    return 10 * math.log10(power) if power > 0 else NO_SOUND_DB


def silence_at_ends_s(quiet: Quiet, mean_square: float) -> tuple[float, float]:
    """Seconds before the first sound and after the last, 10 s at most, in steps of 10 ms.

    A sound is what is louder than the room (10 dB above the noise floor) and no more than 40 dB
    softer than the recording as a whole, so that it does not depend on gain.

    Args:
        quiet: of the recording.
        mean_square: of all of it.
    """
    floor = quiet.floor if math.isfinite(quiet.floor) else 0.0
    limit = max(
        mean_square * 10 ** (-SOUND_BELOW_RMS_DB / 10), floor * 10 ** (SOUND_ABOVE_FLOOR_DB / 10)
    )
    limit = min(limit, mean_square * 10 ** (LOUDEST_SILENCE_DB / 10))
    return _num_silent(quiet.head, limit) / BLOCKS_PER_S, (
        _num_silent(quiet.tail[::-1], limit) / BLOCKS_PER_S
    )


def _num_silent(blocks: Powers, limit: float) -> int:
    """How many blocks come before the first that is louder than the limit."""
    loud = np.flatnonzero(blocks > limit)
    return int(loud[0]) if len(loud) else len(blocks)


def _quietest(blocks: Powers) -> float:
    """Mean square of the quietest window, infinite where there are too few blocks for one."""
    if len(blocks) < WINDOW_BLOCKS:
        return math.inf
    sums = np.concatenate(([0.0], np.cumsum(blocks, dtype=np.float64)))
    windows = sums[WINDOW_BLOCKS:] - sums[:-WINDOW_BLOCKS]
    return max(float(windows.min()) / WINDOW_BLOCKS, 0.0)


def _mean(blocks: Powers) -> float:
    return float(blocks.mean(dtype=np.float64)) if len(blocks) else 0.0
