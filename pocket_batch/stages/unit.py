"""Stage `units`: makes whole units of a data set, each attempt logged, each utterance filtered.

What a unit holds depends on its rows and the settings alone: bounds of the reading rate are taken
from the first attempts of all its rows, and only then are outliers tried again.
"""

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from pocket_batch.audio.flac import decode_flac
from pocket_batch.config import cache_folder
from pocket_batch.data import Failure, Request
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.errors import (
    DamagedAudioError,
    InputError,
    OutputError,
    PocketBatchError,
    StoppedError,
)
from pocket_batch.quality.levels import reason_to_reject
from pocket_batch.rows import Sample, UnitDone, UnitFailure, UnitTask
from pocket_batch.stages.listen import Listener
from pocket_batch.stages.synthesize import Spoken, Synthesize
from pocket_batch.stages.unit_groups import first_attempts, groups, next_attempts
from pocket_batch.stages.unit_watchdog import Watchdog
from pocket_batch.stages.verdict import judge, words_heard
from pocket_batch.units.names import unit_file
from pocket_batch.units.partial import PartialLog
from pocket_batch.units.store import Store
from pocket_batch.units.unit import read_done, read_unit, write_done, write_unit

MAX_LONELY = 3  # times that a text may be alone with a worker that dies
POLL_S = 0.5
UNITS_AT_ONCE = 2  # of an engine whose calls share a batch: it stays full when one unit ends


@dataclass(frozen=True, slots=True)
class UnitSpec:
    """What a worker must know of a data set.

    `store` is its folder or URL. `language` is that of its texts. `scratch` is where the logs of
    units are if the store is remote. `item_timeout_s` is how long a worker process waits for any
    result.
    """

    store: str
    filters: FilterSettings
    language: str
    scratch: str = ""
    item_timeout_s: float = 0.0


