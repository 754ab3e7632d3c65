"""How work spreads over workers, and what the driver costs: `python tests/executors/scaling.py`.

Workers sleep instead of computing, so that eight of them fit on two cores; all else is as in a run:
Ray, the pool, FLAC files, the manifest, `status.json`. The first seconds, while workers start, do
not count: the time of each worker is from when it is ready. Medians of interleaved runs.
"""

import argparse
import cProfile
import pstats
import random
import resource
import runpy
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from pocket_batch.data import EngineSpec, Request, Utterance, Voice
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.executors.base import Plan, WorkerEvent, WorkerSpec, make_executor
from pocket_batch.jobs.messages import tell_worker
from pocket_batch.jobs.plan import LETTERS_PER_S
from pocket_batch.jobs.progress import Meter, Silent
from pocket_batch.jobs.speak import speak
from pocket_batch.jobs.status import StatusFile
from pocket_batch.jobs.watchers import Several
from pocket_batch.manifest import content_key, request_seed
from pocket_batch.rows import UnitDone, UnitTask
from pocket_batch.stages.unit import UnitSpec
from pocket_batch.work_folder import WorkFolder

MEAN_LETTERS = 94  # of a segment, as in books
AUDIO_S_PER_LETTER = 0.06  # of the fake engine
WANTED_PER_S = 200.0  # the rate that the cost of the driver is given for

started_cluster = runpy.run_path(str(Path(__file__).with_name("conftest.py")))["started_cluster"]


@dataclass
class Measured:
    """One run. `worker_s` is the time that all workers together were ready."""

    num_workers: int
    num_items: int = 0
    num_segments: int = 0
    worker_s: float = 0.0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    ready: list[float] = field(default_factory=list)

    @property
    def segments_per_s(self) -> float:
        """While all workers are there."""
        return self.num_segments * self.num_workers / self.worker_s

    @property
    def driver_ms(self) -> float:
        """Processor time of the driver for a segment."""
        return 1000 * self.cpu_s / self.num_segments

    def on_event(self, event: WorkerEvent) -> None:
        """The clock of a worker begins when it is ready, that of the driver with the first."""
        if event.kind == "ready":
            self.ready.append(time.monotonic())
            if len(self.ready) == 1:
                self.cpu_s = -own_cpu_s()

    def end(self) -> None:
        """All is done."""
        now = time.monotonic()
        assert len(self.ready) == self.num_workers, "a worker was late: ask for more segments"
        self.cpu_s += own_cpu_s()
        self.wall_s = now - self.ready[0]
        self.worker_s = sum(now - ready for ready in self.ready)


