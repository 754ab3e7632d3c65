"""Workers as Ray actors, on a private local instance or on a cluster that is joined.

Ray is imported only once there is something to do. It places and restarts the actors; the queue,
the retries and the limits are ours, see `pool.py`.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pocket_batch.executors.base import Plan, Result, Work, WorkerEvent, WorkerSpec, make_stage
from pocket_batch.executors.cluster import ClusterLostError, Reply
from pocket_batch.executors.cores import (
    cores_per_worker,
    pin_process,
)
from pocket_batch.executors.health import Vitals, own_vitals
from pocket_batch.executors.leases import lease_cores
from pocket_batch.executors.pool import Pool
from pocket_batch.executors.queue import Item
from pocket_batch.executors.queues import feed_of, make_queue
from pocket_batch.executors.ray_session import joined, private
from pocket_batch.executors.session import (
    STOP_SIGNALS,
)
from pocket_batch.stages.repair import Repair
from pocket_batch.stages.synthesize import Synthesize
from pocket_batch.stages.unit import MakeUnits

MAX_LOST = 3
MAX_REPLIES = 16  # at a time, of up to 5 MB each
CONTROL = "control"  # a group of calls that are answered whatever else a worker does


class RayExecutor:
    """Long-lived actors, each with a loaded engine on its own cores."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def run(
        self,
        work: Iterable[Work],
        should_stop: Callable[[], bool],
        on_event: Callable[[WorkerEvent], None],
    ) -> Iterator[Result]:
        """Yield one result for every request or unit, until stopped; see `Executor`.

        Raises:
            UsageError: the cluster cannot be joined, or has no room for a worker.
            ModelUnavailableError: no worker could load the engine or a voice.
            StoppedError: all workers were lost on the way, or the cluster that was joined is gone.
        """
        queue = make_queue(work, self.plan)
        num_lost = 0  # instances in a row that died before any result
        while not queue.is_empty() and not should_stop():
            try:
                with connected(self.plan) as cluster:
                    pool = Pool(cluster, queue, self.plan, cluster.num_workers, on_event)
                    for result in pool.run(should_stop):
                        num_lost = 0
                        yield result
                    return
            except ClusterLostError:
                num_lost += 1
                if self.plan.address or num_lost >= MAX_LOST:
                    raise
                on_event(WorkerEvent("lost", 0, "Ray itself was ended; it is started again."))


@contextlib.contextmanager
def connected(plan: Plan) -> Iterator["RayCluster"]:
    """The cluster of a plan: one that is joined, or one of our own for as long as this lasts."""
    if plan.address:
        with joined(plan) as is_lost:
            yield RayCluster(plan.spec, plan.num_workers, is_lost)
    else:
        with private(plan) as (num_workers, is_lost):
            cores = cores_per_worker(plan.spec.num_cores)
            yield RayCluster(replace(plan.spec, num_cores=cores), num_workers, is_lost)


class Worker:
    """The actor: one engine on leased cores. Loading is a call, so that its errors come back.
    Calls may come at the same time, in threads of Ray."""

    def __init__(self, spec: WorkerSpec) -> None:
        self._spec = spec
        self._loading = threading.Lock()
        self._is_stopping = threading.Event()
        self._stage: Synthesize | Repair | MakeUnits | None = None
        for number in STOP_SIGNALS:  # meant for the driver, which ends its workers itself
            signal.signal(number, signal.SIG_IGN)

    def ready(self) -> str:
        """Lease and pin cores, load the engine; returns the id of this node."""
        import ray

        with self._loading:
            if self._stage is None:
                self._lease = lease_cores(self._spec.num_cores)  # held until this process ends
                if len(self._lease.cpus) == self._spec.num_cores:
                    pin_process(self._lease.cpus)
                self._stage = make_stage(self._spec, self._is_stopping.is_set, is_worker=True)
        return str(ray.get_runtime_context().get_node_id())

    def speak(self, work: list[Any]) -> list[Result]:
        """One result for each request or unit, in any order."""
        self.ready()
        assert self._stage is not None
        return list(self._stage.run(work))

    def vitals(self) -> Vitals:
        """How this process is."""
        return own_vitals()

    def stop(self) -> None:
        """Leave the units that are in work; nothing comes of their calls."""
        self._is_stopping.set()


class RayCluster:
    """A connected Ray, as the pool sees it; see `Cluster` in cluster.py."""

    def __init__(
        self, spec: WorkerSpec, num_workers: int | None, is_lost: Callable[[], bool]
    ) -> None:
        import ray

        self._ray: Any = ray
        self._spec = spec
        self.is_lost = is_lost
        self.num_workers = num_workers or max(1, self.capacity())
        remote: Any = ray.remote  # its type knows nothing of groups
        self._actor = remote(
            num_cpus=spec.num_cores,
            max_restarts=-1,
            max_task_retries=0,
            max_concurrency=feed_of(spec).num_running,
            concurrency_groups={CONTROL: 1},
        )(Worker)

    def start(self) -> Any:
        """A new actor."""
        return self._actor.remote(self._spec)

    def call_ready(self, worker: Any) -> Any:
        """Reference to the id of the node that the actor is on."""
        return worker.ready.remote()

    def call_speak(self, worker: Any, items: list[Item[Any]]) -> Any:
        """Reference to the list of results."""
        return worker.speak.remote([item.request for item in items])

    def call_vitals(self, worker: Any) -> Any:
        """Reference to its `Vitals`."""
        return worker.vitals.options(concurrency_group=CONTROL).remote()

    def capacity(self) -> int:
        """By the CPUs of each node: a worker has all its cores on one."""
        alive = (node["Resources"] for node in self._ray.nodes() if node["Alive"])
        return sum(int(each.get("CPU", 0)) // self._spec.num_cores for each in alive)

    def ask_to_stop(self, worker: Any) -> None:
        """No answer is waited for."""
        worker.stop.options(concurrency_group=CONTROL).remote()

    def wait(self, calls: list[Any], timeout_s: float) -> list[tuple[Any, Reply]]:
        """The calls that ended, as soon as one has, but not so many that their audio fills memory.

        To look at thousands of calls takes milliseconds: one look for each would be most of what
        the driver does.
        """
        done, _ = self._ray.wait(calls, num_returns=1, timeout=timeout_s)
        if done and len(calls) > 1:
            num = min(len(calls), MAX_REPLIES)
            done, _ = self._ray.wait(calls, num_returns=num, timeout=0)
        return [(call, self._reply(call)) for call in done]

    def _reply(self, call: Any) -> Reply:
        try:
            return Reply(self._ray.get(call))
        except self._ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            return Reply(error=cause if isinstance(cause, Exception) else error)
        except self._ray.exceptions.RayError:
            return Reply(is_lost=True)

    def kill(self, worker: Any, restart: bool) -> None:
        """End the actor's process."""
        self._ray.kill(worker, no_restart=not restart)

    def is_node_alive(self, node: str) -> bool:
        """Whether Ray still lists the node as alive."""
        if self.is_lost():
            return False
        return any(n["NodeID"] == node and n["Alive"] for n in self._ray.nodes())

    def resources(self) -> str:
        """CPUs in all and free ones."""
        total = self._ray.cluster_resources().get("CPU", 0)
        free = self._ray.available_resources().get("CPU", 0)
        return f"{total:g} CPUs on {len(self._ray.nodes())} node(s), {free:g} of them free"
