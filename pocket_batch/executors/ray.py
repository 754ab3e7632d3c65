"""Workers as Ray actors, on a private local instance or on a cluster that is joined.

The only file that imports Ray, and only once there is something to do. Ray places and restarts
the actors; the queue, the retries and the limits are ours, see `pool.py`.
"""

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pocket_batch.engine.base import make_engine
from pocket_batch.errors import UsageError
from pocket_batch.executors.base import Plan, Result, Work, WorkerEvent, WorkerSpec, make_stage
from pocket_batch.executors.cluster import Reply
from pocket_batch.executors.cores import (
    auto_workers,
    check_workers,
    cores_per_worker,
    pin_process,
    usable_cores,
)
from pocket_batch.executors.leases import lease_cores
from pocket_batch.executors.pool import Pool
from pocket_batch.executors.queue import Item
from pocket_batch.executors.queues import feed_of, make_queue
from pocket_batch.executors.session import (
    STOP_SIGNALS,
    SessionFolder,
    check_address,
    check_sockets,
    environment,
    kept_sigterm,
    within,
)
from pocket_batch.stages.synthesize import Synthesize
from pocket_batch.stages.unit import MakeUnits

OBJECT_STORE_BYTES = 100 * 2**20
OBJECT_STORE_BYTES_PER_WORKER = 30 * 2**20  # results that the driver has not read yet
QUIET = {  # read by Ray when it is imported or started
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # what it would print about crashes, we report
    "RAY_timeout_ms_task_wait_for_death_info": "100",  # why a worker died makes no difference
    "RAY_prestart_worker_first_driver": "0",  # our actors are all that runs
}
JOIN = {  # one attempt of 20 s instead of 20 attempts of 60 s each
    "RAY_gcs_server_port_wait_time_s": "1",
    "RAY_gcs_server_request_timeout_seconds": "20",
}


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
            StoppedError: all workers were lost on the way.
        """
        queue = make_queue(work, self.plan)
        if queue.is_empty() or should_stop():
            return
        where = joined(self.plan) if self.plan.address else private(self.plan)
        with where as cluster:
            pool = Pool(cluster, queue, self.plan, cluster.num_workers, on_event)
            yield from pool.run(should_stop)


class Worker:
    """The actor: one engine on leased cores. Loading is a call, so that its errors come back.
    Calls may come at the same time, in threads of Ray."""

    def __init__(self, spec: WorkerSpec) -> None:
        self._spec = spec
        self._loading = threading.Lock()
        self._is_stopping = threading.Event()
        self._stage: Synthesize | MakeUnits | None = None
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

    def stop(self) -> None:
        """Leave the units that are in work; nothing comes of their calls."""
        self._is_stopping.set()


class RayCluster:
    """A connected Ray, as the pool sees it; see `Cluster` in cluster.py."""

    def __init__(self, spec: WorkerSpec, num_workers: int | None) -> None:
        import ray

        self._ray: Any = ray
        self._spec = spec
        fitting = int(self._ray.cluster_resources().get("CPU", 0)) // spec.num_cores
        self.num_workers = num_workers or max(1, fitting)
        self._actor = ray.remote(Worker).options(
            num_cpus=spec.num_cores,
            max_restarts=-1,
            max_task_retries=0,
            max_concurrency=feed_of(spec).num_running + (spec.units is not None),  # for `stop`
        )

    def start(self) -> Any:
        """A new actor."""
        return self._actor.remote(self._spec)

    def call_ready(self, worker: Any) -> Any:
        """Reference to the id of the node that the actor is on."""
        return worker.ready.remote()

    def call_speak(self, worker: Any, items: list[Item[Any]]) -> Any:
        """Reference to the list of results."""
        return worker.speak.remote([item.request for item in items])

    def ask_to_stop(self, worker: Any) -> None:
        """No answer is waited for."""
        worker.stop.remote()

    def wait(self, calls: list[Any], timeout_s: float) -> list[tuple[Any, Reply]]:
        """The first call that ended, if any does in time."""
        done, _ = self._ray.wait(calls, num_returns=1, timeout=timeout_s)
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
        return any(n["NodeID"] == node and n["Alive"] for n in self._ray.nodes())

    def resources(self) -> str:
        """CPUs in all and free ones."""
        total = self._ray.cluster_resources().get("CPU", 0)
        free = self._ray.available_resources().get("CPU", 0)
        return f"{total:g} CPUs on {len(self._ray.nodes())} node(s), {free:g} of them free"


@contextlib.contextmanager
def private(plan: Plan) -> Iterator[RayCluster]:
    """A Ray instance of our own on this machine, gone with all its processes and files at the end.

    Raises:
        UsageError: more workers are asked for than fit, or sockets have no place.
    """
    cores = cores_per_worker(plan.spec.num_cores)
    num_workers = plan.num_workers
    if num_workers is None:
        num_workers = auto_workers(cores, make_engine(plan.spec.engine).memory_bytes)
    check_workers(num_workers, cores)
    store_bytes = max(OBJECT_STORE_BYTES, num_workers * OBJECT_STORE_BYTES_PER_WORKER)
    folder = SessionFolder()
    try:
        check_sockets(folder.path)
        _connect(
            {
                "RAY_AUTH_MODE": "token",
                "RAY_AUTH_TOKEN_PATH": str(folder.token),
                "RAY_AUTH_TOKEN": None,
                "RAY_ADDRESS": None,
            },
            address="local",
            num_cpus=usable_cores(),
            object_store_memory=store_bytes,
            include_dashboard=False,
            _temp_dir=str(folder.path),
            runtime_env={"env_vars": _threads(cores)},
        )
        yield RayCluster(replace(plan.spec, num_cores=cores), num_workers)
    finally:
        _disconnect(then=folder.kill)
        folder.close()


@contextlib.contextmanager
def joined(plan: Plan) -> Iterator[RayCluster]:
    """A Ray cluster that others started; only our workers there are ended.

    Raises:
        UsageError: it cannot be reached.
    """
    threads = _threads(plan.spec.num_cores)
    try:
        try:
            check_address(plan.address)
            arguments = {"address": plan.address, "runtime_env": {"env_vars": threads}}
            within(plan.start_timeout_s, lambda: _connect(JOIN, **arguments))
        except (OSError, RuntimeError, ValueError, OverflowError) as error:
            reason = str(error).partition("\n")[0] or f"no answer in {plan.start_timeout_s:g} s"
            raise UsageError(
                f"No Ray cluster answers at {plan.address} ({reason}). If it uses token "
                f"authentication, export RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH here as well."
            ) from error
        yield RayCluster(plan.spec, plan.num_workers)
    finally:
        _disconnect()


def _threads(num_cores: int) -> dict[str, str]:
    """Numerical libraries in a worker use its own cores only."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict.fromkeys(names, str(num_cores))


