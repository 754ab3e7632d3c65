"""What is measured on an utterance, on real speech and with planted faults."""

import time
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.engine.base import make_engine
from pocket_batch.quality.levels import measure_levels, rate_bounds, reason_to_reject

Pcm = NDArray[np.int16]
HEART = Voice("heart", "hibari", "en-US", "Apache-2.0", parameters={"hibari_voice": "heart"})
TEXT = "The birch canoe slid on the smooth planks."
RATE_HZ = 24_000
FILTERS = FilterSettings()


@pytest.fixture(scope="module")
def speech() -> Pcm:
    engine = make_engine(EngineSpec("hibari"))
    (output,) = engine.generate([Request("key", "segment", TEXT, HEART, 1)])
    return (output.audio * 32_767).astype(np.int16)


def code(pcm: Pcm, text: str = TEXT) -> str | None:
    found = reason_to_reject(measure_levels(pcm, RATE_HZ, text), "eos", FILTERS, text)
    return found[0] if found else None


def silence(seconds: float) -> Pcm:
    return np.zeros(round(seconds * RATE_HZ), np.int16)


def gap(speech: Pcm) -> Pcm:
    middle = len(speech) // 2
    return np.concatenate([speech[:middle], silence(FILTERS.max_gap_s + 0.2), speech[middle:]])


def clipped(speech: Pcm) -> Pcm:
    return np.clip(speech.astype(np.int32) * 30, -32_768, 32_767).astype(np.int16)


def with_dc(speech: Pcm) -> Pcm:
    offset = (FILTERS.max_dc + 0.02) * 32_768
    return np.clip(speech * 0.5 + offset, -32_768, 32_767).astype(np.int16)


def test_speech_has_no_fault(speech: Pcm) -> None:
    assert code(speech) is None


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        (lambda s: np.zeros_like(s), "too_quiet"),
        (lambda s: (s // 2_000).astype(np.int16), "too_quiet"),
        (clipped, "clipped"),
        (with_dc, "dc_offset"),
        (lambda s: np.concatenate([silence(FILTERS.max_edge_silence_s + 0.3), s]), "edge_silence"),
        (lambda s: np.concatenate([s, silence(FILTERS.max_edge_silence_s + 0.3)]), "edge_silence"),
        (gap, "internal_silence"),
        (lambda s: s[len(s) // 3 : len(s) // 2], "rate_outlier"),
        (lambda s: np.tile(s[4_000:-6_000], 12), "rate_outlier"),
    ],
    ids=["silence", "faint", "clipped", "dc", "lead", "trail", "gap", "cut", "looped"],
)
def test_a_planted_fault_is_told(speech: Pcm, plant: Callable[[Pcm], Pcm], expected: str) -> None:
    assert code(plant(speech)) == expected


def test_speech_that_never_ended_is_told_first(speech: Pcm) -> None:
    found = reason_to_reject(measure_levels(speech, RATE_HZ, TEXT), "length", FILTERS, TEXT)
    assert found is not None
    assert found[0] == "no_eos"


@pytest.mark.parametrize("num_samples", [1, 2, 239, 240, 721])
def test_any_number_of_samples_is_measured(num_samples: int) -> None:
    scores = measure_levels(np.full(num_samples, -32_768, np.int16), RATE_HZ, "Oh.")
    assert scores.peak_db == 0.0
    assert np.isfinite(scores.letters_per_s)


def test_what_was_measured_does_not_change(speech: Pcm) -> None:
    assert measure_levels(speech, RATE_HZ, TEXT) == measure_levels(speech.copy(), RATE_HZ, TEXT)


def test_measuring_five_seconds_takes_a_few_milliseconds(speech: Pcm) -> None:
    pcm = np.resize(speech, 5 * RATE_HZ)
    times = []
    for _ in range(20):
        started = time.perf_counter()
        measure_levels(pcm, RATE_HZ, TEXT)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.005  # about 0.001 on a free core


def test_bounds_of_rates_need_enough_rates_and_leave_equal_ones_alone() -> None:
    assert rate_bounds([14.0] * 10, 4) is None
    bounds = rate_bounds([14.0] * 40, 4)
    assert bounds is not None
    assert bounds[0] < 14.0 < bounds[1]