def own_cpu_s() -> float:
    """Of all threads of this process; the processes of Ray are others."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make_voice(segment_s: float) -> Voice:
    """A voice that sleeps so long over a segment of mean length."""
    sleep = segment_s / (MEAN_LETTERS * AUDIO_S_PER_LETTER)
    return Voice("tone", "fake", "en", "CC0-1.0", parameters={"sleep_s_per_audio_s": f"{sleep}"})


def make_requests(num: int, voice: Voice) -> list[Request]:
    """Segments of 20 to 168 letters."""
    rng = random.Random(0)
    found = []
    for i in range(num):
        text = f"{i} " + "a" * (rng.randint(20, 2 * MEAN_LETTERS - 20) - len(f"{i} "))
        key = content_key(text=text)
        found.append(Request(key, f"s{i}", text, voice, request_seed(0, text, voice.name, 0)))
    return found


def make_tasks(num_rows: int, rows_per_unit: int, voice: Voice) -> list[UnitTask]:
    """Units of so many rows, as `pocket-batch dataset` makes them."""
    rows = make_requests(num_rows, voice)
    tasks = []
    for start in range(0, num_rows, rows_per_unit):
        unit = tuple(sorted(rows[start : start + rows_per_unit], key=lambda r: r.key))
        key = content_key(keys=" ".join(r.key for r in unit))
        tasks.append(UnitTask(key, voice.name, unit))
    return tasks


def measure_books(address: str, num_workers: int, options: argparse.Namespace) -> Measured:
    """Segments of books: FLAC files come back through Ray and are stored by the driver."""
    voice = make_voice(options.segment_ms / 1000)
    requests = make_requests(options.segments * num_workers, voice)
    found = Measured(num_workers)
    with tempfile.TemporaryDirectory() as folder:
        work = WorkFolder(Path(folder) / "work")
        work.acquire()
        plan = make_plan(address, num_workers, voice, None)
        reporter = Several(Silent(), StatusFile(work.path, "audiobook"))
        audio_s = sum(len(r.text) for r in requests) / LETTERS_PER_S
        meter = Meter(reporter, "speaking", len(requests), audio_s)

        def on_event(event: WorkerEvent) -> None:
            found.on_event(event)
            tell_worker(reporter, event)

        for item in speak(
            requests, {}, lambda: make_executor("ray", plan), work, lambda: False, on_event
        ):
            assert isinstance(item, Utterance), item
            meter.add(item.num_samples / item.sampling_rate_hz)
            found.num_items += 1
            if found.num_items == len(requests):
                found.end()
        work.release()
    found.num_segments = found.num_items
    return found


def measure_units(address: str, num_workers: int, options: argparse.Namespace) -> Measured:
    """Units of a data set: workers store them, counts come back."""
    voice = make_voice(options.segment_ms / 1000)
    tasks = make_tasks(options.segments * num_workers, options.rows, voice)
    found = Measured(num_workers)
    with tempfile.TemporaryDirectory() as folder:
        reporter = Several(Silent(), StatusFile(Path(folder), "dataset"))
        meter = Meter(reporter, "speaking", options.segments * num_workers, 1.0)
        units = UnitSpec(folder, FilterSettings(), "en", item_timeout_s=60.0)
        plan = make_plan(address, num_workers, voice, units)

        def on_event(event: WorkerEvent) -> None:
            found.on_event(event)
            tell_worker(reporter, event)

        for item in make_executor("ray", plan).run(tasks, lambda: False, on_event):
            assert isinstance(item, UnitDone), item
            meter.add(item.num_samples / item.sampling_rate_hz, items=item.num_rows)
            found.num_segments += item.num_rows
            found.num_items += 1
            if found.num_items == len(tasks):
                found.end()
    return found


def make_plan(address: str, num_workers: int, voice: Voice, units: UnitSpec | None) -> Plan:
    """For a cluster that is there."""
    spec = WorkerSpec(EngineSpec("fake"), (voice,), 1, units=units)
    return Plan(spec, num_workers, address, item_timeout_s=60.0)


MEASURES: dict[str, Callable[[str, int, argparse.Namespace], Measured]] = {
    "books": measure_books,
    "units": measure_units,
}


def rows_of_table(kind: str, runs: list[Measured]) -> Iterator[str]:
    """One row for each number of workers, with medians."""
    fewest = min(r.num_workers for r in runs)
    alone = statistics.median(r.segments_per_s for r in runs if r.num_workers == fewest) / fewest
    for num_workers in sorted({r.num_workers for r in runs}):
        same = [r for r in runs if r.num_workers == num_workers]
        rates = sorted(r.segments_per_s for r in same)
        rate = statistics.median(rates)
        cpu_ms = statistics.median(r.driver_ms for r in same)
        cpu = statistics.median(100 * r.cpu_s / r.wall_s for r in same)
        yield (
            f"| {kind} | {num_workers} | {rate:.1f} ({rates[0]:.1f} to {rates[-1]:.1f}) "
            f"| {100 * rate / alone / num_workers:.1f} % | {cpu:.1f} % | {cpu_ms:.3f} ms "
            f"| {cpu_ms * WANTED_PER_S / 10:.1f} % |"
        )


def main() -> None:
    """Measure, and print a table in Markdown."""
    options = read_options()
    runs: dict[str, list[Measured]] = {kind: [] for kind in options.kinds}
    profile = cProfile.Profile()
    with (
        started_cluster(num_cpus=max(options.workers)) as cluster,
        profile if options.profile else nullcontext(),
    ):
        for _ in range(options.repeats):
            for num_workers in options.workers:
                for kind, found in runs.items():
                    found.append(MEASURES[kind](str(cluster.address), num_workers, options))
                    tell_run(kind, found[-1])
    if options.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)
    print("| work | workers | segments/s | efficiency | driver | per segment | at 200/s |")
    print("|---|---|---|---|---|---|---|")
    for kind, found in runs.items():
        print("\n".join(rows_of_table(kind, found)))


def tell_run(kind: str, run: Measured) -> None:
    """One line for each run, as it comes."""
    print(
        f"{kind} {run.num_workers}: {run.segments_per_s:.1f} segments/s, driver "
        f"{100 * run.cpu_s / run.wall_s:.1f} %, {run.driver_ms:.3f} ms each, {run.wall_s:.1f} s",
        file=sys.stderr,
    )


def read_options() -> argparse.Namespace:
    """What is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=list(MEASURES), choices=list(MEASURES))
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--segments", type=int, default=100, help="for each worker")
    parser.add_argument("--segment-ms", type=float, default=190.0, help="that a worker sleeps")
    parser.add_argument("--rows", type=int, default=4, help="of a unit")
    parser.add_argument("--profile", action="store_true", help="where the driver spends its time")
    return parser.parse_args()


if __name__ == "__main__":
    main()
