"""One book becomes one audiobook: the order of things, from the command to the finished file."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pocket_batch.errors import PartialRunError
from pocket_batch.jobs import messages
from pocket_batch.jobs.later import add_missing
from pocket_batch.jobs.making import Making, recorded
from pocket_batch.jobs.plan import check_stages, plan_audiobook, save_plan
from pocket_batch.jobs.preflight import check_encoder, check_output
from pocket_batch.jobs.prepared import AudiobookJob as AudiobookJob
from pocket_batch.jobs.prepared import Prepared
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.quality import check_ears
from pocket_batch.jobs.reading import Reading, is_script, open_reading
from pocket_batch.jobs.record import (
    RunRecord,
    earlier_results,
    lost_its_record,
    save_cover,
)
from pocket_batch.jobs.redone import (
    merged,
    read_redone,
    tell_redone,
    with_voices,
    write_redone,
)
from pocket_batch.jobs.similarity import load_voice_model
from pocket_batch.jobs.speak import (
    check_spec,
)
from pocket_batch.jobs.status import status_kept
from pocket_batch.jobs.there import find_there
from pocket_batch.jobs.voice import Speaker, fetch, recording_warnings
from pocket_batch.sources.base import check_source
from pocket_batch.work_folder import WorkFolder


def run_audiobook(
    job: AudiobookJob, reporter: Reporter, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Make the audiobook, or go on with it, or find that it is there.

    Raises:
        PocketBatchError: each kind has its exit code; `PartialRunError` when the file was written
            but lacks something.
    """
    check_stages(job.pipeline)
    check_source(job.source)
    started = time.monotonic()
    reading = open_reading(job.source, job.choices, job.pipeline)
    messages.tell_reading(reporter, reading, job.source, job.pipeline)
    prepared = prepare(job, reading, reporter, should_stop)
    del reading  # its text
    if prepared is None:
        return
    prepared.record.times_s["plan"] = time.monotonic() - started
    work = prepared.work
    try:
        title = prepared.plan.book.title
        with status_kept(work.path, "audiobook", reporter, title=title) as told:
            Making(prepared, told, should_stop).make()
    finally:
        work.release()


def prepare(
    job: AudiobookJob,
    reading: Reading,
    reporter: Reporter,
    should_stop: Callable[[], bool],
    put_off: Callable[[tuple[str, ...]], None] | None = None,
) -> Prepared | None:
    """Plan a book that was read, take its work folder and write the plan there.

    Args:
        job: what is asked for.
        reading: the book.
        reporter: told of it.
        should_stop: asked while something is downloaded or encoded.
        put_off: given the kinds of what is missing beside a finished audiobook, instead of making
            it here.

    Returns:
        None when the output is there as it should be.

    Raises:
        PocketBatchError: whatever stands in the way; `PartialRunError` when the output is there
            and lacks something that no other attempt would bring.
    """
    work = WorkFolder(job.work)
    redone = merged(read_redone(work), job.redo)
    reading = with_voices(reading, redone, job.pipeline)
    speaker = reading.speaker
    fetch(speaker, reporter, should_stop)
    job = replace(job, replaces_own=job.replaces_own or bool(redone))
    there = find_there(job, reading, redone)
    if there.earlier is not None:
        if there.lacks and there.is_kept and put_off is not None:
            put_off(there.lacks)
            return None
        if not there.lacks or add_missing(
            job, reading, redone, there.wanted, there.earlier, there.lacks, reporter, should_stop
        ):
            _tell_done(job.output, there.earlier["problem"], reporter)
            return None
    check_output(job.output, job.work, job.pipeline.write.split_chapters)
    check_encoder(job.pipeline.write.system_ffmpeg)
    check_voice(speaker, reporter)
    spec = check_spec(job.pipeline, speaker.engine, speaker.language)
    check_ears(spec)
    load_voice_model(spec)
    plan = plan_audiobook(job.source, reading, job.pipeline, redone)
    messages.tell_plan(reporter, plan)
    tell_redone(reporter, plan.redone, plan.stale)
    work.acquire()
    try:
        command = list(job.command)
        record = RunRecord(
            there.wanted, job.source, plan.book.id, job.pipeline, speaker, command, job.output
        )
        record.choices = job.choices
        record.earlier = earlier_results(work)
        may_replace = job.replaces_own or reading.is_script
        record.is_writing = may_replace and lost_its_record(job.output, work)
        if job.fresh:
            work.clear()
        with recorded(record, work):
            save_plan(plan, work, is_script(job.source))
            save_cover(work, job.choices)
            write_redone(work, (*plan.redone, *plan.stale))
    except BaseException:
        work.release()
        raise
    plan = replace(plan, segments=())  # they are on disk now
    return Prepared(job, plan, speaker.engine, spec, work, record)


def _tell_done(output: Path, problem: str, reporter: Reporter) -> None:
    """Say that the output is there.

    Raises:
        PartialRunError: it lacks something.
    """
    reporter.note("already_done", messages.already_done(output), path=str(output))
    if problem:
        raise PartialRunError(problem)


def check_voice(speaker: Speaker, reporter: Reporter) -> None:
    """Make sure that the voices can speak, and say what is wrong with their recordings."""
    speaker.engine.check(speaker.voices)
    for warning in recording_warnings(speaker):
        reporter.note("voice_warning", warning, "warning")


def dry_run(job: AudiobookJob, reporter: Reporter) -> None:
    """Plan the book and say what it would take; nothing is spoken or written.

    Raises:
        PocketBatchError: whatever would stop the run at its start.
    """
    check_stages(job.pipeline)
    check_source(job.source)
    reading = open_reading(job.source, job.choices, job.pipeline)
    redone = merged(read_redone(WorkFolder(job.work)), job.redo)
    reading = with_voices(reading, redone, job.pipeline)
    messages.tell_reading(reporter, reading, job.source, job.pipeline)
    check_voice(reading.speaker, reporter)
    plan = plan_audiobook(job.source, reading, job.pipeline, redone)
    messages.tell_plan(reporter, plan)
    tell_redone(reporter, plan.redone, plan.stale)
    there = find_there(job, reading, redone)
    if there.earlier is not None and not there.lacks:
        _tell_done(job.output, there.earlier["problem"], reporter)
        return
    if there.is_kept:
        text = f"{job.output} is there; to be made beside it: {', '.join(there.lacks)}."
        reporter.note("lacks", text, kinds=list(there.lacks))
        return
    spec = check_spec(job.pipeline, reading.speaker.engine, reading.speaker.language)
    check_ears(spec)
    load_voice_model(spec)
    check_encoder(job.pipeline.write.system_ffmpeg)
    messages.tell_estimate(reporter, plan, reading.speaker.engine, job.output, job.pipeline)
