"""One book becomes one audiobook: the order of things, from the command to the finished file."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pocket_batch.data import Choices, Failure, Suspect, Utterance
from pocket_batch.engine.base import Engine
from pocket_batch.errors import DamagedAudioError, OutputError, PartialRunError, StoppedError
from pocket_batch.executors.base import Executor, Limits, WorkerEvent
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs import messages
from pocket_batch.jobs.plan import AudiobookPlan, check_stages, plan_audiobook, save_plan
from pocket_batch.jobs.preflight import check_encoder, check_output, check_space
from pocket_batch.jobs.progress import ChapterCount, Meter, Reporter
from pocket_batch.jobs.reading import Reading, is_script, open_reading
from pocket_batch.jobs.record import (
    RunRecord,
    describe_outputs,
    earlier_result,
    earlier_results,
    fingerprint,
)
from pocket_batch.jobs.speak import choose_executor, finished, remove_damaged, speak
from pocket_batch.jobs.status import status_kept
from pocket_batch.jobs.voice import Speaker, fetch, recording_warnings
from pocket_batch.manifest import Manifest
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.sources.base import check_source
from pocket_batch.stages.check import Check
from pocket_batch.stages.master import Joiner, Master, Mastered
from pocket_batch.stages.write import Write
from pocket_batch.work_folder import WorkFolder


@dataclass(frozen=True, slots=True)
class AudiobookJob:
    """What the user asked for."""

    source: Path
    output: Path
    work: Path
    pipeline: AudiobookPipeline
    choices: Choices = field(default_factory=Choices)
    fresh: bool = False
    overwrite: bool = False
    command: tuple[str, ...] = field(default=("pocket-batch",))
    limits: Limits = field(default_factory=Limits)
    replaces_own: bool = False  # what this work folder made, and nobody changed since


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
        with status_kept(work.path, "audiobook", reporter) as told:
            Making(prepared, told, should_stop).make()
    finally:
        work.release()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A book that is planned, in a work folder that this process holds until it is released."""

    job: AudiobookJob
    plan: AudiobookPlan
    engine: Engine
    work: WorkFolder
    record: RunRecord


def prepare(
    job: AudiobookJob, reading: Reading, reporter: Reporter, should_stop: Callable[[], bool]
) -> Prepared | None:
    """Plan a book that was read, take its work folder and write the plan there.

    Returns:
        None when the output is there as it should be.

    Raises:
        PocketBatchError: whatever stands in the way; `PartialRunError` when the output is there
            and lacks something that no other attempt would bring.
    """
    speaker = reading.speaker
    fetch(speaker, reporter, should_stop)
    wanted = fingerprint(reading, job.pipeline, job.choices)
    work = WorkFolder(job.work)
    may_replace = job.replaces_own or reading.is_script
    earlier = earlier_result(work, job.output, wanted, job.overwrite, may_replace)
    if earlier and earlier["status"] == "done" and not job.fresh:
        _tell_done(job.output, earlier["problem"], reporter)
        return None
    check_output(job.output, job.work, job.pipeline.write.split_chapters)
    check_encoder(job.pipeline.write.system_ffmpeg)
    check_voice(speaker, reporter)
    plan = plan_audiobook(job.source, reading, job.pipeline)
    messages.tell_plan(reporter, plan)
    work.acquire()
    try:
        record = RunRecord(
            wanted, job.source, plan.book.id, job.pipeline, speaker, list(job.command), job.output
        )
        record.earlier = earlier_results(work)
        if job.fresh:
            work.clear()
        with recorded(record, work):
            save_plan(plan, work, is_script(job.source))
    except BaseException:
        work.release()
        raise
    plan = replace(plan, segments=())  # they are on disk now
    return Prepared(job, plan, speaker.engine, work, record)


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


@contextmanager
def recorded(record: RunRecord, work: WorkFolder) -> Iterator[None]:
    """Keep `run.json` true, however the run ends."""
    record.write(work)
    try:
        yield
    except PartialRunError:
        raise
    except BaseException as error:
        record.status = "stopped" if isinstance(error, StoppedError) else "failed"
        with suppress(OutputError):  # the disk is full or gone: `error` says so already
            record.write(work)
        raise


