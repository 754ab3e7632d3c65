"""A text that kills its worker is found, and no other is blamed for it."""

import os
import time
from typing import Any

import pytest

from pocket_batch.rows import UnitDone
from pocket_batch.stages.unit_watchdog import EXIT_CODE, Watchdog


def test_a_text_that_crashes_its_worker_is_given_up_after_three_times_alone(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    """Case 17: its 511 companions are kept."""
    poison = "crash: at once"
    shop, task = workshop(), make_task([poison, *(f"Row {n} is fine." for n in range(511))])
    num_losses = 0
    while shop.die(task, watched()):
        num_losses += 1
    assert num_losses == 5, "together, in a group, and three times alone"
    done = shop.make(task)
    assert isinstance(done, UnitDone)
    assert (done.num_kept, done.num_errors, done.failures) == (511, 1, {"error": 1})
    assert shop.samples(task)[poison].error == "This text crashed its worker 3 times."


def test_two_poisons_do_not_show_in_what_the_others_are(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    """Cases 17 and 18: the number of crashes and their order change no byte."""
    task = make_task(["crash: one", "crash: two", *(f"Row {n} is fine." for n in range(40))])
    made = []
    for name, seed in (("ordered", None), ("shuffled", 5)):
        shop = workshop(name)
        while shop.die(task, watched(shuffle=seed)):
            pass
        made.append(shop.make_whole(task))
        assert [s.status for s in shop.samples(task).values()].count("error") == 2
    assert made[0] == made[1]


def test_a_hang_ends_the_process_that_is_for_it_alone() -> None:
    """Case 17, as a crash."""
    pid = os.fork()
    if pid == 0:
        with Watchdog(0.2).watching():
            time.sleep(20)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == EXIT_CODE


def test_who_makes_progress_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr("pocket_batch.stages.unit_watchdog.os._exit", ended.append)
    watchdog = Watchdog(0.3)
    with watchdog.watching():
        for _ in range(6):
            time.sleep(0.1)
            watchdog.progress()
    time.sleep(0.4)
    assert not ended
