"""A run of job files: hold them, plan all inputs, speak them as one queue, tell what became."""

import resource
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from pocket_batch.errors import (
    NoSpaceError,
    PartialRunError,
    PocketBatchError,
    StoppedError,
)
from pocket_batch.executors.base import Limits
from pocket_batch.jobs.dataset.run import dry_run
from pocket_batch.jobs.deadline import Deadline
from pocket_batch.jobs.hooks import call_hook, check_hook
from pocket_batch.jobs.log_file import LogFile
from pocket_batch.jobs.night.book import BookBug, NightBook
from pocket_batch.jobs.night.held import held, watched
from pocket_batch.jobs.night.inputs import SETTLE_S, Inputs
from pocket_batch.jobs.night.job import NightJob
from pocket_batch.jobs.night.sets import run_set, set_of
from pocket_batch.jobs.night.space import warn_of_space
from pocket_batch.jobs.night.speaking import Speaking
from pocket_batch.jobs.night.summary import SUMMARY, Line, Summary
from pocket_batch.jobs.night.taking import Taken
from pocket_batch.jobs.night.telling import plan_of, tell_deadline, tell_end, tell_plan
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.watchers import Several, Warnings
from pocket_batch.settings import AudiobookPipeline

MIN_OPEN_FILES = 65_536

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
    warnings = Warnings(
        passed_over=("input_done", "book_warning", "suspects", "quality")
    )  # their lines have them
    with held(night), watched(night, Several(reporter, warnings)) as (told, log):
        run = _Run(night, told, should_stop, log)
        summary = run.make()
        summary.warnings = warnings.texts
        summary.write(night.run_dir)
        told.note("summary", summary.text(), exit_code=summary.exit_code)
        _tell_others(night, summary, told)
        _raise_problem(summary, night.run_dir)
    return summary


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
        problem = PocketBatchError(f"{summary.stop} {where}")
        problem.exit_code = summary.stop_code
        raise problem
    if summary.exit_code:
        is_missing = summary.counts["failed"] or any(
            line.status == "partial" and not line.is_badly_spoken for line in summary.lines
        )
        what = "Not all inputs were made." if is_missing else "Not all inputs sound right."
        raise PartialRunError(f"{what} {where}")


class _Run:
    """One run of jobs that are held."""

    def __init__(
        self, night: Night, reporter: Reporter, should_stop: Stop, log: LogFile | None = None
    ) -> None:
        self._night = night
        self._reporter = reporter
        self._should_stop = night.deadline.stops(should_stop)
        self._log = log
        self._taken = Taken()
        self._in_work: list[NightBook] = []
        self._is_speaking = False
        self._inputs = [(job, Inputs(job, night.shard)) for job in night.jobs if _has_books(job)]
        self._summary = Summary([job.name for job in night.jobs])

    def make(self) -> Summary:
        """Plan, speak, make data sets; what stops the run is in the summary."""
        summary, started = self._summary, time.monotonic()
        _allow_open_files()
        tell_deadline(self._night.deadline, self._reporter)
        try:
            self._make_books()
            for job in self._night.jobs:
                if not _has_books(job):
                    self._make_set(job)
        except PocketBatchError as error:
            summary.stop, summary.stop_code = str(error), error.exit_code
        self._tell_warnings()
        summary.elapsed_s = time.monotonic() - started
        return summary

    def plan_only(self) -> Summary:
        """Plan all inputs without speaking: what would be done, and how long it would take."""
        books = self._planned_first()
        if self._inputs:
            tell_plan(self._summary, books, self._reporter)
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
        tell_plan(self._summary, books, self._reporter)
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
            tell_plan(self._summary, [b for b in self._in_work if b.is_open], self._reporter)
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
                    self._reporter.note("planned", f"{path.name}: {plan_of(book)}")
                else:
                    line.status = "already_done"
                    tell_end(book, self._reporter)
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
        tell_end(book, self._reporter)

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


def _allow_open_files() -> None:
    """Each book that is planned holds the lock of its work folder open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        wanted = MIN_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MIN_OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
