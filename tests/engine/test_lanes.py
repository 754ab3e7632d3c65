"""Several callers share the lanes, and each gets its own outputs."""

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocket_batch.data import Request, Voice
from pocket_batch.engine.base import EngineError, Output
from pocket_batch.engine.lanes import Lanes
from pocket_batch.engine.scheduler import Row, Scheduler

SOME = settings(max_examples=25, deadline=None)
VOICE = Voice("v", "fake", "en", "CC0-1.0")


def make_row(name: str, num_frames: int = 3) -> Row:
    request = Request(name, "", name, VOICE, 0)
    return Row(request=request, max_frames=num_frames, frames_after_eos=0)


class Gate:
    """Holds up all batches until it is opened, and lets them see what waits in their lanes."""

    lanes: Lanes[Row]

    def __init__(self) -> None:
        self.is_open = threading.Event()


class Counting:
    """A batch without a model: a row is over after its frames. `oom` in a name is an error."""

    def __init__(
        self, num_slots: int = 4, started: list[str] | None = None, gate: Gate | None = None
    ) -> None:
        self.num_slots = num_slots
        self.started = [] if started is None else started
        self.gate = gate
        self.occupancy: list[int] = []
        self.num_waiting: list[int] = []  # at each step
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

    def step(self) -> list[Row]:
        if self.gate is not None:
            assert self.gate.is_open.wait(30)
            self.num_waiting.append(len(self.gate.lanes._waiting))
        for _, row in self._scheduler.admit():
            self.started.append(row.request.key)
            if "oom" in row.request.key:
                raise MemoryError
        self.occupancy.append(len(self._scheduler.running))
        for row in self._scheduler.running.values():
            row.take(False)
        time.sleep(0)
        return [row for _, row in self._scheduler.finish()]

    def output(self, row: Row) -> Output:
        if "mute" in row.request.key:
            raise ValueError
        return Output(row.request.key, np.zeros(row.num_frames, np.float32), "eos", 0.0)


@SOME
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


def call_at_once(lanes: Lanes[Row], calls: list[Iterable[Row]]) -> list[list[str] | Exception]:
    """The keys that each call gave, or what it raised."""

    def call(rows: Iterable[Row]) -> list[str] | Exception:
        try:
            return [output.key for output in lanes.run(rows)]
        except (MemoryError, EngineError, ValueError) as error:
            return error

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(call, calls))


@SOME
@given(
    calls=st.lists(st.lists(st.integers(1, 9), max_size=30), min_size=1, max_size=6),
    num_lanes=st.integers(1, 3),
    num_slots=st.integers(1, 5),
)
def test_callers_at_once_each_get_their_own_once(
    calls: list[list[int]], num_lanes: int, num_slots: int
) -> None:
    lanes = Lanes([Counting(num_slots) for _ in range(num_lanes)])
    names = [[f"{c}-{n}" for n in range(len(lengths))] for c, lengths in enumerate(calls)]
    rows = [
        [make_row(name, length) for name, length in zip(*pair, strict=True)]
        for pair in zip(names, calls, strict=True)
    ]
    for found, expected in zip(call_at_once(lanes, rows), names, strict=True):
        assert not isinstance(found, Exception)
        assert sorted(found) == sorted(expected)


