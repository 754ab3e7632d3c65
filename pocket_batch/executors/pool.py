"""Keeps workers busy and alive: feeds them from the queue, and takes them back after a crash.

Knows nothing of Ray: a `Cluster` starts workers, calls them and tells what became of a call.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

from pocket_batch.data import Failure
from pocket_batch.errors import PocketBatchError
from pocket_batch.executors.base import Plan, Result, WorkerEvent
from pocket_batch.executors.cluster import Cluster, ClusterLostError, Reply
from pocket_batch.executors.queue import Loss, RetryQueue
from pocket_batch.executors.unit_queue import UnitQueue
from pocket_batch.executors.watch import Watch
from pocket_batch.executors.workers import (
    FIRST_BACKOFF_S,
    LAST_BACKOFF_S,
    Call,
    Worker,
    no_worker_left,
)
from pocket_batch.rows import UnitFailure

POLL_S = 0.2
STOP_S = 2.0
WORKING_S = 1.0
GROW_S = 5.0  # between two looks for room that came later


class Pool:
    """At most `num_workers` workers of a cluster, for one run of a queue that is not empty."""

    def __init__(
        self,
        cluster: Cluster,
        queue: RetryQueue | UnitQueue,
        plan: Plan,
        num_workers: int,
        on_event: Callable[[WorkerEvent], None],
    ) -> None:
        self._cluster = cluster
        self._queue = queue
        self._plan = plan
        self._on_event = on_event
        self._last_error: PocketBatchError | None = None
        self._has_worked = False
        self._told = time.monotonic()
        self._is_closing = False
        self._capacity = cluster.capacity()
        self._grown = time.monotonic()
        self._num_started = 0
        self._workers: list[Worker] = []
        self._watch = Watch(cluster, plan.limits, lambda detail: self._event("health", detail))
        queue.num_workers = num_workers  # it reads as much as they need
        self._start_workers(min(num_workers, queue.num_waiting()))

    def _start_workers(self, num_workers: int) -> None:
        """Some more workers, which are not ready yet."""
        deadline = time.monotonic() + self._plan.start_timeout_s
        for _ in range(num_workers):
            self._num_started += 1
            self._workers.append(Worker(self._num_started, self._cluster.start(), deadline))
        self._queue.num_workers = len(self._workers)
        self._event("starting", f"Starting {num_workers} worker{'s' * (num_workers != 1)}.")

    def run(self, should_stop: Callable[[], bool]) -> Iterator[Result]:
        """Yield a result for each item of the queue, until stopped or until it is late.

        Raises:
            ModelUnavailableError: no worker could load the engine or a voice.
            UsageError: no worker could be started in time.
            StoppedError: all workers were lost later.
            ClusterLostError: the cluster was; all that has no result yet is in the queue again.
        """
        while not self._is_done():
            if self._cluster.is_lost():
                self._give_all_back()
                raise ClusterLostError("The Ray cluster is gone. What is done is saved.")
            if should_stop():
                yield from self._drain()
                return
            self._use_new_room()
            self._start_due_workers()
            self._feed()
            self._kill_late_workers()
            yield from self._collect(POLL_S)
            self._watch.look(self._workers)
            self._tell_working()
            self._release_suspects()
            yield from self._give_up_late_starts()

    def _is_done(self) -> bool:
        is_busy = any(worker.calls or worker.suspects for worker in self._workers)
        return not is_busy and (self._is_closing or self._queue.is_empty())

    def _use_new_room(self) -> None:
        """Start workers on machines that joined the cluster since."""
        now = time.monotonic()
        if now - self._grown < GROW_S or self._is_closing:
            return
        self._grown = now
        before, self._capacity = self._capacity, self._cluster.capacity()
        wanted = self._plan.num_workers or self._capacity
        more = min(wanted, self._capacity, self._queue.num_waiting()) - len(self._workers)
        if self._capacity > before and more > 0:
            self._start_workers(more)

    def _start_due_workers(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            is_idle = not worker.is_ready and worker.starting is None and not worker.calls
            if is_idle and now >= worker.retry_at:
                worker.starting = self._cluster.call_ready(worker.handle)

    def _feed(self) -> None:
        """Give work to ready workers, first to those with the least."""
        num_given = sum(worker.num_items for worker in self._workers)
        for depth in range(self._queue.feed.num_calls):
            for worker in self._workers:
                if self._is_closing or not worker.is_ready or len(worker.calls) != depth:
                    continue
                if worker.is_recycling:
                    self._recycle(worker)
                else:
                    num_given += self._feed_one(worker, num_given)

    def _recycle(self, worker: Worker) -> None:
        """Give a worker that leaks memory a new process, once it has nothing to do."""
        if worker.calls:
            return
        self._cluster.kill(worker.handle, restart=True)
        worker.is_ready = worker.is_recycling = False
        worker.deadline = time.monotonic() + self._plan.start_timeout_s
        worker.history.num_recycled += 1
        growth = self._plan.limits.recycle_growth_mb_per_h
        detail = f"Worker {worker.number} took over {growth:g} MB more an hour: it starts anew."
        self._event("recycled", detail)

    def _feed_one(self, worker: Worker, num_given: int) -> int:
        """One more call for a worker, unless it has its share of all that is left. Where calls run
        at the same time, suspects go to an empty worker and have it to themselves, so that its
        death is the fault of one of them. `num_given` are with all workers; returns how many more.
        """
        feed = self._queue.feed
        num_left = self._queue.num_waiting() + num_given
        if worker.num_items * len(self._workers) >= num_left:
            return 0
        if feed.is_shared and any(item.is_suspect for c in worker.calls for item in c.items):
            return 0
        items: list[Any] = self._queue.take(suspects=not feed.is_shared or not worker.calls)
        in_work = [item for call in worker.calls for item in call.items]
        if items and self._plan.limits.is_late(self._queue.expected_s(in_work + items)):
            self._queue.give_back(items)
            self._is_closing = True
            return 0
        if items:
            call = Call(self._cluster.call_speak(worker.handle, items), items)
            worker.add_call(call, feed.num_running)
        return len(items)

    def _kill_late_workers(self) -> None:
        """End workers with a call that takes too long.

        A call that was on its way when its worker died may still run in the restarted one, which
        is not ready then; nobody else would notice that it hangs.
        """
        now = time.monotonic()
        for worker in self._workers:
            for call in worker.calls:
                if now - call.since <= self._plan.item_timeout_s:
                    continue  # the shortest limit there is; a sum over all texts takes longer
                limit_s = self._queue.limit_s(worker.load(call))
                if not worker.is_ready:
                    limit_s = max(limit_s, self._plan.start_timeout_s)
                if now - call.since > limit_s:
                    self._mark_lost(worker)
                    worker.is_killed = True
                    worker.history.num_crashes += 1
                    self._cluster.kill(worker.handle, restart=True)
                    self._event("timeout", f"Worker {worker.number} took over {limit_s:g} s.")
                    break

    def _mark_lost(self, worker: Worker) -> None:
        """Count a worker as not ready; calls that survive it have their time from now on."""
        worker.is_ready = False
        for call in worker.calls:
            call.since = time.monotonic()

    def _collect(self, timeout_s: float) -> Iterator[Result]:
        """Wait for replies, and act on them."""
        owners = {worker.starting: (worker, None) for worker in self._workers if worker.starting}
        for worker in self._workers:
            owners.update({call.handle: (worker, call) for call in worker.calls})
        looks = {worker.look: worker for worker in self._workers if worker.look is not None}
        if not owners:
            time.sleep(timeout_s / 4)
            return
        for handle, reply in self._cluster.wait([*owners, *looks], timeout_s):
            if handle in looks:
                self._watch.on_look(looks[handle], reply)
                continue
            worker, call = owners[handle]
            if call is None:
                yield from self._on_started(worker, reply)
            else:
                yield from self._on_reply(worker, call, reply)

    def _on_started(self, worker: Worker, reply: Reply) -> Iterator[Failure | UnitFailure]:
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
            self._event("ready", f"Worker {worker.number} is ready.")

    def _on_reply(self, worker: Worker, call: Call, reply: Reply) -> Iterator[Result]:
        load = worker.load(call)
        worker.calls.remove(call)
        if reply.is_lost:
            yield from self._on_lost(worker, call)
            return
        if reply.error is not None:
            yield from self._queue.error(call.items, f"The worker failed: {reply.error}")
        else:
            worker.answered(reply.value)
            if call.load and worker.is_ready:
                self._queue.done(load, time.monotonic() - call.since)
            yield from reply.value
        if worker.is_ready:
            worker.start_calls(self._queue.feed.num_running)

    def _on_lost(self, worker: Worker, call: Call) -> list[Failure | UnitFailure]:
        """Suspect what ran; a call that only waited is as good as before."""
        if worker.is_ready:
            worker.history.num_crashes += 1
            self._event("crashed", f"Worker {worker.number} crashed and is started again.")
        self._mark_lost(worker)
        worker.deadline = time.monotonic() + self._plan.start_timeout_s
        if call.load:
            worker.suspects += call.items
        else:
            self._queue.give_back(call.items)
        if worker.is_killed and not worker.is_running:
            return self._settle(worker)
        return []

    def _settle(self, worker: Worker) -> list[Failure | UnitFailure]:
        """Blame the items that ran when the worker was lost, unless its whole machine was."""
        items, worker.suspects = worker.suspects, []
        loss: Loss = "timeout" if worker.is_killed else "crash"
        if worker.is_killed or self._cluster.is_node_alive(worker.node):
            return list(self._queue.blame(items, loss))
        self._queue.give_back(items)
        return []

    def _release_suspects(self) -> None:
        """Do not wait for a restart once the machine is known to be gone."""
        for worker in self._workers:
            if worker.suspects and not self._cluster.is_node_alive(worker.node):
                items, worker.suspects = worker.suspects, []
                self._queue.give_back(items)

    def _give_up_late_starts(self) -> list[Failure | UnitFailure]:
        """Go on without the workers that did not start in time."""
        now = time.monotonic()
        late = [w for w in self._workers if not w.is_ready and not w.calls and now > w.deadline]
        reason = f"it did not start within {self._plan.start_timeout_s:g} s"
        return [failure for worker in late for failure in self._give_up(worker, reason)]

    def _give_up(self, worker: Worker, reason: str) -> list[Failure | UnitFailure]:
        """Go on without a worker.

        Raises:
            PocketBatchError: it was the last one.
        """
        failures = self._settle(worker)
        self._cluster.kill(worker.handle, restart=False)
        self._workers.remove(worker)
        self._event("lost", f"Worker {worker.number} is given up: {reason}")
        if not self._workers:
            raise self._last_error or no_worker_left(
                reason, self._has_worked, self._plan.spec.num_cores, self._cluster.resources()
            )
        self._queue.num_workers = len(self._workers)
        return failures

    def _give_all_back(self) -> None:
        """Nothing that is in work will be answered, by no fault of its own."""
        for worker in self._workers:
            self._queue.give_back([*worker.suspects, *(i for c in worker.calls for i in c.items)])
            worker.suspects, worker.calls = [], []

    def _drain(self) -> Iterator[Result]:
        """Take what ends within two seconds."""
        if self._plan.spec.units is not None:
            for worker in self._workers:
                if worker.is_ready and worker.calls:
                    self._cluster.ask_to_stop(worker.handle)
        deadline = time.monotonic() + STOP_S
        while any(w.calls for w in self._workers) and time.monotonic() < deadline:
            yield from self._collect(min(POLL_S, max(0.0, deadline - time.monotonic())))

    def _tell_working(self) -> None:
        """Let the driver show progress, which units make without a result for long."""
        is_working = any(worker.is_ready and worker.calls for worker in self._workers)
        if is_working and time.monotonic() - self._told >= WORKING_S:
            self._event("working", "Workers are busy.")

    def _event(self, kind: Any, detail: str) -> None:
        self._told = time.monotonic()
        num_ready = sum(worker.is_ready for worker in self._workers)
        health = tuple(worker.health() for worker in self._workers) if kind == "working" else ()
        self._on_event(WorkerEvent(kind, num_ready, detail, health))
