"""The queue loses nothing, and finds the text that kills workers."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.data import Request, Voice
from pocket_batch.executors.queue import (
    MAX_ITEMS_PER_CALL,
    WINDOW,
    Item,
    RetryQueue,
    calls,
    max_characters,
    windows,
)

BATCHED = 2 * MAX_ITEMS_PER_CALL
VOICE = Voice("tone", "fake", "en", "CC0-1.0")


def make_requests(num: int, length: int = 20) -> list[Request]:
    return [Request(f"key-{i}", "", "x" * length, VOICE, i) for i in range(num)]


def make_queue(
    num: int, length: int = 20, num_workers: int = 2, is_warm: bool = True
) -> RetryQueue:
    queue = RetryQueue(make_requests(num, length), item_timeout_s=10.0)
    queue.num_workers = num_workers
    if is_warm:
        queue.done([Item(make_requests(1)[0])], 0.01)
    return queue


def take_all(queue: RetryQueue) -> list[list[Item]]:
    taken = []
    while items := queue.take():
        taken.append(items)
    return taken


@given(st.lists(st.integers(0, 400), max_size=200), st.integers(1, 9))
def test_every_request_is_taken_exactly_once(lengths: list[int], num_workers: int) -> None:
    requests = [Request(f"key-{i}", "", "x" * n, VOICE, i) for i, n in enumerate(lengths)]
    queue = RetryQueue(requests, item_timeout_s=10.0)
    queue.num_workers = num_workers
    keys = [item.request.key for items in take_all(queue) for item in items]
    assert sorted(keys) == sorted(r.key for r in requests)
    assert queue.is_empty()


def test_longest_first_within_a_window() -> None:
    requests = [Request(f"key-{n}", "", "x" * n, VOICE, n) for n in (3, 9, 1, 7)]
    assert [[len(r.text) for r in w] for w in windows(requests, 3)] == [[9, 3, 1], [7]]


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
    for items in take_all(make_queue(50, length=350)):
        assert sum(len(item.request.text) for item in items) <= max_characters(MAX_ITEMS_PER_CALL)
    assert [
        len(call) for call in calls(make_requests(2, max_characters(MAX_ITEMS_PER_CALL) + 1))
    ] == [1, 1]


def test_items_of_a_lost_call_come_back_first_and_alone() -> None:
    queue = make_queue(100)
    lost = queue.take()
    assert queue.blame(lost, "crash") == []
    again = [queue.take() for _ in lost]
    assert [items[0].request.key for items in again] == [item.request.key for item in lost]
    assert all(len(items) == 1 for items in again)


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


def test_the_first_calls_of_a_batched_engine_are_part_of_a_batch_with_more_time() -> None:
    queue = RetryQueue(make_requests(200), item_timeout_s=10.0, max_items=BATCHED)
    first = queue.take()
    assert len(first) == BATCHED // 4
    assert queue.limit_s(first) == 40.0
    queue.done(first, elapsed_s=1.0)
    assert len(queue.take()) == BATCHED
