"""Figures of a run for Prometheus, kept up to date by what the run reports."""

import math
import os
import platform
import socket
import time
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry

from pocket_batch.errors import PocketBatchError, UsageError
from pocket_batch.executors.health import WorkerHealth
from pocket_batch.job_settings import MetricsSettings
from pocket_batch.jobs.metrics_out import FileWriter, serving
from pocket_batch.jobs.metrics_sources import InputFigures, ProgressFigures, WorkerFigures, number
from pocket_batch.jobs.metrics_table import Figures, earlier_value
from pocket_batch.jobs.progress import Download, Level, Progress

EVERY_S = 10.0  # between two writings of the file
WORKER_EVENTS = ("crashed", "lost", "recycled", "timeout")
LAST_SUCCESS = "last_success_timestamp_seconds"


class Metrics:
    """A reporter that keeps figures for Prometheus in a file, at a port, or both.

    Use it as a context manager around the run: how that ends is among the figures. Each has a
    registry of its own, and nothing of it is left afterwards but the file. `metrics_table.KINDS`
    has all figures.

    Notes that change figures: `job_plan` (num_done, num_failed, num_partial, num_left),
    `input_done` (input, status, num_failures), `unit_failed`, `suspects` (count), `quality` (wer,
    similarity; 0 to 1),
    `disk` (free_bytes), `voice` (engine, model, voice, language), `worker_*` (num_workers); and of
    any note the fields `deadline_at` (seconds since 1970) and `exit_code`, of a run that returns
    its code.

    Attributes:
        registry: of prometheus_client.
        url: of the port; empty without one.
        problem: why the file could not be written later on. It is no reason to end a run.
    """

    def __init__(
        self,
        settings: MetricsSettings,
        job: str,
        deadline_at: float = math.inf,
        every_s: float = EVERY_S,
    ) -> None:
        """Write and serve nothing yet.

        Args:
            settings: where to; without file and port nobody sees the figures.
            job: its name, a label of every figure.
            deadline_at: seconds since 1970; infinite is none.
            every_s: between two writings of the file.
        """
        self.registry = CollectorRegistry(auto_describe=True)
        self.url = ""
        self.problem = ""
        self._settings = settings
        self._job = job
        self._every_s = every_s
        self._figures = Figures(job, self._tick)
        self._progress = ProgressFigures(self._figures)
        self._inputs = InputFigures(self._figures)
        self._workers = WorkerFigures(self._figures)
        self._started = time.monotonic()
        self._is_active = False
        self._exit_code: int | None = None
        self._stack = ExitStack()
        self.registry.register(self._figures)
        if math.isfinite(deadline_at):
            self._figures.set("deadline_timestamp_seconds", deadline_at)

    def __enter__(self) -> Self:
        """Begin.

        Raises:
            OutputError: the file cannot be written.
            UsageError: the file has another ending, the port is taken, or the address is not one
                of this machine.
        """
        settings = self._settings
        if settings.file is not None and not settings.file.endswith(".prom"):
            raise UsageError(
                f"metrics.file: {settings.file} does not end in .prom, and the node exporter of "
                "Prometheus reads no others. Name it so."
            )
        with self._figures.lock:
            self._begin()
        with ExitStack() as stack:
            if settings.port is not None:
                self.url = stack.enter_context(serving(self.registry, settings.host, settings.port))
            if settings.file is not None:
                path = Path(settings.file)
                writer = FileWriter(path, self.registry, self._every_s, self._on_problem)
                stack.callback(writer.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write how it ended, and serve no more."""
        with self._figures.lock:
            self._end(self._code_of(error))
        self._stack.close()

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Count what the note is about; most change nothing."""
        with self._figures.lock:
            self._any_note(fields)
            if event.startswith("worker_"):
                self._worker_note(event.removeprefix("worker_"), fields)
            elif event in ("job_plan", "input_done"):
                self._input_note(event, fields)
            else:
                self._other_note(event, fields)

    def progress(self, snapshot: Progress) -> None:
        """Take down how far a phase is."""
        with self._figures.lock:
            self._progress.update(snapshot)

    def download(self, snapshot: Download) -> None:
        """Take down how far a download is."""
        with self._figures.lock:
            self._progress.download(snapshot)

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Take down how each worker is."""
        with self._figures.lock:
            self._workers.update(workers)

    def _begin(self) -> None:
        figures, now = self._figures, time.time()
        self._started, self._is_active = time.monotonic(), True
        figures.set("build", 1, version("pocket-batch"), platform.python_version())
        figures.set("run", 1, socket.gethostname(), str(os.getpid()), "", "", "", "")
        figures.set("run_active", 1)
        figures.set("run_start_timestamp_seconds", now)
        figures.set("last_progress_timestamp_seconds", now)
        for name in ("audio_seconds", "failures", "suspects"):
            figures.add(name, 0)  # so that the first one is seen as growth
        for event in WORKER_EVENTS:
            figures.add("worker_events", 0, event)
        if self._settings.file is not None:
            self._set_known(
                LAST_SUCCESS, earlier_value(Path(self._settings.file), LAST_SUCCESS, self._job)
            )

    def _end(self, exit_code: int) -> None:
        self._tick()
        self._is_active = False
        figures = self._figures
        figures.set("run_active", 0)
        figures.set("run_end_timestamp_seconds", time.time())
        figures.set("run_exit_code", exit_code)
        figures.set("workers", 0)
        figures.clear("eta_seconds")
        self._workers.clear()
        if exit_code == 0:
            figures.set(LAST_SUCCESS, time.time())

    def _code_of(self, error: BaseException | None) -> int:
        if isinstance(error, PocketBatchError):
            return error.exit_code
        if isinstance(error, SystemExit):
            return error.code if isinstance(error.code, int) else int(error.code is not None)
        if error is not None:
            return 1
        if self._exit_code is not None:
            return self._exit_code
        return 0 if self._inputs.all_done() else 10

    def _tick(self) -> None:
        """Set what changes by itself, before the figures are read."""
        if self._is_active:
            self._figures.set("heartbeat_timestamp_seconds", time.time())
            self._figures.set("run_elapsed_seconds", time.monotonic() - self._started)
            self._workers.clear_if_gone()

    def _any_note(self, fields: dict[str, object]) -> None:
        self._set_known("deadline_timestamp_seconds", number(fields, "deadline_at"))
        exit_code = number(fields, "exit_code")
        if exit_code is not None:
            self._exit_code = int(exit_code)

    def _worker_note(self, event: str, fields: dict[str, object]) -> None:
        self._set_known("workers", number(fields, "num_workers"))
        if event == "starting":
            self._workers.start_anew()
        elif event in WORKER_EVENTS:
            self._figures.add("worker_events", 1, event)

    def _input_note(self, event: str, fields: dict[str, object]) -> None:
        self._progress.moved()
        if event == "job_plan":
            self._inputs.plan(fields)
            return
        self._inputs.done(str(fields.get("input", "")), str(fields.get("status", "")))
        self._figures.add("failures", max(0.0, number(fields, "num_failures") or 0.0))

    def _other_note(self, event: str, fields: dict[str, object]) -> None:
        if event == "unit_failed":
            self._figures.add("failures", 1)
        elif event == "suspects":
            self._figures.add("suspects", max(0.0, number(fields, "count") or 0.0))
        elif event == "quality":
            self._set_known("word_error_ratio", number(fields, "wer"))
            self._set_known("voice_similarity_ratio", number(fields, "similarity"))
        elif event == "disk":
            self._set_known("disk_free_bytes", number(fields, "free_bytes"))
        elif event == "voice":
            voice = [str(fields.get(k, "")) for k in ("engine", "model", "voice", "language")]
            self._figures.clear("run")
            self._figures.set("run", 1, socket.gethostname(), str(os.getpid()), *voice)

    def _set_known(self, name: str, value: float | None) -> None:
        if value is not None:
            self._figures.set(name, value)

    def _on_problem(self, problem: str) -> None:
        self.problem = problem
