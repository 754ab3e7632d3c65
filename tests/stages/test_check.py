"""What the check finds in the record of an utterance."""

from dataclasses import MISSING, fields, replace

import pytest

from pocket_batch.data import Failure, Utterance
from pocket_batch.records import Checked
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.check import Check, has_scores, is_settled
from pocket_batch.stages.repair import CheckSpec

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


def checked(**changes: object) -> Checked:
    values = {f.name: 0.0 for f in fields(Scores) if f.default is MISSING}
    scores = values | {"rms_db": -25.0, "duration_s": 2.0, "letters_per_s": 15.0, "wer": 0.0}
    record = Checked("key", 0, 1, (), False, scores | {"heard": TEXT}, asr_model="auto")
    return replace(record, **changes)  # type: ignore[arg-type]


def test_only_a_check_of_this_audio_by_these_ears_settles_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pocket_batch.stages.check.find_problems", lambda *_: ())
    heard = CheckSpec(CheckSettings(listen="all"), "en")
    other = CheckSpec(CheckSettings(listen="all", asr_model="small"), "en")
    assert is_settled(SPOKEN, checked(), TEXT, heard)
    assert not is_settled(SPOKEN, None, TEXT, heard)
    assert not is_settled(replace(SPOKEN, attempt=1), checked(), TEXT, heard)
    assert not is_settled(SPOKEN, checked(), TEXT, other)
    assert is_settled(SPOKEN, checked(), TEXT, CheckSpec(CheckSettings(), "en"))


def test_what_was_tried_often_enough_is_settled_however_bad(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pocket_batch.stages.check.find_problems", lambda *_: ("click",))
    spec = CheckSpec(CheckSettings(max_attempts=4), "en")
    assert not is_settled(SPOKEN, checked(num_attempts=3), TEXT, spec)
    assert is_settled(SPOKEN, checked(num_attempts=4), TEXT, spec)


def test_a_record_without_scores_is_none() -> None:
    assert has_scores(checked())
    for scores in (None, [], {}, {"rms_db": 1.0}):
        assert not has_scores(checked(scores=scores))