@SOME
@given(
    calls=st.lists(st.integers(0, 8), min_size=1, max_size=6),
    num_lanes=st.integers(1, 3),
    num_slots=st.integers(1, 5),
)
def test_slots_are_empty_only_when_less_waits_than_the_lanes_could_take(
    calls: list[int], num_lanes: int, num_slots: int
) -> None:
    gate, num_put = Gate(), threading.Semaphore(0)
    batches = [Counting(num_slots, gate=gate) for _ in range(num_lanes)]
    lanes = gate.lanes = Lanes(batches)
    calls = [min(num, 2 * num_lanes * num_slots - 1) for num in calls]  # so all is read at once

    def source(caller: int) -> Iterator[Row]:
        for n in range(calls[caller]):
            yield make_row(f"{caller}-{n}", 1 + (caller + 3 * n) % 7)
        num_put.release()

    def open_gate() -> None:
        for _ in calls:
            assert num_put.acquire(timeout=30)
        gate.is_open.set()

    opener = threading.Thread(target=open_gate)
    opener.start()
    found = call_at_once(lanes, [source(caller) for caller in range(len(calls))])
    opener.join()
    assert [len(keys) for keys in found if isinstance(keys, list)] == calls
    for batch in batches:
        steps = list(zip(batch.occupancy, batch.num_waiting, strict=True))
        for num_running, num_waiting in steps[1:]:  # the first is made of what was there first
            assert num_running == num_slots or num_waiting < num_lanes * num_slots


@pytest.mark.parametrize("num_lanes", [1, 2])
def test_a_caller_that_comes_later_waits_for_no_more_than_what_was_there(num_lanes: int) -> None:
    started: list[str] = []
    lanes = Lanes([Counting(4, started) for _ in range(num_lanes)])
    num_done, num_before = 0, 50
    is_read, late = threading.Event(), [make_row(f"late {n}") for n in range(6)]
    found: list[str] = []

    def late_source() -> Iterator[Row]:
        yield from late
        is_read.set()

    def call_late() -> None:
        found.extend(output.key for output in lanes.run(late_source()))

    second = threading.Thread(target=call_late)

    def source() -> Iterator[Row]:
        for n in range(200):
            assert n - num_done <= 2 * 4 * num_lanes  # what is there is never more than this
            if n == num_before:
                second.start()
                assert is_read.wait(30)
            yield make_row(f"early {n}", 1 + n % 5)

    for _ in lanes.run(source()):
        num_done += 1
    second.join(30)
    assert sorted(found) == sorted(row.request.key for row in late)
    places = [n for n, key in enumerate(started) if key.startswith("late")]
    assert max(places) < num_before + len(late) + num_lanes * 4  # lanes note starts concurrently


def test_an_output_among_the_items_is_passed_on() -> None:
    ready = Output("ready", np.zeros(0, np.float32), "eos", 0.0)
    outputs = list(Lanes([Counting()]).run([make_row("a"), ready, make_row("b")]))
    assert sorted(output.key for output in outputs) == ["a", "b", "ready"]


def test_an_exception_of_the_source_is_raised_when_the_rest_has_come_back() -> None:
    lanes = Lanes([Counting()])

    def source() -> Iterator[Row]:
        yield make_row("a")
        yield make_row("b", 9)
        raise EngineError("too long")

    outputs = lanes.run(source())
    assert [next(outputs).key, next(outputs).key] == ["a", "b"]
    with pytest.raises(EngineError):
        next(outputs)
    assert [output.key for output in lanes.run([make_row("b")])] == ["b"]


@SOME
@given(
    calls=st.lists(st.sampled_from(["fine", "oom", "too long"]), min_size=1, max_size=5),
    num_lanes=st.integers(1, 3),
)
def test_exceptions_reach_their_caller_and_nobody_hangs(calls: list[str], num_lanes: int) -> None:
    lanes = Lanes([Counting(3) for _ in range(num_lanes)])

    def source(caller: int, kind: str) -> Iterator[Row]:
        for n in range(12):
            yield make_row(f"{caller}-{n}", 1 + n % 4)
        if kind == "oom":
            yield make_row(f"{caller} oom")
        if kind == "too long":
            raise EngineError("too long")

    found = call_at_once(lanes, [source(n, kind) for n, kind in enumerate(calls)])
    for kind, result in zip(calls, found, strict=True):
        if kind == "oom":
            assert isinstance(result, MemoryError)
        elif isinstance(result, MemoryError):
            assert "oom" in calls  # a row of another caller in the same batch
        elif kind == "too long":
            assert isinstance(result, EngineError)
        else:
            assert isinstance(result, list)
            assert len(result) == 12
    assert [output.key for output in lanes.run([make_row("after")])] == ["after"]


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


