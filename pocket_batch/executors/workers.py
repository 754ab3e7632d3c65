"""What the pool knows of each worker: its calls, whether it is ready, and what it died over."""

import math
import time
from dataclasses import dataclass, field
from typing import Any

from pocket_batch.errors import PocketBatchError, StoppedError, UsageError
from pocket_batch.executors.base import Result
from pocket_batch.executors.health import History, WorkerHealth, WorkerState
from pocket_batch.executors.queue import Item
from pocket_batch.rows import UnitDone
from pocket_batch.stages.synthesize import Spoken

FIRST_BACKOFF_S = 0.25
LAST_BACKOFF_S = 8.0


@dataclass(slots=True, eq=False)
class Call:
    """Items at a worker.

    Attributes:
        load: all that ran there when this call started to, with its own; empty before.
        since: when that was, or when its clock was set back; infinity before.
    """

    handle: Any
    items: list[Item[Any]]
    load: list[Item[Any]] = field(default_factory=list)
    since: float = math.inf


@dataclass(slots=True, eq=False)
class Worker:
    """A worker; `calls` are in the order in which it starts them.

    `look` is the call that asks how it is. One that `is_recycling` gets no work, and a new process.
    While not `is_ready` it is being (re)started until `deadline`: either `starting` is the call
    that loads it, or the next attempt is at `retry_at`. `suspects` ran when it was lost.
    """

    number: int
    handle: Any
    deadline: float
    starting: Any = None
    retry_at: float = 0.0
    backoff_s: float = FIRST_BACKOFF_S
    is_ready: bool = False
    is_killed: bool = False
    is_recycling: bool = False
    look: Any = None
    busy_since: float = 0.0
    history: History = field(init=False)
    node: str = ""
    calls: list[Call] = field(default_factory=list)
    suspects: list[Item[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.history = History(self.number)

    def add_call(self, call: Call, num_running: int) -> None:
        """Hand it a call; it works from now on if it did not."""
        if not self.calls:
            self.busy_since = time.monotonic()
        self.calls.append(call)
        self.start_calls(num_running)

    def answered(self, results: list[Result]) -> None:
        """Count what it made, and the time since the last answer."""
        now, history = time.monotonic(), self.history
        history.busy_s += now - self.busy_since
        self.busy_since = now
        history.seen = max(history.seen, now)
        history.num_items += len(results)
        history.audio_s += sum(map(audio_s, results))

    def health(self) -> WorkerHealth:
        """How it is."""
        state: WorkerState = "busy" if self.calls else "idle"
        if not self.is_ready:
            state = "starting"
        elif self.is_recycling:
            state = "recycling"
        return self.history.health(state)

    def start_calls(self, num_running: int) -> None:
        """Note what runs now: the first `num_running` calls."""
        running = self.calls[:num_running]
        for call in running:
            if not call.load:
                call.since = time.monotonic()
                call.load = [item for other in running for item in other.items]

    def load(self, call: Call) -> list[Item[Any]]:
        """All that a call shares its worker with, itself included: at its start or by now,
        whichever is more, as the first of several calls starts with the worker to itself."""
        now = [item for other in self.calls if other.load for item in other.items]
        return max(call.load or call.items, now, key=len)

    @property
    def num_items(self) -> int:
        """How many texts are with it."""
        return sum(len(call.items) for call in self.calls)

    @property
    def is_running(self) -> bool:
        """Whether a call that was started is not answered yet."""
        return any(call.load for call in self.calls)


def audio_s(result: Result) -> float:
    """Seconds of speech in a result."""
    if isinstance(result, Spoken):
        return result.utterance.num_samples / result.utterance.sampling_rate_hz
    if isinstance(result, UnitDone) and result.sampling_rate_hz:
        return result.num_samples / result.sampling_rate_hz
    return 0.0


def no_worker_left(
    reason: str, has_worked: bool, num_cores: int, resources: str
) -> PocketBatchError:
    """The error for a run that has lost its last worker, or never had one."""
    if has_worked:
        return StoppedError(
            f"All workers were lost, the last one because {reason}. What is done is saved; "
            "run the same command again."
        )
    return UsageError(
        f"No worker could be started: {reason}. Each needs {num_cores} CPUs; there are "
        f"{resources}. Ask for fewer cores per worker, or more time."
    )
