"""The workers of a run: started, started again after a crash, and given up.

Who dies over an item is its suspect; a worker that comes back settles what is to be thought of it.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

from pocket_batch.data import Failure
from pocket_batch.errors import PocketBatchError
from pocket_batch.executors.base import Plan, WorkerEvent
from pocket_batch.executors.cluster import Cluster, Reply
from pocket_batch.executors.queue import Loss, RetryQueue
from pocket_batch.executors.unit_queue import UnitQueue
from pocket_batch.executors.workers import (
    FIRST_BACKOFF_S,
    LAST_BACKOFF_S,
    Call,
    Worker,
    no_worker_left,
)
from pocket_batch.rows import UnitFailure

GROW_S = 5.0  # between two looks for room that came later


class Crew:
    """Those that are not given up, in `workers`; `told` is when something of them was told last."""

    def __init__(
        self,
        cluster: Cluster,
        queue: RetryQueue | UnitQueue,
        plan: Plan,
        on_event: Callable[[WorkerEvent], None],
    ) -> None:
        self.workers: list[Worker] = []
        self.told = time.monotonic()
        self._cluster = cluster
        self._queue = queue
        self._plan = plan
        self._on_event = on_event
        self._last_error: PocketBatchError | None = None
        self._has_worked = False
        self._capacity = cluster.capacity()
        self._grown = time.monotonic()
        self._num_started = 0

    def start(self, num_workers: int) -> None:
        """Some more workers, which are not ready yet."""
        deadline = time.monotonic() + self._plan.start_timeout_s
        for _ in range(num_workers):
            self._num_started += 1
            self.workers.append(Worker(self._num_started, self._cluster.start(), deadline))
        self._queue.num_workers = len(self.workers)
        self.tell("starting", f"Starting {num_workers} worker{'s' * (num_workers != 1)}.")

    def use_new_room(self) -> None:
        """Start workers on machines that joined the cluster since."""
        now = time.monotonic()
        if now - self._grown < GROW_S:
            return
        self._grown = now
        before, self._capacity = self._capacity, self._cluster.capacity()
        wanted = self._plan.num_workers or self._capacity
        more = min(wanted, self._capacity, self._queue.num_waiting()) - len(self.workers)
        if self._capacity > before and more > 0:
            self.start(more)

    def load_due(self) -> None:
        """Let those load the engine that were started, or whose time for another try has come."""
        now = time.monotonic()
        for worker in self.workers:
            is_idle = not worker.is_ready and worker.starting is None and not worker.calls
            if is_idle and now >= worker.retry_at:
                worker.starting = self._cluster.call_ready(worker.handle)

    def recycle(self, worker: Worker) -> None:
        """Give a worker that leaks memory a new process, once it has nothing to do."""
        if worker.calls:
            return
        self._cluster.kill(worker.handle, restart=True)
        worker.is_ready = worker.is_recycling = False
        worker.deadline = time.monotonic() + self._plan.start_timeout_s
        worker.history.num_recycled += 1
        growth = self._plan.limits.recycle_growth_mb_per_h
        detail = f"Worker {worker.number} took over {growth:g} MB more an hour: it starts anew."
        self.tell("recycled", detail)

    def kill_late(self, worker: Worker, limit_s: float) -> None:
        """End a worker with a call that took longer than its limit."""
        self._mark_lost(worker)
        worker.is_killed = True
        worker.history.num_crashes += 1
        self._cluster.kill(worker.handle, restart=True)
        self.tell("timeout", f"Worker {worker.number} took over {limit_s:g} s.")

    def on_loaded(self, worker: Worker, reply: Reply) -> Iterator[Failure | UnitFailure]:
        """Count a worker as ready, try it again later, or go on without it."""
        worker.starting = None
        if reply.is_lost:  # still restarting, or it died while loading
            worker.retry_at = time.monotonic() + worker.backoff_s
            worker.backoff_s = min(2 * worker.backoff_s, LAST_BACKOFF_S)
        elif reply.error is not None:
            if isinstance(reply.error, PocketBatchError):
                self._last_error = reply.error
            yield from self._give_up(worker, str(reply.error))
        else:
            yield from self._settle(worker)
            worker.node = reply.value
            worker.is_ready = self._has_worked = True
            worker.is_killed = False
            worker.backoff_s = FIRST_BACKOFF_S
            self.tell("ready", f"Worker {worker.number} is ready.")

    def on_lost(self, worker: Worker, call: Call) -> list[Failure | UnitFailure]:
        """Suspect what ran; a call that only waited is as good as before."""
        if worker.is_ready:
            worker.history.num_crashes += 1
            self.tell("crashed", f"Worker {worker.number} crashed and is started again.")
        self._mark_lost(worker)
        worker.deadline = time.monotonic() + self._plan.start_timeout_s
        if call.load:
            worker.suspects += call.items
        else:
            self._queue.give_back(call.items)
        if worker.is_killed and not worker.is_running:
            return self._settle(worker)
        return []

    def release_suspects(self) -> None:
        """Do not wait for a restart once the machine is known to be gone."""
        for worker in self.workers:
            if worker.suspects and not self._cluster.is_node_alive(worker.node):
                items, worker.suspects = worker.suspects, []
                self._queue.give_back(items)

    def give_up_late_starts(self) -> list[Failure | UnitFailure]:
        """Go on without the workers that did not start in time.

        Raises:
            PocketBatchError: none is left.
        """
        now = time.monotonic()
        late = [w for w in self.workers if not w.is_ready and not w.calls and now > w.deadline]
        reason = f"it did not start within {self._plan.start_timeout_s:g} s"
        return [failure for worker in late for failure in self._give_up(worker, reason)]

    def give_all_back(self) -> None:
        """Nothing that is in work will be answered, by no fault of its own."""
        for worker in self.workers:
            self._queue.give_back([*worker.suspects, *(i for c in worker.calls for i in c.items)])
            worker.suspects, worker.calls = [], []

    def tell(self, kind: Any, detail: str) -> None:
        """Something happened, see `WorkerEvent`."""
        self.told = time.monotonic()
        num_ready = sum(worker.is_ready for worker in self.workers)
        health = tuple(worker.health() for worker in self.workers) if kind == "working" else ()
        self._on_event(WorkerEvent(kind, num_ready, detail, health))

    def _mark_lost(self, worker: Worker) -> None:
        """Count a worker as not ready; calls that survive it have their time from now on."""
        worker.is_ready = False
        for call in worker.calls:
            call.since = time.monotonic()

    def _settle(self, worker: Worker) -> list[Failure | UnitFailure]:
        """Blame the items that ran when the worker was lost, unless its whole machine was."""
        items, worker.suspects = worker.suspects, []
        loss: Loss = "timeout" if worker.is_killed else "crash"
        if worker.is_killed or self._cluster.is_node_alive(worker.node):
            return list(self._queue.blame(items, loss))
        self._queue.give_back(items)
        return []

    def _give_up(self, worker: Worker, reason: str) -> list[Failure | UnitFailure]:
        """Go on without a worker.

        Raises:
            PocketBatchError: it was the last one.
        """
        failures = self._settle(worker)
        self._cluster.kill(worker.handle, restart=False)
        self.workers.remove(worker)
        self.tell("lost", f"Worker {worker.number} is given up: {reason}")
        if not self.workers:
            raise self._last_error or no_worker_left(
                reason, self._has_worked, self._plan.spec.num_cores, self._cluster.resources()
            )
        self._queue.num_workers = len(self.workers)
        return failures
