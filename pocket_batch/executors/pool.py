"""Keeps workers busy and alive: feeds them from the queue, and takes them back after a crash.

Knows nothing of Ray: a `Cluster` starts workers, calls them and tells what became of a call.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from pocket_batch.data import Failure
from pocket_batch.errors import PocketBatchError, StoppedError, UsageError
from pocket_batch.executors.base import Plan, Spoken, WorkerEvent
from pocket_batch.executors.queue import Item, Loss, RetryQueue

CALLS_PER_WORKER = 2  # one that runs, one that waits at the worker
POLL_S = 0.2
STOP_S = 2.0
FIRST_BACKOFF_S = 0.25
LAST_BACKOFF_S = 8.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a call: a value, an exception that it raised, or neither: its worker died."""

    value: Any = None
    error: Exception | None = None
    is_lost: bool = False


class Cluster(Protocol):
    """Where workers live. Handles of workers and calls are opaque and hashable."""

    def start(self) -> Any:
        """Start a worker, which is not ready yet."""
        ...

    def call_ready(self, worker: Any) -> Any:
        """Ask a worker to load what it needs; the value of the reply names its node."""
        ...

    def call_speak(self, worker: Any, items: list[Item]) -> Any:
        """Ask a worker for the results of some items."""
        ...

    def wait(self, calls: list[Any], timeout_s: float) -> list[tuple[Any, Reply]]:
        """The calls that ended, as soon as one has, with what became of them."""
        ...

    def kill(self, worker: Any, restart: bool) -> None:
        """End a worker's process at once; its calls are lost."""
        ...

    def is_node_alive(self, node: str) -> bool:
        """Whether the machine of that name still belongs to the cluster."""
        ...

    def resources(self) -> str:
        """What the cluster has, for messages."""
        ...


@dataclass(slots=True, eq=False)
class _Call:
    handle: Any
    items: list[Item]


@dataclass(slots=True, eq=False)
class _Worker:
    """A worker; `calls` are in the order in which it runs them, and the first runs since `since`.

    While not `is_ready` it is being (re)started until `deadline`: either `starting` is the call
    that loads it, or the next attempt is at `retry_at`.
    """

    number: int
    handle: Any
    deadline: float
    starting: Any = None
    retry_at: float = 0.0
    backoff_s: float = FIRST_BACKOFF_S
    is_ready: bool = False
    is_killed: bool = False
    node: str = ""
    since: float = 0.0
    calls: deque[_Call] = field(default_factory=deque)
    suspects: list[Item] = field(default_factory=list)


