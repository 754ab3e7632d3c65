"""What earlier runs made of a book, before anything is done for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pocket_batch.jobs.extra_records import may_add
from pocket_batch.jobs.extras import READ_ALONG, check_targets, missing_kinds
from pocket_batch.jobs.fingerprint import fingerprint
from pocket_batch.jobs.prepared import AudiobookJob
from pocket_batch.jobs.reading import Reading
from pocket_batch.jobs.record import earlier_result, earlier_results
from pocket_batch.jobs.redone import Redone, with_redone
from pocket_batch.work_folder import WorkFolder


@dataclass(frozen=True, slots=True)
class There:
    """What is asked for, by its fingerprint, and what is there of it.

    `earlier` is the record of the finished audiobook, None if it has to be made. `lacks` are kinds
    of subtitles and the like that are missing beside it; `is_kept` tells that nothing has to be
    spoken for them.
    """

    wanted: str
    earlier: Mapping[str, Any] | None = None
    lacks: tuple[str, ...] = ()
    is_kept: bool = False


def find_there(job: AudiobookJob, reading: Reading, redone: Sequence[Redone]) -> There:
    """See what there is of a book.

    Args:
        job: what is asked for.
        reading: the book, with the voices of `redone`.
        redone: what was chosen for single lines.

    Raises:
        OutputError: something else is where a file is to be written.
        ModelUnavailableError: a voice or its weights are not on this machine.
    """
    work = WorkFolder(job.work)
    wanted = with_redone(fingerprint(reading, job.pipeline, job.choices), redone)
    may_replace = job.replaces_own or bool(redone) or reading.is_script
    earlier = earlier_result(work, job.output, wanted, job.overwrite, may_replace)
    check_targets(job.pipeline, job.output, earlier_results(work), job.overwrite)
    if not earlier or earlier["status"] != "done" or job.fresh:
        return There(wanted)
    lacks = missing_kinds(job.pipeline, job.output, earlier)
    return There(wanted, earlier, lacks, may_add(work, wanted, READ_ALONG in lacks))
