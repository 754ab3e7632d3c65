"""A run of job files: hold them, plan all inputs, speak them as one queue, tell what became."""

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pocket_batch.errors import (
    LockedError,
    NoSpaceError,
    OutputError,
    PartialRunError,
    PocketBatchError,
    StoppedError,
    writing,
)
from pocket_batch.executors.base import Limits
from pocket_batch.executors.cores import usable_cores
from pocket_batch.job_settings import MetricsSettings
from pocket_batch.jobs.dataset.run import dry_run
from pocket_batch.jobs.deadline import Deadline
from pocket_batch.jobs.hooks import call_hook, check_hook
from pocket_batch.jobs.log_file import LogFile, log_kept
from pocket_batch.jobs.night.book import BookBug, NightBook
from pocket_batch.jobs.night.inputs import SETTLE_S, Inputs
from pocket_batch.jobs.night.job import NightJob
from pocket_batch.jobs.night.sets import run_set, set_of
from pocket_batch.jobs.night.space import warn_of_space
from pocket_batch.jobs.night.speaking import Speaking
from pocket_batch.jobs.night.summary import SUMMARY, Line, Summary
from pocket_batch.jobs.plan import WRITE_X_REALTIME
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.status import status_kept
from pocket_batch.jobs.watchers import Several, Warnings
from pocket_batch.jobs.words import duration, plural
from pocket_batch.lock import Lock
from pocket_batch.settings import AudiobookPipeline

MIN_OPEN_FILES = 65_536

if TYPE_CHECKING:
    from pocket_batch.jobs.metrics import Metrics

Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Night:
    """A run of jobs. `shard` (i, n) is part i of n of their inputs."""

    jobs: tuple[NightJob, ...]
    deadline: Deadline
    run_dir: Path
    shard: tuple[int, int] | None = None
    keep_watching: bool = False
    dry_run: bool = False
    command: tuple[str, ...] = field(default=("pocket-batch",))


def run_night(night: Night, reporter: Reporter, should_stop: Stop) -> Summary:
    """Work through all inputs of all jobs.

    Raises:
        LockedError: another run does.
        StoppedError: a signal or the deadline; the same command goes on.
        PartialRunError: all was tried, and some inputs failed or are not whole.
        PocketBatchError: the run could not begin.
    """
    for job in night.jobs:
        check_hook(job.settings.on_finish, job.folder)
        check_hook(job.settings.on_failure, job.folder)
    if night.dry_run:
        return _Run(night, reporter, should_stop).plan_only()
    warnings = Warnings(passed_over=("input_done", "book_warning"))  # their lines have them
    with _held(night), _watched(night, Several(reporter, warnings)) as (told, log):
        run = _Run(night, told, should_stop, log)
        summary = run.make()
        summary.warnings = warnings.texts
        summary.write(night.run_dir)
        told.note("summary", summary.text(), exit_code=summary.exit_code)
        _tell_others(night, summary, told)
        _raise_problem(summary, night.run_dir)
    return summary


@contextmanager
def _held(night: Night) -> Iterator[None]:
    """Hold the run folders of all jobs, so that no other run does the same work."""
    with ExitStack() as stack:
        folders = (_part(job.run_dir, night.shard) for job in night.jobs)
        for folder in dict.fromkeys((night.run_dir, *folders)):
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
            lock = Lock(folder / "lock")
            try:
                lock.take()
            except LockedError as error:
                raise LockedError(f"{folder}: {error}") from error
            stack.callback(lock.release)
        yield


def _part(folder: Path, shard: tuple[int, int] | None) -> Path:
    return folder if shard is None else folder / f"{shard[0]}-of-{shard[1]}"


@contextmanager
def _watched(night: Night, reporter: Reporter) -> Iterator[tuple[Reporter, LogFile]]:
    """All that is told of the run: what is shown, log, metrics, status."""
    name = "+".join(job.name for job in night.jobs)
    deadline_at = time.time() + night.deadline.left_s()
    facts: dict[str, Any] = {"title": name, "jobs": [str(job.path) for job in night.jobs]}
    if deadline_at < float("inf"):
        facts["deadline_at"] = round(deadline_at)
    with ExitStack() as stack:
        log = stack.enter_context(log_kept(night.run_dir))
        told: list[Reporter] = [reporter, log]
        for settings in dict.fromkeys(job.settings.metrics for job in night.jobs):
            if settings.file is not None or settings.port is not None:
                told.append(stack.enter_context(_metrics(night, settings, name, deadline_at)))
        several = Several(*told)
        status = stack.enter_context(status_kept(night.run_dir, "jobs", several, **facts))
        yield status, log


def _metrics(night: Night, settings: MetricsSettings, name: str, deadline_at: float) -> "Metrics":
    """What Prometheus reads; a file is as seen from the first job."""
    from pocket_batch.jobs.metrics import Metrics

    if settings.file is not None:
        settings = replace(settings, file=str(night.jobs[0].place(settings.file)))
    return Metrics(settings, name, deadline_at)


