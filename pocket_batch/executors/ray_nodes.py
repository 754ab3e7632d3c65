"""How a Ray cluster is, for `pocket-batch doctor`: each of its nodes, and why it cannot be joined.

A node is asked by a small task that takes no CPU. The task travels with its code, so that a node
without pocket-batch, or with another version of it, can say so.
"""

import pickle
import sys
import time
from dataclasses import dataclass
from typing import Any

from pocket_batch.data import EngineSpec, Voice
from pocket_batch.errors import UsageError
from pocket_batch.executors.base import Plan, WorkerSpec
from pocket_batch.executors.ray_session import JOIN, QUIET, joined
from pocket_batch.executors.session import environment

CLOCK_S = 2.0


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a node says of itself.

    Attributes:
        host, address: as Ray names the node.
        ray_cpus: that Ray hands out there.
        problem: why the node did not answer; the rest is empty then.
        python, ray, pocket_batch: versions; an empty one is not installed.
        usable_cores: physical cores that a process there may use; `cpus` are all there are.
        memory_bytes: that can still be taken; None when unknown.
        disk_bytes, shared_bytes: free for temporary files, and the size of /dev/shm; -1 unknown.
        model_problem: why the voice cannot be spoken with there, empty when it can.
        fingerprints: of each model with its voices there, none when one is missing.
        clock_s: how far its clock is ahead of ours, None when unknown; `clock_error_s` at most off.
    """

    host: str
    address: str
    ray_cpus: float
    problem: str = ""
    python: str = ""
    ray: str = ""
    pocket_batch: str = ""
    cpus: int = 0
    usable_cores: int = 0
    memory_bytes: int | None = None
    disk_bytes: int = -1
    shared_bytes: int = -1
    model_problem: str = ""
    fingerprints: tuple[str, ...] = ()
    clock_s: float | None = None
    clock_error_s: float = 0.0


class NotJoinedError(UsageError):
    """A cluster could not be joined; `causes` are all texts of the errors behind it."""

    def __init__(self, message: str, causes: tuple[str, ...]) -> None:
        super().__init__(message)
        self.causes = causes


def look_at_nodes(
    address: str,
    groups: tuple[tuple[EngineSpec, tuple[Voice, ...]], ...],
    join_s: float,
    deadline: float,
) -> list[NodeFacts]:
    """Join a cluster, ask all its nodes at the same time, and leave it.

    Args:
        address: of its head, or `auto`.
        groups: what its workers would speak with: engines, each with voices.
        join_s: how long joining may take.
        deadline: of `time.monotonic`; a node that has not answered then is said to be silent.

    Raises:
        NotJoinedError: it cannot be joined.
    """
    ray = _ray()
    plan = Plan(WorkerSpec(EngineSpec("fake"), (), 1), address=address, start_timeout_s=join_s)
    try:
        with joined(plan):
            nodes = [node for node in ray.nodes() if node["Alive"]]
            return _facts(nodes, pickle.dumps(groups), deadline)
    except (UsageError, ray.exceptions.RayError, OSError) as error:
        raise NotJoinedError(str(error), tuple(_chain(error))) from error


def _chain(error: BaseException | None) -> list[str]:
    """The texts of an error and of those that led to it, the last one first."""
    texts = []
    while error is not None:
        texts.append(f"{type(error).__name__}: {error}")
        error = error.__cause__ or error.__context__
    return texts


def _ray() -> Any:
    """Ray, much of which has no types. It reads its limits when it is imported."""
    with environment({**QUIET, **JOIN}):
        import ray

    return ray


def _facts(nodes: list[dict[str, Any]], wanted: bytes, deadline: float) -> list[NodeFacts]:
    ray = _ray()
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        calls = {_on(node, _look).remote(wanted): node for node in nodes}
        found: dict[str, NodeFacts] = {}
        while calls and (left := deadline - time.monotonic()) > 0:
            done, _ = ray.wait(list(calls), num_returns=1, timeout=left)
            for call in done:
                node = calls.pop(call)
                found[node["NodeID"]] = _answered(node, call, deadline)
        for node in calls.values():
            found[node["NodeID"]] = _of(node, problem="it has not answered in time")
        return [found[node["NodeID"]] for node in nodes]
    finally:
        ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def _on(node: dict[str, Any], function: Any) -> Any:
    """A task on that node and no other, which takes no CPU there."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    return _ray().remote(function).options(num_cpus=0, max_retries=0, scheduling_strategy=there)


def _answered(node: dict[str, Any], call: Any, deadline: float) -> NodeFacts:
    ray = _ray()
    try:
        answer: dict[str, Any] = ray.get(call)
    except ray.exceptions.RayError as error:
        return _of(node, problem=str(error).strip().rpartition("\n")[2][:300])
    ahead_s, error_s = _clock(node, deadline)
    return _of(node, clock_s=ahead_s, clock_error_s=error_s, **answer)


def _of(node: dict[str, Any], **answer: Any) -> NodeFacts:
    cpus = float(node["Resources"].get("CPU", 0))
    return NodeFacts(node["NodeManagerHostname"], node["NodeManagerAddress"], cpus, **answer)


def _clock(node: dict[str, Any], deadline: float) -> tuple[float | None, float]:
    """How far the clock of a node is ahead, and how far off this is at most, in seconds."""
    ray = _ray()
    sent, started = time.time(), time.monotonic()
    timeout_s = min(CLOCK_S, deadline - started)
    try:
        theirs: float = ray.get(_on(node, _now).remote(), timeout=max(0.0, timeout_s))
    except ray.exceptions.RayError:  # one of them is that it took too long
        return None, 0.0
    half_s = (time.monotonic() - started) / 2
    return theirs - (sent + half_s), half_s


# What follows runs on nodes that may lack pocket-batch: nothing of it is used outside of `try`.


def _now() -> float:
    import time

    return time.time()


def _look(wanted: bytes) -> dict[str, Any]:
    """What there is on this node; `wanted` are pickled groups, see `look_at_nodes`."""
    import os
    import platform
    from importlib import metadata

    import ray

    answer: dict[str, Any] = {
        "python": platform.python_version(),
        "ray": ray.__version__,
        "cpus": os.cpu_count() or 0,
        "disk_bytes": _space("free", None),
        "shared_bytes": _space("total", "/dev/shm"),
    }
    try:
        answer["pocket_batch"] = metadata.version("pocket-batch")
        from pocket_batch.executors.cores import available_memory_bytes, usable_cores

        answer["usable_cores"] = usable_cores()
        answer["memory_bytes"] = available_memory_bytes()
    except ImportError:  # one of them is that there is no such package
        return answer
    return answer | _models(wanted)


def _space(kind: str, folder: str | None) -> int:
    import shutil
    import tempfile

    try:
        return int(getattr(shutil.disk_usage(folder or tempfile.gettempdir()), kind))
    except OSError:
        return -1


def _models(wanted: bytes) -> dict[str, Any]:
    """Whether workers could speak here, and with what."""
    import pickle

    from pocket_batch.errors import PocketBatchError

    try:
        from pocket_batch.engine.base import make_engine
        from pocket_batch.executors.base import fingerprint

        found = []
        for spec, voices in pickle.loads(wanted):
            engine = make_engine(spec)
            engine.check(voices)
            found.append(fingerprint(engine, voices))
        return {"fingerprints": tuple(found)}
    except PocketBatchError as error:
        return {"model_problem": str(error)}
    except (ImportError, AttributeError, TypeError, OSError) as error:
        return {"model_problem": f"{type(error).__name__}: {error}"}
