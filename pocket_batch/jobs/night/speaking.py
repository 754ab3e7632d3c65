"""All books of a run as one queue: the workers stay busy from the first book to the last.

A book that is whole is joined and encoded in a thread beside the workers, so that they never wait
for a file.
"""

import time
from collections.abc import Callable

from pocket_batch.data import Failure
from pocket_batch.errors import (
    DamagedAudioError,
    NoSpaceError,
    OutputError,
    PocketBatchError,
    StoppedError,
)
from pocket_batch.executors.base import Spoken, WorkerEvent
from pocket_batch.jobs.messages import tell_worker
from pocket_batch.jobs.night.asking import Asking
from pocket_batch.jobs.night.book import BookBug, NightBook
from pocket_batch.jobs.night.finishing import GOES_ON, Finishing
from pocket_batch.jobs.night.groups import Group, group_of, voices_of
from pocket_batch.jobs.night.space import check_free
from pocket_batch.jobs.night.telling import tell_end, tell_notes, tell_outliers
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.jobs.speak import choose_executor

LOOK_S = 5.0  # between two looks at the disk
WAIT_S = 1.0  # between two looks into an inbox when there is nothing else to do


class Speaking:
    """Speaks and finishes books until none has anything left, or it is time to stop.

    Attributes:
        speech_s: of audio that was spoken, not only checked.
        num_crashes: of workers.
    """

    def __init__(
        self,
        reporter: Reporter,
        should_stop: Callable[[], bool],
        more: Callable[[], list[NightBook]],
        is_watching: Callable[[], bool],
        on_bug: Callable[[NightBook, BaseException], None],
    ) -> None:
        """`more` gives books that came since it was asked last, planned; `is_watching` tells
        whether to wait for such when all is done; `on_bug` takes bugs of ours that a book shows."""
        self._on_bug = on_bug
        self._reporter = reporter
        self._is_told_to_stop = should_stop
        self._more = more
        self._is_watching = is_watching
        self._books: list[NightBook] = []
        self._finishing = Finishing(self._should_stop)
        self._meter = Meter(reporter, "speaking", 0, 0.0)
        self._looked = 0.0
        self._disk_error: OutputError | None = None
        self._is_late = False
        self._has_worked = False
        self.speech_s = 0.0
        self.num_crashes = 0
        self.num_workers = 0

    def run(self, books: list[NightBook]) -> None:
        """Speak all books, and those that come meanwhile.

        Raises:
            OutputError: a disk is full; all that was spoken is kept.
            StoppedError: a signal or the deadline; likewise.
        """
        self._add(books)
        try:
            while self._todo() or self._finishing or self._is_watching():
                self._speak_all()
                if self._is_late:
                    self._make_do()
                self._await_finished()
                if self._is_late and self._books:
                    raise StoppedError("The deadline is near. Everything spoken so far is kept.")
                self._add(self._more())
                if not self._todo() and not self._finishing:
                    if self._is_told_to_stop():
                        break
                    self._meter.add(0.0, items=0)  # a sign of life
                    time.sleep(WAIT_S if self._is_watching() else 0.0)
        except PocketBatchError as error:
            self._stop_all(error)
            raise
        finally:
            self._finishing.stop()
        self._meter.finish()

    def _speak_all(self) -> None:
        """What there is to speak now, one engine after the other."""
        for group in dict.fromkeys(map(group_of, self._todo())):
            try:
                self._speak(group)
            except (OutputError, StoppedError):
                raise
            except PocketBatchError as error:  # of its engine or its workers: others may go on
                todo = self._todo()
                books = [book for book in todo if group_of(book) == group]
                if len(books) == len(todo) and not self._has_worked:
                    raise  # nothing works: one message says more than one a book
                for book in books:
                    if book.make_do():  # only outliers are left: it is whole without
                        self._go_on(book)
                    else:
                        self._close(book, error)
            self._stop_if_told()
            if self._is_late:
                break

    def _add(self, books: list[NightBook]) -> None:
        self._books += books
        self._meter.num_books += len(books)
        for book in books:
            self._go_on(book)

    def _go_on(self, book: NightBook) -> None:
        """A book lacks something, for the first time or again; or it is to be finished."""
        if book.missing:
            self._meter.expect(len(book.missing), book.missing_audio_s)
        else:
            self._finishing.add(book)

    def _todo(self) -> list[NightBook]:
        """Books with something to speak; what one in work turns out to lack comes after that."""
        return [book for book in self._books if book.missing and book not in self._finishing]

    def _speak(self, group: Group) -> None:
        """Speak all that one engine has to."""
        books = [book for book in self._todo() if group_of(book) == group]
        engine, settings = books[0].prepared.engine, group[1]
        missing_s = sum(book.missing_audio_s for book in books)
        limits = books[0].prepared.job.limits
        _, executor = choose_executor(
            settings, engine, voices_of(books), missing_s, limits=limits, check=group[2]
        )
        asking = Asking(books, lambda: self._arrived(group))
        for result in executor.run(asking.requests(), self._should_stop, self._on_event):
            if isinstance(result, Spoken | Failure):
                self._store(result, asking)
            self._collect_finished()
        self._is_late = asking.is_cut_short and not self._should_stop()

    def _arrived(self, group: Group) -> list[NightBook]:
        """Books that came since, those of a group that lack something."""
        new = self._more() if not self._should_stop() else []
        self._add(new)
        return [book for book in new if book.missing and group_of(book) == group]

    def _store(self, result: Spoken | Failure, asking: Asking) -> None:
        audio_s, is_new = 0.0, False
        if isinstance(result, Spoken):
            self._has_worked = True
            audio_s = result.utterance.num_samples / result.utterance.sampling_rate_hz
        for book in asking.take(result):
            is_last = len(book.missing) == 1
            try:
                is_new = book.store(result) or is_new
            except OutputError as error:
                self._disk_error = error
                return
            self._meter.add(audio_s)
            if is_last:
                self._go_on(book)
            if book.missing and is_last:
                tell_outliers(book, self._reporter)
                asking.add_round(book)
        self.speech_s += audio_s * is_new

    def _await_finished(self) -> None:
        """Wait for the files of books that are spoken, and show how they come."""
        while self._finishing:
            self._collect_finished()
            self._stop_if_told()
            self._finishing.show(self._reporter)
            time.sleep(0.05)

    def _collect_finished(self) -> None:
        """Take the books whose files are written, or could not be."""
        for book, error in self._finishing.take():
            if isinstance(error, DamagedAudioError) and book.again():
                book.notes.take()
                self._reporter.note("damaged", f"{book.source.name}: {error}", "warning")
                self._go_on(book)
            elif isinstance(error, GOES_ON):
                if isinstance(error, NoSpaceError):
                    self._disk_error = self._disk_error or error
            elif error is None and book.missing:  # it could not be done without speaking
                self._go_on(book)
            else:
                self._close(book, error)

    def _close(self, book: NightBook, error: PocketBatchError | None) -> None:
        self._books.remove(book)
        if isinstance(error, BookBug) and error.__cause__ is not None:
            self._on_bug(book, error.__cause__)
        book.close(error)
        if book.line.status in ("done", "partial"):
            self._meter.books_done += 1
        tell_notes(book, self._reporter)
        tell_end(book, self._reporter)

    def _make_do(self) -> None:
        """Time is up: books that only have outliers left are made as they are."""
        for book in self._todo():
            if book.make_do():
                self._finishing.add(book)

    def _stop_all(self, error: PocketBatchError) -> None:
        """Leave all books as they are: all that was spoken is on disk."""
        for book, found in self._finishing.stop():
            self._close(book, found)
        stopped = error if isinstance(error, StoppedError) else StoppedError(str(error))
        for book in list(self._books):
            self._books.remove(book)
            book.close(stopped)

    def _should_stop(self) -> bool:
        return self._disk_error is not None or self._is_told_to_stop()

    def _stop_if_told(self) -> None:
        if self._disk_error is not None:
            raise self._disk_error
        if self._is_told_to_stop():
            raise StoppedError("Stopped. Everything spoken so far is kept.")

    def _on_event(self, event: WorkerEvent) -> None:
        """Show how work goes, take finished books, and look at the disk."""
        self._meter.num_workers = event.num_workers
        self.num_workers = max(self.num_workers, event.num_workers)
        self.num_crashes += event.kind in ("crashed", "timeout")
        tell_worker(self._reporter, event)
        if event.kind != "working":
            return
        self._meter.add(0.0, items=0)
        self._collect_finished()
        if time.monotonic() - self._looked >= LOOK_S:
            self._looked = time.monotonic()
            self._disk_error = self._disk_error or check_free(
                {book.prepared.work.path for book in self._books if book.is_held}, self._reporter
            )
