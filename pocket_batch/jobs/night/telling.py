"""The sentences of a run of jobs: what there is to do, and until when."""

import time
from pathlib import Path
from typing import Any

from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.deadline import Deadline
from pocket_batch.jobs.night.book import NightBook
from pocket_batch.jobs.night.summary import Summary
from pocket_batch.jobs.plan import WRITE_X_REALTIME, x_realtime
from pocket_batch.jobs.progress import Level, Reporter
from pocket_batch.words import duration, plural


def tell_plan(summary: Summary, books: list[NightBook], reporter: Reporter) -> None:
    """How many inputs there are, what is left to do, and how long it takes."""
    counts = summary.counts
    audio_s = sum(book.missing_audio_s for book in books)
    parts = [f"{plural(len(summary.lines), 'input')}"]
    parts += [f"{counts['already_done']} done before"] if counts["already_done"] else []
    parts += [f"{counts['failed']} failed"] if counts["failed"] else []
    parts += [f"{counts['partial']} not as it should be"] if counts["partial"] else []
    num_added = sum(bool(book.lacks) for book in books)
    parts += [f"{plural(num_added, 'book')} to add files to"] if num_added else []
    made = [book for book in books if book.is_held]
    parts += [f"{plural(len(made), 'book')} to make, about {duration(audio_s)} of audio"]
    parts += [_time_for(made, audio_s)] if made and audio_s else []
    reporter.note(
        "job_plan",
        f"{', '.join(parts)}.",
        num_inputs=len(summary.lines),
        num_done=counts["already_done"] + counts["done"],
        num_failed=counts["failed"],
        num_partial=counts["partial"],
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
    line = book.line
    if book.lacks:
        return f"{line.title}, is there; to be made beside it: {', '.join(book.lacks)}."
    going_on = f", {line.num_spoken:,} of them spoken" if line.num_spoken else ""
    audio = duration(book.prepared.plan.audio_s)
    return f"{line.title}, {plural(line.num_segments, 'segment')}{going_on}, about {audio}."


def tell_outliers(book: NightBook, reporter: Reporter) -> None:
    """Say that some of a book is spoken again, of which one by one nothing was wrong."""
    count = len(book.missing)
    text = f"{plural(count, 'utterance')} unlike the others of their voice: spoken again."
    reporter.note("outliers", f"{book.source.name}: {text}", count=count)


def tell_notes(book: NightBook, reporter: Reporter) -> None:
    """Pass on what was told of a book while it was finished: warnings, and how it sounds."""
    name = book.source.name
    for event, text, level, fields in book.notes.take():
        if event in ("suspects", "quality"):  # for figures too
            if level == "info" or book.line.exit_code:  # that is told, or said by its problem
                reporter.note(event, "", "info", **fields)
            else:
                reporter.note(event, f"{name}: {text}", level, **fields)
        elif level == "warning":
            reporter.note("book_warning", f"{name}: {text}", "warning")


def tell_end(book: NightBook, reporter: Reporter) -> None:
    """Say what became of a book."""
    line = book.line
    if line.exit_code:
        text = line.problem
    elif line.status == "already_done":
        text = "was done."
    elif book.added:
        text = f"was done; made beside it: {', '.join(book.added)}."
    else:
        text = f"{duration(line.audio_s)}, {Path(line.output).name}."
    level: Level = "warning" if line.exit_code else "info"
    reporter.note("input_done", f"{book.source.name}: {text}", level, **_facts(book))


def _facts(book: NightBook) -> dict[str, Any]:
    """What became of a book, for machines."""
    line = book.line
    return {
        "input": str(book.source),
        "status": line.status,
        "audio_s": round(line.audio_s, 2),
        "num_failures": line.num_failures,
        "num_suspects": line.num_suspects,
        "quality": line.quality,
        "wer": line.wer,
        "similarity": line.similarity,
        "output": line.output,
        "extras": line.extras,
    }


def _time_for(books: list[NightBook], audio_s: float) -> str:
    """How long the workers will take, by what is known of each engine."""
    executor = books[0].prepared.job.pipeline.executor
    workers = executor.workers or max(1, usable_cores() // executor.cores_per_worker)
    worker_s = sum(
        b.missing_audio_s / x_realtime(b.prepared.engine, b.prepared.job.pipeline.check)
        for b in books
    )
    seconds = worker_s / workers
    writing_s = audio_s / WRITE_X_REALTIME
    return f"{duration(max(1, seconds + writing_s))} with {plural(workers, 'worker')}"
