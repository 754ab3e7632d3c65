"""Work in other threads: every result comes once, and no more is held than is needed."""

import threading

import pytest

from pocket_batch.stages.later import AHEAD, Later


@pytest.mark.parametrize("num_threads", [1, 2, 3])
def test_every_result_comes_once(num_threads: int) -> None:
    found: list[int] = []
    later: Later[int] = Later(num_threads)
    with later:
        for number in range(50):
            later.submit(lambda n: n * n, number)
            found += later.done()
        while later:
            found += later.done(wait_for_one=True)
    assert sorted(found) == [n * n for n in range(50)]


def test_who_asks_for_too_much_waits() -> None:
    go, started = threading.Semaphore(0), []
    later: Later[None] = Later(2)

    def work() -> None:
        started.append(1)
        assert go.acquire(timeout=10)

    with later:
        for _ in range(2 * AHEAD):
            later.submit(work)
        asking = threading.Thread(target=later.submit, args=(work,))
        asking.start()
        asking.join(0.2)
        assert asking.is_alive()
        go.release(2 * AHEAD + 1)
        asking.join(10)
        assert not asking.is_alive()
        while later:
            list(later.done(wait_for_one=True))
    assert len(started) == 2 * AHEAD + 1


@pytest.mark.parametrize("num_threads", [1, 2])
def test_what_it_raises_reaches_who_asks(num_threads: int) -> None:
    def fail() -> None:
        raise ValueError("It broke.")

    def ask() -> None:
        later: Later[None] = Later(num_threads)
        with later:
            later.submit(fail)
            list(later.done(wait_for_one=True))

    with pytest.raises(ValueError, match="It broke"):
        ask()
