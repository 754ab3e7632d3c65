"""Keeps workers busy: feeds them from the queue, and takes what they answer.

Knows nothing of Ray: a `Cluster` starts workers, calls them and tells what became of a call. How
workers come and go is in `crew.py`.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

from pocket_batch.executors.base import Plan, Result, WorkerEvent
from pocket_batch.executors.cluster import Cluster, ClusterLostError, Reply
from pocket_batch.executors.crew import Crew
from pocket_batch.executors.queue import RetryQueue
from pocket_batch.executors.unit_queue import UnitQueue
from pocket_batch.executors.watch import Watch
from pocket_batch.executors.workers import Call, Worker

POLL_S = 0.2
STOP_S = 2.0
WORKING_S = 1.0


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
        self._is_closing = False
        self._crew = Crew(cluster, queue, plan, on_event)
        self._watch = Watch(cluster, plan.limits, lambda detail: self._crew.tell("health", detail))
        queue.num_workers = num_workers  # it reads as much as they need
        self._crew.start(min(num_workers, queue.num_waiting()))

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
                self._crew.give_all_back()
                raise ClusterLostError("The Ray cluster is gone. What is done is saved.")
            if should_stop():
                yield from self._drain()
                return
            if not self._is_closing:
                self._crew.use_new_room()
            self._crew.load_due()
            self._feed()
            self._kill_late_workers()
            yield from self._collect(POLL_S)
            self._watch.look(self._crew.workers)
            self._tell_working()
            self._crew.release_suspects()
            yield from self._crew.give_up_late_starts()

    def _is_done(self) -> bool:
        is_busy = any(worker.calls or worker.suspects for worker in self._crew.workers)
        return not is_busy and (self._is_closing or self._queue.is_empty())

    def _feed(self) -> None:
        """Give work to ready workers, first to those with the least."""
        num_given = sum(worker.num_items for worker in self._crew.workers)
        for depth in range(self._queue.feed.num_calls):
            for worker in self._crew.workers:
                if self._is_closing or not worker.is_ready or len(worker.calls) != depth:
                    continue
                if worker.is_recycling:
                    self._crew.recycle(worker)
                else:
                    num_given += self._feed_one(worker, num_given)

    def _feed_one(self, worker: Worker, num_given: int) -> int:
        """One more call for a worker, unless it has its share of all that is left. Where calls run
        at the same time, suspects go to an empty worker and have it to themselves, so that its
        death is the fault of one of them. `num_given` are with all workers; returns how many more.
        """
        feed = self._queue.feed
        num_left = self._queue.num_waiting() + num_given
        if worker.num_items * len(self._crew.workers) >= num_left:
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
        for worker in self._crew.workers:
            for call in worker.calls:
                if now - call.since <= self._plan.item_timeout_s:
                    continue  # the shortest limit there is; a sum over all texts takes longer
                limit_s = self._queue.limit_s(worker.load(call))
                if not worker.is_ready:
                    limit_s = max(limit_s, self._plan.start_timeout_s)
                if now - call.since > limit_s:
                    self._crew.kill_late(worker, limit_s)
                    break

    def _collect(self, timeout_s: float) -> Iterator[Result]:
        """Wait for replies, and act on them."""
        owners = {
            worker.starting: (worker, None) for worker in self._crew.workers if worker.starting
        }
        for worker in self._crew.workers:
            owners.update({call.handle: (worker, call) for call in worker.calls})
        looks = {worker.look: worker for worker in self._crew.workers if worker.look is not None}
        if not owners:
            time.sleep(timeout_s / 4)
            return
        for handle, reply in self._cluster.wait([*owners, *looks], timeout_s):
            if handle in looks:
                self._watch.on_look(looks[handle], reply)
                continue
            worker, call = owners[handle]
            if call is None:
                yield from self._crew.on_loaded(worker, reply)
            else:
                yield from self._on_reply(worker, call, reply)

    def _on_reply(self, worker: Worker, call: Call, reply: Reply) -> Iterator[Result]:
        load = worker.load(call)
        worker.calls.remove(call)
        if reply.is_lost:
            yield from self._crew.on_lost(worker, call)
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

    def _drain(self) -> Iterator[Result]:
        """Take what ends within two seconds."""
        if self._plan.spec.units is not None:
            for worker in self._crew.workers:
                if worker.is_ready and worker.calls:
                    self._cluster.ask_to_stop(worker.handle)
        deadline = time.monotonic() + STOP_S
        while any(w.calls for w in self._crew.workers) and time.monotonic() < deadline:
            yield from self._collect(min(POLL_S, max(0.0, deadline - time.monotonic())))

    def _tell_working(self) -> None:
        """Let the driver show progress, which units make without a result for long."""
        is_working = any(worker.is_ready and worker.calls for worker in self._crew.workers)
        if is_working and time.monotonic() - self._crew.told >= WORKING_S:
            self._crew.tell("working", "Workers are busy.")
