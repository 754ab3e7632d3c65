"""What the check finds in the record of an utterance."""

from dataclasses import replace

import pytest

from pocket_batch.data import Failure, Utterance
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.check import Check

TEXT = "Twenty letters, all in all."
SPOKEN = Utterance("key", "001-0001", 48_000, 24_000, "eos", 1, 0, 9, 0.1)


def reasons(utterance: Utterance, text: str = TEXT) -> list[str]:
    check = Check(CheckSettings(), {"key": text})
    assert list(check.run([utterance])) == [utterance]
    check.judge({}, {})
    return [suspect.reason for suspect in check.suspects]


def test_speech_at_an_ordinary_rate_is_not_suspect() -> None:
    assert reasons(SPOKEN) == []


@pytest.mark.parametrize(
    ("seconds", "says"), [(0.3, "too fast, perhaps words are missing"), (12, "too slow")]
)
def test_an_impossible_rate_is_suspect(seconds: float, says: str) -> None:
    (reason,) = reasons(replace(SPOKEN, num_samples=int(24_000 * seconds)))
    assert says in reason


def test_a_word_or_two_are_not_judged_by_their_rate() -> None:
    assert reasons(replace(SPOKEN, num_samples=240_000), "Oh, no.") == []


def test_an_utterance_that_ran_into_its_limit_is_suspect_however_short() -> None:
    check = Check(CheckSettings(), {"key": "Oh."})
    list(check.run([replace(SPOKEN, finish_reason="length")]))
    check.judge({}, {})
    assert check.num_cut_off == len(check.suspects) == 1


def test_failures_pass_through_unjudged() -> None:
    check = Check(CheckSettings(), {})
    failure = Failure("other", "001-0002", "text", "It broke.", 1)
    assert list(check.run([failure])) == [failure]
    assert check.suspects == []
