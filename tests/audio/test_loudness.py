"""Loudness against published vectors and against pyloudnorm on whole signals."""

import math

import numpy as np
import pyloudnorm
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pocket_batch.audio.loudness import LoudnessMeter, gain_to_target, integrated_lufs, rms_db
from pocket_batch.errors import AudioError

RATE_HZ = 24_000


def sine(level_db: float, seconds: float, rate_hz: int, frequency_hz: float = 1000) -> NDArray:
    t = np.arange(round(seconds * rate_hz)) / rate_hz
    return np.asarray(10 ** (level_db / 20) * np.sin(2 * np.pi * frequency_hz * t), np.float32)


def measured(samples: NDArray, rate_hz: int, cuts: list[int] | None = None) -> float:
    meter = LoudnessMeter(rate_hz)
    for chunk in np.split(samples, sorted(cuts or [])):
        meter.add(chunk)
    return integrated_lufs(meter.result())


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("level_db", [-23.0, -33.0])
def test_a_sine_has_the_loudness_of_ebu_tech_3341(level_db: float, rate_hz: int) -> None:
    # Cases 1 and 2: a 1 kHz sine with peaks of -23 (-33) dBFS in both channels of a stereo file
    # measures -23 (-33) LUFS. One channel alone has half the power: 3.01 LU less.
    stereo = measured(sine(level_db, 20, rate_hz), rate_hz) + 10 * math.log10(2)
    assert stereo == pytest.approx(level_db, abs=0.1)


def test_the_relative_gate_leaves_out_quiet_passages_as_in_ebu_tech_3341_case_3() -> None:
    levels = [(-36.0, 10), (-23.0, 60), (-36.0, 10)]
    signal = np.concatenate([sine(level, seconds, RATE_HZ) for level, seconds in levels])
    assert measured(signal, RATE_HZ) + 10 * math.log10(2) == pytest.approx(-23.0, abs=0.1)


def test_the_absolute_gate_leaves_out_near_silence_as_in_ebu_tech_3341_case_4() -> None:
    levels = [(-72.0, 10), (-36.0, 10), (-23.0, 60), (-36.0, 10), (-72.0, 10)]
    signal = np.concatenate([sine(level, seconds, RATE_HZ) for level, seconds in levels])
    assert measured(signal, RATE_HZ) + 10 * math.log10(2) == pytest.approx(-23.0, abs=0.1)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 5 * RATE_HZ), max_size=12),
    st.integers(int(0.45 * RATE_HZ), 5 * RATE_HZ),
    st.integers(0, 3),
)
def test_any_cutting_into_chunks_measures_what_pyloudnorm_measures_on_the_whole(
    cuts: list[int], num_samples: int, seed: int
) -> None:
    assume(num_samples % 2400 != 1200)  # at half a sub-block pyloudnorm's rounding is arbitrary
    noise = np.random.default_rng(seed).standard_normal(num_samples)
    signal = np.asarray(noise * np.linspace(0.0, 0.3, num_samples), np.float32)
    cuts = [min(cut, num_samples) for cut in cuts]
    wanted = pyloudnorm.Meter(RATE_HZ).integrated_loudness(signal.astype(np.float64))
    assert measured(signal, RATE_HZ, cuts) == pytest.approx(wanted, abs=0.01)


def test_cuts_at_whole_sub_blocks_change_nothing(speechlike: NDArray) -> None:
    cuts = list(range(2400, len(speechlike), 2400))
    assert measured(speechlike, RATE_HZ, cuts) == pytest.approx(
        measured(speechlike, RATE_HZ), abs=1e-9
    )


def test_chapters_measured_apart_give_the_loudness_of_the_book(speechlike: NDArray) -> None:
    chapters = np.split(speechlike, [40_000, 170_000])
    powers = []
    for chapter in chapters:
        meter = LoudnessMeter(RATE_HZ)
        meter.add(chapter)
        powers.append(meter.result())
    book = integrated_lufs(np.concatenate(powers))
    assert book == pytest.approx(measured(speechlike, RATE_HZ), abs=0.1)


def test_silence_measures_minus_infinity_and_never_nan() -> None:
    assert measured(np.zeros(RATE_HZ, np.float32), RATE_HZ) == -math.inf
    assert integrated_lufs(LoudnessMeter(RATE_HZ).result()) == -math.inf
    assert rms_db(0.0) == -math.inf


def test_audio_shorter_than_a_block_has_a_loudness() -> None:
    assert measured(sine(-20.0, 0.2, RATE_HZ), RATE_HZ) == pytest.approx(-23.0, abs=0.5)


def test_the_gain_reaches_the_target(speechlike: NDArray) -> None:
    gain = gain_to_target(measured(speechlike, RATE_HZ), -23.0)
    assert measured(speechlike * np.float32(gain), RATE_HZ) == pytest.approx(-23.0, abs=0.1)


@pytest.mark.parametrize("lufs", [-math.inf, math.nan, -70.0, -90.0])
def test_silence_is_refused_rather_than_amplified(lufs: float) -> None:
    with pytest.raises(AudioError, match="silent"):
        gain_to_target(lufs, -23.0)
