"""The protocol of an executor, what it returns, and the table of executors."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal, Protocol

from pocket_batch.data import EngineSpec, Failure, Request, Voice
from pocket_batch.engine.base import Engine, make_engine
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.executors.health import GROWTH_SPAN_S, WorkerHealth
from pocket_batch.manifest import content_key
from pocket_batch.rows import UnitDone, UnitFailure, UnitTask
from pocket_batch.stages.repair import CheckSpec, Repair
from pocket_batch.stages.synthesize import Spoken as Spoken
from pocket_batch.stages.synthesize import Synthesize
from pocket_batch.stages.unit import MakeUnits, UnitSpec

EXECUTORS = {
    "local": "pocket_batch.executors.local:LocalExecutor",
    "ray": "pocket_batch.executors.ray:RayExecutor",
}


Work = Request | UnitTask
Result = Spoken | Failure | UnitDone | UnitFailure


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """All a worker needs to know before its first item; sent once to each worker.

    `fingerprint` is that of engine and voices as planned, see `fingerprint`; empty is not checked.
    With `units` its items are units of a data set, else requests, each checked as `check` says.
    """

    engine: EngineSpec
    voices: tuple[Voice, ...]
    num_cores: int
    fingerprint: str = ""
    units: UnitSpec | None = None
    check: CheckSpec | None = None


def never_late(seconds: float) -> bool:
    """There is no deadline."""
    return False


@dataclass(frozen=True, slots=True)
class Limits:
    """Until when work is started, and what workers may do.

    `is_late(seconds)` tells that work of so many seconds would not end before the deadline: then
    none is started any more. A worker whose memory grows faster than `warn_growth_mb_per_h` is told
    of, faster than `recycle_growth_mb_per_h` replaced after its item; both over `growth_span_s` at
    least. One that gave no sign of life for `silent_s` is told of.
    """

    is_late: Callable[[float], bool] = never_late
    warn_growth_mb_per_h: float = 100.0
    recycle_growth_mb_per_h: float = 500.0
    growth_span_s: float = GROWTH_SPAN_S
    silent_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How many workers to start, where, and the limits of one call.

    `num_workers` of None means as many as fit. `address` is that of a Ray cluster to join, empty
    for one of our own. `start_timeout_s` bounds the start barrier, `item_timeout_s` the wall time
    of one item (for a call of several items, see `RetryQueue.limit_s`).
    """

    spec: WorkerSpec
    num_workers: int | None = None
    address: str = ""
    start_timeout_s: float = 120.0
    item_timeout_s: float = 120.0
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class WorkerEvent:
    """A change among the workers, for progress and logs; `detail` is a sentence.

    `working` comes about once a second without a change, from the main thread like all others;
    it has the `health` of all workers. `health` warns of one of them.
    """

    kind: Literal[
        "starting", "ready", "working", "crashed", "timeout", "lost", "recycled", "health"
    ]
    num_workers: int
    detail: str
    health: tuple[WorkerHealth, ...] = ()


class Executor(Protocol):
    """Takes requests or units, returns each of them done or failed, in any order.

    They are consumed lazily, a window at a time, longest first within the window. When
    `should_stop()` turns true nothing new is started, what is in flight is returned if it ends
    within two seconds, and the iterator ends. When the deadline of the plan is near nothing new is
    started either, all that is in flight is returned, and the iterator ends. Closing the iterator
    frees all workers.
    """

    def run(
        self,
        work: Iterable[Work],
        should_stop: Callable[[], bool],
        on_event: Callable[[WorkerEvent], None],
    ) -> Iterator[Result]:
        """Yield one result for every request or unit, except when stopped."""
        ...


def make_stage(
    spec: WorkerSpec, should_stop: Callable[[], bool] = lambda: False, is_worker: bool = False
) -> Synthesize | Repair | MakeUnits:
    """The stage that a worker runs, with its engine and voices loaded.

    Args:
        spec: of the worker.
        should_stop: asked inside a unit.
        is_worker: this process is for the stage alone, which may end it when the engine hangs.

    Raises:
        ModelUnavailableError: the engine or a voice is not on this machine, or is another one
            than was planned with.
    """
    engine = make_engine(spec.engine)
    engine.load(spec.voices, spec.num_cores)
    if spec.fingerprint and spec.fingerprint != fingerprint(engine, spec.voices):
        raise ModelUnavailableError(
            "The files of the model or of the voice are others than when this run began. "
            "Run the same command again."
        )
    if spec.units is None and spec.check is not None:
        stage = Repair(Synthesize(engine), spec.check)
        stage.load()
        return stage
    if spec.units is None:
        return Synthesize(engine)
    timeout_s = spec.units.item_timeout_s if is_worker else 0.0
    return MakeUnits(Synthesize(engine, is_measured=True), spec.units, should_stop, timeout_s)


def fingerprint(engine: Engine, voices: Iterable[Voice]) -> str:
    """A hash of all that the sound depends on besides texts and seeds.

    Raises:
        ModelUnavailableError: the weights or a voice are not on this machine.
    """
    keys = {f"voice {n}": engine.voice_key(voice) for n, voice in enumerate(voices)}
    return content_key(**engine.identity(), **keys)


def make_executor(name: str, plan: Plan) -> Executor:
    """The executor of that name (`local` or `ray`)."""
    module, _, attribute = EXECUTORS[name].partition(":")
    executor: Executor = getattr(import_module(module), attribute)(plan)
    return executor
