"""`run.json` of a data set: what made it, what it holds, and what may be done with it.

Statistics come from the records of finished units, never from what one run happened to count.
"""

import json
import platform
import shlex
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from pocket_batch.config import as_dict
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.engine.base import Engine
from pocket_batch.errors import UsageError
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.dataset.job import DatasetJob
from pocket_batch.jobs.record import package_versions
from pocket_batch.outputs.exports import Speaker
from pocket_batch.rows import UnitDone
from pocket_batch.units.store import Store

RUN_FILE = "run.json"
MAX_DIFFERENCES_NAMED = 8
# What may change from run to run: where work is done, and what the result may be used for.
_FREE = ("executor", "licence")


@dataclass(slots=True)
class SetStatistics:
    """What finished units hold. `by_voice` has utterances and seconds of each voice, `wer` is the
    share of wrong words in what was listened to, None if nothing was."""

    num_units: int = 0
    num_kept: int = 0
    num_filtered: int = 0
    num_errors: int = 0
    audio_s: float = 0.0
    num_bytes: int = 0
    compute_s: float = 0.0
    rejects: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    by_voice: dict[str, dict[str, float]] = field(default_factory=dict)
    num_words_heard: int = 0
    num_word_errors: int = 0
    wer: float | None = None

    def add(self, unit: UnitDone) -> None:
        """Count one more unit."""
        seconds = unit.num_samples / unit.sampling_rate_hz if unit.sampling_rate_hz else 0.0
        self.num_units += 1
        self.num_kept += unit.num_kept
        self.num_filtered += unit.num_filtered
        self.num_errors += unit.num_errors
        self.audio_s += seconds
        self.num_bytes += unit.num_bytes
        self.compute_s += unit.compute_s
        self.num_words_heard += unit.num_words_heard
        self.num_word_errors += unit.num_word_errors
        if self.num_words_heard:
            self.wer = round(self.num_word_errors / self.num_words_heard, 5)
        self.rejects = dict(Counter(self.rejects) + Counter(unit.rejects))
        self.failures = dict(Counter(self.failures) + Counter(unit.failures))
        voice = self.by_voice.setdefault(unit.voice, {"num_kept": 0, "audio_s": 0.0})
        voice["num_kept"] += unit.num_kept
        voice["audio_s"] += seconds


@dataclass(slots=True)
class DatasetRecord:
    """The content of `run.json`. `identity` is all that may not change when a run goes on."""

    job: DatasetJob
    name: str
    language: str
    licence: str
    speakers: tuple[Speaker, ...]
    engines: tuple[Engine, ...]
    identity: dict[str, object]
    fingerprint: str
    inputs: list[dict[str, object]]
    status: str = "running"
    problem: str = ""
    started_at: str = field(default_factory=lambda: _now())
    planned: dict[str, Any] = field(default_factory=dict)
    statistics: SetStatistics = field(default_factory=SetStatistics)

    def write(self, store: Store) -> None:
        """Write `run.json` as it stands.

        Raises:
            OutputError: it cannot be written.
        """
        content = {
            "kind": "dataset",
            "status": self.status,
            "problem": self.problem,
            "fingerprint": self.fingerprint,
            "name": self.name,
            "language": self.language,
            "licence": self.licence,
            "speakers": [asdict(speaker) for speaker in self.speakers],
            "engines": [_engine(engine) for engine in self.engines],
            "command": shlex.join(self.job.command),
            "inputs": self.inputs,
            "seed": self.job.pipeline.seed,
            "settings": as_dict(self.job.pipeline),
            "identity": self.identity,
            "planned": self.planned,
            "statistics": asdict(self.statistics),
            "versions": package_versions(),
            "machine": {"cpu": _cpu_name(), "usable_cores": usable_cores()},
            "started_at": self.started_at,
            "finished_at": "" if self.status == "running" else _now(),
        }
        text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        store.write(RUN_FILE, text.encode("utf-8", "backslashreplace"))


def read_run(store: Store) -> dict[str, Any]:
    """What `run.json` says; empty when there is none, or none that can be read."""
    if not store.exists(RUN_FILE):
        return {}
    try:
        content = json.loads(store.read(RUN_FILE))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def identity_of(pipeline: DatasetPipeline, voice_keys: dict[str, str]) -> dict[str, object]:
    """Every setting that the sound or the choice of rows depends on, by dotted name.

    `voice_keys` tell what each voice and its engine are at present, whatever their names.
    """
    settings = as_dict(pipeline)
    for name in _FREE:
        del settings[name]
    settings["voices"]["voices"] = sorted(settings["voices"]["voices"].items())
    found = _flat(settings)
    found |= {f"voice {name}": key for name, key in sorted(voice_keys.items())}
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]  # as it is read back


def refuse_changes(earlier: dict[str, Any], identity: dict[str, object], output: str) -> None:
    """Refuse to go on with a set that was made with other settings.

    Raises:
        UsageError: naming what differs.
    """
    before = earlier.get("identity")
    if not isinstance(before, dict):
        return
    names = [name for name in sorted({*before, *identity}) if _differs(name, before, identity)]
    if not names:
        return
    shown = [f"{n} was {_short(before.get(n))}, is {_short(identity.get(n))}" for n in names]
    more = f"; and {len(names) - MAX_DIFFERENCES_NAMED} more"
    raise UsageError(
        f"{output} was made with other settings: {'; '.join(shown[:MAX_DIFFERENCES_NAMED])}"
        f"{more * (len(names) > MAX_DIFFERENCES_NAMED)}. Give the same ones to go on, another "
        "folder with -o, or --new-run to make the set anew here."
    )


def _differs(name: str, before: dict[str, object], now: dict[str, object]) -> bool:
    """A setting that one of two versions does not know is as good as the same."""
    if name.startswith("voice "):
        return before.get(name) != now.get(name)
    return name in before and name in now and before[name] != now[name]


def _short(value: object) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:20]}..."


def _flat(settings: dict[str, Any], before: str = "") -> dict[str, object]:
    """Nested settings by their dotted names."""
    found: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = value
    return found


def statistics_of(units: Iterable[UnitDone]) -> SetStatistics:
    """What some finished units hold together."""
    statistics = SetStatistics()
    for unit in units:
        statistics.add(unit)
    return statistics


def _engine(engine: Engine) -> dict[str, Any]:
    return {
        "name": engine.name,
        "model": engine.spec.model,
        "precision": engine.spec.precision,
        "version": engine.version,
        "sampling_rate_hz": engine.sampling_rate_hz,
        "identity": engine.identity(),
    }


def _cpu_name() -> str:
    """The model of the processor: the same bits are promised on the same one."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
