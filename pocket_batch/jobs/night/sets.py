"""The data sets of a run of jobs, one after the other: each keeps all workers busy by itself."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.errors import NoSpaceError, PartialRunError, PocketBatchError, StoppedError
from pocket_batch.executors.base import Limits
from pocket_batch.jobs.dataset.export import export_dataset, tell_export
from pocket_batch.jobs.dataset.job import DatasetJob
from pocket_batch.jobs.dataset.record import DatasetRecord
from pocket_batch.jobs.dataset.run import run_dataset
from pocket_batch.jobs.night.job import NightJob
from pocket_batch.jobs.night.summary import Line
from pocket_batch.jobs.progress import Reporter

if TYPE_CHECKING:
    from pocket_batch.jobs.night.run import Night


def run_set(
    job: NightJob,
    line: Line,
    limits: Limits,
    night: "Night",
    reporter: Reporter,
    should_stop: Callable[[], bool],
) -> None:
    """Make and export the data set of a job, and write down how that went.

    Raises:
        StoppedError: a signal or the deadline.
        NoSpaceError: a disk is full.
    """
    started = time.monotonic()
    dataset = set_of(job, night, limits)
    try:
        record = run_dataset(dataset, reporter, should_stop)
        _describe(line, record)
        for name in () if night.shard else job.settings.exports:
            tell_export(
                reporter, name, export_dataset(job.output, name, None, None, reporter, should_stop)
            )
        line.status = "done"
    except (StoppedError, NoSpaceError) as error:
        line.status, line.problem, line.exit_code = "stopped", str(error), error.exit_code
        raise
    except PocketBatchError as error:
        line.status = "partial" if isinstance(error, PartialRunError) else "failed"
        line.problem, line.exit_code = str(error), error.exit_code
    finally:
        line.elapsed_s = round(time.monotonic() - started, 2)
    _tell(line, reporter)


def set_of(job: NightJob, night: "Night", limits: Limits) -> DatasetJob:
    """What is asked for, with paths as seen from here; an address on the net stays what it is."""
    assert isinstance(job.pipeline, DatasetPipeline)
    names = job.settings.inputs
    inputs = tuple(name if "://" in name or name == "-" else str(job.place(name)) for name in names)
    return DatasetJob(
        inputs, job.output, job.pipeline, night.shard, command=night.command, limits=limits
    )


def _describe(line: Line, record: DatasetRecord) -> None:
    found = record.statistics
    line.title, line.audio_s, line.num_bytes = record.name, found.audio_s, found.num_bytes
    line.num_segments = found.num_kept + found.num_filtered + found.num_errors
    line.num_spoken, line.num_failures = found.num_kept, found.num_errors


def _tell(line: Line, reporter: Reporter) -> None:
    reporter.note(
        "input_done",
        f"{line.output}: {line.problem or 'done'}",
        "warning" if line.problem else "info",
        input=line.input,
        status=line.status,
        audio_s=round(line.audio_s, 2),
        num_failures=line.num_failures,
    )
