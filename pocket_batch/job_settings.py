"""A job file: what is made of which inputs, until when, and who is told; `config.py` reads it."""

from dataclasses import dataclass, field
from typing import Any

from pocket_batch.settings import ExecutorSettings


@dataclass(frozen=True, slots=True)
class Hook:
    """Whom to tell how a run ended.

    `command` is run with the path of `summary.json` as its last word; the summary is posted to
    `webhook`, a URL, as JSON.
    """

    command: str | None = None
    webhook: str | None = None


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Where figures for Prometheus are found while a run goes on.

    `file` ends in `.prom`, for the text file collector of its node exporter; `port` is served at
    the address `host`.
    """

    file: str | None = None
    port: int | None = None
    host: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """From when on a worker is told of, or started anew.

    Growth is that of its memory in MB an hour. `silent_s` is how long it may give no sign of life.
    """

    warn_growth_mb_per_h: float = 100.0
    recycle_growth_mb_per_h: float = 500.0
    silent_s: float = 60.0


@dataclass(frozen=True, slots=True)
class JobSettings:
    """A whole job file. Paths are as seen from its folder.

    `pipeline` is `audiobook`, `dataset`, or a pipeline file. `inputs` are files, folders and globs;
    `inbox` is a folder that is looked into again while a run works, and with `keep_watching` until
    its deadline. `output` names each result, with fields as `{stem}` (see docs/nightly.md); for a
    data set it is a folder or URL. `set` changes settings of the pipeline by their dotted names.
    `deadline` is a time of day, `HH:MM`. `exports` are formats that a data set is exported to.
    `keep_speech` of false removes the sentences of a book once it is whole. `run_dir` holds what
    tells of the run: status, summary, log.
    """

    output: str
    pipeline: str = "audiobook"
    inputs: tuple[str, ...] = ()
    inbox: str | None = None
    keep_watching: bool = False
    voice: str | None = None
    voices: tuple[str, ...] = ()
    set: dict[str, Any] = field(default_factory=dict)
    executor: ExecutorSettings | None = None
    deadline: str | int | None = None  # YAML reads 22:15 as the number 1335
    max_hours: float | None = None
    exports: tuple[str, ...] = ()
    keep_speech: bool = True
    on_finish: Hook = field(default_factory=Hook)
    on_failure: Hook = field(default_factory=Hook)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    health: HealthSettings = field(default_factory=HealthSettings)
    run_dir: str | None = None
