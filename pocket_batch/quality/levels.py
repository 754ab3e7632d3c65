"""Levels, silences and rate of an utterance, and what of them no data set should have."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pocket_batch.data import FinishReason
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.rows import Scores

Pcm = NDArray[np.int16]

FULL_SCALE = 32_768
LOWEST_DB = -120.0
FRAME_S = 0.01
SILENCE_BELOW_PEAK_DB = 40.0  # a frame that is so much quieter than the loudest one is silence
CLIP_RUN = 3  # samples at full scale in a row; two may be a peak that was just reached
MIN_LETTERS = 12  # below this many the silence around the words outweighs the words
MIN_RATES = 30  # fewer say little about a voice
MAD_SCALE = 1.4826  # of a normal distribution: its standard deviation by its MAD
MIN_SPREAD = 0.02  # of the median: a voice that reads like a clock is not outlying at once

Reject = tuple[str, float, float]  # code, what was found, the limit


def measure_levels(pcm: Pcm, sampling_rate_hz: int, text: str) -> Scores:
    """Measure levels, silences and rate of an utterance.

    Args:
        pcm: shape (num_samples,), int16, mono, not empty.
        sampling_rate_hz: of it.
        text: what is said in it, in spoken form.

    Returns:
        Levels in dB of full scale, times in seconds, each rounded so that it is the same when it
        is read back.
    """
    samples = pcm.astype(np.float32) * np.float32(1 / FULL_SCALE)  # (S,)
    duration_s = len(pcm) / sampling_rate_hz
    lead, trail, gap = _silences(samples, sampling_rate_hz)
    speech_s = max(FRAME_S, duration_s - lead - trail)
    return Scores(
        duration_s=round(duration_s, 4),
        peak_db=db_of(float(np.abs(samples).max())),
        rms_db=db_of(float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))),
        dc=round(float(samples.mean(dtype=np.float64)), 5),
        clipped=round(_clipped(pcm), 6),
        leading_silence_s=lead,
        trailing_silence_s=trail,
        longest_gap_s=gap,
        letters_per_s=round(num_letters(text) / speech_s, 3),
        words_per_s=round(len(text.split()) / speech_s, 3),
    )


def num_letters(text: str) -> int:
    """Letters and digits of a text."""
    return sum(character.isalnum() for character in text)


def reason_to_reject(
    scores: Scores, finish_reason: FinishReason, filters: FilterSettings, text: str
) -> Reject | None:
    """What is wrong with an utterance by itself: a code, what was found, and the limit."""
    if finish_reason == "length":
        return "no_eos", scores.duration_s, 0.0
    edge_s = max(scores.leading_silence_s, scores.trailing_silence_s)
    limits = [
        ("too_quiet", scores.rms_db, filters.min_rms_db, scores.rms_db < filters.min_rms_db),
        ("clipped", scores.clipped, filters.max_clipped, scores.clipped > filters.max_clipped),
        ("dc_offset", scores.dc, filters.max_dc, abs(scores.dc) > filters.max_dc),
        ("edge_silence", edge_s, filters.max_edge_silence_s, edge_s > filters.max_edge_silence_s),
        (
            "internal_silence",
            scores.longest_gap_s,
            filters.max_gap_s,
            scores.longest_gap_s > filters.max_gap_s,
        ),
    ]
    for code, value, limit, is_wrong in limits:
        if is_wrong:
            return code, value, limit
    return _rate(scores, filters, text)


def _rate(scores: Scores, filters: FilterSettings, text: str) -> Reject | None:
    """A reading rate that no speaker has. Of a short text only a very slow one is told."""
    rate = scores.letters_per_s
    slowest = filters.min_letters_per_s
    if num_letters(text) < MIN_LETTERS:
        slowest = min(slowest, 1.0)
    if rate < slowest:
        return "rate_outlier", rate, slowest
    if rate > filters.max_letters_per_s and num_letters(text) >= MIN_LETTERS:
        return "rate_outlier", rate, filters.max_letters_per_s
    return None


def rate_bounds(rates: Sequence[float], mads: float) -> tuple[float, float] | None:
    """The slowest and the fastest rate that are no outliers among many of one voice.

    Args:
        rates: of texts that are long enough.
        mads: distance from the median, in median absolute deviations scaled to a standard
            deviation; 0 for no bounds.

    Returns:
        None where there are too few to tell.
    """
    if mads <= 0 or len(rates) < MIN_RATES:
        return None
    median = float(np.median(rates))
    spread = MAD_SCALE * float(np.median(np.abs(np.asarray(rates) - median)))
    reach = mads * max(spread, MIN_SPREAD * median)
    return round(median - reach, 3), round(median + reach, 3)


def db_of(amplitude: float) -> float:
    return round(max(LOWEST_DB, 20 * float(np.log10(max(amplitude, 1e-6)))), 2)


def _clipped(pcm: Pcm) -> float:
    """The share of samples in runs at full scale."""
    at_top = np.abs(pcm.astype(np.int32)) >= FULL_SCALE - 1
    if not at_top.any():
        return 0.0
    edges = np.flatnonzero(np.diff(np.concatenate(([0], at_top.view(np.int8), [0]))))
    runs = edges[1::2] - edges[::2]
    return float(runs[runs >= CLIP_RUN].sum() / len(pcm))


def _silences(samples: NDArray[np.float32], rate_hz: int) -> tuple[float, float, float]:
    """Seconds of silence before and after the words, and of the longest one between them."""
    size = max(1, round(FRAME_S * rate_hz))
    num_frames = len(samples) // size
    if num_frames < 3:
        return 0.0, 0.0, 0.0
    frames = samples[: num_frames * size].reshape(num_frames, size)  # (F, S)
    levels = np.sqrt(np.mean(np.square(frames), axis=1))  # (F,)
    loud = np.flatnonzero(levels > levels.max() * 10 ** (-SILENCE_BELOW_PEAK_DB / 20))
    if not len(loud):
        return round(num_frames * FRAME_S, 3), 0.0, 0.0
    gaps = np.diff(loud) - 1
    gap = int(gaps.max()) if len(gaps) else 0
    return (
        round(int(loud[0]) * FRAME_S, 3),
        round((num_frames - 1 - int(loud[-1])) * FRAME_S, 3),
        round(gap * FRAME_S, 3),
    )
