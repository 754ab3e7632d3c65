"""The queue loses nothing, and finds the text that kills workers."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.executors.base import WorkerSpec
from pocket_batch.executors.queue import (
    MAX_ITEMS_PER_CALL,
    WINDOW,
    Feed,
    Item,
    RetryQueue,
    longest_first,
    make_feed,
    windows,
)

SHARED = Feed(max_items=16, max_characters=None, num_calls=8, num_running=8, max_suspects=8)
VOICE = Voice("tone", "fake", "en", "CC0-1.0")


def make_requests(num: int, length: int = 20) -> list[Request]:
    return [Request(f"key-{i}", "", "x" * length, VOICE, i) for i in range(num)]


def make_queue(
    num: int,
    length: int = 20,
    num_workers: int = 2,
    is_warm: bool = True,
    feed: Feed | None = None,
) -> RetryQueue:
    queue = RetryQueue(make_requests(num, length), item_timeout_s=10.0, feed=feed)
    queue.num_workers = num_workers
    if is_warm:
        queue.done([Item(make_requests(1)[0])], 0.01)
    return queue


def take_all(queue: RetryQueue) -> list[list[Item]]:
    taken = []
    while items := queue.take():
        taken.append(items)
    return taken


def keys_of(items: list[Item]) -> list[str]:
    return [item.request.key for item in items]


@given(
    st.lists(st.integers(0, 400), max_size=200), st.integers(1, 9), st.sampled_from([None, SHARED])
)
def test_every_request_is_taken_exactly_once(
    lengths: list[int], num_workers: int, feed: Feed | None
) -> None:
    requests = [Request(f"key-{i}", "", "x" * n, VOICE, i) for i, n in enumerate(lengths)]
    queue = RetryQueue(requests, item_timeout_s=10.0, feed=feed)
    queue.num_workers = num_workers
    keys = [item.request.key for items in take_all(queue) for item in items]
    assert sorted(keys) == sorted(r.key for r in requests)
    assert queue.is_empty()


def test_longest_first_within_a_window() -> None:
    requests = [Request(f"key-{n}", "", "x" * n, VOICE, n) for n in (3, 9, 1, 7)]
    assert [[len(r.text) for r in w] for w in windows(requests, 3)] == [[9, 3, 1], [7]]
    assert [len(r.text) for r in longest_first(requests)] == [9, 7, 3, 1]


def test_many_workers_get_a_larger_window() -> None:
    queue = make_queue(5000, num_workers=16, feed=SHARED)
    assert queue.num_waiting() == 16 * 8 * 16


def test_a_window_is_read_only_when_it_is_needed() -> None:
    num_read = 0

    def source() -> Iterator[Request]:
        nonlocal num_read
        for request in make_requests(5 * WINDOW):
            num_read += 1
            yield request

    queue = RetryQueue(source(), item_timeout_s=10.0)
    assert num_read == 0
    queue.take()
    assert num_read == WINDOW


def test_the_first_calls_are_single_texts_until_their_time_is_known() -> None:
    queue = make_queue(100, is_warm=False)
    assert len(queue.take()) == 1
    queue.done(queue.take(), 0.1)
    assert len(queue.take()) > 1


def test_calls_get_small_at_the_end_so_that_workers_end_together() -> None:
    sizes = [len(items) for items in take_all(make_queue(200))]
    assert sizes[0] == MAX_ITEMS_PER_CALL
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-4:] == [1, 1, 1, 1]


def test_a_call_is_limited_in_characters_too() -> None:
    limit = Feed().max_characters
    assert limit is not None
    for items in take_all(make_queue(50, length=350)):
        assert sum(len(item.request.text) for item in items) <= limit
    assert [len(items) for items in take_all(make_queue(2, limit + 1, num_workers=1))] == [1, 1]


def test_calls_of_a_batched_engine_are_as_large_for_long_texts() -> None:
    assert len(make_queue(500, length=350, feed=SHARED).take()) == SHARED.max_items


def test_items_of_a_lost_call_come_back_first_and_alone() -> None:
    queue = make_queue(100)
    lost = queue.take()
    assert queue.blame(lost, "crash") == []
    again = [queue.take() for _ in lost]
    assert [items[0].request.key for items in again] == keys_of(lost)
    assert all(len(items) == 1 for items in again)


def test_items_lost_from_a_batch_come_back_in_small_groups_and_then_alone() -> None:
    queue = make_queue(100, feed=SHARED)
    lost = [*queue.take(), *queue.take()]
    assert queue.blame(lost, "crash") == []
    groups = [queue.take() for _ in range(4)]
    assert [key for group in groups for key in keys_of(group)] == keys_of(lost)
    assert {len(group) for group in groups} == {SHARED.max_suspects}
    assert queue.blame(groups[0], "crash") == []
    assert [queue.take() for _ in range(8)] == [[item] for item in groups[0]]
    assert len(queue.take()) == SHARED.max_items


def test_suspects_wait_for_who_asks_for_them() -> None:
    queue = make_queue(100, feed=SHARED)
    lost = queue.take()
    queue.blame(lost, "crash")
    others = [item for _ in range(99) for item in queue.take(suspects=False)]
    assert not set(keys_of(others)) & set(keys_of(lost))
    assert len(others) + len(lost) == 100
    assert queue.num_waiting() == len(lost)


def test_a_text_of_a_batch_is_given_up_when_it_lost_two_workers_alone() -> None:
    queue = make_queue(40, feed=SHARED)
    queue.blame(queue.take(), "crash")
    group = queue.take()
    assert queue.blame(group, "crash") == []
    assert queue.blame(queue.take(), "crash") == []
    (failure,) = queue.blame(queue.take(), "crash")
    assert failure.key == group[0].request.key
    assert failure.reason == "This text crashed its worker 3 times."


def test_the_third_loss_of_an_item_is_its_last() -> None:
    queue = make_queue(1)
    for _ in range(2):
        assert queue.blame(queue.take(), "crash") == []
    (failure,) = queue.blame(queue.take(), "crash")
    assert failure.reason == "This text crashed its worker 3 times."
    assert queue.is_empty()


def test_crashes_and_timeouts_count_together_and_are_told_apart() -> None:
    queue = make_queue(1)
    queue.blame(queue.take(), "crash")
    queue.blame(queue.take(), "timeout")
    (failure,) = queue.blame(queue.take(), "timeout")
    assert failure.reason == (
        "This text crashed its worker once and did not end within 10 s 2 times."
    )


def test_a_loss_without_fault_is_never_counted() -> None:
    queue = make_queue(1)
    for _ in range(20):
        queue.give_back(queue.take())
    assert len(queue.take()) == 1


def test_an_error_of_several_is_found_by_trying_each_alone() -> None:
    queue = make_queue(40)
    items = queue.take()
    assert queue.error(items, "no") == []
    (failure,) = queue.error(queue.take(), "no")
    assert failure.reason == "no"


def test_the_limit_of_a_call_follows_what_calls_took_so_far() -> None:
    queue = make_queue(100, length=50)
    items = queue.take()
    assert queue.limit_s(items) == 10.0
    queue.done(items[:1], 5.0)  # 0.1 s a character
    assert queue.limit_s(items[:1]) == 10.0
    assert queue.limit_s(items) == min(4.0 * 0.1 * 50 * len(items), 10.0 * len(items))


def test_a_loss_without_fault_changes_nothing_for_its_texts() -> None:
    queue = make_queue(100)
    lost = queue.take()
    queue.give_back(lost)
    assert queue.take() == lost


def test_the_first_calls_of_a_batched_engine_are_as_large_as_others_with_more_time() -> None:
    queue = make_queue(200, is_warm=False, feed=SHARED)
    first = queue.take()
    assert len(first) == SHARED.max_items
    assert queue.limit_s(first) == 40.0


def test_suspects_say_little_about_the_speed_of_a_full_batch() -> None:
    queue = make_queue(200, length=50, feed=SHARED)
    full = queue.take()
    queue.done(full, 8.0)  # 0.01 s a character
    suspect = Item(make_requests(1)[0], is_alone=True)
    queue.done([suspect], 5.0)
    assert queue.limit_s(full) == pytest.approx(4.0 * 8.0)


def test_a_batched_engine_has_twice_what_it_speaks_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pocket_batch.engine.fake import FakeEngine

    spec = WorkerSpec(EngineSpec("fake"), (VOICE,), num_cores=2)
    assert make_feed(spec) == Feed()
    assert not make_feed(spec).is_shared
    monkeypatch.setattr(FakeEngine, "is_concurrent", True)
    monkeypatch.setattr(FakeEngine, "batch_size", 32)
    feed = make_feed(spec)
    assert feed.is_shared
    assert feed.num_running == feed.num_calls
    assert feed.num_calls * feed.max_items == 2 * 2 * 32
