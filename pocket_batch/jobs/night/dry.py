"""A book of a job as `prepare` would find it, without writing; and errors in words of a job."""

from collections.abc import Callable
from dataclasses import replace

from pocket_batch.errors import PartialRunError, PocketBatchError
from pocket_batch.jobs.plan import plan_audiobook
from pocket_batch.jobs.preflight import check_encoder, check_output
from pocket_batch.jobs.prepared import AudiobookJob, Prepared
from pocket_batch.jobs.quality import check_ears
from pocket_batch.jobs.reading import Reading
from pocket_batch.jobs.record import (
    RunRecord,
)
from pocket_batch.jobs.redone import read_redone, with_voices
from pocket_batch.jobs.similarity import load_voice_model
from pocket_batch.jobs.speak import check_spec
from pocket_batch.jobs.there import find_there
from pocket_batch.work_folder import WorkFolder


def planned_only(
    job: AudiobookJob, reading: Reading, put_off: Callable[[tuple[str, ...]], None]
) -> Prepared | None:
    """A book as a dry run sees it, which writes nothing; None when the output is there.

    Args:
        job: what is asked for.
        reading: the book.
        put_off: given the kinds of what is missing beside an audiobook that is there.

    Raises:
        PocketBatchError: whatever would stand in the way.
    """
    work = WorkFolder(job.work)
    redone = read_redone(work)
    reading = with_voices(reading, redone, job.pipeline)
    there = find_there(job, reading, redone)
    if there.earlier is not None:
        if there.lacks and there.is_kept:
            put_off(there.lacks)
            return None
        if not there.lacks:
            if there.earlier["problem"]:
                raise PartialRunError(there.earlier["problem"])
            return None
    speaker = reading.speaker
    check_output(job.output, job.work, job.pipeline.write.split_chapters)
    check_encoder(job.pipeline.write.system_ffmpeg)
    speaker.engine.check(speaker.voices)
    spec = check_spec(job.pipeline, speaker.engine, speaker.language)
    check_ears(spec)
    load_voice_model(spec)
    plan = plan_audiobook(job.source, reading, job.pipeline, redone)
    command = list(job.command)
    record = RunRecord(
        there.wanted, job.source, plan.book.id, job.pipeline, speaker, command, job.output
    )
    return Prepared(job, replace(plan, segments=()), speaker.engine, spec, work, record)


_ADVICE = {  # of a command for one book -> of a job
    "Give --overwrite to replace it, or another name with -o.": "Remove it, or change `output`.",
    "Wait for it, or choose another with --work.": "Its turn comes with the next run.",
    "or give --check off.": 'or set `check.listen: "off"`.',
    "Listening to the speech (--check)": "Listening to the speech (`check.listen`)",
    "choose another narrator with --voice,": "choose another narrator with `voice`,",
    "Move it away, or give --overwrite to replace it.": "Move it away.",
    "Give another name with -o.": "Change `output`.",
    "Choose another place with -o.": "Change `output`.",
    "Choose another place with --work.": "Change `output`.",
}


def for_a_job(error: PocketBatchError) -> PocketBatchError:
    """The same error with advice that fits."""
    text = str(error)
    for before, after in _ADVICE.items():
        text = text.replace(before, after)
    return type(error)(text)
