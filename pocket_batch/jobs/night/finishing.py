"""Joins and encodes the books that are spoken, in a thread beside the workers."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from pocket_batch.errors import NoSpaceError, PocketBatchError, StoppedError
from pocket_batch.jobs.night.book import BookBug, NightBook
from pocket_batch.jobs.progress import Reporter
from pocket_batch.lock import leave_signals_alone

Ended = tuple[NightBook, PocketBatchError | None]


class Finishing:
    """The books whose files are being written, one after the other."""

    def __init__(self, should_stop: Callable[[], bool]) -> None:
        self._should_stop = should_stop
        self._futures: dict[Future[None], NightBook] = {}
        self._thread = ThreadPoolExecutor(1, "finish", leave_signals_alone)

    def __bool__(self) -> bool:
        """Whether any is left."""
        return bool(self._futures)

    def __contains__(self, book: NightBook) -> bool:
        """Whether a book was not taken back yet."""
        return book in self._futures.values()

    def add(self, book: NightBook) -> None:
        """Finish a book when those before it are finished."""
        self._futures[self._thread.submit(book.finish, self._should_stop)] = book

    def take(self) -> list[Ended]:
        """The books that ended since the last call, with what went wrong."""
        done = [future for future in self._futures if future.done()]
        return [(self._futures.pop(future), _error_of(future)) for future in done]

    def show(self, reporter: Reporter) -> None:
        """Tell how far they are."""
        for book in self._futures.values():
            if snapshot := book.notes.take_progress():
                reporter.progress(snapshot)

    def stop(self) -> list[Ended]:
        """Begin no other book, and wait for the one in work; gives those that ended by themselves.

        All others stay with the speech that they have.
        """
        for future in self._futures:
            future.cancel()
        self._thread.shutdown(wait=True)
        ended = [(book, _error_of(future)) for future, book in self._futures.items()]
        self._futures.clear()
        return [(b, e) for b, e in ended if not isinstance(e, GOES_ON) and not b.missing]


GOES_ON = (StoppedError, NoSpaceError)  # what ends a book that the next run goes on with


def _error_of(future: Future[None]) -> PocketBatchError | None:
    """What became of a book that was to be finished."""
    if future.cancelled():
        return StoppedError("Stopped before its file was written.")
    error = future.exception()
    if error is None or isinstance(error, PocketBatchError):
        return error
    return BookBug(error)
