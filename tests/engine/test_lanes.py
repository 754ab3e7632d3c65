"""Several callers share the lanes, and each gets its own outputs."""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocket_batch.data import Request, Voice
from pocket_batch.engine.base import EngineError, Output
from pocket_batch.engine.lanes import Lanes
from pocket_batch.engine.scheduler import Row, Scheduler

VOICE = Voice("v", "fake", "en", "CC0-1.0")


def make_row(name: str, num_frames: int = 3) -> Row:
    request = Request(name, "", name, VOICE, 0)
    return Row(request=request, max_frames=num_frames, frames_after_eos=0)


class Counting:
    """A batch without a model: a row is over after its frames. `oom` in a name is an error."""

    def __init__(self, num_slots: int = 4) -> None:
        self.num_slots = num_slots
        self.started: list[str] = []
        self.occupancy: list[int] = []
        self.reset()

    def reset(self) -> None:
        self._scheduler: Scheduler[Row] = Scheduler(self.num_slots)

    @property
    def num_wanted(self) -> int:
        return self._scheduler.num_wanted

    @property
    def is_idle(self) -> bool:
        return not self._scheduler.running and self.num_wanted == self.num_slots

    def add(self, row: Row) -> None:
        self._scheduler.add(row)

    def step(self) -> list[tuple[Row, Output]]:
        for _, row in self._scheduler.admit():
            self.started.append(row.request.key)
            if "oom" in row.request.key:
                raise MemoryError
        self.occupancy.append(len(self._scheduler.running))
        for row in self._scheduler.running.values():
            row.take(False)
        time.sleep(0)
        return [
            (row, Output(row.request.key, np.zeros(row.num_frames, np.float32), "eos", 0.0))
            for _, row in self._scheduler.finish()
        ]


@settings(max_examples=25, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 9), max_size=60),
    num_lanes=st.integers(1, 3),
    num_slots=st.integers(1, 5),
)
def test_every_item_comes_back_once(lengths: list[int], num_lanes: int, num_slots: int) -> None:
    batches = [Counting(num_slots) for _ in range(num_lanes)]
    items = [make_row(str(n), length) for n, length in enumerate(lengths)]
    outputs = list(Lanes(batches).run(items))
    assert sorted(int(o.key) for o in outputs) == list(range(len(lengths)))
    assert {o.key: len(o.audio) for o in outputs} == {str(n): x for n, x in enumerate(lengths)}
    assert sorted(key for batch in batches for key in batch.started) == sorted(
        str(n) for n in range(len(lengths))
    )


def test_slots_stay_full_while_there_is_enough_to_do() -> None:
    batch = Counting(4)
    list(Lanes([batch]).run(make_row(str(n), 1 + n % 7) for n in range(200)))
    full = sum(count == 4 for count in batch.occupancy)
    assert full / len(batch.occupancy) > 0.9


def test_two_callers_at_once_each_get_their_own() -> None:
    lanes = Lanes([Counting(2), Counting(2)])
    found: dict[str, list[str]] = {}

    def call(name: str) -> None:
        rows = (make_row(f"{name}{n}", 1 + n % 5) for n in range(50))
        found[name] = [output.key for output in lanes.run(rows)]

    threads = [threading.Thread(target=call, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for name in "ab":
        assert sorted(found[name]) == sorted(f"{name}{n}" for n in range(50))


def test_an_output_among_the_items_is_passed_on() -> None:
    ready = Output("ready", np.zeros(0, np.float32), "eos", 0.0)
    outputs = list(Lanes([Counting()]).run([make_row("a"), ready, make_row("b")]))
    assert sorted(output.key for output in outputs) == ["a", "b", "ready"]


def test_an_exception_of_the_source_ends_the_call_and_leaves_the_lanes_usable() -> None:
    lanes = Lanes([Counting()])

    def source() -> Iterator[Row]:
        yield make_row("a")
        raise EngineError("too long")

    with pytest.raises(EngineError):
        list(lanes.run(source()))
    assert [output.key for output in lanes.run([make_row("b")])] == ["b"]


def test_an_exception_of_a_lane_reaches_the_caller() -> None:
    lanes = Lanes([Counting()])
    with pytest.raises(MemoryError):
        list(lanes.run([make_row("a"), make_row("oom")]))
    assert [output.key for output in lanes.run([make_row("b")])] == ["b"]


def test_no_thread_is_left_when_nobody_waits() -> None:
    before = threading.active_count()
    lanes = Lanes([Counting(), Counting()])
    outputs = lanes.run(make_row(str(n), 1000) for n in range(100))
    next(outputs)
    outputs.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
