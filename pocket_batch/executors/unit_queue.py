"""Which units of a data set go to which worker, and which get another chance.

A unit is minutes of work, and its worker logs all of it: one that was lost goes on elsewhere. Which
of its texts is to blame, the log tells the next worker; here it is only counted.
"""

import math
from collections import deque
from collections.abc import Iterable
from itertools import islice

from pocket_batch.engine.base import make_engine
from pocket_batch.executors.base import WorkerSpec
from pocket_batch.executors.queue import Feed, Item, Loss
from pocket_batch.rows import UnitFailure, UnitTask
from pocket_batch.stages.unit import UNITS_AT_ONCE

MAX_LOSSES = 20  # each tells one more crash of one text, see `PartialLog.lonely`
WINDOW = 64


class UnitQueue:
    """The units that wait for a worker, read from their source a window at a time, largest first;
    with the methods of `RetryQueue`, as the pool wants them."""

    def __init__(self, tasks: Iterable[UnitTask], feed: Feed) -> None:
        """Read nothing yet."""
        self.num_workers = 1
        self.feed = feed
        self._source = iter(tasks)
        self._suspects: deque[Item[UnitTask]] = deque()
        self._waiting: deque[Item[UnitTask]] = deque()

    def is_empty(self) -> bool:
        """Whether nothing waits, and nothing is left in the source."""
        return self.num_waiting() == 0

    def num_waiting(self) -> int:
        """How many units wait, of those read so far."""
        if len(self._waiting) < self.num_workers * self.feed.num_calls:
            window = list(islice(self._source, max(WINDOW, self.num_workers * 2)))
            window.sort(key=_num_characters, reverse=True)
            self._waiting.extend(Item(task) for task in window)
        return len(self._suspects) + len(self._waiting)

    def take(self, suspects: bool = True) -> list[Item[UnitTask]]:
        """The unit of the next call, suspects first if wanted; none when nothing waits."""
        self.num_waiting()
        if suspects and self._suspects:
            return [self._suspects.popleft()]
        return [self._waiting.popleft()] if self._waiting else []

    def limit_s(self, load: list[Item[UnitTask]]) -> float:
        """No limit: a worker ends itself when nothing comes of its engine."""
        return math.inf

    def expected_s(self, load: list[Item[UnitTask]]) -> float:
        """Nothing: a unit that is stopped loses only the text in work."""
        return 0.0

    def done(self, load: list[Item[UnitTask]], elapsed_s: float) -> None:
        """Learn nothing."""

    def give_back(self, items: list[Item[UnitTask]]) -> None:
        """Try units again that were lost by no fault of theirs, just as before."""
        self._suspects.extendleft(reversed([item for item in items if item.is_suspect]))
        self._waiting.extendleft(reversed([item for item in items if not item.is_suspect]))

    def blame(self, items: list[Item[UnitTask]], loss: Loss) -> list[UnitFailure]:
        """Try units again that a worker was lost with, except those that cost too many."""
        for item in items:
            item.losses.append(loss)
        self.give_back([item for item in items if len(item.losses) < MAX_LOSSES])
        reason = f"It cost {MAX_LOSSES} workers. What is spoken is kept: run the command again."
        lost = [item for item in items if len(item.losses) >= MAX_LOSSES]
        return [UnitFailure(item.request.key, reason) for item in lost]

    def error(self, items: list[Item[UnitTask]], reason: str) -> list[UnitFailure]:
        """A call raised, which is a bug: a unit's own errors come back as results."""
        return [UnitFailure(item.request.key, reason) for item in items]


def _num_characters(task: UnitTask) -> int:
    return sum(len(request.text) for request in task.requests)


def unit_feed(spec: WorkerSpec) -> Feed:
    """One unit at a time; two where they share the batch of an engine.

    Raises:
        ModelUnavailableError: there is no such engine.
    """
    num = UNITS_AT_ONCE if make_engine(spec.engine).is_concurrent else 1
    return Feed(max_items=1, max_characters=None, num_calls=num, num_running=num)
