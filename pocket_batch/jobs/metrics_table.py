"""The figures of a run for Prometheus: their names, kinds and units, and the store that holds them.

Names and units are those of OpenMetrics: seconds, bytes and ratios, counters end in `_total`. Every
one has the label `job_name`, so that the text files of several jobs may lie in one folder.

Source: OpenMetrics 1.0, https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)

PREFIX = "pocket_batch_"
JOB_LABEL = "job_name"  # `job` is taken: Prometheus gives it to what it scrapes
WORKER = ("worker", "host")


@dataclass(frozen=True, slots=True)
class Kind:
    """One metric. `name` is without prefix, and without the `_total` or `_info` at its end."""

    name: str
    kind: Literal["gauge", "counter", "info"]
    help: str
    unit: str = ""
    labels: tuple[str, ...] = ()

    @property
    def sample_name(self) -> str:
        """As in what Prometheus stores, and in its queries."""
        end = {"gauge": "", "counter": "_total", "info": "_info"}[self.kind]
        return PREFIX + self.name + end


def _gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> Kind:
    units = ("bytes_per_hour", "seconds", "bytes", "ratio", "cores")
    unit = next((unit for unit in units if name.endswith("_" + unit)), "")
    return Kind(name, "gauge", text, unit, labels)


def _counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Kind:
    return Kind(name, "counter", text, "seconds" if name.endswith("_seconds") else "", labels)


KINDS = (
    Kind("build", "info", "The program.", labels=("version", "python")),
    Kind(
        "run",
        "info",
        "Where the run is, and what speaks; empty while that is not known.",
        labels=("host", "pid", "engine", "model", "voice", "language"),
    ),
    _gauge("run_active", "1 while the run works, 0 once it has ended."),
    _gauge("run_start_timestamp_seconds", "When the run began."),
    _gauge("run_end_timestamp_seconds", "When the run ended; none while it works."),
    _gauge("run_elapsed_seconds", "How long the run has worked."),
    _gauge("run_exit_code", "0 done, 10 some inputs failed, 75 stopped; none while it works."),
    _gauge("heartbeat_timestamp_seconds", "When these figures were collected."),
    _gauge("last_progress_timestamp_seconds", "When something was done the last time."),
    _gauge("last_success_timestamp_seconds", "When a run of this job ended with all done."),
    _gauge("deadline_timestamp_seconds", "Until when the run works; none without a deadline."),
    _gauge("inputs", "Inputs of the run: done, partial, failed or left.", ("status",)),
    _gauge("segments_done", "Segments (of data sets: rows) spoken in this run."),
    _gauge("segments_planned", "Segments (of data sets: rows) that this run is to speak."),
    _gauge("phase_done_ratio", "How much of each phase is done, 0 to 1.", ("phase",)),
    _counter("audio_seconds", "Speech made in this run."),
    _gauge("audio_planned_seconds", "Speech that this run is to make, an estimate."),
    _gauge("eta_seconds", "Time until all is done, an estimate; none while unknown."),
    _gauge("first_audio_latency_seconds", "From the start of speaking to the first audio."),
    _gauge(
        "real_time_factor_ratio",
        "Time taken by a second of speech (RTF = compute / audio): lower is faster.",
    ),
    _gauge(
        "x_realtime_ratio",
        "Speech made in a second, all workers together (audio / compute): higher is faster.",
    ),
    _gauge("workers", "Workers that are ready."),
    _counter(
        "worker_events",
        "Workers that crashed, took too long, were given up (lost) or replaced (recycled).",
        ("event",),
    ),
    _gauge("worker_up", "1 if the worker is ready, 0 while it starts (anew).", WORKER),
    _gauge("worker_last_seen_timestamp_seconds", "Last sign of life of the worker.", WORKER),
    _counter("worker_items", "Texts or units that the worker answered.", WORKER),
    _counter("worker_audio_seconds", "Speech that the worker made.", WORKER),
    _counter("worker_busy_seconds", "Time that the worker worked.", WORKER),
    _gauge(
        "worker_real_time_factor_ratio",
        "Time a second of speech took this worker (RTF = busy / audio): lower is faster.",
        WORKER,
    ),
    _gauge(
        "worker_x_realtime_ratio",
        "Speech this worker made in a second (audio / busy): higher is faster.",
        WORKER,
    ),
    _gauge("worker_rss_bytes", "Resident memory of the worker's process.", WORKER),
    _gauge(
        "worker_rss_growth_bytes_per_hour",
        "How fast that memory grows; 0 while the process is young.",
        WORKER,
    ),
    _gauge("worker_cpu_cores", "Processor cores that the worker uses.", WORKER),
    _counter("worker_crashes", "Processes that the worker lost.", WORKER),
    _counter("worker_recycled", "Processes replaced for the growth of their memory.", WORKER),
    _counter("failures", "Segments and units that could not be spoken."),
    _counter("suspects", "Segments that may be read wrongly."),
    _gauge("word_error_ratio", "Word error rate of what was checked last, 0.02 is 2 %."),
    _gauge("voice_similarity_ratio", "Similarity of the voice that was checked last, up to 1."),
    _gauge("disk_free_bytes", "Space left on the disk of the run."),
)


class Figures:
    """The values of one run; a collector of prometheus_client. Any thread may read them."""

    def __init__(self, job: str, before_reading: Callable[[], None] = lambda: None) -> None:
        """`before_reading` is called, with the lock held, before each collection."""
        self._job = as_label(job)
        self._before_reading = before_reading
        self._values: dict[str, dict[tuple[str, ...], float]] = {kind.name: {} for kind in KINDS}
        self.lock = threading.RLock()  # held over changes that belong together

    def set(self, name: str, value: float, *labels: str) -> None:
        """Set a gauge, or an info to 1."""
        self._values[name][tuple(map(as_label, labels))] = value

    def add(self, name: str, value: float, *labels: str) -> None:
        """Count up; a negative value is a bug."""
        assert value >= 0, (name, value)
        of_name, key = self._values[name], tuple(map(as_label, labels))
        of_name[key] = of_name.get(key, 0.0) + value

    def get(self, name: str, *labels: str) -> float | None:
        """A value, None when there is none."""
        return self._values[name].get(tuple(map(as_label, labels)))

    def clear(self, name: str) -> None:
        """Tell nothing of a metric any more."""
        self._values[name].clear()

    def describe(self) -> Iterator[Metric]:
        """All families without values; the registry asks for them."""
        return map(self._family, KINDS)

    def collect(self) -> Iterator[Metric]:
        """All families that have values, of one moment."""
        with self.lock:
            self._before_reading()
            found = [(kind, dict(self._values[kind.name])) for kind in KINDS]
        for kind, values in found:
            family = self._family(kind)
            for labels, value in values.items():
                named = dict(zip(kind.labels, labels, strict=True)) | {JOB_LABEL: self._job}
                family.add_sample(kind.sample_name, named, value)
            if values:
                yield family

    @staticmethod
    def _family(kind: Kind) -> Metric:
        text = kind.help
        if kind.kind == "counter":
            return CounterMetricFamily(PREFIX + kind.name, text, unit=kind.unit)
        if kind.kind == "info":
            return InfoMetricFamily(PREFIX + kind.name, text)
        return GaugeMetricFamily(PREFIX + kind.name, text, unit=kind.unit)


def as_label(text: str) -> str:
    """`text` as UTF-8 can hold it: names of files may have bytes that are none."""
    return text.encode("utf-8", "backslashreplace").decode()


def earlier_value(path: Path, name: str, job: str) -> float | None:
    """A gauge without labels of its own, from the text file of an earlier run of the same job.

    None when there is no such file or value; a damaged file is as good as none.
    """
    escaped = as_label(job).replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    start = f'{PREFIX}{name}{{{JOB_LABEL}="{escaped}"}} '
    try:
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line.startswith(start):
                value = float(line.removeprefix(start))
                return value if math.isfinite(value) else None
    except (OSError, ValueError):
        return None
    return None
