"""Lanes: threads that each run a batch of their own on one copy of the weights.

A lane takes what waits as soon as it has a free slot, whoever asked for it, so that a batch does
not drain between two calls. Audio of what is over is made by the lane that comes first, so that all
end at about the same time. One thread a lane uses the cores better than threads inside a model.
"""

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

from pocket_batch.engine.base import Output

RETRY_S = 0.2

Item = TypeVar("Item")


class Stepper(Protocol[Item]):
    """A batch that makes its utterances step by step; used by one thread at a time."""

    num_slots: int

    @property
    def num_wanted(self) -> int:
        """How many items more it could work on."""
        ...

    @property
    def is_idle(self) -> bool:
        """There is nothing to do."""
        ...

    def add(self, item: Item) -> None:
        """Let an item wait for a slot."""
        ...

    def step(self) -> list[Item]:
        """Make one frame of everything that runs; what is over comes back."""
        ...

    def output(self, item: Item) -> Output:
        """The audio of an item that is over, of this batch or another one."""
        ...

    def reset(self) -> None:
        """Forget all items."""
        ...


class Lanes(Generic[Item]):
    """Shared by all calls of `run`, also at the same time from several threads.

    First come, first served: so the calls end one after the other, which keeps few results waiting
    for the last one of their call, and a later call waits for no more than what is there before it.
    The threads live while a call goes on.
    """

    def __init__(self, batches: list[Stepper[Item]]) -> None:
        self._batches = batches
        self._waiting: deque[tuple[Item, _Caller]] = deque()
        self._over: deque[tuple[Item, _Caller]] = deque()  # whose audio is still to be made
        self._callers: set[_Caller] = set()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._is_ending = False
        self._to_empty: set[int] = set()  # batches of a step that failed, by their place
        # Enough that no lane ever waits for the caller.
        self._num_ahead = 2 * sum(batch.num_slots for batch in batches)

    def run(self, items: Iterable[Item | Output]) -> Iterator[Output]:
        """Work on everything, as it ends; what is an output already is passed on.

        `items` is read as lanes need more. An exception it raises is raised here once all that
        was read before has come back; one of a lane is raised at once.
        """
        caller, source = _Caller(), _Source(items)
        try:
            self._open(caller)
            num_pending = 0
            while True:
                while not source.is_over and num_pending < self._num_ahead:
                    item = source.read()
                    if isinstance(item, Output):
                        yield item
                    elif item is not None:
                        self._put(item, caller)
                        num_pending += 1
                if not num_pending:
                    break
                result = caller.results.get()
                num_pending -= 1
                if isinstance(result, Exception):
                    raise result
                yield result
        finally:
            self._close(caller)
        if source.error is not None:
            raise source.error

    def _open(self, caller: "_Caller") -> None:
        with self._changed:
            while self._is_ending:
                self._changed.wait()
            self._callers.add(caller)
            for number in range(len(self._threads), len(self._batches)):
                thread = threading.Thread(target=self._work, args=(number,), daemon=True)
                thread.start()
                self._threads.append(thread)

    def _close(self, caller: "_Caller") -> None:
        """Leave; whoever leaves last ends the threads, for one that is inside torch when Python
        ends aborts the process."""
        with self._changed:
            self._callers.discard(caller)
            self._waiting = deque(entry for entry in self._waiting if entry[1] is not caller)
            self._over = deque(entry for entry in self._over if entry[1] is not caller)
            if self._callers:
                return
            self._is_ending = True
            self._changed.notify_all()
        for thread in self._threads:
            _join(thread)
        with self._changed:
            self._threads, self._is_ending = [], False
            self._changed.notify_all()

    def _put(self, item: Item, caller: "_Caller") -> None:
        with self._changed:
            self._waiting.append((item, caller))
            self._changed.notify()

    def _work(self, number: int) -> None:
        """One lane, until nobody is left who wants something."""
        owners: dict[int, _Caller] = {}
        batch = self._batches[number]
        if number in self._to_empty:  # it could not be when its last thread ended
            self._reset(number)
        while (entries := self._take(number)) is not None:
            for item, caller in entries:
                owners[id(item)] = caller
                batch.add(item)
            try:
                over = [] if batch.is_idle else batch.step()
            except Exception as error:  # noqa: BLE001  # it belongs to whoever waits for the items
                for caller in owners.values():
                    caller.results.put(error)
                owners.clear()
                self._to_empty.add(number)  # also when the lanes end before it could be
                self._reset(number)
                continue
            with self._changed:
                self._over.extend((item, owners.pop(id(item))) for item in over)
                self._changed.notify_all()
            self._make_audio(batch)

    def _reset(self, number: int) -> None:
        """Empty a batch after an error. While even that fails, whoever waits is told so."""
        while not self._is_ending:
            try:
                self._empty(number)
                return
            except Exception as error:  # noqa: BLE001  # such as no memory for an empty batch
                with self._changed:
                    for _, caller in self._waiting:
                        caller.results.put(error)
                    self._waiting.clear()
                time.sleep(RETRY_S)

    def _empty(self, number: int) -> None:
        self._to_empty.add(number)
        self._batches[number].reset()
        self._to_empty.discard(number)

    def _make_audio(self, batch: Stepper[Item]) -> None:
        """Of everything that is over, while there is such."""
        while True:
            with self._changed:
                if not self._over:
                    return
                item, caller = self._over.popleft()
            try:
                caller.results.put(batch.output(item))
            except Exception as error:  # noqa: BLE001  # it belongs to whoever waits for the item
                caller.results.put(error)

    def _take(self, number: int) -> list[tuple[Item, "_Caller"]] | None:
        """What a lane starts now: its share of what waits. None when it is no longer needed."""
        batch = self._batches[number]
        with self._changed:
            while batch.is_idle and not (self._waiting or self._over or self._is_ending):
                self._changed.wait()
            if self._is_ending:
                with suppress(MemoryError, RuntimeError):  # it is tried again before it is used
                    self._empty(number)
                return None
            share = -(-len(self._waiting) // len(self._batches))
            return [self._waiting.popleft() for _ in range(min(share, batch.num_wanted))]


def _join(thread: threading.Thread) -> None:
    """Wait for the end of a thread, which is near, whatever signals come meanwhile."""
    while thread.is_alive():
        with suppress(KeyboardInterrupt):
            thread.join()


class _Caller:
    """Somebody who waits for outputs; compared by identity."""

    def __init__(self) -> None:
        self.results: SimpleQueue[Output | Exception] = SimpleQueue()


class _Source(Generic[Item]):
    """Items to read, and the exception in place of the last one, if there was any."""

    def __init__(self, items: Iterable[Item | Output]) -> None:
        self._items = iter(items)
        self.is_over = False
        self.error: Exception | None = None

    def read(self) -> Item | Output | None:
        """The next one; none when it is over."""
        try:
            return next(self._items)
        except StopIteration:
            self.is_over = True
        except Exception as error:  # noqa: BLE001  # raised by the caller when the rest is done
            self.is_over, self.error = True, error
        return None