def _tell_others(night: Night, summary: Summary, reporter: Reporter) -> None:
    """Call the hooks: each once, whichever jobs name it."""
    is_well = summary.exit_code == 0
    found = [(j.settings.on_finish if is_well else j.settings.on_failure, j) for j in night.jobs]
    hooks = [(hook, job.folder if hook.command else Path()) for hook, job in found]
    for hook, folder in dict.fromkeys(hooks):
        call_hook(hook, folder, (night.run_dir / SUMMARY).absolute(), reporter)


def _raise_problem(summary: Summary, run_dir: Path) -> None:
    """Turn what is missing into the error that has its exit code."""
    where = f"{run_dir / SUMMARY} has it all."
    if summary.exit_code == StoppedError.exit_code:
        raise StoppedError(f"{summary.stop or 'Stopped.'} {where}")
    if summary.stop_code:
        raise OutputError(f"{summary.stop} {where}")
    if summary.exit_code:
        raise PartialRunError(f"Not all inputs were made. {where}")


class _Run:
    """One run of jobs that are held."""

    def __init__(
        self, night: Night, reporter: Reporter, should_stop: Stop, log: LogFile | None = None
    ) -> None:
        self._night = night
        self._reporter = reporter
        self._should_stop = night.deadline.stops(should_stop)
        self._log = log
        self._taken: dict[Path, NightBook] = {}
        self._in_work: list[NightBook] = []
        self._is_speaking = False
        self._inputs = [(job, Inputs(job, night.shard)) for job in night.jobs if _has_books(job)]
        self._summary = Summary([job.name for job in night.jobs])

    def make(self) -> Summary:
        """Plan, speak, make data sets; what stops the run is in the summary."""
        summary, started = self._summary, time.monotonic()
        _allow_open_files()
        self._tell_deadline()
        try:
            self._make_books()
            for job in self._night.jobs:
                if not _has_books(job):
                    self._make_set(job)
        except PocketBatchError as error:
            is_stop = isinstance(error, StoppedError)
            summary.stop = str(error)
            summary.stop_code = error.exit_code if is_stop else OutputError.exit_code
        self._tell_warnings()
        summary.elapsed_s = time.monotonic() - started
        return summary

    def plan_only(self) -> Summary:
        """Plan all inputs without speaking: what would be done, and how long it would take."""
        books = self._planned_first()
        if self._inputs:
            self._tell_plan(books)
        for book in books:
            book.close(StoppedError("Not started: this is a dry run."))
            book.line.status = "waiting"
        for job in self._night.jobs:
            if not _has_books(job):
                dry_run(set_of(job, self._night, Limits()), self._reporter, self._should_stop)
        self._tell_warnings()
        return self._summary

    def _make_books(self) -> None:
        books = self._planned_first()
        self._tell_plan(books)
        warn_of_space(books, self._reporter)
        speaking = Speaking(
            self._reporter, self._should_stop, self._new_books, self._is_watching, self._log_bug
        )
        self._is_speaking = True
        try:
            speaking.run(books)
        finally:
            self._summary.speech_s = speaking.speech_s
            self._summary.num_crashes = speaking.num_crashes
            self._summary.num_workers = speaking.num_workers

    def _is_watching(self) -> bool:
        """Whether more may come to an inbox that is worth waiting for."""
        return self._night.keep_watching or any(found.num_unsettled for _, found in self._inputs)

    def _planned_first(self) -> list[NightBook]:
        named = [(job, path) for job, found in self._inputs for path in found.first()]
        self._tell_warnings()
        books = self._planned(named)
        if any(found.num_unsettled for _, found in self._inputs) and not self._should_stop():
            time.sleep(SETTLE_S)  # put there just now: are they whole?
            books += self._planned(self._arrived())
        return books

    def _new_books(self) -> list[NightBook]:
        """What arrived since, planned."""
        found = self._arrived()
        books = self._planned(found)
        if found:
            self._tell_plan([book for book in self._in_work if book.is_open])
        return books

    def _arrived(self) -> list[tuple[NightJob, Path]]:
        in_work = {book.source for book in self._in_work if book.is_open}
        return [(job, path) for job, found in self._inputs for path in found.look(in_work)]

    def _tell_warnings(self) -> None:
        for _, found in self._inputs:
            for text in found.warnings:
                self._reporter.note("input_warning", text, "warning")
            found.warnings.clear()

    def _planned(self, found: list[tuple[NightJob, Path]]) -> list[NightBook]:
        """Those of some inputs that have something left to do; each gets its line."""
        lines = [Line(job.name, str(path)) for job, path in found]
        self._summary.lines += lines
        books = []
        for (job, path), line in zip(found, lines, strict=True):
            if self._should_stop():
                self._leave_all(StoppedError("Stopped while planning."))
            book = NightBook(job, path, line)
            try:
                limits = job.limits(self._night.deadline)
                night = self._night
                if book.open(self._taken, limits, self._should_stop, night.command, night.dry_run):
                    books.append(book)
                    self._in_work.append(book)
                    self._reporter.note("planned", f"{path.name}: {_plan_of(book)}")
                else:
                    line.status = "already_done"
                    self._reporter.note("input_done", f"{path.name}: was done.", **_facts(book))
            except (StoppedError, NoSpaceError) as error:
                self._leave_all(error)
            except Exception as error:  # noqa: BLE001  # a bug that one book shows stops no night
                self._fail(book, error)
        return books

    def _leave_all(self, error: StoppedError | NoSpaceError) -> NoReturn:
        """Give back the work folders of all books that are planned, if they are not spoken yet.

        Raises:
            StoppedError: always, or the other error that is given.
        """
        if not self._is_speaking:
            for book in self._in_work:
                book.close(StoppedError(str(error)))
        raise error

    def _log_bug(self, book: NightBook, error: BaseException) -> None:
        if self._log is not None:
            self._log.error(str(book.source), error)

    def _fail(self, book: NightBook, error: Exception) -> None:
        """Write down a book that cannot be made; the others go on."""
        known = error if isinstance(error, PocketBatchError) else BookBug(error)
        if isinstance(known, BookBug):
            self._log_bug(book, error)
        book.close(known)
        self._reporter.note(
            "input_done", f"{book.source.name}: {book.line.problem}", "warning", **_facts(book)
        )

    def _tell_plan(self, books: list[NightBook]) -> None:
        counts = self._summary.counts
        num_failed = counts["failed"] + counts["partial"]
        audio_s = sum(book.missing_audio_s for book in books)
        parts = [f"{plural(len(self._summary.lines), 'input')}"]
        parts += [f"{counts['already_done']} done before"] if counts["already_done"] else []
        parts += [f"{num_failed} failed"] if num_failed else []
        parts += [f"{plural(len(books), 'book')} to make, about {duration(audio_s)} of audio"]
        by_engine = {book.prepared.engine.name: book.prepared.engine for book in books}
        parts += [_time_for(books, audio_s)] if by_engine and audio_s else []
        self._reporter.note(
            "job_plan",
            f"{', '.join(parts)}.",
            num_inputs=len(self._summary.lines),
            num_done=counts["already_done"] + counts["done"],
            num_failed=num_failed,
            num_left=len(books),
            audio_s=round(audio_s),
        )

    def _tell_deadline(self) -> None:
        left_s = self._night.deadline.left_s()
        if left_s < float("inf"):
            at = time.time() + left_s
            until = time.strftime("%H:%M:%S", time.localtime(at))
            text = f"Until {until}, in {duration(left_s)}."
            self._reporter.note("deadline", text, deadline_at=round(at))

    def _make_set(self, job: NightJob) -> None:
        """Make the data set of a job; what is wrong with it is in its line."""
        if self._should_stop():
            raise StoppedError("Stopped before all data sets were made.")
        line = Line(job.name, ", ".join(job.settings.inputs), output=job.output)
        self._summary.lines.append(line)
        limits = job.limits(self._night.deadline)
        try:
            run_set(job, line, limits, self._night, self._reporter, self._should_stop)
        except PocketBatchError:
            raise
        except Exception as error:  # noqa: BLE001  # a bug that one set shows stops no night
            if self._log is not None:
                self._log.error(job.output, error)
            bug = BookBug(error)
            line.status, line.problem, line.exit_code = "failed", str(bug), bug.exit_code


