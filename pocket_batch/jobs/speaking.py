"""Speaks a planned book: what is missing of it, then again what is unlike the rest of it."""

from collections.abc import Callable, Iterator

from pocket_batch.data import Failure, Request, Utterance
from pocket_batch.errors import OutputError, PocketBatchError, StoppedError
from pocket_batch.executors.base import Executor, Spoken, WorkerEvent
from pocket_batch.jobs import messages
from pocket_batch.jobs.outliers import Outliers
from pocket_batch.jobs.plan import expected_audio_s
from pocket_batch.jobs.preflight import check_space
from pocket_batch.jobs.prepared import Prepared
from pocket_batch.jobs.progress import ChapterCount, Meter, Reporter
from pocket_batch.jobs.speak import choose_executor, finished, speak


class Speaking:
    """Speaks one book, and shows how it goes."""

    def __init__(
        self, prepared: Prepared, reporter: Reporter, should_stop: Callable[[], bool]
    ) -> None:
        self._prepared = prepared
        self._plan = prepared.plan
        self._reporter = reporter
        self._should_stop = should_stop

    def utterances(self) -> Iterator[Utterance | Failure]:
        """All utterances of the plan, counted and shown."""
        plan, work, job = self._plan, self._prepared.work, self._prepared.job
        done = finished(work, plan.requests, self._prepared.check)
        missing_s = plan.missing_audio_s(done)
        check_space(job.work, job.output, job.pipeline, plan, missing_s)
        if done:
            messages.tell_resume(self._reporter, len(done), len(plan.requests))
        meter = Meter(self._reporter, "speaking", len(plan.requests) - len(done), missing_s)
        chapters = ChapterCount(plan.script)
        meter.num_chapters = len(plan.script)

        def executor() -> Executor:
            self._prepared.record.executor, made = self._executor(missing_s)
            return made

        on_event = self._shown(meter)
        for item in speak(plan.requests, done, executor, work, self._should_stop, on_event):
            meter.chapters_done = chapters.done_after(item.key)
            if isinstance(item, Failure):
                meter.add(0.0)
            elif item.key not in done:
                meter.add(item.num_samples / item.sampling_rate_hz)
            yield item
        meter.finish()

    def outliers(self, wait: Callable[[], None]) -> Iterator[Utterance]:
        """Speak again what turned out unlike the rest; gives what was replaced.

        Args:
            wait: returns when nobody reads the audio that is there.
        """
        work, check = self._prepared.work, self._prepared.check
        if check is None:
            return
        narrator = self._prepared.record.speaker.voice
        chosen = [choice.segment_id for choice in self._plan.redone]
        outliers = Outliers(work, self._plan.requests, check, narrator, chosen)
        while requests := outliers.requests():
            messages.tell_outliers(self._reporter, len(requests))
            try:
                self._speak_again(requests, outliers)
            except (StoppedError, OutputError):
                raise
            except PocketBatchError as error:  # the book is whole without
                self._reporter.note("outliers_left", f"They stay as they are: {error}", "warning")
                return
            if self._should_stop():
                raise StoppedError("Stopped. Everything spoken so far is kept.")
            if not outliers.is_whole:
                return  # the deadline is near: the book is made of what is there
            wait()
            yield from outliers.commit()

    def _speak_again(self, requests: list[Request], outliers: Outliers) -> None:
        missing_s = expected_audio_s(requests)
        meter = Meter(self._reporter, "speaking", len(requests), missing_s)
        _, executor = self._executor(missing_s)
        for result in executor.run(requests, self._should_stop, self._shown(meter)):
            if isinstance(result, Spoken | Failure):
                outliers.take(result)
                meter.add(0.0)
        meter.finish()

    def _executor(self, missing_s: float) -> tuple[str, Executor]:
        return choose_executor(
            self._prepared.job.pipeline.executor,
            self._prepared.engine,
            self._plan.voices,
            missing_s,
            limits=self._prepared.job.limits,
            check=self._prepared.check,
        )

    def _shown(self, meter: Meter) -> Callable[[WorkerEvent], None]:
        """Shows what workers tell."""

        def on_event(event: WorkerEvent) -> None:
            meter.num_workers = event.num_workers
            messages.tell_worker(self._reporter, event)

        return on_event
