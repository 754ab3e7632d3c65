"""A book of a job as `prepare` would find it, without writing; and errors in words of a job."""

from dataclasses import replace

from pocket_batch.errors import PartialRunError, PocketBatchError
from pocket_batch.jobs.making import AudiobookJob, Prepared
from pocket_batch.jobs.plan import plan_audiobook
from pocket_batch.jobs.preflight import check_output
from pocket_batch.jobs.reading import Reading
from pocket_batch.jobs.record import RunRecord, earlier_result, fingerprint
from pocket_batch.jobs.speak import check_spec
from pocket_batch.work_folder import WorkFolder


def planned_only(job: AudiobookJob, reading: Reading) -> Prepared | None:
    """A book as a dry run sees it, which writes nothing; None when the output is there.

    Raises:
        PocketBatchError: whatever would stand in the way.
    """
    speaker, work = reading.speaker, WorkFolder(job.work)
    wanted = fingerprint(reading, job.pipeline, job.choices)
    earlier = earlier_result(work, job.output, wanted, job.overwrite, job.replaces_own)
    if earlier and earlier["status"] == "done":
        if earlier["problem"]:
            raise PartialRunError(earlier["problem"])
        return None
    check_output(job.output, job.work, job.pipeline.write.split_chapters)
    speaker.engine.check(speaker.voices)
    plan = plan_audiobook(job.source, reading, job.pipeline)
    command = list(job.command)
    record = RunRecord(wanted, job.source, plan.book.id, job.pipeline, speaker, command, job.output)
    spec = check_spec(job.pipeline, speaker.engine, speaker.language)
    return Prepared(job, replace(plan, segments=()), speaker.engine, spec, work, record)


_ADVICE = {  # of a command for one book -> of a job
    "Give --overwrite to replace it, or another name with -o.": "Remove it, or change `output`.",
    "Wait for it, or choose another with --work.": "Its turn comes with the next run.",
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
