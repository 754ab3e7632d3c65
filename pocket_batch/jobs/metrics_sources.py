"""What the figures of a run are made of: how far it is, its inputs, and its workers."""

import math
import time
from collections import Counter
from collections.abc import Mapping

from pocket_batch.executors.health import MB, WorkerHealth
from pocket_batch.jobs.metrics_table import KINDS, WORKER, Figures
from pocket_batch.jobs.progress import Download, Progress

GONE_S = 60.0  # nothing is said of workers that were not told of for so long: they have ended
_WORKER_GAUGES = [kind.name for kind in KINDS if kind.labels == WORKER and kind.kind == "gauge"]
_SPEAKING = "speaking"


class Growth:
    """How much a number that should only grow has grown, when it may begin anew as well."""

    def __init__(self) -> None:
        self._highest = 0.0

    def since_last(self, value: float, is_anew: bool = False) -> float:
        """What came to it since the last call; an estimate that sinks a little adds nothing."""
        if is_anew:
            self._highest = 0.0
        grown = max(0.0, value - self._highest)
        self._highest = max(self._highest, value)
        return grown


class ProgressFigures:
    """How far each phase is, and how fast speech is made."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self._audio = Growth()
        self._last: Progress | None = None
        self._speaking: Progress | None = None  # the newest of that phase

    def update(self, now: Progress) -> None:
        """Take down a snapshot."""
        last, self._last = self._last, now
        if last is None or _done(last) != _done(now):
            self.moved()
        if now.total_audio_s > 0:
            self._phase(now.phase, now.audio_s / now.total_audio_s)
        elif now.total > 0:
            self._phase(now.phase, now.done / now.total)
        if now.phase == _SPEAKING:
            self._speak(now)
        if now.phase == _SPEAKING or not self._is_speaking():
            self._eta(now)

    def download(self, now: Download) -> None:
        """A download is a phase like others."""
        self.moved()
        if now.total_bytes > 0:
            self._phase("downloading", now.num_bytes / now.total_bytes)

    def moved(self) -> None:
        """Something was done."""
        self._figures.set("last_progress_timestamp_seconds", time.time())

    def _is_speaking(self) -> bool:
        return self._speaking is not None and self._speaking.done < self._speaking.total

    def _phase(self, phase: str, ratio: float) -> None:
        self._figures.set("phase_done_ratio", min(1.0, ratio), phase)

    def _eta(self, now: Progress) -> None:
        """0 means that nothing is known, unless all is done."""
        if now.eta_s > 0 or now.done >= now.total > 0:
            self._figures.set("eta_seconds", now.eta_s)
        else:
            self._figures.clear("eta_seconds")

    def _speak(self, now: Progress) -> None:
        figures, last = self._figures, self._speaking
        self._speaking = now
        is_anew = last is not None and now.elapsed_s < last.elapsed_s
        figures.add("audio_seconds", self._audio.since_last(now.audio_s, is_anew))
        figures.set("audio_planned_seconds", now.total_audio_s)
        figures.set("segments_done", now.done)
        figures.set("segments_planned", now.total)
        figures.set("workers", now.num_workers)
        if now.x_realtime > 0:
            figures.set("x_realtime_ratio", now.x_realtime)
            figures.set("real_time_factor_ratio", 1 / now.x_realtime)
        if now.first_audio_s > 0 and figures.get("first_audio_latency_seconds") is None:
            figures.set("first_audio_latency_seconds", now.first_audio_s)


def _done(snapshot: Progress) -> tuple[str, int, float]:
    return snapshot.phase, snapshot.done, snapshot.audio_s


class InputFigures:
    """How many inputs are done, partial, failed or left."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self._counts: Counter[str] = Counter()
        self._status: dict[str, str] = {}
        self._num_known_done = 0  # that the plan has counted, and that are told of afterwards

    def plan(self, fields: Mapping[str, object]) -> None:
        """Take down a plan; one that comes later has all that was done before."""
        kinds = ("done", "failed", "left", "partial")
        self._counts = Counter({k: int(number(fields, f"num_{k}") or 0) for k in kinds})
        self._status.clear()
        self._num_known_done = self._counts["done"]
        self._set()

    def done(self, name: str, status: str) -> None:
        """An input is done, as well as it could be."""
        if status == "already_done":
            status = "done"
            if self._num_known_done > 0 and name not in self._status:
                self._num_known_done -= 1
                self._status[name] = status
                return
        before = self._status.get(name, "left")
        self._status[name] = status
        self._counts[before] = max(0, self._counts[before] - 1)
        self._counts[status] += 1
        self._set()

    def all_done(self) -> bool:
        """Whether none is partial or failed."""
        return not (self._counts["partial"] or self._counts["failed"])

    def _set(self) -> None:
        for status, count in self._counts.items():
            self._figures.set("inputs", count, status)


class WorkerFigures:
    """How each worker is. What is counted goes on when its process, or its host, is another."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self._hosts: dict[int, str] = {}
        self._growths: dict[tuple[int, str], Growth] = {}
        self._told = -math.inf

    def start_anew(self) -> None:
        """Other workers of the same numbers begin to count at 0."""
        self._hosts.clear()
        self._growths.clear()

    def update(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Take down how all are; those that are gone are forgotten."""
        self.clear()
        self._told = time.monotonic()
        for worker in workers:
            self._update(worker)

    def clear_if_gone(self) -> None:
        """Say nothing of workers of long ago, so that nobody takes them for silent ones."""
        if time.monotonic() - self._told > GONE_S:
            self.clear()

    def clear(self) -> None:
        """Say nothing of any worker but what was counted."""
        for name in _WORKER_GAUGES:
            self._figures.clear(name)

    def _update(self, now: WorkerHealth) -> None:
        figures = self._figures
        host = self._hosts[now.number] = now.host or self._hosts.get(now.number, "")
        labels = (str(now.number), host)
        self._count(now, labels)
        figures.set("worker_up", float(now.state != "starting"), *labels)
        figures.set("worker_last_seen_timestamp_seconds", time.time() - now.seen_s, *labels)
        figures.set("worker_cpu_cores", now.cpu_cores, *labels)
        if now.rss_bytes > 0:  # 0 is unknown
            figures.set("worker_rss_bytes", now.rss_bytes, *labels)
            growth = now.rss_growth_mb_per_h * MB
            figures.set("worker_rss_growth_bytes_per_hour", growth, *labels)
        if now.x_realtime > 0:
            figures.set("worker_x_realtime_ratio", now.x_realtime, *labels)
            figures.set("worker_real_time_factor_ratio", 1 / now.x_realtime, *labels)

    def _count(self, now: WorkerHealth, labels: tuple[str, str]) -> None:
        counts = {
            "worker_items": now.num_items,
            "worker_audio_seconds": now.audio_s,
            "worker_busy_seconds": now.busy_s,
            "worker_crashes": now.num_crashes,
            "worker_recycled": now.num_recycled,
        }
        for name, value in counts.items():
            grown = self._growths.setdefault((now.number, name), Growth()).since_last(value)
            if grown or labels[1]:  # no zeros of a host that is not known yet
                self._figures.add(name, grown, *labels)


def number(fields: Mapping[str, object], name: str) -> float | None:
    """A field of a note if it is a finite number."""
    value = fields.get(name)
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None
