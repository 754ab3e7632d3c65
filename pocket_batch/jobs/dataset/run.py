"""A corpus becomes a data set: plan, hand out units, and say what came of them.

The driver never holds audio: workers write whole units into the set. What it knows of them it reads
from their records.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pocket_batch.engine.base import Engine
from pocket_batch.errors import (
    InputError,
    PartialRunError,
    PocketBatchError,
    StoppedError,
)
from pocket_batch.jobs.dataset import messages
from pocket_batch.jobs.dataset.inputs import opened_inputs
from pocket_batch.jobs.dataset.job import DatasetJob
from pocket_batch.jobs.dataset.licences import licence_of_set
from pocket_batch.jobs.dataset.outcome import FAILURES, Outcome
from pocket_batch.jobs.dataset.place import (
    check_space,
    held,
    planned_here,
    prune,
    put_plan,
    refuse_foreign,
)
from pocket_batch.jobs.dataset.plan import DatasetPlan, Planner, plan_fingerprint
from pocket_batch.jobs.dataset.record import DatasetRecord, identity_of, read_run, refuse_changes
from pocket_batch.jobs.dataset.speakers import DatasetSpeakers, choose_speakers
from pocket_batch.jobs.dataset.speaking import Speaking
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.status import status_kept
from pocket_batch.units.store import Store

Stop = Callable[[], bool]


def run_dataset(
    job: DatasetJob, reporter: Reporter, should_stop: Stop = lambda: False
) -> DatasetRecord:
    """Make the data set, or go on with it, or find that it is there.

    Raises:
        PocketBatchError: each kind has its exit code; `PartialRunError` when all was tried, but
            some texts could not be spoken.
    """
    store = Store(job.output)
    with (
        opened_inputs(job.inputs) as (paths, inputs),
        held(store, job.shard) as folder,
        _told(folder, job, reporter) as reporter,
    ):
        speakers = choose_speakers(job.pipeline)
        speakers.fetch(reporter, should_stop)
        wanted = plan_fingerprint(job.pipeline, inputs, speakers)
        identity = identity_of(job.pipeline, speakers.keys())
        earlier = read_run(store)
        if not job.new_run:
            refuse_changes(earlier, identity, job.output)
        plan = planned_here(store, wanted)
        if plan is None:
            with _planned(job, paths, speakers, wanted, reporter, should_stop) as (plan, folder):
                _check_licence(job, speakers, plan)
                put_plan(folder, store)
        record = _record(job, speakers, plan, inputs, identity)
        _tell_plan(reporter, record, plan, speakers)
        _Run(job, store, speakers, plan, record, reporter, should_stop).make()
    return record


@contextmanager
def _told(folder: Path | None, job: DatasetJob, reporter: Reporter) -> Iterator[Reporter]:
    """A reporter that keeps the status of the run too, where the set is a folder."""
    if folder is None:
        yield reporter
        return
    with status_kept(folder, "dataset", reporter, title=job.output) as told:
        yield told


def dry_run(job: DatasetJob, reporter: Reporter, should_stop: Stop = lambda: False) -> None:
    """Plan the set and say what it would take; nothing is spoken, and nothing is left behind.

    Raises:
        PocketBatchError: whatever would stop the run at its start.
    """
    store = Store(job.output)
    refuse_foreign(store)
    with opened_inputs(job.inputs) as (paths, inputs):
        speakers = choose_speakers(job.pipeline)
        speakers.fetch(reporter, should_stop)
        identity = identity_of(job.pipeline, speakers.keys())
        if not job.new_run:
            refuse_changes(read_run(store), identity, job.output)
        with _planned(job, paths, speakers, "", reporter, should_stop) as (plan, _):
            record = _record(job, speakers, plan, inputs, identity)
            _tell_plan(reporter, record, plan, speakers)
            whole = messages.estimate(letters_by_engine(plan, speakers))
            messages.tell_dry(reporter, whole, job.pipeline.executor)


@contextmanager
def _planned(
    job: DatasetJob,
    paths: list[Path],
    speakers: DatasetSpeakers,
    wanted: str,
    reporter: Reporter,
    should_stop: Stop,
) -> Iterator[tuple[DatasetPlan, Path]]:
    """A plan, in a folder of this machine that is gone afterwards."""
    with TemporaryDirectory(prefix="pocket-batch-") as folder:
        planner = Planner(job.pipeline, paths, speakers, reporter, should_stop)
        yield planner.make(Path(folder), wanted), Path(folder)


def _check_licence(job: DatasetJob, speakers: DatasetSpeakers, plan: DatasetPlan) -> str:
    """The licence of the set, by the voices that have rows in it."""
    licences = {name: speakers.by_name[name].voice.licence for name in plan.voices}
    return licence_of_set(licences, job.pipeline.licence)


def _record(
    job: DatasetJob,
    speakers: DatasetSpeakers,
    plan: DatasetPlan,
    inputs: list[dict[str, object]],
    identity: dict[str, object],
) -> DatasetRecord:
    groups = speakers.groups(plan.voices)
    return DatasetRecord(
        job=job,
        name=Path(job.output.rstrip("/")).name,
        language=speakers.language,
        licence=_check_licence(job, speakers, plan),
        speakers=speakers.facts(plan.voices),
        engines=tuple(engine for engine, _ in groups),
        identity=identity,
        fingerprint=plan.fingerprint,
        inputs=inputs,
        planned={
            "num_rows": plan.num_rows,
            "num_units": plan.num_units,
            "rejects": plan.rejects,
            "by_voice": plan.by_voice,
            "by_split": plan.by_split,
        },
    )


def _tell_plan(
    reporter: Reporter, record: DatasetRecord, plan: DatasetPlan, speakers: DatasetSpeakers
) -> None:
    messages.tell_voices(reporter, record.speakers, record.licence)
    messages.tell_rejects(reporter, plan.rejects)
    whole = messages.estimate(letters_by_engine(plan, speakers))
    messages.tell_plan(reporter, plan.num_rows, plan.num_units, plan.by_voice, plan.by_split, whole)


def letters_by_engine(plan: DatasetPlan, speakers: DatasetSpeakers) -> dict[Engine, int]:
    """How many letters each engine is to speak."""
    return {
        engine: sum(plan.letters_by_voice[voice.name] for voice in voices)
        for engine, voices in speakers.groups(plan.voices)
    }


class _Run:
    """A run that holds the set: speak what is missing, then say what the set has."""

    def __init__(
        self,
        job: DatasetJob,
        store: Store,
        speakers: DatasetSpeakers,
        plan: DatasetPlan,
        record: DatasetRecord,
        reporter: Reporter,
        should_stop: Stop,
    ) -> None:
        self._job = job
        self._store = store
        self._speakers = speakers
        self._plan = plan
        self._record = record
        self._reporter = reporter
        self._should_stop = should_stop

    def make(self) -> None:
        """Speak, and keep `run.json` true however that ends."""
        started = time.monotonic()
        speaking = Speaking(
            self._job, self._store, self._speakers, self._plan, self._reporter, self._should_stop
        )
        missing = speaking.missing_letters()
        if not missing:
            self._finish(time.monotonic() - started, is_new=False)
            return
        check_space(self._store, messages.estimate(missing).num_bytes)
        self._record.write(self._store)
        try:
            speaking.run(missing)
            self._finish(time.monotonic() - started, is_new=True)
        except PartialRunError:
            raise
        except BaseException as error:
            self._record.status = "stopped" if isinstance(error, StoppedError) else "failed"
            with suppress(PocketBatchError):  # the disk is full or gone: `error` says so already
                self._record.write(self._store)
            raise

    def _finish(self, elapsed_s: float, is_new: bool) -> None:
        """Count what the set has from its records, and say what is missing."""
        outcome = Outcome.of(self._store, self._job.shard)
        record = self._record
        record.statistics = outcome.statistics
        record.status = "done" if outcome.is_whole else "running"
        record.problem = self._problem(outcome)
        earlier = read_run(self._store)
        if is_new or _has_changed(earlier, record) or not self._store.exists(FAILURES):
            outcome.write_failures(self._store)
            record.write(self._store)
        if self._job.prune and outcome.is_whole:
            prune(self._store, self._reporter)
        messages.tell_result(self._reporter, record.statistics, elapsed_s, self._job.output, is_new)
        if self._plan.num_rows == 0 and self._plan.rejects:
            raise InputError(
                f"{self._job.output}: every text was left out "
                f"({messages.reasons(self._plan.rejects)}), so the set is empty."
            )
        if record.problem:
            raise PartialRunError(record.problem)

    def _problem(self, outcome: Outcome) -> str:
        """What a finished set lacks; utterances that did not pass the filters are no problem."""
        found = outcome.statistics
        output = self._job.output
        if outcome.num_missing:
            return (
                f"{output}: {outcome.num_missing} units are not done "
                f"({outcome.first_failure or 'see the messages above'}). "
                "The same command tries them again."
            )
        if found.num_errors:
            return (
                f"{output} is finished but not whole: {found.num_errors:,} of the texts could not "
                f"be spoken; {output}/failures.jsonl lists them."
            )
        if self._plan.num_rows and not found.num_kept and outcome.is_whole:
            return (
                f"{output}: nothing was kept. Most attempts failed as "
                f"{messages.reasons(found.rejects)}; {output}/failures.jsonl lists them."
            )
        return ""


def _has_changed(earlier: dict[str, Any], record: DatasetRecord) -> bool:
    """Whether `run.json` says something else than is true now."""
    return (
        earlier.get("status") != record.status
        or earlier.get("fingerprint") != record.fingerprint
        or earlier.get("licence") != record.licence
        or earlier.get("problem") != record.problem
    )