class MakeUnits:
    """Speaks, filters and writes units. Of a concurrent engine, two of them at a time."""

    name = "units"

    def __init__(
        self,
        synthesize: Synthesize,
        spec: UnitSpec,
        should_stop: Callable[[], bool] = lambda: False,
        item_timeout_s: float = 0.0,
    ) -> None:
        """Load nothing yet.

        Args:
            synthesize: with a loaded engine, measuring what it speaks.
            spec: of the data set.
            should_stop: ends the iterator soon, with all that is spoken in the logs.
            item_timeout_s: after which, without any result, this process ends itself: an engine
                that hangs cannot be ended otherwise. 0 for never.
        """
        self._synthesize = synthesize
        self._spec = spec
        self._is_asked_to_stop = should_stop
        self._is_closed = threading.Event()
        self._store = Store(spec.store)
        self._listener = Listener(spec.filters.asr, spec.filters.asr_fraction, spec.language)
        self._watchdog = Watchdog(item_timeout_s)

    def run(self, tasks: Iterable[UnitTask]) -> Iterator[UnitDone | UnitFailure]:
        """Yield what became of each unit; stops without more when `should_stop()` says so."""
        if self._synthesize.engine.is_concurrent:
            yield from self._run_together(iter(tasks))
            return
        for task in tasks:
            result = self.make(task)
            if result is None:
                return
            yield result

    def _run_together(self, tasks: Iterator[UnitTask]) -> Iterator[UnitDone | UnitFailure]:
        with ThreadPoolExecutor(UNITS_AT_ONCE) as threads:
            running: set[Future[UnitDone | UnitFailure | None]] = {
                threads.submit(self.make, task) for task in islice(tasks, UNITS_AT_ONCE)
            }
            try:
                while running:
                    done, running = wait(running, POLL_S, return_when=FIRST_COMPLETED)
                    results = [future.result() for future in done]
                    if not self._should_stop():
                        more = islice(tasks, len(done))
                        running |= {threads.submit(self.make, task) for task in more}
                    yield from (result for result in results if result is not None)
            except BaseException:
                self._is_closed.set()  # nobody waits for the others
                wait(running)
                self._is_closed.clear()
                raise

    def _should_stop(self) -> bool:
        return self._is_closed.is_set() or self._is_asked_to_stop()

    def make(self, task: UnitTask) -> UnitDone | UnitFailure | None:
        """One unit; None when it was stopped."""
        try:
            return self._found_or_made(task)
        except StoppedError:
            return None
        except PocketBatchError as error:
            return self._found_after(task, error)

    def _found_or_made(self, task: UnitTask) -> UnitDone:
        done = read_done(self._store, task.key)
        if done is not None:
            return done
        try:
            return self._make(task)
        except DamagedAudioError:  # a log changed under us: whoever did it may have finished
            return read_done(self._store, task.key) or self._make(task)

    def _found_after(self, task: UnitTask, error: PocketBatchError) -> UnitDone | UnitFailure:
        """Whoever else made this unit meanwhile has removed files of ours; else it failed."""
        try:
            done = read_done(self._store, task.key)
        except InputError:
            done = None
        is_output = isinstance(error, OutputError) and not isinstance(error, DamagedAudioError)
        return done or UnitFailure(task.key, str(error), is_output)

    def _make(self, task: UnitTask) -> UnitDone:
        with PartialLog(self._folder(task.key), task.key) as log:
            self._reuse(task, log)
            samples, seconds = self._speak_all(task, log)
            done = read_done(self._store, task.key)  # first come, first served
            if done is None:
                done = self._write(task, samples, log, seconds)
            log.remove()
        return done

    def _folder(self, unit_id: str) -> Path:
        """Where the logs of a unit are: in the set, or on this machine."""
        if self._store.folder is not None:
            return (self._store.folder / unit_file(unit_id, "tar")).parent
        scratch = self._spec.scratch
        name = sha256(self._spec.store.encode()).hexdigest()[:16]
        return Path(scratch) / name if scratch else cache_folder() / "partials" / name

    def _reuse(self, task: UnitTask, log: PartialLog) -> None:
        """Take over first attempts of units that had some of these rows."""
        missing = {r.key for r in task.requests if (r.key, 0) not in log.attempts}
        for unit_id in task.earlier if missing else ():
            try:
                for sample, audio in read_unit(self._store, unit_id):
                    is_first = sample.status == "kept" and sample.attempt == 0
                    if is_first and sample.key in missing:
                        log.append(sample, audio)
                        missing.discard(sample.key)
            except InputError:
                continue  # what it has is spoken again

    def _speak_all(self, task: UnitTask, log: PartialLog) -> tuple[list[Sample], float]:
        """Speak until every row has an attempt that is kept, or has had all of them.

        Returns:
            What each row comes to, and the time the engine took.
        """
        filters = self._spec.filters
        missing = first_attempts(task.requests, log)
        seconds = 0.0
        for attempt in range(1, filters.max_attempts + 1):
            for group in groups(missing, log, self._synthesize.engine.is_concurrent):
                seconds += self._speak(group, log)
            samples = judge(task.requests, log.attempts, filters)
            if all(s.status == "kept" or len(s.rejects) == filters.max_attempts for s in samples):
                break
            missing = next_attempts(task.requests, samples, attempt, log)
        return samples, seconds

    def _speak(self, requests: Sequence[Request], log: PartialLog) -> float:
        """Speak some rows and log what comes; returns the time the engine took.

        Raises:
            StoppedError: `should_stop()` turned true.
        """
        if len(requests) == 1:
            if log.lonely[requests[0].key] >= MAX_LONELY:
                self._give_up(requests[0], log)
                return 0.0
            log.begin_alone(requests[0].key)
        by_key = {request.key: request for request in requests}
        seconds = 0.0
        with self._watchdog.watching():
            for result in self._synthesize.run(self._until_stopped(requests)):
                self._watchdog.progress()
                if isinstance(result, Failure):
                    self._log_failure(by_key[result.key], result, log)
                else:
                    seconds += result.utterance.compute_s
                    self._log_spoken(by_key[result.utterance.key], result, log)
                if self._should_stop():
                    raise StoppedError("Stopped. Everything spoken so far is kept.")
        if self._should_stop():
            raise StoppedError("Stopped. Everything spoken so far is kept.")
        return seconds

    def _until_stopped(self, requests: Sequence[Request]) -> Iterator[Request]:
        for request in requests:
            if self._should_stop():
                return
            yield request

    def _give_up(self, request: Request, log: PartialLog) -> None:
        """A text that costs a worker whenever it is alone with it."""
        error = f"This text crashed its worker {MAX_LONELY} times."
        for attempt in range(request.attempt, self._spec.filters.max_attempts):
            log.append(Sample(request.key, "error", attempt=attempt, error=error), None)

    def _log_failure(self, request: Request, failure: Failure, log: PartialLog) -> None:
        seed, attempt, error = request.seed, request.attempt, failure.reason
        log.append(Sample(request.key, "error", seed=seed, attempt=attempt, error=error), None)

    def _log_spoken(self, request: Request, spoken: Spoken, log: PartialLog) -> None:
        utterance, scores = spoken.utterance, spoken.scores
        assert scores is not None
        filters, text = self._spec.filters, request.text
        is_bad = reason_to_reject(scores, utterance.finish_reason, filters, text) is not None
        if not is_bad and self._listener.listens_to(request.key):
            pcm, rate_hz = decode_flac(spoken.flac), utterance.sampling_rate_hz
            scores = self._listener.heard(pcm, rate_hz, text, scores)
        sample = Sample(
            key=request.key,
            status="kept",
            num_samples=utterance.num_samples,
            sampling_rate_hz=utterance.sampling_rate_hz,
            finish_reason=utterance.finish_reason,
            seed=request.seed,
            attempt=request.attempt,
            audio_sha256=sha256(spoken.flac).hexdigest(),
            scores=scores,
        )
        log.append(sample, spoken.flac)

    def _write(
        self, task: UnitTask, samples: Sequence[Sample], log: PartialLog, seconds: float
    ) -> UnitDone:
        """Write the tar and say that it is done."""
        content = (
            (s, log.attempts[s.key, s.attempt].audio() if s.status == "kept" else None)
            for s in samples
        )
        digest, num_bytes = write_unit(self._store, self._folder(task.key), task.key, content)
        counts = Counter(sample.status for sample in samples)
        kept = [sample for sample in samples if sample.status == "kept"]
        lost = [sample for sample in samples if sample.status != "kept"]
        num_words, num_wrong = words_heard(task.requests, kept)
        done = UnitDone(
            id=task.key,
            voice=task.voice,
            num_rows=len(samples),
            num_kept=counts["kept"],
            num_filtered=counts["filtered"],
            num_errors=counts["error"],
            num_samples=sum(sample.num_samples for sample in kept),
            sampling_rate_hz=self._synthesize.engine.sampling_rate_hz,
            rejects=dict(Counter(r.reason for s in samples for r in s.rejects)),
            failures=dict(Counter(s.rejects[-1].reason for s in lost)),
            sha256=digest,
            num_bytes=num_bytes,
            compute_s=round(seconds, 3),
            host=socket.gethostname(),
            num_words_heard=num_words,
            num_word_errors=num_wrong,
            versions={"pocket-batch": version("pocket-batch")},
        )
        write_done(self._store, done)
        return done
