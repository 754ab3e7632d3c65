"""Units of a data set on workers that die: each is made once, and none is lost."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.executors import pool as pools
from pocket_batch.executors.base import Plan, WorkerEvent, WorkerSpec
from pocket_batch.executors.cluster import Reply
from pocket_batch.executors.pool import Pool
from pocket_batch.executors.queue import Feed
from pocket_batch.executors.queues import make_queue
from pocket_batch.executors.unit_queue import MAX_LOSSES, WINDOW, UnitQueue, unit_feed
from pocket_batch.rows import UnitDone, UnitFailure, UnitTask
from pocket_batch.stages.unit import UnitSpec

VOICE = Voice("tone", "fake", "en", "CC0-1.0")
SPEC = WorkerSpec(EngineSpec("fake"), (VOICE,), 1, units=UnitSpec("/none", FilterSettings(), "en"))
ALONE = Feed(max_items=1, max_characters=None, num_calls=1, num_running=1)
SHARED = Feed(max_items=1, max_characters=None, num_calls=2, num_running=2)


def make_task(number: int, num_letters: int = 10) -> UnitTask:
    request = Request(f"key-{number}", "", "x" * num_letters, VOICE, number)
    return UnitTask(f"unit-{number}", "tone", (request,))


def done(task: UnitTask) -> UnitDone:
    return UnitDone(task.key, task.voice, 1, 1, 0, 0, 1, 24_000, {}, {}, "", 0, 0.0, "")


@dataclass
class UnitCluster:
    """Answers one call whenever it is asked to wait, unless a worker is to die by then."""

    dies: Callable[[list[str]], bool] = lambda running: False
    is_stuck: bool = False
    dead_nodes: set[str] = field(default_factory=set)
    calls: dict[int, list[tuple[int, UnitTask | None]]] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    together: list[list[str]] = field(default_factory=list)  # units that ran at each new call
    asked: list[int] = field(default_factory=list)  # workers that were asked to stop
    num_calls: int = 0

    def start(self) -> int:
        worker = len(self.calls) + 1
        self.calls[worker] = []
        return worker

    def call_ready(self, worker: int) -> int:
        return self._call(worker, None)

    def call_speak(self, worker: int, items: list[Any]) -> int:
        (item,) = items
        call = self._call(worker, item.request)
        self.together.append(self._running(worker))
        return call

    def ask_to_stop(self, worker: int) -> None:
        self.asked.append(worker)

    def _call(self, worker: int, task: UnitTask | None) -> int:
        self.num_calls += 1
        self.calls[worker].append((self.num_calls, task))
        return self.num_calls

    def _running(self, worker: int) -> list[str]:
        return [task.key for _, task in self.calls[worker] if task is not None]

    def wait(self, calls: list[int], timeout_s: float) -> list[tuple[int, Reply]]:
        replies = [(call, Reply(is_lost=True)) for call in self.lost]
        self.lost = []
        for worker, running in self.calls.items():
            if running and self.dies(self._running(worker)):
                self.lost += [call for call, _ in running]
                running.clear()
            elif running and worker in self.asked:
                replies.append((running.pop(0)[0], Reply([])))
            elif running and not (self.is_stuck and running[0][1]):
                call, task = running.pop(0)
                replies.append((call, Reply([done(task)] if task else f"node-{worker}")))
        if not replies:
            time.sleep(0.001)
        return [reply for reply in replies if reply[0] in calls]

    def kill(self, worker: int, restart: bool) -> None:
        raise AssertionError("no time limit of the driver ends a unit")

    def capacity(self) -> int:
        return 99

    def call_vitals(self, worker: Any) -> Any:
        return f"look {worker}"

    def is_lost(self) -> bool:
        return False

    def is_node_alive(self, node: str) -> bool:
        return node not in self.dead_nodes

    def resources(self) -> str:
        return "1 CPUs"


def run(
    cluster: UnitCluster,
    tasks: list[UnitTask],
    feed: Feed = ALONE,
    num_workers: int = 2,
    should_stop: Callable[[], bool] = lambda: False,
    on_event: Callable[[WorkerEvent], None] = lambda event: None,
) -> dict[str, UnitDone | UnitFailure]:
    queue = UnitQueue(tasks, feed)
    pool = Pool(cluster, queue, Plan(SPEC, item_timeout_s=0.0), num_workers, on_event)
    results: dict[str, UnitDone | UnitFailure] = {}
    for result in pool.run(should_stop):
        assert isinstance(result, UnitDone | UnitFailure)
        key = result.id if isinstance(result, UnitDone) else result.key
        assert key not in results
        results[key] = result
    return results


def failures(results: dict[str, UnitDone | UnitFailure]) -> dict[str, str]:
    return {key: r.reason for key, r in results.items() if isinstance(r, UnitFailure)}


def test_units_are_read_a_window_at_a_time_and_largest_first() -> None:
    num_read = 0

    def endless() -> Iterator[UnitTask]:
        nonlocal num_read
        while True:
            num_read += 1
            yield make_task(num_read, num_letters=num_read % 7 + 1)

    queue = UnitQueue(endless(), ALONE)
    assert num_read == 0
    queue.num_workers = 2
    sizes = [len(queue.take()[0].request.requests[0].text) for _ in range(WINDOW - 1)]
    assert sizes == sorted(sizes, reverse=True)
    assert num_read <= 2 * WINDOW


def test_many_workers_all_find_a_unit_at_the_start() -> None:
    cluster = UnitCluster()
    results = run(cluster, [make_task(n) for n in range(3 * WINDOW)], num_workers=2 * WINDOW)
    assert len(cluster.calls) == 2 * WINDOW
    assert len(results) == 3 * WINDOW


def test_a_unit_whose_worker_died_is_made_by_another_call() -> None:
    deaths = iter([False] * 5 + [True] + [False] * 10_000)
    cluster = UnitCluster(dies=lambda running: bool(running) and next(deaths))
    results = run(cluster, [make_task(n) for n in range(20)])
    assert len(results) == 20
    assert failures(results) == {}
    assert len(cluster.together) == 21


def test_a_unit_that_always_kills_is_given_up_in_the_end_and_no_other() -> None:
    cluster = UnitCluster(dies=lambda running: "unit-3" in running)
    results = run(cluster, [make_task(n) for n in range(8)], feed=SHARED, num_workers=1)
    assert len(results) == 8
    assert failures(results) == {
        "unit-3": "It cost 20 workers. What is spoken is kept: run the command again."
    }
    assert sum("unit-3" in keys for keys in cluster.together) >= MAX_LOSSES


def test_two_workers_that_die_at_the_same_moment_take_their_units_up_alone() -> None:
    """Case 18: each suspect runs singly, and neither is given up for the other's sake."""
    deaths = iter([True, True])
    cluster = UnitCluster(dies=lambda running: len(running) == 2 and next(deaths, False))
    results = run(cluster, [make_task(n) for n in range(12)], feed=SHARED)
    assert len(results) == 12
    assert failures(results) == {}
    first = {key for keys in cluster.together[:4] for key in keys}
    again = [keys for keys in cluster.together[4:] if first & set(keys)]
    assert again == [[key] for (key,) in again]
    assert sorted(key for (key,) in again) == sorted(first)


