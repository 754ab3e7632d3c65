"""A connection to Ray: a private local instance, or a cluster that others started.

Ray places and restarts actors; all that it would do to this machine besides is switched off here.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pocket_batch.engine.base import make_engine
from pocket_batch.errors import StoppedError, UsageError
from pocket_batch.executors.base import Plan
from pocket_batch.executors.cores import (
    auto_workers,
    check_workers,
    cores_per_worker,
    usable_cores,
)
from pocket_batch.executors.session import (
    Daemons,
    SessionFolder,
    check_address,
    check_sockets,
    environment,
    kept_sigterm,
    within,
)

OBJECT_STORE_BYTES = 100 * 2**20
OBJECT_STORE_BYTES_PER_WORKER = 30 * 2**20  # results that the driver has not read yet
START_S = 120.0
ASK_S = 2.0
GONE_S = 20.0  # well before Ray gives up, which takes a minute and ends this process
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


@contextlib.contextmanager
def private(plan: Plan) -> Iterator[tuple[int, Callable[[], bool]]]:
    """A Ray instance of our own on this machine, gone with all its processes and files at the end.

    Yields how many workers there are to be, and whether the instance has died.

    Raises:
        UsageError: more workers are asked for than fit, or sockets have no place.
        StoppedError: it was ended while it started.
    """
    cores = cores_per_worker(plan.spec.num_cores)
    num_workers = plan.num_workers
    if num_workers is None:
        num_workers = auto_workers(cores, make_engine(plan.spec.engine).memory_bytes)
    check_workers(num_workers, cores)
    store_bytes = max(OBJECT_STORE_BYTES, num_workers * OBJECT_STORE_BYTES_PER_WORKER)
    folder, daemons, is_over = SessionFolder(), Daemons(), threading.Event()
    try:
        check_sockets(folder.path)
        _start(
            daemons,
            is_over,
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
    except BaseException as error:
        if not isinstance(error, StoppedError):  # else a thread still waits in there
            _disconnect()
        folder.close()
        raise
    try:
        yield num_workers, daemons.have_ended
    finally:
        _disconnect(then=folder.kill)
        is_over.set()
        folder.close()


def _start(
    daemons: Daemons,
    is_over: threading.Event,
    variables: Mapping[str, str | None],
    **arguments: Any,
) -> None:
    """Start an instance of our own, in a thread: if it is ended meanwhile, Ray waits for a minute,
    and then ends this process. The processes of Ray die with the thread that started them, so that
    it stays until `is_over`.

    Raises:
        StoppedError: it was ended; Ray cannot be used in this process any more.
    """
    try:
        with kept_sigterm():
            within(
                START_S, lambda: _connect(variables, **arguments), daemons.have_ended, is_over.wait
            )
    except TimeoutError as error:
        raise StoppedError(
            "Ray was ended while it started, or did not start. What is done is saved; run the same "
            "command again."
        ) from error


@contextlib.contextmanager
def joined(plan: Plan) -> Iterator[Callable[[], bool]]:
    """A Ray cluster that others started; only our workers there are ended.

    Yields whether its head has been gone for some time.

    Raises:
        UsageError: it cannot be reached.
    """
    threads = _threads(plan.spec.num_cores)
    try:
        try:
            check_address(plan.address)
            arguments = {"address": plan.address, "runtime_env": {"env_vars": threads}}
            with kept_sigterm():
                within(plan.start_timeout_s, lambda: _connect(JOIN, **arguments))
        except _joining_errors() as error:
            reason = " ".join(str(error).split()) or f"no answer in {plan.start_timeout_s:g} s"
            raise UsageError(
                f"No Ray cluster answers at {plan.address} ({reason:.300}). If it uses token "
                "authentication, export RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH here as well. "
                f"`pocket-batch doctor --address {plan.address}` says more."
            ) from error
        yield Head(plan.address).is_gone
    finally:
        _disconnect()


def _joining_errors() -> tuple[type[Exception], ...]:
    """What joining raises: asked for when something was, as Ray is imported late."""
    import ray.exceptions

    return OSError, RuntimeError, ValueError, OverflowError, ray.exceptions.RayError


class Head:
    """The head node of a cluster, asked whether it still listens."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._asked = self._answered = time.monotonic()

    def is_gone(self) -> bool:
        """Whether it refuses connections, for longer than it takes to be started again.

        Ray itself would wait for a minute, and then end this process.
        """
        now = time.monotonic()
        if now - self._asked >= ASK_S:
            self._asked = now
            with contextlib.suppress(OSError):
                check_address(self._address)
                self._answered = now
        return self._asked - self._answered > GONE_S


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
