"""All books of a run as one queue: the workers stay busy from the first book to the last.

A book that is whole is joined and encoded in a thread beside the workers, so that they never wait
for a file.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from pocket_batch.data import EngineSpec, Failure, Request, Voice
from pocket_batch.errors import (
    DamagedAudioError,
    NoSpaceError,
    OutputError,
    PocketBatchError,
    StoppedError,
)
from pocket_batch.executors.base import Spoken, WorkerEvent
from pocket_batch.jobs.messages import tell_worker
from pocket_batch.jobs.night.book import BookBug, NightBook
from pocket_batch.jobs.night.space import check_free
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.jobs.speak import choose_executor
from pocket_batch.jobs.words import duration
from pocket_batch.lock import leave_signals_alone
from pocket_batch.settings import ExecutorSettings
from pocket_batch.stages.repair import CheckSpec

LOOK_S = 5.0  # between two looks at the disk
WAIT_S = 1.0  # between two looks into an inbox when there is nothing else to do

Group = tuple[EngineSpec, ExecutorSettings, CheckSpec | None]


class Speaking:
    """Speaks and finishes books until none has anything left, or it is time to stop.

    Attributes:
        speech_s: of audio that was made.
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
        self._finishing: dict[Future[None], NightBook] = {}
        self._finisher = ThreadPoolExecutor(1, "finish", leave_signals_alone)
        self._meter = Meter(reporter, "speaking", 0, 0.0)
        self._looked = 0.0
        self._disk_error: OutputError | None = None
        self._is_late = False
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
                self._await_finished()
                if self._is_late:
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
            self._finisher.shutdown(wait=True)
        self._meter.finish()

    def _speak_all(self) -> None:
        """What there is to speak now, one engine after the other."""
        for group in dict.fromkeys(map(_group, self._todo())):
            try:
                self._speak(group)
            except (OutputError, StoppedError):
                raise
            except PocketBatchError as error:  # of its engine or its workers: others may go on
                todo = self._todo()
                books = [book for book in todo if _group(book) == group]
                if len(books) == len(todo) and not self.speech_s:
                    raise  # nothing works: one message says more than one a book
                for book in books:
                    self._close(book, error)
            self._stop_if_told()
            if self._is_late:
                break

    def _add(self, books: list[NightBook]) -> None:
        self._books += books
        meter = self._meter
        meter.num_books += len(books)
        for book in books:
            meter.expect(len(book.missing), book.missing_audio_s)
            if not book.missing:
                self._finish(book)

    def _todo(self) -> list[NightBook]:
        return [book for book in self._books if book.missing]

    def _speak(self, group: Group) -> None:
        """Speak all that one engine has to."""
        books = [book for book in self._todo() if _group(book) == group]
        engine, settings = books[0].prepared.engine, group[1]
        missing_s = sum(book.missing_audio_s for book in books)
        limits = books[0].prepared.job.limits
        _, executor = choose_executor(
            settings, engine, _voices(books), missing_s, limits=limits, check=group[2]
        )
        owners: dict[str, list[NightBook]] = {}
        work = self._requests(group, books, owners)
        for result in executor.run(work, self._should_stop, self._on_event):
            if isinstance(result, Spoken | Failure):
                self._store(result, owners.pop(_key(result), []))
            self._collect_finished()
        self._is_late = bool(owners) and not self._should_stop()

    def _requests(
        self, group: Group, books: list[NightBook], owners: dict[str, list[NightBook]]
    ) -> Iterator[Request]:
        """What the books lack, each text once, then what those lack that came meanwhile.

        Args:
            group: of the books.
            books: with something missing.
            owners: gets who waits for each key.
        """
        while books:
            asked = set(owners)
            for book in books:
                for key in book.missing:
                    owners.setdefault(key, []).append(book)
            for book in books:
                for request in book.requests():
                    if request.key not in asked:
                        asked.add(request.key)
                        yield request
            new = self._more() if not self._should_stop() else []
            self._add(new)
            books = [book for book in new if _group(book) == group and book.missing]

    def _store(self, result: Spoken | Failure, owners: list[NightBook]) -> None:
        audio_s = 0.0
        if isinstance(result, Spoken):
            audio_s = result.utterance.num_samples / result.utterance.sampling_rate_hz
        self.speech_s += audio_s
        for book in owners:
            try:
                book.store(result)
            except OutputError as error:
                self._disk_error = error
                return
            self._meter.add(audio_s)
            if not book.missing:
                self._finish(book)

    def _finish(self, book: NightBook) -> None:
        self._finishing[self._finisher.submit(book.finish, self._should_stop)] = book

    def _await_finished(self) -> None:
        """Wait for the files of books that are spoken, and show how they come."""
        while self._finishing:
            self._collect_finished()
            self._stop_if_told()
            for book in self._finishing.values():
                if snapshot := book.notes.take_progress():
                    self._reporter.progress(snapshot)
            time.sleep(0.05)

    def _collect_finished(self) -> None:
        """Take the books whose files are written, or could not be."""
        for future in [future for future in self._finishing if future.done()]:
            book = self._finishing.pop(future)
            error = _error_of(future)
            if isinstance(error, DamagedAudioError) and book.again():
                book.notes.take()
                self._reporter.note("damaged", f"{book.source.name}: {error}", "warning")
                self._meter.expect(len(book.missing), book.missing_audio_s)
                continue
            if isinstance(error, NoSpaceError):
                self._disk_error = self._disk_error or error
            if isinstance(error, StoppedError | NoSpaceError):
                self._finishing[future] = book  # `_stop_all` closes it with the others
                return
            self._close(book, error)

    def _close(self, book: NightBook, error: PocketBatchError | None) -> None:
        self._books.remove(book)
        if isinstance(error, BookBug) and error.__cause__ is not None:
            self._on_bug(book, error.__cause__)
        book.close(error)
        line = book.line
        for text in _only_warnings(book):
            self._reporter.note("book_warning", f"{book.source.name}: {text}", "warning")
        if line.status in ("done", "partial"):
            self._meter.books_done += 1
        text = f"{book.source.name}: {line.problem}" if error else _made(book)
        self._reporter.note(
            "input_done",
            text,
            "warning" if error else "info",
            input=str(book.source),
            status=line.status,
            audio_s=round(line.audio_s, 2),
            num_failures=line.num_failures,
        )

    def _stop_all(self, error: PocketBatchError) -> None:
        """Leave all books as they are: all that was spoken is on disk."""
        for future in list(self._finishing):
            future.cancel()
        self._finisher.shutdown(wait=True)
        for future, book in list(self._finishing.items()):
            found = _error_of(future)
            if not isinstance(found, StoppedError | NoSpaceError):
                self._close(book, found)
        self._finishing.clear()
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
                {book.prepared.work.path for book in self._books}, self._reporter
            )


def _group(book: NightBook) -> Group:
    """Books of one group share workers."""
    prepared = book.prepared
    return prepared.engine.spec, prepared.job.pipeline.executor, prepared.check


def _voices(books: list[NightBook]) -> tuple[Voice, ...]:
    """All voices of some books, each once."""
    found: dict[str, Voice] = {}
    for book in books:
        for voice in book.prepared.plan.voices:
            found.setdefault(repr(voice), voice)
    return tuple(found.values())


def _key(result: Spoken | Failure) -> str:
    return result.utterance.key if isinstance(result, Spoken) else result.key


def _only_warnings(book: NightBook) -> list[str]:
    return [text for _, text, level, _ in book.notes.take() if level == "warning"]


def _made(book: NightBook) -> str:
    line = book.line
    return f"{book.source.name}: {duration(line.audio_s)}, {Path(line.output).name}."


def _error_of(future: Future[None]) -> PocketBatchError | None:
    """What became of a book that was to be finished."""
    if future.cancelled():
        return StoppedError("Stopped before its file was written.")
    error = future.exception()
    if error is None or isinstance(error, PocketBatchError):
        return error
    return BookBug(error)