def test_a_lost_machine_costs_no_unit_a_chance() -> None:
    """Case 20."""
    cluster = UnitCluster(dead_nodes={"node-1", "node-2"})
    cluster.dies = lambda running: bool(running) and len(cluster.together) <= 3 * MAX_LOSSES
    results = run(cluster, [make_task(n) for n in range(3)], num_workers=1)
    assert len(results) == 3
    assert failures(results) == {}


def test_an_error_of_a_worker_fails_its_unit_alone() -> None:
    queue = UnitQueue([make_task(1), make_task(2)], ALONE)
    assert queue.error(queue.take(), "It broke.") == [UnitFailure("unit-1", "It broke.")]
    assert queue.num_waiting() == 1


def test_while_units_are_in_work_the_driver_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "WORKING_S", 0.01)
    events: list[str] = []
    cluster = UnitCluster(is_stuck=True)

    def on_event(event: WorkerEvent) -> None:
        events.append(event.kind)
        cluster.is_stuck = events.count("working") < 3

    run(cluster, [make_task(1)], on_event=on_event)
    assert events[:2] == ["starting", "ready"]
    assert events[2:5] == ["working"] * 3


def test_at_a_stop_workers_are_asked_to_leave_their_units() -> None:
    """Case 26: a death that is not noted in a log would make its texts suspects of the next run."""
    cluster = UnitCluster(is_stuck=True)

    def should_stop() -> bool:
        return len(cluster.together) == 2

    started = time.monotonic()
    assert run(cluster, [make_task(n) for n in range(4)], should_stop=should_stop) == {}
    assert cluster.asked == [1, 2]
    assert time.monotonic() - started < 1.0


def test_a_batched_engine_has_two_units_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unit_feed(SPEC).num_calls == unit_feed(SPEC).num_running == 1
    monkeypatch.setattr(FakeEngine, "is_concurrent", True)
    feed = unit_feed(SPEC)
    assert (feed.max_items, feed.num_calls, feed.num_running) == (1, 2, 2)


def test_the_plan_decides_what_is_queued() -> None:
    assert isinstance(make_queue([], Plan(SPEC)), UnitQueue)
    requests = Plan(WorkerSpec(EngineSpec("fake"), (VOICE,), 1))
    assert not isinstance(make_queue([], requests), UnitQueue)