class Making:
    """Makes the file of a prepared book: speak, master, write, in that order."""

    def __init__(
        self, prepared: Prepared, reporter: Reporter, should_stop: Callable[[], bool]
    ) -> None:
        self._job = prepared.job
        self._plan = prepared.plan
        self._engine = prepared.engine
        self._work = prepared.work
        self._record = prepared.record
        self._reporter = reporter
        self._should_stop = should_stop
        self._failures: list[Failure] = []

    def make(self) -> None:
        """Make the file and record it; audio that turns out damaged is spoken again, once.

        Raises:
            PocketBatchError: as `run_audiobook`.
        """
        with recorded(self._record, self._work):
            try:
                self.complete(self._utterances())
            except DamagedAudioError as error:
                self._reporter.note("damaged", str(error), "warning")
                remove_damaged(self._work, finished(self._work, self._plan.requests).values())
                self._failures.clear()
                self.complete(self._utterances())

    def complete(self, utterances: Iterable[Utterance | Failure]) -> None:
        """Join what comes, measure it on the way, write the file and record it.

        Raises:
            PartialRunError: it was written and lacks something.
            DamagedAudioError: the audio of an utterance is not what was stored.
            OutputError: nothing was spoken, or the file cannot be written.
            StoppedError: while encoding.
        """
        job, plan, started = self._job, self._plan, time.monotonic()
        check = Check(job.pipeline.check, {r.key: r.text for r in plan.requests})
        joiner = Joiner(self._work, job.pipeline.master, self._engine.sampling_rate_hz)
        with self._timed("speak"):
            utterances = self._remembered(utterances)
            if check.name in job.pipeline.stages:
                utterances = check.run(utterances)
            master = Master(self._work, joiner, plan.script, num_threads=usable_cores())
            mastered = list(master.run(utterances))
        Manifest(self._work.file("checks.jsonl"), Suspect).replace(check.suspects)
        if not mastered:
            raise OutputError(messages.nothing_spoken(job.source, self._failures))
        may_replace = job.replaces_own or is_script(job.source)
        wanted = self._record.fingerprint
        earlier_result(self._work, job.output, wanted, job.overwrite, may_replace)
        self._record.is_writing = True
        self._record.write(self._work)
        with self._timed("write"):
            files = self._write(plan, joiner, mastered)
        self._finish(plan, check, files, time.monotonic() - started)

    def _remembered(
        self, utterances: Iterable[Utterance | Failure]
    ) -> Iterator[Utterance | Failure]:
        for item in utterances:
            if isinstance(item, Failure):
                self._failures.append(item)
            yield item

    def _utterances(self) -> Iterator[Utterance | Failure]:
        """All utterances of the plan, counted and shown."""
        plan = self._plan
        done = finished(self._work, plan.requests)
        missing_s = plan.missing_audio_s(done)
        kind = self._job.pipeline.write.format
        check_space(self._job.work, self._job.output, kind, plan, missing_s)
        if done:
            messages.tell_resume(self._reporter, len(done), len(plan.requests))
        meter = Meter(self._reporter, "speaking", len(plan.requests) - len(done), missing_s)
        chapters = ChapterCount(plan.script)
        meter.num_chapters = len(plan.script)

        def executor() -> Executor:
            name, made = choose_executor(
                self._job.pipeline.executor,
                self._engine,
                plan.voices,
                missing_s,
                limits=self._job.limits,
            )
            self._record.executor = name
            return made

        def on_event(event: WorkerEvent) -> None:
            meter.num_workers = event.num_workers
            messages.tell_worker(self._reporter, event)

        for item in speak(plan.requests, done, executor, self._work, self._should_stop, on_event):
            meter.chapters_done = chapters.done_after(item.key)
            if isinstance(item, Failure):
                meter.add(0.0)
            elif item.key not in done:
                meter.add(item.num_samples / item.sampling_rate_hz)
            yield item
        meter.finish()

    def _write(
        self, plan: AudiobookPlan, joiner: Joiner, mastered: list[Mastered]
    ) -> list[WrittenFile]:
        rate = self._engine.sampling_rate_hz
        total_s = sum(m.chapter.num_samples for m in mastered) / rate
        meter = Meter(self._reporter, "encoding", len(mastered), total_s)

        def encoded(num_samples: int) -> None:
            meter.add(num_samples / rate, items=0)
            if self._should_stop():
                raise StoppedError("Stopped while encoding. All speech is kept.")

        write = Write(
            self._job.output,
            self._job.pipeline,
            plan.book,
            ", ".join(dict.fromkeys(voice.name for voice in plan.voices)),
            plan.script,
            joiner,
            usable_cores(),
            encoded,
        )
        files = list(write.run(mastered))
        meter.add(0.0, items=len(mastered))
        meter.finish()
        return files

    def _finish(
        self, plan: AudiobookPlan, check: Check, files: list[WrittenFile], elapsed_s: float
    ) -> None:
        """Record what was made, say it, and say what is missing."""
        record = self._record
        record.status = "partial" if self._failures else "done"
        record.outputs = describe_outputs(files)
        record.counts = {
            "utterances": len(plan.requests),
            "failures": len(self._failures),
            "suspects": len(check.suspects),
            "dropped": len(plan.book.dropped),
        }
        if self._failures or plan.book.has_gaps or check.num_cut_off:
            record.problem = messages.partial(
                self._job.output, self._failures, plan.book, check, self._work
            )
        record.write(self._work)
        messages.tell_result(self._reporter, files, elapsed_s)
        messages.tell_work_folder(self._reporter, self._work.path)
        if check.suspects:
            messages.tell_suspects(self._reporter, len(check.suspects), self._work)
        if record.problem:
            raise PartialRunError(record.problem)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self._record.times_s[name] = time.monotonic() - started


def dry_run(job: AudiobookJob, reporter: Reporter) -> None:
    """Plan the book and say what it would take; nothing is spoken or written.

    Raises:
        PocketBatchError: whatever would stop the run at its start.
    """
    check_stages(job.pipeline)
    check_source(job.source)
    reading = open_reading(job.source, job.choices, job.pipeline)
    messages.tell_reading(reporter, reading, job.source, job.pipeline)
    check_voice(reading.speaker, reporter)
    plan = plan_audiobook(job.source, reading, job.pipeline)
    messages.tell_plan(reporter, plan)
    messages.tell_estimate(reporter, plan, reading.speaker.engine, job.output, job.pipeline)