def _connect(variables: Mapping[str, str | None], **arguments: Any) -> None:
    """Import and initialise Ray, quietly, leaving environment and signal handlers as they were."""
    with environment({**QUIET, **variables}):
        import ray

        logging.getLogger("ray").setLevel(logging.CRITICAL)
        _forget_last_instance()
        with kept_sigterm():
            ray.init(
                namespace=f"pocket-batch-{os.getpid()}",
                log_to_driver=False,
                configure_logging=False,
                **arguments,
            )


def _forget_last_instance() -> None:
    """Let Ray read its authentication variables anew: it keeps those of its first start.

    These names are not public, so a version without them is left alone; only a second start in
    one process needs them.
    """
    import ray

    private: Any = getattr(ray, "_raylet", None)
    with contextlib.suppress(AttributeError):
        private.Config.initialize("")
        private.AuthenticationTokenLoader.instance().reset_cache()


def _disconnect(then: Callable[[], None] | None = None) -> None:
    """Shut Ray down, and run `then` as soon as it no longer talks to its processes.

    Ray gives each of them a second to end by a signal that they do not take, see `_connect`.
    """
    import ray

    if then is not None and ray.is_initialized():
        threading.Thread(target=_after_disconnecting, args=(then,), daemon=True).start()
    with kept_sigterm():
        ray.shutdown()


def _after_disconnecting(action: Callable[[], None]) -> None:
    import ray

    while ray.is_initialized():
        time.sleep(0.02)
    time.sleep(0.1)
    action()