def _has_books(job: NightJob) -> bool:
    return isinstance(job.pipeline, AudiobookPipeline)


def _plan_of(book: NightBook) -> str:
    prepared, line = book.prepared, book.line
    going_on = f", {line.num_spoken:,} of them spoken" if line.num_spoken else ""
    audio = duration(prepared.plan.audio_s)
    return f"{line.title}, {plural(line.num_segments, 'segment')}{going_on}, about {audio}."


def _time_for(books: list[NightBook], audio_s: float) -> str:
    """How long the workers will take, by what is known of each engine."""
    executor = books[0].prepared.job.pipeline.executor
    workers = executor.workers or max(1, usable_cores() // executor.cores_per_worker)
    seconds = sum(b.missing_audio_s / b.prepared.engine.x_realtime for b in books) / workers
    writing_s = audio_s / WRITE_X_REALTIME
    return f"{duration(max(1, seconds + writing_s))} with {plural(workers, 'worker')}"


def _facts(book: NightBook) -> dict[str, Any]:
    line = book.line
    return {
        "input": str(book.source),
        "status": line.status,
        "audio_s": round(line.audio_s, 2),
        "num_failures": line.num_failures,
    }


def _allow_open_files() -> None:
    """Each book that is planned holds the lock of its work folder open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        wanted = MIN_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MIN_OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
