"""One book of a run of jobs: planned, fed with what is spoken, finished beside the others."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pocket_batch.data import Choices, Failure, Request, Utterance
from pocket_batch.errors import OutputError, PartialRunError, PocketBatchError, StoppedError
from pocket_batch.executors.base import Limits, Spoken
from pocket_batch.jobs.audiobook import prepare
from pocket_batch.jobs.making import AudiobookJob, Making, Prepared, recorded
from pocket_batch.jobs.night.dry import for_a_job, planned_only
from pocket_batch.jobs.night.job import NightJob
from pocket_batch.jobs.night.naming import output_of
from pocket_batch.jobs.night.summary import Line
from pocket_batch.jobs.plan import LETTERS_PER_S, check_stages
from pocket_batch.jobs.reading import open_reading
from pocket_batch.jobs.record import (
    RunRecord,
    earlier_results,
    earlier_source,
)
from pocket_batch.jobs.speak import Spoke, finished, remove_damaged, with_audio
from pocket_batch.jobs.watchers import Held
from pocket_batch.manifest import Manifest
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.sources.base import check_source
from pocket_batch.work_folder import WorkFolder

Stop = Callable[[], bool]


class BookBug(PocketBatchError):
    """A bug of ours that one book shows: the others go on."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"this is a bug: {type(error).__name__}: {error}. See run.log.")
        self.__cause__ = error


