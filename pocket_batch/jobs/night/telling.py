"""The sentences of a run of jobs: what there is to do, and until when."""

import time
from typing import Any

from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.deadline import Deadline
from pocket_batch.jobs.night.book import NightBook
from pocket_batch.jobs.night.summary import Summary
from pocket_batch.jobs.plan import WRITE_X_REALTIME
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.words import duration, plural


def tell_plan(summary: Summary, books: list[NightBook], reporter: Reporter) -> None:
    """How many inputs there are, what is left to do, and how long it takes."""
    counts = summary.counts
    num_failed = counts["failed"] + counts["partial"]
    audio_s = sum(book.missing_audio_s for book in books)
    parts = [f"{plural(len(summary.lines), 'input')}"]
    parts += [f"{counts['already_done']} done before"] if counts["already_done"] else []
    parts += [f"{num_failed} failed"] if num_failed else []
    parts += [f"{plural(len(books), 'book')} to make, about {duration(audio_s)} of audio"]
    by_engine = {book.prepared.engine.name: book.prepared.engine for book in books}
    parts += [_time_for(books, audio_s)] if by_engine and audio_s else []
    reporter.note(
        "job_plan",
        f"{', '.join(parts)}.",
        num_inputs=len(summary.lines),
        num_done=counts["already_done"] + counts["done"],
        num_failed=num_failed,
        num_left=len(books),
        audio_s=round(audio_s),
    )


def tell_deadline(deadline: Deadline, reporter: Reporter) -> None:
    """Until when the run works, if it has an end."""
    left_s = deadline.left_s()
    if left_s < float("inf"):
        at = time.time() + left_s
        until = time.strftime("%H:%M:%S", time.localtime(at))
        text = f"Until {until}, in {duration(left_s)}."
        reporter.note("deadline", text, deadline_at=round(at))


def plan_of(book: NightBook) -> str:
    """A book that is planned, in a sentence."""
    prepared, line = book.prepared, book.line
    going_on = f", {line.num_spoken:,} of them spoken" if line.num_spoken else ""
    audio = duration(prepared.plan.audio_s)
    return f"{line.title}, {plural(line.num_segments, 'segment')}{going_on}, about {audio}."


def facts(book: NightBook) -> dict[str, Any]:
    """What became of a book, for machines."""
    line = book.line
    return {
        "input": str(book.source),
        "status": line.status,
        "audio_s": round(line.audio_s, 2),
        "num_failures": line.num_failures,
    }


def _time_for(books: list[NightBook], audio_s: float) -> str:
    """How long the workers will take, by what is known of each engine."""
    executor = books[0].prepared.job.pipeline.executor
    workers = executor.workers or max(1, usable_cores() // executor.cores_per_worker)
    seconds = sum(b.missing_audio_s / b.prepared.engine.x_realtime for b in books) / workers
    writing_s = audio_s / WRITE_X_REALTIME
    return f"{duration(max(1, seconds + writing_s))} with {plural(workers, 'worker')}"
