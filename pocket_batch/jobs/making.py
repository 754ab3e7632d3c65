"""A book that is planned becomes a file: speak, check, master, write, record."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain

from pocket_batch.data import Failure, Suspect, Utterance
from pocket_batch.errors import DamagedAudioError, OutputError, PartialRunError, StoppedError
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs import messages
from pocket_batch.jobs.extras import Extras, Speech, kinds_of, outdated, planned
from pocket_batch.jobs.plan import AudiobookPlan
from pocket_batch.jobs.prepared import Prepared
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.jobs.quality import Quality, tell_quality, write_quality
from pocket_batch.jobs.reading import is_script
from pocket_batch.jobs.record import (
    RunRecord,
    describe_outputs,
    earlier_result,
)
from pocket_batch.jobs.report.write import report_run
from pocket_batch.jobs.similarity import VoiceLikeness, measure_similarity, unlike_keys
from pocket_batch.jobs.speak import (
    finished,
    read_checked,
    remove_damaged,
    voice_ids,
)
from pocket_batch.jobs.speaking import Speaking
from pocket_batch.manifest import Manifest
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.stages.check import Check
from pocket_batch.stages.master import Joiner, Master, Mastered
from pocket_batch.stages.write import Write
from pocket_batch.work_folder import WorkFolder


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
        self._check = prepared.check
        self._work = prepared.work
        self._record = prepared.record
        self._reporter = reporter
        self._should_stop = should_stop
        self._failures: list[Failure] = []
        self._speaking = Speaking(prepared, reporter, should_stop)

    def make(self) -> None:
        """Make the file and record it; audio that turns out damaged is spoken again, once.

        Raises:
            PocketBatchError: as `run_audiobook`.
        """
        with recorded(self._record, self._work):
            try:
                self.complete(self._speaking.utterances(), self._speaking)
            except DamagedAudioError as error:
                self._reporter.note("damaged", str(error), "warning")
                remove_damaged(self._work, finished(self._work, self._plan.requests).values())
                self._failures.clear()
                self.complete(self._speaking.utterances(), self._speaking)

    def complete(
        self, utterances: Iterable[Utterance | Failure], speaking: Speaking | None = None
    ) -> None:
        """Join what comes, measure it on the way, write the file and record it.

        Args:
            utterances: all of the book.
            speaking: what speaks outliers among them again.

        Raises:
            PartialRunError: it was written and lacks something.
            DamagedAudioError: the audio of an utterance is not what was stored.
            OutputError: nothing was spoken, or the file cannot be written.
            StoppedError: while encoding.
        """
        job, plan, started = self._job, self._plan, time.monotonic()
        check = Check(job.pipeline.check, {r.key: r.text for r in plan.requests}, plan.language)
        voices = voice_ids(self._record.speaker.voice, plan.requests) if self._check else {}
        rate_hz = self._engine.sampling_rate_hz
        joiner = Joiner(self._work, job.pipeline.master, rate_hz, voices)
        master = Master(self._work, joiner, plan.script, num_threads=usable_cores())
        with self._timed("speak"):
            # Who redoes a line wants that one changed, and no other.
            again = speaking.outliers(master.wait) if speaking and not job.redo else ()
            utterances = self._remembered(chain(utterances, again))
            if check.name in job.pipeline.stages:
                utterances = check.run(utterances)
            mastered = list(master.run(utterances))
            likeness = self._likeness()
            if check.name in job.pipeline.stages:
                check.judge(read_checked(self._work), voices, unlike_keys(likeness))
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
        elapsed_s = time.monotonic() - started
        speech = Speech(plan.book, _narrators(plan), plan.script, joiner, mastered)
        quality = write_quality(
            self._work,
            check,
            job.pipeline.check,
            len(plan.requests),
            len(self._failures),
            mastered,
            files,
            likeness,
        )
        self._finish(plan, check, speech, files, quality, elapsed_s)

    def _likeness(self) -> dict[str, VoiceLikeness]:
        """How like themselves the voices are, where a model that tells is named."""
        if self._check is None:
            return {}
        requests = self._plan.requests
        voices = {request.key: request.voice for request in requests}
        settings = self._job.pipeline.check
        return measure_similarity(self._work, finished(self._work, requests), voices, settings)

    def _remembered(
        self, utterances: Iterable[Utterance | Failure]
    ) -> Iterator[Utterance | Failure]:
        for item in utterances:
            if isinstance(item, Failure):
                self._failures.append(item)
            elif self._check is None:  # what another run measured changes nothing in this one
                item = replace(item, level_db=None)
            yield item

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
            ", ".join(_narrators(plan)),
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
        self,
        plan: AudiobookPlan,
        check: Check,
        speech: Speech,
        files: list[WrittenFile],
        quality: Quality,
        elapsed_s: float,
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
        is_cut_off = check.num_cut_off and self._job.pipeline.check.fail_on != "never"
        if self._failures or plan.book.has_gaps or is_cut_off:
            record.problem = messages.partial(
                self._job.output, self._failures, plan.book, check, self._work
            )
        record.problem = record.problem or quality.problem
        record.result = record.status
        record.write(self._work)
        messages.tell_result(self._reporter, files, elapsed_s)
        self._make_extras(speech, files)
        messages.tell_work_folder(self._reporter, self._work.path)
        if check.suspects:
            messages.tell_suspects(self._reporter, len(check.suspects), self._work)
        listen = self._check.settings.listen if self._check else "off"
        tell_quality(self._reporter, quality, self._job.pipeline.master.loudness, listen)
        report_run(self._work, speech.mastered, files, self._reporter)
        if record.problem:
            raise PartialRunError(record.problem)

    def _make_extras(self, speech: Speech, files: list[WrittenFile]) -> None:
        """Make what was asked for beside the audiobook, and record it."""
        job, record = self._job, self._record
        kinds = (*kinds_of(job.pipeline.write), *outdated(job.pipeline, job.output, record.earlier))
        if not kinds:
            return
        record.extras = planned(job.pipeline, job.output, kinds)
        record.write(self._work)
        maker = Extras(
            job.source,
            job.output,
            self._work,
            job.pipeline,
            job.choices,
            self._reporter,
            self._should_stop,
        )
        with self._timed("extras"):
            record.extras = maker.make(kinds, [file.path for file in files], lambda: speech)
        record.write(self._work)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self._record.times_s[name] = time.monotonic() - started


def _narrators(plan: AudiobookPlan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(voice.name for voice in plan.voices))
