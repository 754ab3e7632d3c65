"""What is called a problem, in which order, and in which words."""

import time
from dataclasses import replace

import numpy as np
import pytest

from pocket_batch.quality.checks import WEIGHTS, badness, find_problems, in_order, measure
from pocket_batch.quality.learned import learned_problems
from pocket_batch.quality.sentences import sentence
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings

SETTINGS = CheckSettings()
TEXT = "The birch canoe slid on the smooth planks."
GOOD = Scores(2.5, -6.0, -25.0, 0.0, 0.0, 0.3, 0.4, 0.05, 17.0, 4.4, speech_db=-23.0)


def codes(scores: Scores, text: str = TEXT) -> tuple[str, ...]:
    return find_problems(scores, "eos", text, SETTINGS)


def test_good_speech_has_no_problems_and_no_badness() -> None:
    assert codes(GOOD) == ()
    assert badness((), GOOD) == 0


def test_speech_that_never_ended_is_the_worst() -> None:
    assert find_problems(GOOD, "length", TEXT, SETTINGS)[0] == "no_eos"


def test_of_two_attempts_the_one_with_fewer_wrong_words_is_less_bad() -> None:
    few, many = replace(GOOD, wer=0.1), replace(GOOD, wer=0.3)
    assert badness((), few) < badness((), many) < badness(("click",), few)
    assert badness(("click",), many) < badness(("noise",), few)


def test_a_pause_is_longer_where_the_text_has_a_stop() -> None:
    long_gap = replace(GOOD, longest_gap_s=SETTINGS.max_gap_s * 0.8)
    assert codes(long_gap) == ("internal_silence",)
    assert codes(long_gap, "He came; the birch canoe slid away.") == ()


def test_a_text_that_says_a_thing_twice_is_no_repetition() -> None:
    alike = replace(GOOD, repetition=0.97)
    assert codes(alike) == ("repetition",)
    assert codes(alike, "Never again, never again will I go there.") == ()


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        ("the birch canoe slid on the smooth planks", ()),
        ("a birch canoe slid on smooth planks", ()),  # little words that a listener may miss
        ("the birch slid on the smooth planks", ("words_missing",)),
        ("the birch canoe slid on the smooth", ("truncated", "words_missing")),
        ("the birch canoe canoe slid on the smooth planks", ("words_repeated",)),
        ("the birch canoe once slid on the smooth planks", ("words_inserted",)),
        ("the canoe birch slid on the smooth planks", ("words_swapped",)),
        ("the birch canoe fell on the smooth planks", ()),  # one unlike word in eight
        ("a bird can well on a moose plan", ("misheard",)),
        ("", ("truncated", "words_missing")),
    ],
)
def test_what_was_heard_has_its_own_codes(heard: str, expected: tuple[str, ...]) -> None:
    pytest.importorskip("jellyfish")
    assert codes(replace(GOOD, wer=0.0, heard=heard)) == expected


@pytest.mark.parametrize(
    ("heard", "is_wrong"), [("oh no", False), ("oh", False), ("well then", True), ("", True)]
)
def test_of_a_short_text_the_edits_are_counted(heard: str, is_wrong: bool) -> None:
    pytest.importorskip("jellyfish")
    found = codes(replace(GOOD, letters_per_s=5.0, wer=0.0, heard=heard), "Oh no!")
    assert bool(found) == is_wrong


@pytest.mark.parametrize("code", WEIGHTS)
def test_every_code_has_a_sentence(code: str) -> None:
    pytest.importorskip("jellyfish")
    for scores in (GOOD, replace(GOOD, heard="the canoe birch birch", wer=1.0)):
        told = sentence(code, scores, TEXT)
        assert told.endswith(".")
        assert "{" not in told
        assert f"({code})" not in told


def test_words_are_named_in_sentences() -> None:
    pytest.importorskip("jellyfish")
    scores = replace(GOOD, heard="the birch slid on the smooth planks", wer=0.125)
    assert sentence("words_missing", scores, TEXT) == "Words were not heard: “canoe”."


def test_codes_come_worst_first() -> None:
    order = in_order(set(WEIGHTS))
    weights = [WEIGHTS[code] for code in order]
    assert weights == sorted(weights, reverse=True)


def many(number: int) -> dict[str, tuple[str, Scores]]:
    """Utterances of one voice, each a little unlike the others."""
    chance = np.random.default_rng(1)
    items = {}
    for i in range(number):
        text = " ".join(["canoe"] * (8 + i % 7)) + "."
        items[str(i)] = (
            text,
            replace(
                GOOD,
                duration_s=0.7 + 0.35 * len(text.split()) * chance.normal(1, 0.03),
                speech_db=-23 + chance.normal(0, 0.5),
                pitch_hz=190 + chance.normal(0, 5),
                timbre=tuple(chance.normal(0, 1, 20)),
            ),
        )
    return items


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"duration_s": 6.0}, "rate_outlier"),
        ({"duration_s": 1.2}, "rate_outlier"),
        ({"speech_db": -30.0}, "level_outlier"),
        ({"speech_db": -17.0}, "level_outlier"),
        ({"pitch_hz": 110.0}, "voice_outlier"),
        ({"timbre": tuple(np.linspace(-8, 8, 20))}, "voice_outlier"),
    ],
)
def test_what_is_unlike_its_voice_is_told(change: dict[str, object], expected: str) -> None:
    items = many(60)
    assert learned_problems(items, SETTINGS) == {}
    text, scores = items["7"]
    items["7"] = (text, replace(scores, **change))  # type: ignore[arg-type]
    assert learned_problems(items, SETTINGS) == {"7": (expected,)}


def test_few_utterances_say_nothing_about_a_voice() -> None:
    items = many(5)
    items["0"] = (items["0"][0], replace(items["0"][1], speech_db=-60.0, pitch_hz=400.0))
    assert learned_problems(items, SETTINGS) == {}


def test_zero_deviations_are_any() -> None:
    items = many(60)
    items["7"] = (items["7"][0], replace(items["7"][1], speech_db=-60.0, duration_s=20.0))
    off = replace(SETTINGS, rate_mads=0, level_mads=0, voice_mads=0)
    assert learned_problems(items, off) == {}


def test_scores_that_were_read_back_are_judged_the_same() -> None:
    items = many(60)
    back = {
        key: (text, replace(scores, timbre=list(scores.timbre or ())))  # type: ignore[arg-type]
        for key, (text, scores) in items.items()
    }
    assert learned_problems(back, SETTINGS) == learned_problems(items, SETTINGS)


@pytest.mark.parametrize("num_samples", [1, 2, 100, 479, 480, 2_000, 30_000])
@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 24_000, 48_000])
def test_any_number_of_samples_is_measured(num_samples: int, rate_hz: int) -> None:
    for pcm in (
        np.zeros(num_samples, np.int16),
        np.full(num_samples, -32_768, np.int16),
        np.random.default_rng(0).integers(-9_000, 9_000, num_samples, np.int16),
    ):
        scores = measure(pcm, rate_hz, TEXT)
        values = [scores.speech_db, scores.click, scores.pitch_hz, *(scores.timbre or ())]
        assert np.isfinite(np.array(values, float)).all()
        assert scores == measure(pcm.copy(), rate_hz, TEXT)


def test_measuring_five_seconds_in_every_way_takes_a_few_milliseconds() -> None:
    pcm = np.random.default_rng(0).integers(-9_000, 9_000, 5 * 24_000, np.int16)
    times = []
    for _ in range(10):
        started = time.thread_time()
        measure(pcm, 24_000, TEXT)
        times.append(time.thread_time() - started)
    assert min(times) < 0.02  # about 0.005
