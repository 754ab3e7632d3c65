"""Asks workers how they are while they work, and says which one is not well."""

import time
from collections.abc import Callable

from pocket_batch.executors.base import Limits
from pocket_batch.executors.cluster import Cluster, Reply
from pocket_batch.executors.health import Vitals
from pocket_batch.executors.workers import Worker

LOOK_S = 5.0
MAX_WORKERS = 250  # that are asked so often: each answer takes the driver half a millisecond


class Watch:
    """One look at all workers every few seconds. A worker that leaks memory is marked."""

    def __init__(self, cluster: Cluster, limits: Limits, tell: Callable[[str], None]) -> None:
        """`tell` takes a sentence about a worker."""
        self._cluster = cluster
        self._limits = limits
        self._tell = tell
        self._looked = 0.0
        self._told: set[tuple[int, str]] = set()

    def look(self, workers: list[Worker]) -> None:
        """Ask those that are ready, and tell of those that do not answer."""
        now = time.monotonic()
        interval_s = LOOK_S * max(1.0, len(workers) / MAX_WORKERS)
        if now - self._looked < min(interval_s, max(LOOK_S, self._limits.silent_s / 3)):
            return
        self._looked = now
        for worker in workers:
            if not worker.is_ready:
                worker.look = None  # its process is gone, and with it the answer
                continue
            silent_s = now - worker.history.seen
            if silent_s > self._limits.silent_s:
                self._once(worker, "silent", f"has given no sign of life for {silent_s:.0f} s.")
            if worker.look is None:
                worker.look = self._cluster.call_vitals(worker.handle)

    def on_look(self, worker: Worker, reply: Reply) -> None:
        """Take down how a worker is, and judge its memory."""
        worker.look = None
        if not isinstance(reply.value, Vitals):
            return
        worker.history.see(reply.value)
        self._told.discard((worker.number, "silent"))
        growth = worker.history.growth_mb_per_h(self._limits.growth_span_s)
        if growth > self._limits.recycle_growth_mb_per_h:
            worker.is_recycling = True
        elif growth > self._limits.warn_growth_mb_per_h:
            self._once(worker, "growth", f"takes {growth:.0f} MB more memory an hour.")

    def _once(self, worker: Worker, kind: str, detail: str) -> None:
        if (worker.number, kind) not in self._told:
            self._told.add((worker.number, kind))
            self._tell(f"Worker {worker.number} {detail}")
