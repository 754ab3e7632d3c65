"""Integrated loudness after ITU-R BS.1770-4, measured on a stream, and the gain it asks for."""

import math

import numpy as np
from numpy.typing import NDArray

from pocket_batch.audio.pcm import Samples
from pocket_batch.errors import AudioError

Powers = NDArray[np.float32]  # ten a second: a book of 100 hours has 14 MB of them

ABSOLUTE_GATE_LUFS = -70.0  # ITU-R BS.1770-4, annex 1, eq. 6
RELATIVE_GATE_LU = -10.0  # ITU-R BS.1770-4, annex 1, eq. 7
OFFSET_LUFS = -0.691  # ITU-R BS.1770-4, annex 1, eq. 2: cancels the K-weighting's gain at 997 Hz
SUB_BLOCKS_PER_BLOCK = 4  # blocks of 400 ms that overlap by 75 %: one starts every 100 ms
SUB_BLOCKS_PER_S = 10


class LoudnessMeter:
    """Collects the K-weighted power of each 400 ms block of mono audio, chunk by chunk.

    The result does not depend on how the signal was cut into chunks. Chapters can be measured one
    at a time: the loudness of the book is that of the concatenated block powers of its chapters.

    Source: ITU-R BS.1770-4, annex 1; the filters are those of pyloudnorm.
    """

    def __init__(self, sampling_rate_hz: int) -> None:
        self._rate = sampling_rate_hz
        self._sections = _k_weighting(sampling_rate_hz)  # (2, 6)
        self._state = np.zeros((len(self._sections), 2))
        self._num_samples = 0
        self._energies: list[NDArray[np.float64]] = []  # of whole 100 ms sub-blocks
        self._open_energy = 0.0  # of the sub-block that is not full yet

    def add(self, samples: Samples) -> None:
        """Measure the next chunk: shape (num_samples,), mono, full scale is 1.0."""
        from scipy.signal import sosfilt

        if not len(samples):
            return
        weighted, self._state = sosfilt(
            self._sections, samples.astype(np.float64), zi=self._state
        )  # (S,)
        np.square(weighted, out=weighted)
        begin, end = self._num_samples, self._num_samples + len(samples)
        edges = self._edges(begin, end)
        if len(edges) and edges[0] == begin:  # the chunk before ended with a whole sub-block
            self._energies.append(np.array([self._open_energy]))
            self._open_energy, edges = 0.0, edges[1:]
        energies = np.add.reduceat(weighted, np.concatenate(([0], edges - begin)))
        energies[0] += self._open_energy
        self._energies.append(energies[:-1])
        self._open_energy = float(energies[-1])
        self._num_samples = end

    def result(self) -> Powers:
        """Mean square of each 400 ms block, full scale 1.0, in order; empty without samples.

        A signal shorter than one block is taken as one block of its own length. The last block is
        counted when at least half of its last 100 ms are there.
        """
        if not self._num_samples:
            return np.zeros(0, np.float32)
        energies = np.concatenate([*self._energies, [self._open_energy]])
        if self._num_samples * 1000 < 400 * self._rate:
            return np.array([energies.sum() / self._num_samples], np.float32)
        num_whole = self._num_samples * SUB_BLOCKS_PER_S // self._rate
        num_open = self._num_samples - num_whole * self._rate // SUB_BLOCKS_PER_S
        if num_open * 2 * SUB_BLOCKS_PER_S < self._rate:
            energies = energies[:num_whole]
        sums = np.concatenate(([0.0], np.cumsum(energies)))
        blocks = sums[SUB_BLOCKS_PER_BLOCK:] - sums[:-SUB_BLOCKS_PER_BLOCK]
        return np.asarray(np.maximum(blocks, 0.0) / (0.4 * self._rate), np.float32)

    def _edges(self, begin: int, end: int) -> NDArray[np.int64]:
        """Positions in [begin, end) at which a 100 ms sub-block starts, but for the very first."""
        first = max(begin * SUB_BLOCKS_PER_S // self._rate, 1)
        last = end * SUB_BLOCKS_PER_S // self._rate + 1
        edges = np.arange(first, last + 1, dtype=np.int64) * self._rate // SUB_BLOCKS_PER_S
        return edges[(edges >= begin) & (edges < end)]


def integrated_lufs(block_powers: Powers) -> float:
    """Gated loudness in LUFS of the blocks of a signal, `-inf` when nothing passes the gate.

    Source: ITU-R BS.1770-4, annex 1, eq. 4 to 7.
    """
    loud = block_powers[block_powers >= _power(ABSOLUTE_GATE_LUFS)]
    if not len(loud):
        return -math.inf
    relative_gate = loud.mean(dtype=np.float64) * 10 ** (RELATIVE_GATE_LU / 10)
    return _lufs(float(loud[loud > relative_gate].mean(dtype=np.float64)))


def rms_db(mean_square: float) -> float:
    """Level in dB relative to full scale of a mean square, `-inf` for silence; not gated."""
    return 10 * math.log10(mean_square) if mean_square > 0 else -math.inf


def gain_to_target(measured_lufs: float, target_lufs: float) -> float:
    """The constant gain (a linear factor) that brings speech to `target_lufs`.

    The result may exceed full scale: limit the true peak afterwards.

    Args:
        measured_lufs: integrated loudness of the signal, LUFS.
        target_lufs: wanted integrated loudness, LUFS.

    Raises:
        AudioError: `measured_lufs` is at or below the absolute gate, so there is nothing to
            normalise (silence measures -inf, and the gain would be infinite).

    Source: ITU-R BS.1770-4, annex 1.
    """
    if not measured_lufs > ABSOLUTE_GATE_LUFS:
        raise AudioError(
            f"The audio is silent: it measures {measured_lufs:.1f} LUFS, and {target_lufs:g} LUFS "
            "was asked for. Nothing was written. Check that the text has something to speak."
        )
    return float(10 ** ((target_lufs - measured_lufs) / 20))


def _k_weighting(sampling_rate_hz: int) -> NDArray[np.float64]:
    """Second-order sections (2, 6) of the K-weighting: head shelf, then low-cut."""
    from pyloudnorm import IIRfilter

    shelf = IIRfilter(4.0, 1 / math.sqrt(2), 1500.0, sampling_rate_hz, "high_shelf")
    low_cut = IIRfilter(0.0, 0.5, 38.0, sampling_rate_hz, "high_pass")
    return np.array([np.concatenate((stage.b, stage.a)) for stage in (shelf, low_cut)])


def _power(lufs: float) -> float:
    return float(10 ** ((lufs - OFFSET_LUFS) / 10))


def _lufs(power: float) -> float:
    return OFFSET_LUFS + 10 * math.log10(power)
