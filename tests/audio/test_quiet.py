"""The noise floor, and the silence at both ends: the same however a recording is cut."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pocket_batch.audio.measure import combined, measure
from pocket_batch.audio.pcm import to_int16
from pocket_batch.audio.quiet import (
    NO_SOUND_DB,
    NOTHING,
    QuietMeter,
    joined,
    noise_floor_db,
    silence_at_ends_s,
)
from pocket_batch.audio.room_tone import room_tone

RATE_HZ = 24_000


def noise(seconds: float, level_db: float, rate_hz: int = RATE_HZ, seed: int = 0) -> NDArray:
    samples = np.random.default_rng(seed).standard_normal(round(seconds * rate_hz))
    return np.asarray(samples * 10 ** (level_db / 20), np.float32)


def quiet_of(samples: NDArray, rate_hz: int = RATE_HZ, cuts: list[int] | None = None) -> object:
    meter = QuietMeter(rate_hz)
    for chunk in np.split(samples, sorted(cuts or [])):
        meter.add(chunk)
    return meter.result()


def recording(head_s: float, tail_s: float, room_db: float = -math.inf) -> NDArray:
    room = 10 ** (room_db / 20)
    head, tail = (noise(s, 0) * np.float32(room) for s in (head_s, tail_s))
    return np.concatenate([head, noise(3, -20), tail])


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000, 44_100])
def test_the_floor_is_the_level_of_the_quietest_half_second(rate_hz: int) -> None:
    parts = [noise(2.03, -20, rate_hz), noise(0.7, -65, rate_hz), noise(1.5, -40, rate_hz)]
    quiet = quiet_of(np.concatenate(parts), rate_hz)
    assert noise_floor_db(quiet) == pytest.approx(-65, abs=0.3)


def test_a_gap_of_less_than_half_a_second_is_no_floor() -> None:
    short = np.concatenate([noise(2, -20), np.zeros(RATE_HZ // 4, np.float32), noise(2, -20)])
    assert noise_floor_db(quiet_of(short)) == pytest.approx(-23, abs=0.3)  # a quarter is half of it


def test_digital_silence_has_no_level_and_a_short_recording_has_its_own() -> None:
    silent = np.concatenate([noise(1, -20), np.zeros(RATE_HZ, np.float32), noise(1, -20)])
    assert noise_floor_db(quiet_of(silent)) == NO_SOUND_DB
    assert noise_floor_db(quiet_of(noise(0.2, -30))) == pytest.approx(-30, abs=0.3)
    assert noise_floor_db(NOTHING) == NO_SOUND_DB
    assert silence_at_ends_s(NOTHING, 0.0) == (0.0, 0.0)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 3 * 22_050), max_size=12),
    st.integers(1, 3 * 22_050),
    st.sampled_from([16_000, 22_050, 24_000]),
)
def test_how_a_recording_is_cut_into_chunks_changes_nothing(
    cuts: list[int], num_samples: int, rate_hz: int
) -> None:
    samples = noise(3, -30, 22_050)[:num_samples] * np.linspace(0.0, 1.0, num_samples, dtype="f4")
    whole = quiet_of(samples, rate_hz)
    found = quiet_of(samples, rate_hz, [min(cut, num_samples) for cut in cuts])
    assert found.floor == pytest.approx(whole.floor, rel=1e-4)
    np.testing.assert_allclose(found.head, whole.head, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(found.tail, whole.tail, rtol=1e-4, atol=1e-12)


def test_cuts_at_whole_blocks_count_no_sample_twice() -> None:
    samples = np.full(RATE_HZ, 0.25, np.float32)
    cuts = [*range(0, RATE_HZ, RATE_HZ // 100), 1_000, 1_001]
    np.testing.assert_allclose(quiet_of(samples, RATE_HZ, cuts).head, 0.0625, rtol=1e-6)


def test_ends_of_less_than_a_block_are_counted_from_half_of_one() -> None:
    assert len(quiet_of(noise(0.014, -20)).head) == 1
    assert len(quiet_of(noise(0.016, -20)).head) == 2


@pytest.mark.parametrize("cut_s", [0.1, 1.0, 4.2, 4.45, 13.0])
def test_parts_measured_apart_give_the_floor_and_the_ends_of_the_whole(cut_s: float) -> None:
    pcm = to_int16(
        np.concatenate(
            [
                recording(0.7, 0.3, room_db=-70),
                noise(0.4, -80),  # with the quiet before it the floor, across a cut at 4.2 s
                noise(9, -20),
                noise(2.5, -70),
            ]
        )
    )
    whole = measure([pcm], RATE_HZ)
    parts = [measure([part], RATE_HZ) for part in np.split(pcm, [round(cut_s * RATE_HZ)])]
    found = combined(parts)
    assert noise_floor_db(found.quiet) == pytest.approx(noise_floor_db(whole.quiet), abs=0.05)
    assert silence_at_ends_s(found.quiet, found.mean_square) == pytest.approx((0.7, 2.5), abs=0.011)


def test_many_short_parts_keep_ten_seconds_of_each_end() -> None:
    parts = [quiet_of(noise(0.3, -20 - at)) for at in range(50)]
    whole = joined(parts)
    assert len(whole.head) == len(whole.tail) == 1_000
    np.testing.assert_array_equal(whole.head[:30], parts[0].head)
    np.testing.assert_array_equal(whole.tail[-30:], parts[-1].tail)


@pytest.mark.parametrize("gain_db", [-30.0, 0.0, 12.0])
@pytest.mark.parametrize("room_db", [-math.inf, -80.0, -62.0, -45.0])
def test_the_ends_depend_on_no_gain_and_no_room(room_db: float, gain_db: float) -> None:
    samples = recording(0.62, 2.04, room_db) * np.float32(10 ** (gain_db / 20))
    power = float(np.mean(np.square(samples, dtype=np.float64)))
    assert silence_at_ends_s(quiet_of(samples), power) == pytest.approx((0.62, 2.04), abs=0.011)


def test_the_tone_of_a_room_is_no_sound_though_it_wavers() -> None:
    tone = room_tone(10 * RATE_HZ, RATE_HZ, -66.0, 0) / np.float32(32_768)
    samples = np.concatenate([tone[: RATE_HZ // 2], noise(3, -24), tone])
    power = float(np.mean(np.square(samples, dtype=np.float64)))
    assert silence_at_ends_s(quiet_of(samples), power) == pytest.approx((0.5, 10.0), abs=0.011)


def test_a_steady_sound_has_no_silence_and_more_than_ten_seconds_are_ten() -> None:
    steady = noise(3, -20)
    power = float(np.mean(np.square(steady, dtype=np.float64)))
    assert silence_at_ends_s(quiet_of(steady), power) == (0.0, 0.0)
    late = recording(11.0, 12.0)
    power = float(np.mean(np.square(late, dtype=np.float64)))
    assert silence_at_ends_s(quiet_of(late), power) == (10.0, 10.0)
