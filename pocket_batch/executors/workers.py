"""What the pool knows of each worker: its calls, whether it is ready, and what it died over."""

import math
import time
from dataclasses import dataclass, field
from typing import Any

from pocket_batch.executors.queue import Item

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
    node: str = ""
    calls: list[Call] = field(default_factory=list)
    suspects: list[Item[Any]] = field(default_factory=list)

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
