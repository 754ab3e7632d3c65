"""The verdict over a run: what is a warning, what is critical, and what of it ends with code 10."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Suspect
from pocket_batch.jobs.progress import Level, Silent
from pocket_batch.jobs.quality import Quality, tell_quality, write_quality
from pocket_batch.jobs.similarity import VoiceLikeness
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.check import Check
from pocket_batch.work_folder import WorkFolder

SETTINGS = CheckSettings()
Judge = Callable[..., Quality]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """The quality of three utterances of which one has problems."""

    def made(
        *codes: str,
        wer: float | None = None,
        num_wrong: int = 9,
        likeness: float | None = None,
        num_failures: int = 0,
        settings: CheckSettings = SETTINGS,
    ) -> Quality:
        check = Check(settings, {})
        check.wer, check.num_wrong = wer, num_wrong
        if codes:
            check.problems = {"key": codes}
            check.suspects = [Suspect("key", "001-0001", "Text.", "It is wrong.", codes)]
        found = (
            {"heart": VoiceLikeness("itself", 9, likeness, likeness, {})}
            if likeness is not None
            else {}
        )
        work = WorkFolder(tmp_path)
        quality = write_quality(work, check, settings, 3, num_failures, likeness=found)
        written = json.loads((tmp_path / "quality.json").read_text())
        assert written["level"] == quality.level
        assert written["problem"] == quality.problem
        assert written["similarity"] == quality.similarity
        return quality

    return made


@pytest.mark.parametrize(
    ("wer", "level"), [(None, "ok"), (0.02, "ok"), (0.021, "warning"), (0.031, "critical")]
)
def test_the_share_of_wrong_words_has_two_levels(
    wer: float | None, level: str, judge: Judge
) -> None:
    found = judge(wer=wer)
    assert found.level == level
    assert bool(found.problem) == (level == "critical")


def test_a_few_wrong_words_of_a_short_text_are_no_verdict(judge: Judge) -> None:
    assert judge(wer=0.2, num_wrong=4).level == "ok"
    assert judge(wer=0.2, num_wrong=5).level == "critical"


@pytest.mark.parametrize(
    ("likeness", "level"), [(0.9, "ok"), (0.85, "ok"), (0.84, "warning"), (0.74, "critical")]
)
def test_so_has_the_likeness_of_the_voice(likeness: float, level: str, judge: Judge) -> None:
    found = judge(likeness=likeness)
    assert found.level == level
    assert ("heart" in found.problem) == (level == "critical")


@pytest.mark.parametrize("code", ["noise", "too_quiet", "no_eos", "mostly_silence"])
def test_what_is_surely_wrong_is_critical(code: str, judge: Judge) -> None:
    assert "1 segment could not be read well" in judge(code).problem


def test_other_suspects_are_critical_for_who_asks_for_it(judge: Judge) -> None:
    assert judge("click", "misheard").level == "ok"
    found = judge("click", settings=CheckSettings(fail_on="any"))
    assert found.level == "critical"
    assert "1 segment may be read wrongly" in found.problem


def test_nothing_is_for_who_wants_to_hear_for_himself(judge: Judge) -> None:
    assert judge("noise", settings=CheckSettings(fail_on="never")).problem == ""


def test_a_sample_that_is_empty_is_told(judge: Judge) -> None:
    told: list[str] = []

    class Listening(Silent):
        def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
            told.append(text)

    tell_quality(Listening(), judge(), listen="sample")
    assert "None of so few lines" in told[0]
    told.clear()
    tell_quality(Listening(), judge(), listen="off")
    assert told == []


def test_a_failed_utterance_is_a_warning_by_itself(judge: Judge) -> None:
    assert judge(num_failures=1).level == "warning"
