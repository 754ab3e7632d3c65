"""What may be wrong, in one list: what failed, what the checks found, what was heard wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from pocket_batch.data import Failure, Suspect
from pocket_batch.jobs.report.facts import Facts, Place
from pocket_batch.quality.checks import WEIGHTS
from pocket_batch.quality.sentences import sentence
from pocket_batch.records import Checked
from pocket_batch.rows import Scores

FAILED = "not_spoken"
UNKNOWN = "suspect"  # of a sentence in checks.jsonl that comes without a code
_KINDS = {
    FAILED: "not spoken",
    "no_eos": "not ended",
    "asr_loop": "loops",
    "cut_off": "cut off",
    "dc_offset": "DC offset",
    "edge_silence": "silence at an end",
    "internal_silence": "gap inside",
    "level_jump": "level jumps",
    "level_outlier": "odd level",
    "rate_outlier": "odd pace",
    "voice_outlier": "odd voice",
}
NOT_SPOKEN_WEIGHT = 100.0
UNKNOWN_WEIGHT = 2.0  # of a code of another version


@dataclass(frozen=True, slots=True)
class Listed:
    """An utterance to listen to. `kinds` are codes, `sentences` say what is wrong.

    `places` are all where it is heard, in order; `text` is what was to be said. `severity` sorts:
    what was not spoken first.
    """

    key: str
    text: str
    places: tuple[Place, ...]
    kinds: tuple[str, ...]
    sentences: tuple[str, ...]
    severity: float
    scores: Mapping[str, Any]
    attempt: int
    num_attempts: int
    is_split: bool

    @property
    def heard(self) -> str | None:
        """What ASR heard; None where it did not listen."""
        value = self.scores.get("heard")
        return value if isinstance(value, str) else None

    @property
    def wer(self) -> float | None:
        """The share of words that were heard wrong."""
        value = self.scores.get("wer")
        return float(value) if isinstance(value, int | float) else None


def kind_name(code: str) -> str:
    """A code in words: one that is not known is shown as it is."""
    return _KINDS.get(code, code.replace("_", " "))


def list_suspects(facts: Facts) -> list[Listed]:
    """All suspects of the script, in reading order."""
    failures = {f.key: f for f in facts.failures if f.key in facts.places_of}
    sentences: dict[str, list[Suspect]] = {}
    for suspect in facts.suspects:
        if suspect.key in facts.places_of:
            sentences.setdefault(suspect.key, []).append(suspect)
    judged = facts.work.file("checks.jsonl").exists()  # by the settings of the run, as a whole
    wrong = {key for key, c in facts.checked.items() if c.problems and not judged}
    keys = [key for key in facts.places_of if key in failures | sentences.keys() | wrong]
    return [_listed(facts, key, failures.get(key), sentences.get(key, [])) for key in keys]


def _listed(facts: Facts, key: str, failure: Failure | None, told: list[Suspect]) -> Listed:
    places = facts.places_of[key]
    checked = facts.checked.get(key)
    text = places[0].segment.text
    kinds, sentences = _problems(checked, told, text, facts.language)
    if failure is not None:
        kinds, sentences = (FAILED, *kinds), (failure.reason, *sentences)
    scores = checked.scores if checked else {}
    wer = scores.get("wer")
    severity = sum(WEIGHTS.get(code, UNKNOWN_WEIGHT) for code in kinds if code != FAILED)
    severity += NOT_SPOKEN_WEIGHT * (failure is not None)
    severity += float(wer) if isinstance(wer, int | float) else 0.0
    return Listed(
        key=key,
        text=text,
        places=places,
        kinds=kinds,
        sentences=sentences,
        severity=severity,
        scores=scores,
        attempt=checked.attempt if checked else 0,
        num_attempts=checked.num_attempts if checked else (failure.attempts if failure else 1),
        is_split=bool(checked and checked.is_split),
    )


def _problems(
    checked: Checked | None, told: list[Suspect], text: str, language: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Codes and sentences: as they were judged, else as they were measured."""
    if told:
        codes = dict.fromkeys(code for suspect in told for code in suspect.codes)
        return tuple(codes) or (UNKNOWN,), tuple(dict.fromkeys(s.reason for s in told))
    scores = _scores(checked.scores) if checked else None
    codes = dict.fromkeys(checked.problems if checked else ())
    if scores is None:
        return tuple(codes), tuple(f"{kind_name(code).capitalize()}." for code in codes)
    said = (sentence(code, scores, text, None, language or "en") for code in codes)
    return tuple(codes), tuple(dict.fromkeys(said))


def _scores(values: Mapping[str, Any]) -> Scores | None:
    """Scores as they were written by this version or by another; None if they do not fit."""
    names = {f.name for f in fields(Scores)}
    try:
        return Scores(**{name: value for name, value in values.items() if name in names})
    except TypeError:
        return None
