"""Where workers live, as the pool sees it: it starts them, calls them and tells what became of it.

Handles of workers and calls are opaque and hashable.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from pocket_batch.errors import StoppedError
from pocket_batch.executors.queue import Item


class ClusterLostError(StoppedError):
    """All workers are gone at once, and no call gets an answer any more."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a call: a value, an exception that it raised, or neither: its worker died."""

    value: Any = None
    error: Exception | None = None
    is_lost: bool = False


class Cluster(Protocol):
    """Starts, calls and ends workers; knows nothing of queues and retries."""

    def start(self) -> Any:
        """Start a worker, which is not ready yet."""
        ...

    def call_ready(self, worker: Any) -> Any:
        """Ask a worker to load what it needs; the value of the reply names its node."""
        ...

    def call_speak(self, worker: Any, items: list[Item[Any]]) -> Any:
        """Ask a worker for the results of some items."""
        ...

    def call_vitals(self, worker: Any) -> Any:
        """Ask a worker how it is, beside what it does; the value of the reply is `Vitals`."""
        ...

    def capacity(self) -> int:
        """How many workers there is room for, those that are there included."""
        ...

    def ask_to_stop(self, worker: Any) -> None:
        """Let a worker leave its units as they are, so that their logs do not tell of a death."""
        ...

    def wait(self, calls: list[Any], timeout_s: float) -> list[tuple[Any, Reply]]:
        """The calls that ended, as soon as one has, with what became of them."""
        ...

    def kill(self, worker: Any, restart: bool) -> None:
        """End a worker's process at once; its calls are lost."""
        ...

    def is_lost(self) -> bool:
        """Whether it is gone as a whole, and must not be asked anything any more."""
        ...

    def is_node_alive(self, node: str) -> bool:
        """Whether the machine of that name still belongs to the cluster."""
        ...

    def resources(self) -> str:
        """What the cluster has, for messages."""
        ...
