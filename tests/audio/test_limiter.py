"""The limiter keeps its ceiling, its length, and everything that is quiet enough."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import resample

from pocket_batch.audio.limiter import Limiter
from pocket_batch.audio.true_peak import TruePeakMeter

RATE_HZ = 24_000


def limited(samples: NDArray, ceiling_dbtp: float, cuts: list[int] | None = None) -> NDArray:
    limiter = Limiter(RATE_HZ, ceiling_dbtp)
    chunks = [limiter.process(chunk) for chunk in np.split(samples, sorted(cuts or []))]
    return np.concatenate([*chunks, limiter.flush()])


def true_peak_dbtp(samples: NDArray) -> float:
    meter = TruePeakMeter()
    meter.add(samples)
    return 20 * math.log10(meter.result())


@pytest.mark.parametrize("ceiling_dbtp", [-1.0, -3.0])
@pytest.mark.parametrize("gain", [1.0, 2.0, 8.0])
def test_the_true_peak_stays_at_or_below_the_ceiling(
    speechlike: NDArray, gain: float, ceiling_dbtp: float
) -> None:
    result = limited(speechlike * np.float32(gain), ceiling_dbtp)
    assert true_peak_dbtp(result) <= ceiling_dbtp
    ideal = np.abs(resample(result.astype(np.float64), len(result) * 8)).max()
    assert 20 * math.log10(ideal) <= ceiling_dbtp


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.5, 1.0, 3.0]))
def test_bursts_and_clicks_stay_below_the_ceiling(seed: int, level: float) -> None:
    generator = np.random.default_rng(seed)
    samples = generator.standard_normal(4000) * np.repeat(generator.random(40) < 0.2, 100) * level
    samples[generator.integers(0, 4000, 3)] = 4.0
    smooth = np.convolve(samples, [0.25, 0.5, 0.25], "same")
    assert true_peak_dbtp(limited(np.asarray(smooth, np.float32), -1.0)) <= -1.0


def test_quiet_audio_passes_bit_for_bit(speechlike: NDArray) -> None:
    quiet = speechlike * np.float32(0.8)
    assert np.array_equal(limited(quiet, -1.0, [5, 100, 100, 7777]), quiet)


def test_audio_far_from_a_peak_passes_bit_for_bit(speechlike: NDArray) -> None:
    samples = speechlike * np.float32(0.5)
    samples[100_000] = 3.0
    result = limited(samples, -1.0)
    before, after = slice(0, 100_000 - 240), slice(100_000 + RATE_HZ, None)
    assert np.array_equal(result[before], samples[before])
    assert np.array_equal(result[after], samples[after])
    assert not np.array_equal(result, samples)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 48_000), max_size=10))
def test_the_result_has_the_same_length_and_does_not_depend_on_the_chunks(cuts: list[int]) -> None:
    noise = np.random.default_rng(1).standard_normal(48_000)
    samples = np.asarray(noise * np.repeat([0.1, 0.6, 0.2, 0.05], 12_000), np.float32)
    result = limited(samples, -1.0, cuts)
    assert len(result) == len(samples)
    assert np.allclose(result, limited(samples, -1.0), atol=2e-6)


def test_the_gain_changes_smoothly(speechlike: NDArray) -> None:
    samples = speechlike * np.float32(2.0)
    result = limited(samples, -1.0)
    heard = np.abs(samples) > 0.05
    gain = result[heard] / samples[heard]
    assert gain.max() <= 1.0 + 1e-6
    neighbours = np.flatnonzero(np.diff(np.flatnonzero(heard)) == 1)
    assert np.abs(np.diff(gain))[neighbours].max() < 0.02


def test_an_empty_stream_stays_empty() -> None:
    assert len(limited(np.zeros(0, np.float32), -1.0)) == 0
    assert np.array_equal(limited(np.ones(1, np.float32) / 2, -1.0), [0.5])
