"""Workers are asked how they are; one that is silent or leaks is told of once."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from pocket_batch.executors import watch as watches
from pocket_batch.executors.base import Limits
from pocket_batch.executors.cluster import Reply
from pocket_batch.executors.health import WARM_UP_S, Vitals
from pocket_batch.executors.watch import Watch
from pocket_batch.executors.workers import Worker

Made = tuple[Watch, Worker, list[str], list[int]]


class Asked:
    """A cluster that only takes down who is asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def call_vitals(self, worker: int) -> int:
        self.asked.append(worker)
        return len(self.asked)


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Made]:
    monkeypatch.setattr(watches, "LOOK_S", 0.0)

    def made(**limits: Any) -> Made:
        told: list[str] = []
        cluster: Any = Asked()
        worker = Worker(1, 7, 0.0, is_ready=True)
        return Watch(cluster, Limits(**limits), told.append), worker, told, cluster.asked

    return made


def answer(watch: Watch, worker: Worker, rss_mb: float, now: float) -> None:
    worker.history._looked = 0.0
    vitals = Vitals("host", 1, int(rss_mb * 1e6), 0.0)
    original = time.monotonic
    time.monotonic = lambda: now
    try:
        watch.on_look(worker, Reply(vitals))
    finally:
        time.monotonic = original


def test_a_worker_is_asked_again_once_it_has_answered(make: Callable[..., Made]) -> None:
    watch, worker, _, asked = make()
    watch.look([worker])
    watch.look([worker])
    assert asked == [7]
    watch.on_look(worker, Reply(Vitals("host", 1, 10, 0.0)))
    watch.look([worker])
    assert asked == [7, 7]


def test_a_worker_that_starts_anew_is_not_waited_for(make: Callable[..., Made]) -> None:
    watch, worker, _, asked = make()
    watch.look([worker])
    worker.is_ready = False
    watch.look([worker])
    assert worker.look is None
    worker.is_ready = True
    watch.look([worker])
    assert asked == [7, 7]


def test_a_look_that_was_lost_says_nothing(make: Callable[..., Made]) -> None:
    watch, worker, told, _ = make()
    watch.look([worker])
    watch.on_look(worker, Reply(is_lost=True))
    watch.on_look(worker, Reply(error=RuntimeError("x")))
    assert (worker.look, told, worker.history.last) == (None, [], None)


def test_a_silent_worker_is_told_of_once_and_again_after_it_spoke(
    make: Callable[..., Made],
) -> None:
    watch, worker, told, _ = make(silent_s=60.0)
    worker.history.seen = time.monotonic() - 61
    for _ in range(3):
        watch.look([worker])
    assert told == ["Worker 1 has given no sign of life for 61 s."]
    watch.on_look(worker, Reply(Vitals("host", 1, 10, 0.0)))
    worker.history.seen = time.monotonic() - 70
    watch.look([worker])
    assert len(told) == 2


@pytest.mark.parametrize(
    ("grown_mb", "num_told", "is_recycling"),
    [(5, 0, False), (20, 1, False), (60, 0, True)],
)
def test_growth_is_told_of_and_much_of_it_ends_the_process(
    make: Callable[..., Made], grown_mb: float, num_told: int, is_recycling: bool
) -> None:
    """Over 100 MB an hour is a warning, over 500 MB an hour a new process."""
    watch, worker, told, _ = make(growth_span_s=360.0)
    answer(watch, worker, 100, 1000.0)
    answer(watch, worker, 500, 1000.0 + WARM_UP_S)
    answer(watch, worker, 500 + grown_mb, 1000.0 + WARM_UP_S + 360)
    assert len(told) == num_told
    assert worker.is_recycling == is_recycling


def test_many_workers_are_asked_less_often(
    make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To hear a thousand of them every five seconds would take a tenth of a core."""
    watch, worker, _, asked = make()
    monkeypatch.setattr(watches, "LOOK_S", 5.0)
    for now, num_asked in (100.0, 1), (110.0, 1), (121.0, 2):
        monkeypatch.setattr(time, "monotonic", lambda now=now: now)
        watch.look([worker, *(Worker(n, n, 0.0) for n in range(2, 1001))])
        assert len(asked) == num_asked
        worker.look = None
