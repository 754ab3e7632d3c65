"""True peak against an ideal interpolation of the whole signal."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import resample

from pocket_batch.audio.true_peak import TruePeakMeter, interval_peaks, max_overshoot

RATE_HZ = 24_000


def true_peak(samples: NDArray, cuts: list[int] | None = None) -> float:
    meter = TruePeakMeter()
    for chunk in np.split(samples, sorted(cuts or [])):
        meter.add(chunk)
    return meter.result()


def test_a_sine_whose_samples_miss_the_peak_reads_its_peak() -> None:
    # EBU Tech 3341, case 16: a sine at a quarter of the rate, 45 degrees off, reads -6 dBTP within
    # +0.2 and -0.4 dB, though its samples peak at -9 dBFS.
    phase = np.arange(4800) * np.pi / 2 + np.pi / 4
    samples = np.asarray(0.5 * np.sin(phase), np.float32)
    assert 20 * math.log10(np.abs(samples).max()) == pytest.approx(-9.03, abs=0.01)
    assert -6.4 <= 20 * math.log10(true_peak(samples)) + 0.02 <= -5.8


def test_speech_reads_as_with_ideal_32_times_oversampling(speechlike: NDArray) -> None:
    part = speechlike[:RATE_HZ]
    ideal = np.abs(resample(part.astype(np.float64), len(part) * 32)).max()
    assert 20 * math.log10(true_peak(part) / ideal) == pytest.approx(0.0, abs=0.15)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 20_000), max_size=8), st.integers(0, 5))
def test_skipping_quiet_passages_and_cutting_into_chunks_change_nothing(
    cuts: list[int], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    samples = generator.standard_normal(20_000) * np.repeat(generator.random(200) ** 3, 100)
    samples = np.asarray(samples, np.float32)
    padded = np.concatenate((np.zeros(11, np.float32), samples))
    everywhere = max(float(np.abs(samples).max()), float(interval_peaks(padded).max()))
    assert true_peak(samples, cuts) == pytest.approx(everywhere, rel=1e-6)


def test_nothing_between_samples_exceeds_the_bound_that_skipping_relies_on() -> None:
    for seed in range(20):
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], 2000).astype(np.float32)
        assert interval_peaks(signs).max() <= max_overshoot() + 1e-6


def test_silence_and_single_samples_have_a_peak() -> None:
    assert true_peak(np.zeros(0, np.float32)) == 0.0
    assert true_peak(np.zeros(100, np.float32)) == 0.0
    assert true_peak(np.array([0.5], np.float32)) == 0.5
