"""Rows get slots in turn, and end where speech ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.data import Request, Voice
from pocket_batch.engine.scheduler import MIN_FRAMES_BEFORE_EOS, Row, Scheduler

REQUEST = Request("key", "segment", "text", Voice("v", "fake", "en", "CC0-1.0"), 0)


def make_row(max_frames: int = 100, frames_after_eos: int = 3) -> Row:
    return Row(request=REQUEST, max_frames=max_frames, frames_after_eos=frames_after_eos)


def run(row: Row, eos_frames: set[int]) -> list[bool]:
    """Make frames until the row is over; what `take` said of each."""
    taken = []
    while not row.is_over:
        taken.append(row.take(len(taken) in eos_frames))
    return taken


def reference_num_frames(max_frames: int, after: int, eos_frames: set[int]) -> int:
    """The number of frames by the rule as the reference states it, frame by frame."""
    eos, num_frames = None, 0
    for step in range(max_frames):
        if step in eos_frames and eos is None and step >= 6:
            eos = step
        if eos is not None and step >= eos + after:
            break
        num_frames += 1
    return num_frames


@given(
    max_frames=st.integers(1, 40),
    after=st.integers(0, 6),
    eos_frames=st.sets(st.integers(0, 40), max_size=5),
)
def test_an_utterance_has_as_many_frames_as_in_the_reference(
    max_frames: int, after: int, eos_frames: set[int]
) -> None:
    row = make_row(max_frames, after)
    assert sum(run(row, eos_frames)) == reference_num_frames(max_frames, after, eos_frames)
    assert row.num_frames <= max_frames


def test_eos_before_speech_has_begun_is_not_believed() -> None:
    row = make_row()
    run(row, {0, 3, MIN_FRAMES_BEFORE_EOS - 1, 20})
    assert row.eos_frame == 20


def test_the_first_eos_counts_and_frames_follow_it() -> None:
    row = make_row(frames_after_eos=4)
    run(row, {10, 12})
    assert (row.eos_frame, row.num_frames, row.finish_reason) == (10, 14, "eos")


def test_without_frames_after_it_the_frame_of_eos_is_not_spoken() -> None:
    row = make_row(frames_after_eos=0)
    assert run(row, {10})[-1] is False
    assert row.num_frames == 10


def test_reaching_the_limit_is_a_finish_reason() -> None:
    row = make_row(max_frames=12)
    run(row, set())
    assert (row.num_frames, row.finish_reason) == (12, "length")


@given(lengths=st.lists(st.integers(1, 12), max_size=30), num_slots=st.integers(1, 8))
def test_every_row_runs_once_in_a_slot_of_its_own(lengths: list[int], num_slots: int) -> None:
    scheduler: Scheduler[Row] = Scheduler(num_slots)
    waiting = [make_row(max_frames=length) for length in lengths]
    done: list[Row] = []
    while True:
        for _ in range(min(scheduler.num_wanted, len(waiting))):
            scheduler.add(waiting.pop(0))
        for slot, _ in scheduler.admit():
            assert 0 <= slot < num_slots
        if not scheduler.running:
            break
        assert len(scheduler.running) == num_slots or not waiting
        for row in scheduler.running.values():
            row.take(False)
        done += [row for _, row in scheduler.finish()]
    assert sorted(row.max_frames for row in done) == sorted(lengths)
    assert all(row.num_frames == row.max_frames for row in done)


@given(
    lengths=st.lists(st.integers(1, 12), max_size=40),
    num_slots=st.integers(1, 9),
    arrivals=st.lists(st.integers(0, 9), min_size=1, max_size=20),
)
def test_nobody_is_overtaken_or_forgotten_and_the_first_slots_hold_all_rows(
    lengths: list[int], num_slots: int, arrivals: list[int]
) -> None:
    """However many arrive before each step."""
    scheduler: Scheduler[Row] = Scheduler(num_slots)
    waiting = [make_row(max_frames=length) for length in lengths]
    rows = {id(row): number for number, row in enumerate(waiting)}
    started: list[int] = []
    done: list[int] = []
    place: dict[int, int] = {}  # row -> slot, as told by what the scheduler yields
    for step in range(len(lengths) * 13 + 1):
        num_new = max(1, arrivals[step % len(arrivals)])
        for _ in range(min(scheduler.num_wanted, len(waiting), num_new)):
            scheduler.add(waiting.pop(0))
        for slot, row in scheduler.admit():
            assert slot not in place.values()
            place[rows[id(row)]] = slot
            started.append(rows[id(row)])
        for source, target in scheduler.compact():
            assert target < source
            assert target not in place.values()
            (moved,) = (number for number, slot in place.items() if slot == source)
            place[moved] = target
        assert {rows[id(row)]: slot for slot, row in scheduler.running.items()} == place
        assert list(scheduler.running) == list(range(len(place)))
        assert scheduler.num_wanted == num_slots - len(place)
        for row in scheduler.running.values():
            row.take(False)
        for slot, row in scheduler.finish():
            assert place.pop(rows[id(row)]) == slot
            done.append(rows[id(row)])
    assert started == list(range(len(lengths)))
    assert sorted(done) == started


def test_slots_are_full_as_long_as_somebody_waits() -> None:
    scheduler: Scheduler[Row] = Scheduler(8)
    waiting = [make_row(max_frames=1 + 7 * n % 19) for n in range(300)]
    while waiting:
        for _ in range(min(scheduler.num_wanted, len(waiting))):
            scheduler.add(waiting.pop(0))
        list(scheduler.admit())
        assert not list(scheduler.compact())  # there is no gap to close
        assert len(scheduler.running) == 8 or not waiting
        for row in scheduler.running.values():
            row.take(False)
        scheduler.finish()


def test_no_more_rows_are_wanted_than_there_are_free_slots() -> None:
    scheduler: Scheduler[Row] = Scheduler(3)
    assert scheduler.num_wanted == 3
    scheduler.add(make_row())
    assert scheduler.num_wanted == 2
    list(scheduler.admit())
    assert scheduler.num_wanted == 2


@pytest.mark.parametrize("num_steps", [1, 5])
def test_a_slot_is_free_again_when_its_row_is_over(num_steps: int) -> None:
    scheduler: Scheduler[Row] = Scheduler(1)
    scheduler.add(make_row(max_frames=num_steps))
    scheduler.add(make_row())
    (first,) = scheduler.admit()
    for _ in range(num_steps):
        first[1].take(False)
    assert scheduler.finish() == [first]
    ((slot, _),) = scheduler.admit()
    assert slot == first[0]
