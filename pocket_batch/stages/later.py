"""Work that is done in other threads, a bounded number of pieces ahead."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Generic, Self, TypeVar

Result = TypeVar("Result")
AHEAD = 2  # pieces a thread that may wait; more would only hold audio


class Later(Generic[Result]):
    """Calls functions in threads, or at once with but one; a context manager.

    Whatever a function raises is raised where its result is asked for.
    """

    def __init__(self, num_threads: int) -> None:
        self._num_threads = num_threads
        self._pool: ThreadPoolExecutor | None = None
        self._pending: set[Future[Result]] = set()

    def __enter__(self) -> Self:
        if self._num_threads > 1:
            self._pool = ThreadPoolExecutor(self._num_threads, "judge")
        return self

    def __exit__(self, *error: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def __bool__(self) -> bool:
        """Whether results are still to be taken."""
        return bool(self._pending)

    def submit(self, call: Callable[..., Result], *args: Any) -> None:
        """Ask for one result; waits while too many are asked for."""
        if self._pool is None:
            future: Future[Result] = Future()
            future.set_result(call(*args))
        else:
            running = [future for future in self._pending if not future.done()]
            if len(running) >= self._num_threads * AHEAD:
                wait(running, return_when=FIRST_COMPLETED)
            future = self._pool.submit(call, *args)
        self._pending.add(future)

    def done(self, wait_for_one: bool = False) -> Iterator[Result]:
        """The results that are there; with `wait_for_one` at least one, if any was asked for."""
        if wait_for_one and self._pending:
            wait(self._pending, return_when=FIRST_COMPLETED)
        for future in [future for future in self._pending if future.done()]:
            self._pending.remove(future)
            yield future.result()