class Pool:
    """At most `num_workers` workers of a cluster, for one run of a queue that is not empty."""

    def __init__(
        self,
        cluster: Cluster,
        queue: RetryQueue,
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
        num_workers = queue.num_workers = min(num_workers, queue.num_waiting())
        deadline = time.monotonic() + plan.start_timeout_s
        self._workers = [_Worker(i + 1, cluster.start(), deadline) for i in range(num_workers)]
        self._event("starting", f"Starting {num_workers} worker{'s' * (num_workers != 1)}.")

    def run(self, should_stop: Callable[[], bool]) -> Iterator[Spoken | Failure]:
        """Yield a result for each item of the queue, until stopped.

        Raises:
            ModelUnavailableError: no worker could load the engine or a voice.
            UsageError: no worker could be started in time.
            StoppedError: all workers were lost later.
        """
        while not self._is_done():
            if should_stop():
                yield from self._drain()
                return
            self._start_due_workers()
            self._feed()
            self._kill_late_workers()
            yield from self._collect(POLL_S)
            self._release_suspects()
            yield from self._give_up_late_starts()

    def _is_done(self) -> bool:
        is_busy = any(worker.calls or worker.suspects for worker in self._workers)
        return not is_busy and self._queue.is_empty()

    def _start_due_workers(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            is_idle = not worker.is_ready and worker.starting is None and not worker.calls
            if is_idle and now >= worker.retry_at:
                worker.starting = self._cluster.call_ready(worker.handle)

    def _feed(self) -> None:
        """Give work to ready workers, first to those without any."""
        for depth in range(CALLS_PER_WORKER):
            for worker in self._workers:
                if worker.is_ready and len(worker.calls) == depth:
                    items = self._queue.take()
                    if items:
                        handle = self._cluster.call_speak(worker.handle, items)
                        worker.since = worker.since if worker.calls else time.monotonic()
                        worker.calls.append(_Call(handle, items))

    def _kill_late_workers(self) -> None:
        """End workers whose running call takes too long.

        A call that was on its way when its worker died may still run in the restarted one, which
        is not ready then; nobody else would notice that it hangs.
        """
        now = time.monotonic()
        for worker in self._workers:
            if worker.calls and not worker.is_killed:
                limit_s = self._queue.limit_s(worker.calls[0].items)
                if not worker.is_ready:
                    limit_s = max(limit_s, self._plan.start_timeout_s)
                if now - worker.since > limit_s:
                    worker.is_ready = False
                    worker.is_killed = True
                    self._cluster.kill(worker.handle, restart=True)
                    self._event("timeout", f"Worker {worker.number} took over {limit_s:g} s.")

    def _collect(self, timeout_s: float) -> Iterator[Spoken | Failure]:
        """Wait for replies, and act on them."""
        owners = {worker.starting: (worker, None) for worker in self._workers if worker.starting}
        for worker in self._workers:
            owners.update({call.handle: (worker, call) for call in worker.calls})
        if not owners:
            time.sleep(timeout_s / 4)
            return
        for handle, reply in self._cluster.wait(list(owners), timeout_s):
            worker, call = owners[handle]
            if call is None:
                yield from self._on_started(worker, reply)
            else:
                yield from self._on_reply(worker, call, reply)

    def _on_started(self, worker: _Worker, reply: Reply) -> Iterator[Failure]:
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

    def _on_reply(self, worker: _Worker, call: _Call, reply: Reply) -> Iterator[Spoken | Failure]:
        was_running = worker.calls[0] is call
        elapsed_s, worker.since = time.monotonic() - worker.since, time.monotonic()
        worker.calls.remove(call)
        if reply.is_lost:
            if worker.is_ready:
                worker.is_ready = False
                self._event("crashed", f"Worker {worker.number} crashed and is started again.")
            worker.deadline = time.monotonic() + self._plan.start_timeout_s
            if was_running and not worker.suspects:
                worker.suspects = call.items
            else:
                self._queue.give_back(call.items)
            if worker.is_killed:
                yield from self._settle(worker)
        elif reply.error is not None:
            yield from self._queue.error(call.items, f"The worker failed: {reply.error}")
        else:
            if was_running:
                self._queue.done(call.items, elapsed_s)
            yield from reply.value

    def _settle(self, worker: _Worker) -> list[Failure]:
        """Blame the items that ran when the worker was lost, unless its whole machine was."""
        items, worker.suspects = worker.suspects, []
        loss: Loss = "timeout" if worker.is_killed else "crash"
        if worker.is_killed or self._cluster.is_node_alive(worker.node):
            return self._queue.blame(items, loss)
        self._queue.give_back(items)
        return []

    def _release_suspects(self) -> None:
        """Do not wait for a restart once the machine is known to be gone."""
        for worker in self._workers:
            if worker.suspects and not self._cluster.is_node_alive(worker.node):
                items, worker.suspects = worker.suspects, []
                self._queue.give_back(items)

    def _give_up_late_starts(self) -> list[Failure]:
        """Go on without the workers that did not start in time."""
        now = time.monotonic()
        late = [w for w in self._workers if not w.is_ready and not w.calls and now > w.deadline]
        reason = f"it did not start within {self._plan.start_timeout_s:g} s"
        return [failure for worker in late for failure in self._give_up(worker, reason)]

    def _give_up(self, worker: _Worker, reason: str) -> list[Failure]:
        """Go on without a worker.

        Raises:
            PocketBatchError: it was the last one.
        """
        failures = self._settle(worker)
        self._cluster.kill(worker.handle, restart=False)
        self._workers.remove(worker)
        self._event("lost", f"Worker {worker.number} is given up: {reason}")
        if not self._workers:
            raise self._no_worker_left(reason)
        self._queue.num_workers = len(self._workers)
        return failures

    def _no_worker_left(self, reason: str) -> PocketBatchError:
        if self._last_error is not None:
            return self._last_error
        if self._has_worked:
            return StoppedError(
                f"All workers were lost, the last one because {reason}. What is done is saved; "
                f"run the same command again."
            )
        return UsageError(
            f"No worker could be started: {reason}. Each needs {self._plan.spec.num_cores} CPUs; "
            f"there are {self._cluster.resources()}. Ask for fewer cores per worker, or more time."
        )

    def _drain(self) -> Iterator[Spoken | Failure]:
        """Take what ends within two seconds."""
        deadline = time.monotonic() + STOP_S
        while any(w.calls for w in self._workers) and time.monotonic() < deadline:
            yield from self._collect(min(POLL_S, max(0.0, deadline - time.monotonic())))

    def _event(self, kind: Any, detail: str) -> None:
        num_ready = sum(worker.is_ready for worker in self._workers)
        self._on_event(WorkerEvent(kind, num_ready, detail))
