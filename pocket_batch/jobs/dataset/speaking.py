"""Hands the units that are missing to an executor, one engine after the other."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pocket_batch.data import Voice
from pocket_batch.engine.base import Engine
from pocket_batch.errors import OutputError, StoppedError
from pocket_batch.executors.base import WorkerEvent
from pocket_batch.jobs.dataset import messages
from pocket_batch.jobs.dataset.job import DatasetJob
from pocket_batch.jobs.dataset.plan import DatasetPlan
from pocket_batch.jobs.dataset.record import RUN_FILE
from pocket_batch.jobs.dataset.speakers import DatasetSpeakers
from pocket_batch.jobs.dataset.tasks import Earlier, planned_units, unit_tasks
from pocket_batch.jobs.messages import tell_worker
from pocket_batch.jobs.plan import LETTERS_PER_S, WORK_BYTES_PER_S
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.jobs.speak import choose_executor
from pocket_batch.rows import Unit, UnitDone, UnitFailure
from pocket_batch.stages.unit import UnitSpec
from pocket_batch.units.store import Store
from pocket_batch.units.unit import done_ids, read_done

LOOK_S = 1.0  # between two looks at how far the units in work are
LOOK_SHARE = 0.01  # of the time at the most: a set of 10^8 texts has half a million files


class Speaking:
    """The units of one run, or of its part of a job array, that are not done yet."""

    def __init__(
        self,
        job: DatasetJob,
        store: Store,
        speakers: DatasetSpeakers,
        plan: DatasetPlan,
        reporter: Reporter,
        should_stop: Callable[[], bool],
    ) -> None:
        """Look at what is done."""
        self._job = job
        self._store = store
        self._speakers = speakers
        self._plan = plan
        self._reporter = reporter
        self._should_stop = should_stop
        self._done = done_ids(store)
        self._num_done = 0

    def missing_letters(self) -> dict[Engine, int]:
        """Letters that each engine is still to speak; empty when all is done."""
        found: dict[Engine, int] = {}
        planned = 0
        for unit in planned_units(self._store, self._job.shard):
            planned += 1
            if unit.id in self._done and read_done(self._store, unit.id) is not None:
                self._num_done += 1
                continue
            self._done.discard(unit.id)
            engine = self._speakers.by_name[unit.voice].engine
            found[engine] = found.get(engine, 0) + unit.num_letters
        if self._num_done and found:
            messages.tell_resume(self._reporter, self._num_done, planned)
        return found

    def run(self, missing: dict[Engine, int]) -> None:
        """Speak the missing units.

        Raises:
            StoppedError: all that was spoken is kept.
            OutputError: the disk is full, or the set cannot be written.
        """
        self._store.write(f"locks/{RUN_FILE}.check", b"")  # before hours are spent
        self._store.remove(f"locks/{RUN_FILE}.check")
        planned = {unit.id for unit in planned_units(self._store)}
        earlier = Earlier(self._store, self._done, planned)
        total = messages.estimate(missing)
        num_rows = sum(unit.num_rows for unit in self._missing(None))
        progress = _Progress(self._reporter, self._store, num_rows, total.audio_s)
        for engine, voices in self._speakers.groups(self._plan.voices):
            if missing.get(engine):
                self._run_engine(engine, voices, missing[engine], earlier, progress)
        progress.finish()

    def _missing(self, voices: tuple[Voice, ...] | None) -> Iterator[Unit]:
        names = None if voices is None else {voice.name for voice in voices}
        for unit in planned_units(self._store, self._job.shard):
            if unit.id not in self._done and (names is None or unit.voice in names):
                yield unit

    def _run_engine(
        self,
        engine: Engine,
        voices: tuple[Voice, ...],
        num_letters: int,
        earlier: Earlier,
        progress: "_Progress",
    ) -> None:
        settings = self._job.pipeline.executor
        spec = UnitSpec(
            store=str(Path(self._store.folder).resolve())
            if self._store.folder
            else self._store.url,
            filters=self._job.pipeline.filters,
            language=self._speakers.language,
            item_timeout_s=settings.item_timeout_s,
        )
        audio_s = num_letters / LETTERS_PER_S
        _, executor = choose_executor(settings, engine, voices, audio_s, spec, self._job.limits)
        progress.units = {unit.id: unit for unit in self._missing(voices)}
        tasks = unit_tasks(self._store, self._missing(voices), self._speakers.voices, earlier)
        for result in executor.run(tasks, self._should_stop, progress.on_event):
            if isinstance(result, UnitDone):
                progress.add(result)
            elif isinstance(result, UnitFailure):
                if result.is_output:
                    raise OutputError(result.reason)
                text = f"Unit {result.key[:12]} is not done: {result.reason}"
                self._reporter.note("unit_failed", text, "warning", unit=result.key)
                progress.units.pop(result.key, None)
        if self._should_stop() or progress.units:
            raise StoppedError("Stopped. Everything spoken so far is kept.")


class _Progress:
    """Shows how far a run is: units that are done, and the logs of those in work.

    Attributes:
        units: those that are not done, by id.
    """

    def __init__(
        self, reporter: Reporter, store: Store, num_rows: int, total_audio_s: float
    ) -> None:
        self._reporter = reporter
        self._store = store
        self._meter = Meter(reporter, "speaking", num_rows, total_audio_s)
        self._looked = time.monotonic()
        self._pause_s = LOOK_S
        self.units: dict[str, Unit] = {}

    def add(self, unit: UnitDone) -> None:
        """A unit is done."""
        self.units.pop(unit.id, None)
        rate = unit.sampling_rate_hz or 1
        self._meter.add(unit.num_samples / rate, items=unit.num_rows)

    def on_event(self, event: WorkerEvent) -> None:
        """A worker came or went, or a second is over."""
        self._meter.num_workers = event.num_workers
        tell_worker(self._reporter, event)
        started = time.monotonic()
        if event.kind == "working" and started - self._looked >= self._pause_s:
            self._meter.in_work_s = self._logged_bytes() / WORK_BYTES_PER_S
            self._meter.add(0.0, items=0)
            self._looked = time.monotonic()
            self._pause_s = max(LOOK_S, (self._looked - started) / LOOK_SHARE)

    def _logged_bytes(self) -> int:
        """The size of all logs of units in work, as far as this machine sees them."""
        if self._store.folder is None:
            return 0
        found = 0
        for path in (self._store.folder / "units").glob("*/*.partial"):
            try:
                found += path.stat().st_size if path.name.partition(".")[0] in self.units else 0
            except OSError:
                continue  # its unit was finished just now
        return found

    def finish(self) -> None:
        """All is done."""
        self._meter.in_work_s = 0.0
        self._meter.finish()