class Helper(Counting):
    """A lane that never gets a row, and tells when it makes audio."""

    num_wanted = 0  # type: ignore[assignment]
    is_idle = True  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.has_helped = threading.Event()

    def output(self, row: Row) -> Output:
        self.has_helped.set()
        return super().output(row)


class Helped(Counting):
    """A lane that makes no audio before the other one has made some."""

    helper: Helper

    def step(self) -> list[Row]:
        return [] if self.num_wanted else super().step()  # all rows together

    def output(self, row: Row) -> Output:
        assert self.helper.has_helped.wait(30)
        return super().output(row)


def test_a_lane_without_rows_makes_audio_of_another_lanes_rows() -> None:
    busy, idle = Helped(), Helper()
    busy.helper = idle
    outputs = Lanes([busy, idle]).run([make_row(str(n), 3) for n in range(4)])
    assert sorted(output.key for output in outputs) == ["0", "1", "2", "3"]
    assert not idle.started


def test_audio_that_cannot_be_made_is_the_fault_of_its_row_alone() -> None:
    lanes = Lanes([Counting(), Counting()])
    rows = [[make_row(f"{c}-{n}", 5) for n in range(9)] for c in range(3)]
    rows[1][4] = make_row("mute", 5)
    found = call_at_once(lanes, rows)
    assert isinstance(found[1], ValueError)
    for call in (0, 2):
        assert not isinstance(found[call], Exception)
        assert sorted(found[call]) == [f"{call}-{n}" for n in range(9)]


@pytest.mark.parametrize("failing", [0, 1])
def test_a_thread_that_cannot_start_fails_one_call_alone(
    failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes, start, calls = Lanes([Counting(), Counting()]), threading.Thread.start, []

    def start_or_fail(thread: threading.Thread) -> None:
        calls.append(thread)
        if len(calls) == failing + 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_or_fail)
    with pytest.raises(RuntimeError, match="can't start"):
        list(lanes.run([make_row("a", 3)]))
    assert [output.key for output in lanes.run([make_row("b", 3)])] == ["b"]
    assert not lanes._threads
    assert not lanes._callers


class Stuck(Counting):
    """A batch that cannot be emptied for a while after an error."""

    num_failures = 3

    def reset(self) -> None:
        if hasattr(self, "_scheduler") and self.num_failures:
            self.num_failures -= 1
            raise MemoryError
        super().reset()


def test_a_batch_that_cannot_be_emptied_lets_nobody_wait_for_ever() -> None:
    lanes = Lanes([Stuck(2)])
    rows = [[make_row(f"{c}-{n}", 5) for n in range(6)] for c in range(3)]
    rows[0][1] = make_row("oom", 5)
    assert isinstance(call_at_once(lanes, rows)[0], MemoryError)
    for _ in range(Stuck.num_failures + 1):
        (found,) = call_at_once(lanes, [[make_row("b", 3)]])
    assert found == ["b"]


class HalfEmptied(Counting):
    """A batch that counts as idle though emptying it failed halfway, until that has succeeded."""

    num_failures = 1
    is_whole = True

    def reset(self) -> None:
        super().reset()
        self.is_whole = self.num_failures == 0 or not self.occupancy
        if not self.is_whole:
            self.num_failures -= 1
            raise MemoryError

    def step(self) -> list[Row]:
        assert self.is_whole
        return super().step()


def test_a_batch_that_could_not_be_emptied_at_the_end_is_emptied_before_it_is_used() -> None:
    batch = HalfEmptied(2)
    lanes = Lanes([batch])
    outputs = lanes.run(make_row(str(n), 1000 if n else 1) for n in range(3))
    next(outputs)
    outputs.close()  # type: ignore[attr-defined]
    assert batch.num_failures == 0
    assert not batch.is_whole
    assert [output.key for output in lanes.run([make_row("b", 3)])] == ["b"]
