"""Stage `units`: makes whole units of a data set, each attempt logged, each utterance filtered.

What a unit holds depends on its rows and the settings alone: bounds of the reading rate are taken
from the first attempts of all its rows, and only then are outliers tried again.
"""

import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from pocket_batch.config import cache_folder
from pocket_batch.data import Failure, Request
from pocket_batch.errors import InputError, OutputError, PocketBatchError, StoppedError
from pocket_batch.manifest import request_seed
from pocket_batch.quality.checks import reason_to_reject
from pocket_batch.rows import Sample, UnitDone, UnitFailure, UnitTask
from pocket_batch.settings import FilterSettings
from pocket_batch.stages.listen import Listener
from pocket_batch.stages.synthesize import Spoken, Synthesize
from pocket_batch.stages.verdict import judge
from pocket_batch.units.names import unit_file
from pocket_batch.units.partial import PartialLog
from pocket_batch.units.store import Store
from pocket_batch.units.unit import read_done, read_unit, write_done, write_unit

MAX_LONELY = 3  # times that a text may be alone with a worker that dies
GROUP = 16  # texts that are tried together after a worker was lost over a unit
AHEAD = 64  # texts that an engine without batches has at once, or has read ahead, at most
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
        self._should_stop = should_stop
        self._store = Store(spec.store)
        self._listener = Listener(spec.filters, spec.language)
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
            while running:
                done, running = wait(running, POLL_S, return_when=FIRST_COMPLETED)
                results = [future.result() for future in done]
                if not self._should_stop():
                    running |= {threads.submit(self.make, t) for t in islice(tasks, len(done))}
                yield from (result for result in results if result is not None)

    def make(self, task: UnitTask) -> UnitDone | UnitFailure | None:
        """One unit; None when it was stopped."""
        try:
            done = read_done(self._store, task.key)
            return done or self._make(task)
        except StoppedError:
            return None
        except OutputError as error:
            return UnitFailure(task.key, str(error), is_output=True)
        except PocketBatchError as error:
            return UnitFailure(task.key, str(error))

    def _make(self, task: UnitTask) -> UnitDone:
        with PartialLog(self._folder(task.key), task.key) as log:
            self._reuse(task, log)
            seconds = self._speak_all(task, log)
            samples = judge(task.requests, log.attempts, self._spec.filters)
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

    def _speak_all(self, task: UnitTask, log: PartialLog) -> float:
        """Speak until every row has an attempt that is kept, or has had all of them."""
        seconds = 0.0
        for attempt in range(self._spec.filters.max_attempts):
            wanted = _wanted(task.requests, attempt, log, self._spec.filters)
            for group in self._groups(wanted, log):
                seconds += self._speak(group, log)
        return seconds

    def _groups(self, wanted: Sequence[Request], log: PartialLog) -> Iterator[Sequence[Request]]:
        """What goes to the engine together: all, unless a worker was lost over this unit.

        An engine takes texts in order, so what it had when it died is among the first that are
        missing. These go in small groups after the first loss, alone after the next one.
        """
        lonely = [r for r in wanted if log.lonely[r.key]]
        others = [r for r in wanted if not log.lonely[r.key]]
        suspects: list[Request] = []
        if log.num_losses:
            ahead = len(others) if self._synthesize.engine.is_concurrent else AHEAD
            suspects, others = others[:ahead], others[ahead:]
        size = GROUP if log.num_losses == 1 else 1
        yield from (suspects[i : i + size] for i in range(0, len(suspects), size))
        yield from ([request] for request in lonely)
        if others:
            yield others

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
        sample = Sample(
            request.key,
            "error",
            seed=request.seed,
            attempt=request.attempt,
            error=failure.reason,
        )
        log.append(sample, None)

    def _log_spoken(self, request: Request, spoken: Spoken, log: PartialLog) -> None:
        utterance, scores = spoken.utterance, spoken.scores
        assert scores is not None
        filters = self._spec.filters
        if reason_to_reject(scores, utterance.finish_reason, filters, request.text) is None:
            scores = self._listener.heard(request, spoken.flac, scores)
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
            failures=dict(Counter(s.rejects[-1].reason for s in samples if s.status != "kept")),
            sha256=digest,
            num_bytes=num_bytes,
            compute_s=round(seconds, 3),
            host=socket.gethostname(),
            versions={"pocket-batch": version("pocket-batch")},
        )
        write_done(self._store, done)
        return done


def _wanted(
    requests: Sequence[Request],
    attempt: int,
    log: PartialLog,
    filters: FilterSettings,
) -> list[Request]:
    """The rows that need this attempt and do not have it."""
    if attempt == 0:
        return [r for r in requests if (r.key, 0) not in log.attempts]
    open_keys = {
        sample.key
        for sample in judge(requests, log.attempts, filters)
        if sample.status != "kept" and len(sample.rejects) == attempt
    }
    return [
        replace(r, attempt=attempt, seed=request_seed(r.seed, r.text, r.voice.name, attempt))
        for r in requests
        if r.key in open_keys and (r.key, attempt) not in log.attempts
    ]


class Watchdog:
    """Ends this process when nothing comes of an engine for too long."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._num_watched = 0
        self._last = 0.0
        self._lock = threading.Lock()
        self._is_started = False

    def watching(self) -> "Watchdog":
        """A context in which results are expected."""
        return self

    def __enter__(self) -> None:
        self.progress()
        with self._lock:
            self._num_watched += 1
            if self._timeout_s > 0 and not self._is_started:
                self._is_started = True
                threading.Thread(target=self._watch, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._num_watched -= 1

    def progress(self) -> None:
        """Something came."""
        self._last = time.monotonic()

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self._timeout_s / 4))
            if self._num_watched and time.monotonic() - self._last > self._timeout_s:
                os._exit(1)
