"""Which requests go together in one call to a worker, and which get another chance.

Long texts first, so that all workers end at about the same time. Several texts share a call, as a
call has a cost. Texts that were there when a worker died, or that took too long, are suspects:
they are tried again in ever smaller company, and given up only when alone they cost a worker again.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Generic, Literal, TypeVar

from pocket_batch.data import Failure, Request
from pocket_batch.engine.base import make_engine
from pocket_batch.executors.base import Work, WorkerSpec

WINDOW = 256  # small enough that chapters end early and are measured while others are spoken
MAX_ITEMS_PER_CALL = 32
MAX_CHARACTERS_PER_ITEM = 94  # on average in a call: 32 are 3 minutes of speech, 5 MB of FLAC
# Of a batched engine. Twice what fits its slots is at the worker, in calls so small that few
# results wait for the last one of their call: then a slot that frees always finds a next text.
CALLS_AT_ONCE = 8
SLOTS_PER_ITEM = 4
FIRST_FACTOR = 4
MAX_LOSSES = 3
SLOW_FACTOR = 4.0

Loss = Literal["crash", "timeout"]
W = TypeVar("W", bound=Work)


@dataclass(frozen=True, slots=True)
class Feed:
    """How work is handed to a worker.

    Attributes:
        max_items: texts in one call.
        max_characters: of all texts of a call of several; None where no text is long.
        num_calls: at a worker at a time.
        num_running: those of them that run at the same time; the others wait there.
        max_suspects: texts that are tried again together after their first loss.
    """

    max_items: int = MAX_ITEMS_PER_CALL
    max_characters: int | None = MAX_ITEMS_PER_CALL * MAX_CHARACTERS_PER_ITEM
    num_calls: int = 2
    num_running: int = 1
    max_suspects: int = 1

    @property
    def is_shared(self) -> bool:
        """Whether calls run at the same time, so that each may be hurt by the others."""
        return self.num_running > 1


def make_feed(spec: WorkerSpec) -> Feed:
    """What keeps the engine of a worker busy on all its cores.

    Raises:
        ModelUnavailableError: there is no such engine.
    """
    engine = make_engine(spec.engine)
    if not engine.is_concurrent:
        return Feed()
    num_slots = engine.batch_size * spec.num_cores
    max_items = -(-num_slots // SLOTS_PER_ITEM)
    # No limit of characters: calls of a few long texts would leave slots empty.
    return Feed(max_items, None, CALLS_AT_ONCE, CALLS_AT_ONCE, max_suspects=max_items)


def windows(requests: Iterable[Request], size: int = WINDOW) -> Iterator[list[Request]]:
    """The requests in lists of `size`, each read when asked for and sorted longest first."""
    source = iter(requests)
    while window := next_window(source, size):
        yield window


def next_window(source: Iterator[Request], size: int) -> list[Request]:
    """The next requests, longest first; none when the source is exhausted."""
    return sorted(islice(source, size), key=lambda request: len(request.text), reverse=True)


def longest_first(requests: Iterable[Request]) -> Iterator[Request]:
    """The requests of one window after the other."""
    return chain.from_iterable(windows(requests))


@dataclass(slots=True, eq=False)
class Item(Generic[W]):
    """A request or unit with what happened to its workers.

    Attributes:
        losses: those that may be its fault; of several in company only the first.
        is_alone: its next call is for it alone.
    """

    request: W
    losses: list[Loss] = field(default_factory=list)
    is_alone: bool = False

    @property
    def is_suspect(self) -> bool:
        """Something happened to a worker or a call that had it."""
        return self.is_alone or bool(self.losses)


class RetryQueue:
    """The requests that wait for a worker, read from their source a window at a time."""

    def __init__(
        self, requests: Iterable[Request], item_timeout_s: float, feed: Feed | None = None
    ) -> None:
        """Read nothing yet.

        Args:
            requests: in any order.
            item_timeout_s: see `Plan`.
            feed: how workers get their work; by default as an engine without batches likes it.
        """
        self.num_workers = 1
        self.feed = feed or Feed()
        self._source = iter(requests)
        self._item_timeout_s = item_timeout_s
        self._suspects: deque[Item[Request]] = deque()
        self._waiting: deque[Item[Request]] = deque()
        self._slowest_s_per_character: float | None = None

    def is_empty(self) -> bool:
        """Whether nothing waits, and nothing is left in the source."""
        return self.num_waiting() == 0

    def num_waiting(self) -> int:
        """How many requests wait, of those read so far."""
        self._fill()
        return len(self._suspects) + len(self._waiting)

    def take(self, suspects: bool = True) -> list[Item[Request]]:
        """The items of the next call, suspects first if wanted; none when nothing waits.

        The last calls are small, so that the workers end together. So are the first ones, until
        the time of a call can be estimated.
        """
        self._fill()
        if suspects and self._suspects:
            return self._take_suspects()
        share = -(-len(self._waiting) // (2 * self.num_workers))
        is_first = self._slowest_s_per_character is None and not self.feed.is_shared
        num = self._num_together(min(share, 1 if is_first else self.feed.max_items))
        return [self._waiting.popleft() for _ in range(num)]

    def _take_suspects(self) -> list[Item[Request]]:
        items = [self._suspects.popleft()]
        while (
            len(items) < self.feed.max_suspects
            and self._suspects
            and not items[0].is_alone
            and not self._suspects[0].is_alone
        ):
            items.append(self._suspects.popleft())
        return items

    def _num_together(self, max_items: int) -> int:
        """How many of the first items fit into one call, at least one if there is any."""
        num, num_characters, limit = 0, 0, self.feed.max_characters
        for item in islice(self._waiting, max_items):
            num_characters += len(item.request.text)
            if num and limit is not None and num_characters > limit:
                break
            num += 1
        return num

    def _fill(self) -> None:
        """Read on before it shows in calls or shares of workers, as only the very end should.

        Many workers take more than a window at a time, and each shall get short and long texts.
        """
        num_taken = self.num_workers * self.feed.num_calls * self.feed.max_items
        if len(self._waiting) < num_taken:
            window = next_window(self._source, max(WINDOW, num_taken))
            self._waiting.extend(Item(request) for request in window)

    def limit_s(self, load: list[Item[Request]]) -> float:
        """The wall time a call may take: one item's limit, or more when so much is expected.

        Args:
            load: all items that run in the worker with the call's own, and these.
        """
        limit_s = self._item_timeout_s
        if len(load) == 1:
            return limit_s
        if self._slowest_s_per_character is None:
            return FIRST_FACTOR * limit_s
        expected_s = _num_characters(load) * self._slowest_s_per_character
        return max(limit_s, min(SLOW_FACTOR * expected_s, limit_s * len(load)))

    def expected_s(self, load: list[Item[Request]]) -> float:
        """How long a call may well take, 0 while nobody knows; `load` as for `limit_s`."""
        return _num_characters(load) * (self._slowest_s_per_character or 0.0)

    def done(self, load: list[Item[Request]], elapsed_s: float) -> None:
        """Learn from a call that ended well how long calls take; `load` as for `limit_s`.

        Suspects are few at a time, and say little about a full batch.
        """
        known = self._slowest_s_per_character
        if known is None or not any(item.is_suspect for item in load):
            speed = elapsed_s / max(1, _num_characters(load))
            self._slowest_s_per_character = max(speed, known or 0.0)

    def give_back(self, items: list[Item[Request]]) -> None:
        """Try items again that were lost by no fault of theirs, just as before."""
        self._suspects.extendleft(reversed([item for item in items if item.is_suspect]))
        self._waiting.extendleft(reversed([item for item in items if not item.is_suspect]))

    def blame(self, items: list[Item[Request]], loss: Loss) -> list[Failure]:
        """Try items again that a worker was lost with, except those it must be the fault of.

        After the first loss they go in small company, after the next one alone. Only the first
        loss in company counts: it is the fault of one of them.
        """
        was_alone = len(items) == 1
        for item in items:
            item.is_alone = was_alone or bool(item.losses) or self.feed.max_suspects == 1
            if was_alone or not item.losses:
                item.losses.append(loss)
        self.give_back([item for item in items if len(item.losses) < MAX_LOSSES])
        return [self._quarantined(i) for i in items if len(i.losses) >= MAX_LOSSES]

    def error(self, items: list[Item[Request]], reason: str) -> list[Failure]:
        """A call raised: the fault of its only item, or of one of several to be tried alone."""
        if len(items) == 1:
            return [_failure(items[0], reason)]
        for item in items:
            item.is_alone = True
        self.give_back(items)
        return []

    def _quarantined(self, item: Item[Request]) -> Failure:
        num_crashes = item.losses.count("crash")
        num_timeouts = len(item.losses) - num_crashes
        reasons = []
        if num_crashes:
            reasons.append(f"crashed its worker {_times(num_crashes)}")
        if num_timeouts:
            reasons.append(f"did not end within {self._item_timeout_s:g} s {_times(num_timeouts)}")
        return _failure(item, f"This text {' and '.join(reasons)}.")


def _num_characters(items: Iterable[Item[Request]]) -> int:
    return sum(len(item.request.text) for item in items)


def _times(num: int) -> str:
    return "once" if num == 1 else f"{num} times"


def _failure(item: Item[Request], reason: str) -> Failure:
    request = item.request
    return Failure(request.key, request.segment_id, request.text, reason, request.attempt + 1)