class NightBook:
    """A book with its line in the summary.

    Attributes:
        missing: what is still to be spoken, by key.
    """

    def __init__(self, job: NightJob, source: Path, line: Line) -> None:
        self.job = job
        self.source = source
        self.line = line
        self.missing: dict[str, Request] = {}
        self.notes = Held()
        self._prepared: Prepared | None = None
        self._failures: list[Failure] = []
        self._known: dict[str, Utterance] = {}  # perhaps not checked yet
        self._spoke: Spoke | None = None
        self._began: float | None = None
        self._was_damaged = False
        self._is_dry = False

    @property
    def prepared(self) -> Prepared:
        """The plan and the work folder, while it is held."""
        assert self._prepared is not None
        return self._prepared

    @property
    def missing_audio_s(self) -> float:
        """Estimated seconds of what is still to be spoken."""
        return sum(len(request.text) for request in self.missing.values()) / LETTERS_PER_S

    @property
    def is_open(self) -> bool:
        """Whether it has something left to do, and its work folder is held."""
        return self._prepared is not None

    def open(
        self,
        taken: dict[Path, "NightBook"],
        limits: Limits,
        should_stop: Stop,
        command: tuple[str, ...],
        is_dry: bool = False,
    ) -> bool:
        """Plan it and take its work folder; False when it is done already.

        Args:
            taken: outputs and work folders of this run so far; those of this book are added.
            limits: see `AudiobookJob`.
            should_stop: asked while a voice is downloaded.
            command: for `run.json`.
            is_dry: plan it only, and write nothing.

        Raises:
            PocketBatchError: it cannot be made.
        """
        assert isinstance(self.job.pipeline, AudiobookPipeline)
        check_stages(self.job.pipeline)
        check_source(self.source)
        reading = open_reading(self.source, Choices(), self.job.pipeline)
        self.line.title = reading.book.title
        pattern = os.path.expanduser(self.job.settings.output)
        named, pipeline = output_of(pattern, self.source, reading, self.job.pipeline)
        output = self.job.folder / named
        self.line.output = str(output)
        self._take(output, taken)
        work = self._work_folder(output, pipeline, taken)
        job = AudiobookJob(
            source=self.source,
            output=output,
            work=work,
            pipeline=pipeline,
            command=command,
            limits=limits,
            replaces_own=self._is_of_this_source(work),
        )
        self._is_dry = is_dry
        try:
            if is_dry:
                self._prepared = planned_only(job, reading)
            else:
                self._prepared = prepare(job, reading, self.notes, should_stop)
        except PartialRunError:
            self._describe(_outputs(work, output))
            raise
        except PocketBatchError as error:
            raise for_a_job(error) from error
        if self._prepared is None:
            self._describe(_outputs(work, output))
            return False
        self._count()
        return True

    def _take(self, output: Path, taken: dict[Path, "NightBook"]) -> None:
        """Refuse what another book, or the same one by another job, is made into in this run."""
        other = taken.setdefault(output, self)
        if other.source != self.source:
            raise OutputError(
                f"{output} is what {other.source} is made into. Give `output` another pattern, "
                "such as {folder}/{stem}.m4b."
            )
        if other.job != self.job:
            raise OutputError(
                f"{output} is what the job {other.job.path} makes of the same book. Give one of "
                "the jobs another `output`."
            )
        taken[output] = self

    def _work_folder(
        self, output: Path, pipeline: AudiobookPipeline, taken: dict[Path, "NightBook"]
    ) -> Path:
        """The one beside the output; another one if a job makes two formats in one folder."""
        stem = output.name if pipeline.write.split_chapters else output.stem
        work, own = output.with_name(f"{stem}.work"), output.with_name(f"{output.name}.work")
        other = taken.get(work)
        if own.is_dir() or (other is not None and other.line.output != str(output)):
            work = own
        taken[work] = self
        return work

    def _is_of_this_source(self, work: Path) -> bool:
        """Whether what a work folder made may be replaced: not if it is of another book that has
        the same name."""
        before = earlier_source(WorkFolder(work))
        return before is None or before.absolute() == self.source.absolute()

    def _count(self) -> None:
        """See what is spoken already."""
        plan, work = self.prepared.plan, self.prepared.work
        done = finished(work, plan.requests, self.prepared.check)
        self.missing = {r.key: r for r in plan.requests if r.key not in done}
        self._known = finished(work, self.missing.values())
        self.line.num_segments = len(plan.requests)
        self.line.num_spoken = len(done)

    def store(self, result: Spoken | Failure) -> None:
        """Take what came of one of its requests; it is on disk afterwards.

        Raises:
            OutputError: the disk is full or gone.
        """
        self._began = self._began or time.monotonic()
        if isinstance(result, Failure):
            request = self.missing.pop(result.key)
            self._failures.append(replace(result, segment_id=request.segment_id))
            return
        request = self.missing[result.utterance.key]
        if self._spoke is None:
            self._spoke = Spoke(self.prepared.work, self._known).__enter__()
        # another book may have asked for it
        utterance = replace(result.utterance, segment_id=request.segment_id)
        self._spoke.take(replace(result, utterance=utterance))
        del self.missing[request.key]
        self.line.num_spoken += 1

    def requests(self) -> Iterator[Request]:
        """What is missing, with what earlier runs spoke of it and nobody checked."""
        yield from with_audio(list(self.missing.values()), self._known, self.prepared.work)

    def finish(self, should_stop: Stop) -> None:
        """Join and write it; may run in another thread than the rest.

        Raises:
            PocketBatchError: as `Making.complete`; after `DamagedAudioError`, `again` tells whether
                the book is to be spoken once more.
        """
        self._close_manifests()
        prepared = self.prepared
        Manifest(prepared.work.file("failures.jsonl"), Failure).replace(self._failures)
        done = finished(prepared.work, prepared.plan.requests)
        making = Making(prepared, self.notes, should_stop)
        with recorded(prepared.record, prepared.work):
            making.complete([*done.values(), *self._failures])

    def again(self) -> bool:
        """Remove damaged audio; True when it is worth speaking once more."""
        if self._was_damaged:
            return False
        self._was_damaged = True
        work, plan = self.prepared.work, self.prepared.plan
        remove_damaged(work, finished(work, plan.requests).values())
        self._failures.clear()
        self._count()
        return bool(self.missing)

    def close(self, error: PocketBatchError | None) -> None:
        """Write down how it ended, and give the work folder back."""
        line = self.line
        line.problem = str(error or "").removeprefix(f"{self.source.name}: ")
        line.exit_code = error.exit_code if error else 0
        line.num_failures = len(self._failures)
        if self._began is not None:
            line.elapsed_s = round(time.monotonic() - self._began, 2)
        if isinstance(error, StoppedError):
            line.status = "stopped"
        elif isinstance(error, PartialRunError):
            line.status = "partial"
        else:
            line.status = "failed" if error else "done"
        if self._prepared is not None and not self._is_dry:
            self._leave(self._prepared, error)
        self._prepared = None

    def _leave(self, prepared: Prepared, error: PocketBatchError | None) -> None:
        self._close_manifests()
        record, line = prepared.record, self.line
        if line.status in ("done", "partial"):
            line.num_suspects = record.counts.get("suspects", 0)
            self._describe(record)
        elif record.status == "running":
            record.status = "stopped" if line.status == "stopped" else "failed"
            with suppress(OutputError):  # the disk is full or gone: `error` says so
                record.write(prepared.work)
        if line.status == "done" and not self.job.settings.keep_speech:
            shutil.rmtree(prepared.work.file("audio"), ignore_errors=True)
        prepared.work.release()

    def _describe(self, record: "RunRecord | list[dict[str, Any]]") -> None:
        outputs = record.outputs if isinstance(record, RunRecord) else record
        self.line.num_bytes = sum(int(output.get("num_bytes", 0)) for output in outputs)
        self.line.audio_s = sum(float(output.get("audio_s", 0.0)) for output in outputs)

    def _close_manifests(self) -> None:
        if self._spoke is not None:
            self._spoke.__exit__(None, None, None)
            self._spoke = None


def _outputs(work: Path, output: Path) -> list[dict[str, Any]]:
    """What an earlier run recorded of a finished output."""
    results = earlier_results(WorkFolder(work)).values()
    target = str(output.resolve())
    found = [result["outputs"] for result in results if result["target"] == target]
    return found[-1] if found else []
