"""One book of a run of jobs: planned, fed with what is spoken, finished beside the others."""

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pocket_batch.data import Choices, Failure, Request
from pocket_batch.errors import OutputError, PartialRunError, PocketBatchError, StoppedError
from pocket_batch.executors.base import Limits, Spoken
from pocket_batch.jobs.audiobook import prepare
from pocket_batch.jobs.making import Making, recorded
from pocket_batch.jobs.night.dry import for_a_job, planned_only
from pocket_batch.jobs.night.job import NightJob
from pocket_batch.jobs.night.naming import output_of
from pocket_batch.jobs.night.speech import BookSpeech, Variant
from pocket_batch.jobs.night.summary import Line
from pocket_batch.jobs.night.taking import Owner, Taken, is_of_this_source, result_of
from pocket_batch.jobs.night.verdict import read_verdict
from pocket_batch.jobs.plan import check_stages, expected_audio_s
from pocket_batch.jobs.prepared import AudiobookJob, Prepared
from pocket_batch.jobs.reading import open_reading
from pocket_batch.jobs.speak import finished, remove_damaged
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
        added: kinds of subtitles and the like that were made beside an audiobook that was there.
    """

    def __init__(self, job: NightJob, source: Path, line: Line) -> None:
        self.job = job
        self.source = source
        self.line = line
        self.notes = Held()
        self._asked: AudiobookJob | None = None
        self._prepared: Prepared | None = None
        self._speech: BookSpeech | None = None
        self._lacks: tuple[str, ...] = ()
        self.added: tuple[str, ...] = ()
        self._began: float | None = None
        self._was_damaged = False
        self._is_dry = False

    @property
    def prepared(self) -> Prepared:
        """The plan and the work folder, while it is held."""
        assert self._prepared is not None
        return self._prepared

    @property
    def missing(self) -> dict[str, Request]:
        """What is still to be spoken, by key."""
        return self._speech.missing if self._speech else {}

    @property
    def missing_audio_s(self) -> float:
        """Estimated seconds of what is still to be spoken."""
        return expected_audio_s(self.missing.values())

    @property
    def is_open(self) -> bool:
        """Whether it has something left to do."""
        return self._prepared is not None or bool(self._lacks)

    @property
    def is_held(self) -> bool:
        """Whether it is planned, and its work folder is held."""
        return self._prepared is not None

    @property
    def lacks(self) -> tuple[str, ...]:
        """Kinds of subtitles and the like that are to be made beside an audiobook that is there."""
        return self._lacks

    def open(
        self,
        taken: Taken,
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
        self._is_dry = is_dry
        try:
            self._plan(taken, limits, should_stop, command)
        except PartialRunError:
            raise
        except PocketBatchError as error:
            raise for_a_job(error) from error
        if self._prepared is not None:
            self._count()
        elif not self._lacks:
            self._describe()
        return self.is_open

    def _plan(
        self, taken: Taken, limits: Limits, should_stop: Stop, command: tuple[str, ...]
    ) -> None:
        assert isinstance(self.job.pipeline, AudiobookPipeline)
        check_stages(self.job.pipeline)
        check_source(self.source)
        reading = open_reading(self.source, Choices(), self.job.pipeline)
        self.line.title = reading.book.title
        pattern = os.path.expanduser(self.job.settings.output)
        named, pipeline = output_of(pattern, self.source, reading, self.job.pipeline)
        output = self.job.folder / named
        self.line.output = str(output)
        work = taken.take(Owner(self.job, self.source, output), pipeline)
        self.line.work = str(work)
        self._asked = asked = AudiobookJob(
            source=self.source,
            output=output,
            work=work,
            pipeline=pipeline,
            command=command,
            limits=limits,
            replaces_own=is_of_this_source(work, self.source),
        )
        if self._is_dry:
            self._prepared = planned_only(asked, reading, self._put_off)
        else:
            self._prepared = prepare(asked, reading, self.notes, should_stop, self._put_off)

    def _put_off(self, kinds: tuple[str, ...]) -> None:
        """Take down what is to be made in `finish`, where no worker has to wait for it."""
        self._lacks = kinds

    def _count(self) -> None:
        """See what is spoken already."""
        self._speech = BookSpeech(self.prepared, self._is_dry)
        self.line.num_segments = self._speech.num_segments
        self.line.num_spoken = self._speech.num_spoken

    def variant(self, key: str) -> Variant | None:
        """What it would ask for; None when it does not lack this key."""
        return self._speech.variant(key) if self._speech else None

    def request(self, key: str) -> Request:
        """What it asks for; with what an earlier run spoke of it and nobody checked."""
        assert self._speech is not None
        return self._speech.request(key)

    def store(self, result: Spoken | Failure) -> bool:
        """Take what came of one of its requests; it is on disk afterwards.

        Gives whether it was spoken now, and not only checked.

        When that was the last one, what turned out unlike the rest is missing again, as often as
        there are attempts left; that is on disk when nothing is missing any more.

        Raises:
            OutputError: the disk is full or gone.
        """
        assert self._speech is not None
        self._began = self._began or time.monotonic()
        is_new = self._speech.store(result)
        self.line.num_spoken = self._speech.num_spoken
        return is_new

    def make_do(self) -> bool:
        """Leave outliers as they are, as time is up; True when all else is spoken."""
        return self._speech is not None and self._speech.make_do()

    def finish(self, should_stop: Stop) -> None:
        """Join and write it; may run in another thread than the rest.

        If something is missing afterwards, it has to be spoken, and finished once more.

        Raises:
            PocketBatchError: as `Making.complete`; after `DamagedAudioError`, `again` tells whether
                the book is to be spoken once more.
        """
        if self._lacks:
            self._add(should_stop)
            if self._prepared is None or self.missing:
                return
        assert self._speech is not None
        self._speech.close()
        prepared, failures = self.prepared, self._speech.failures
        Manifest(prepared.work.file("failures.jsonl"), Failure).replace(failures)
        done = finished(prepared.work, prepared.plan.requests)
        making = Making(prepared, self.notes, should_stop)
        with recorded(prepared.record, prepared.work):
            making.complete([*done.values(), *failures])

    def _add(self, should_stop: Stop) -> None:
        """Make what is missing beside the audiobook; where that cannot be, it is planned anew."""
        assert self._asked is not None
        self._began = self._began or time.monotonic()
        reading = open_reading(self.source, Choices(), self._asked.pipeline)
        try:
            self._prepared = prepare(self._asked, reading, self.notes, should_stop)
        except PartialRunError:
            raise
        except PocketBatchError as error:
            raise for_a_job(error) from error
        kinds, self._lacks = self._lacks, ()
        if self._prepared is None:
            self.added = kinds
        else:
            self._count()

    def again(self) -> bool:
        """Remove damaged audio; True when it is worth speaking once more."""
        if self._was_damaged:
            return False
        self._was_damaged = True
        work, plan = self.prepared.work, self.prepared.plan
        remove_damaged(work, finished(work, plan.requests).values())
        self._count()
        return bool(self.missing)

    def close(self, error: PocketBatchError | None) -> None:
        """Write down how it ended, and give the work folder back."""
        line = self.line
        line.problem = str(error or "").removeprefix(f"{self.source.name}: ")
        line.exit_code = error.exit_code if error else 0
        line.num_failures = len(self._speech.failures) if self._speech else 0
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
        elif line.status in ("done", "partial"):
            self._describe()
        self._prepared, self._speech, self._lacks = None, None, ()

    def _leave(self, prepared: Prepared, error: PocketBatchError | None) -> None:
        if self._speech is not None:
            self._speech.close()
        record, line = prepared.record, self.line
        if line.status in ("done", "partial"):
            self._describe()
        elif record.status == "running":
            record.status = "stopped" if line.status == "stopped" else "failed"
            with suppress(OutputError):  # the disk is full or gone: `error` says so
                record.write(prepared.work)
        if line.status == "done" and not self.job.settings.keep_speech:
            shutil.rmtree(prepared.work.file("audio"), ignore_errors=True)
        prepared.work.release()

    def _describe(self) -> None:
        """Write down what lies there, as the run that made it recorded it."""
        assert self._asked is not None
        line, work = self.line, WorkFolder(self._asked.work)
        result = result_of(work, self._asked.output)
        outputs = result.get("outputs", [])
        line.num_bytes = sum(int(output.get("num_bytes", 0)) for output in outputs)
        line.audio_s = sum(float(output.get("audio_s", 0.0)) for output in outputs)
        line.extras = [str(e["path"]) for e in result.get("extras", ()) if e.get("sha256")]
        verdict = read_verdict(work)
        line.quality, line.wer = verdict.level, verdict.wer
        line.similarity = verdict.similarity
        line.num_suspects = verdict.num_suspects
        line.is_badly_spoken = line.status == "partial" and line.problem == verdict.problem
