"""Which requests go together in one call to a worker, and which get another chance.

Long texts first, so that all workers end at about the same time. Several texts share a call, as a
call has a cost. A text that was there when a worker died, or that took too long, goes back to the
front and is tried alone: the next death can only be its own fault, and the third is its last.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from pocket_batch.data import Failure, Request
from pocket_batch.engine.base import make_engine
from pocket_batch.executors.base import WorkerSpec

WINDOW = 256  # small enough that chapters end early and are measured while others are spoken
MAX_ITEMS_PER_CALL = 32
MAX_CHARACTERS_PER_ITEM = 94  # on average in a call: 32 are 3 minutes of speech, 5 MB of FLAC
FIRST_SHARE = 4
MAX_LOSSES = 3
SLOW_FACTOR = 4.0

Loss = Literal["crash", "timeout"]


def windows(requests: Iterable[Request], size: int = WINDOW) -> Iterator[list[Request]]:
    """The requests in lists of `size`, each read when asked for and sorted longest first."""
    source = iter(requests)
    while window := list(islice(source, size)):
        yield sorted(window, key=lambda request: len(request.text), reverse=True)


def calls(
    window: Iterable[Request], max_items: int = MAX_ITEMS_PER_CALL
) -> Iterator[list[Request]]:
    """Cut a window into calls, in order."""
    waiting = deque(window)
    while waiting:
        num = _num_together(waiting, max_items, max_characters(max_items))
        yield [waiting.popleft() for _ in range(num)]


def call_size(spec: WorkerSpec) -> int:
    """How many items go into one call to a worker, so that its engine is busy on all its cores."""
    at_once = make_engine(spec.engine).batch_size * spec.num_cores
    return max(MAX_ITEMS_PER_CALL, at_once)


def max_characters(max_items: int) -> int:
    """The length of all texts of a call of so many items."""
    return max_items * MAX_CHARACTERS_PER_ITEM


def _num_together(requests: Iterable[Request], max_items: int, max_characters: int) -> int:
    """How many of the first requests fit into one call, at least one."""
    num, num_characters = 0, 0
    for request in islice(requests, max_items):
        num_characters += len(request.text)
        if num and num_characters > max_characters:
            break
        num += 1
    return num


@dataclass(slots=True, eq=False)
class Item:
    """A request with what happened to its workers; tried alone once something did."""

    request: Request
    losses: list[Loss] = field(default_factory=list)


class RetryQueue:
    """The requests that wait for a worker, read from their source a window at a time."""

    def __init__(
        self,
        requests: Iterable[Request],
        item_timeout_s: float,
        max_items: int = MAX_ITEMS_PER_CALL,
    ) -> None:
        """Read nothing yet.

        Args:
            requests: in any order.
            item_timeout_s: see `Plan`.
            max_items: of one call; a batched engine wants at least as many as it speaks at a time.
        """
        self.num_workers = 1
        self._max_items = max_items
        # One text alone is slow with a batched engine, and says little about many.
        self._num_first = 1 if max_items <= MAX_ITEMS_PER_CALL else max_items // FIRST_SHARE
        self._windows = windows(requests)
        self._item_timeout_s = item_timeout_s
        self._again: deque[Item] = deque()  # each of these is a call of its own
        self._waiting: deque[Request] = deque()
        self._slowest_s_per_character: float | None = None

    def is_empty(self) -> bool:
        """Whether nothing waits, and nothing is left in the source."""
        return self.num_waiting() == 0

    def num_waiting(self) -> int:
        """How many requests wait, of those read so far."""
        self._fill()
        return len(self._again) + len(self._waiting)

    def take(self) -> list[Item]:
        """The items of the next call; none when nothing waits.

        The last calls are small, so that the workers end together. So are the first ones, until
        the time of a call can be estimated.
        """
        self._fill()
        if self._again:
            return [self._again.popleft()]
        share = -(-len(self._waiting) // (2 * self.num_workers))
        is_first = self._slowest_s_per_character is None
        max_items = min(share, self._num_first if is_first else self._max_items)
        num = _num_together(self._waiting, max_items, max_characters(self._max_items))
        return [Item(self._waiting.popleft()) for _ in range(num)]

    def _fill(self) -> None:
        """Read on before the calls get small, as they should only be at the very end."""
        if len(self._waiting) < 2 * self.num_workers * self._max_items:
            self._waiting.extend(next(self._windows, ()))

    def limit_s(self, items: list[Item]) -> float:
        """The wall time a call may take: one item's limit, or more when so much is expected."""
        limit_s = self._item_timeout_s
        if len(items) == 1:
            return limit_s
        if self._slowest_s_per_character is None:
            return FIRST_SHARE * limit_s
        expected_s = _num_characters(items) * self._slowest_s_per_character
        return max(limit_s, min(SLOW_FACTOR * expected_s, limit_s * len(items)))

    def done(self, items: list[Item], elapsed_s: float) -> None:
        """Learn from a call that ended well how long calls take."""
        speed = elapsed_s / max(1, _num_characters(items))
        self._slowest_s_per_character = max(speed, self._slowest_s_per_character or 0.0)

    def give_back(self, items: list[Item]) -> None:
        """Try items again, alone, that were lost by no fault of theirs."""
        self._again.extendleft(reversed(items))

    def blame(self, items: list[Item], loss: Loss) -> list[Failure]:
        """Try items again, alone, except those that cost a worker too often."""
        for item in items:
            item.losses.append(loss)
        self.give_back([item for item in items if len(item.losses) < MAX_LOSSES])
        return [self._quarantined(i) for i in items if len(i.losses) >= MAX_LOSSES]

    def error(self, items: list[Item], reason: str) -> list[Failure]:
        """A call raised: the fault of its only item, or of one of several to be tried alone."""
        if len(items) == 1:
            return [_failure(items[0], reason)]
        self.give_back(items)
        return []

    def _quarantined(self, item: Item) -> Failure:
        num_crashes = item.losses.count("crash")
        num_timeouts = len(item.losses) - num_crashes
        reasons = []
        if num_crashes:
            reasons.append(f"crashed its worker {_times(num_crashes)}")
        if num_timeouts:
            reasons.append(f"did not end within {self._item_timeout_s:g} s {_times(num_timeouts)}")
        return _failure(item, f"This text {' and '.join(reasons)}.")


def _num_characters(items: list[Item]) -> int:
    return sum(len(item.request.text) for item in items)


def _times(num: int) -> str:
    return "once" if num == 1 else f"{num} times"


def _failure(item: Item, reason: str) -> Failure:
    request = item.request
    return Failure(request.key, request.segment_id, request.text, reason, request.attempt + 1)
