"""`quality.json`: how good the speech of a run is, with a verdict for machines."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Literal

from pocket_batch.bcp47 import primary
from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.jobs.progress import Reporter
from pocket_batch.manifest import write_atomic
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.check import Check
from pocket_batch.stages.repair import CheckSpec
from pocket_batch.work_folder import WorkFolder

Level = Literal["ok", "warning", "critical"]


@dataclass(frozen=True, slots=True)
class Quality:
    """`wer` is the share of wrong words in what was listened to, None where nothing was.

    `problem` says what is critical, empty if nothing is; `problems` counts codes.
    """

    level: Level
    wer: float | None
    num_utterances: int
    num_suspects: int
    num_failures: int
    num_cut_off: int
    problems: dict[str, int]
    problem: str = ""


def check_ears(spec: CheckSpec | None) -> None:
    """Refuse to listen without ears, before anything is spoken.

    Raises:
        ModelUnavailableError: a package is not installed.
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


def write_quality(
    work: WorkFolder, check: Check, settings: CheckSettings, num_all: int, num_failures: int
) -> Quality:
    """Judge a whole run, and write `quality.json` into its work folder.

    Raises:
        OutputError: it cannot be written.
    """
    level: Level = "ok"
    problem = ""
    if check.wer is not None and check.wer > settings.critical_wer:
        level = "critical"
        problem = (
            f"{100 * check.wer:.1f} % of the words were heard otherwise than written, more than "
            f"{100 * settings.critical_wer:g} %; {work.file('checks.jsonl')} lists where."
        )
    elif num_failures or (check.wer is not None and check.wer > settings.warn_wer):
        level = "warning"
    quality = Quality(
        level=level,
        wer=check.wer,
        num_utterances=num_all,
        num_suspects=len(check.suspects),
        num_failures=num_failures,
        num_cut_off=check.num_cut_off,
        problems=dict(Counter(code for codes in check.problems.values() for code in codes)),
        problem=problem,
    )
    limits = {"wer": {"warning": settings.warn_wer, "critical": settings.critical_wer}}
    content = asdict(quality) | {"thresholds": limits}
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    write_atomic(work.file("quality.json"), text.encode("utf-8", "backslashreplace"))
    return quality


def tell_quality(reporter: Reporter, quality: Quality) -> None:
    """Say how many words were heard wrong, if somebody listened."""
    if quality.wer is None:
        return
    text = f"Heard {100 * quality.wer:.2f} % of the words otherwise than written."
    reporter.note("quality", text, "info" if quality.level == "ok" else "warning", wer=quality.wer)
