"""A unit is the same whatever happened while it was made, and holds the fate of every row."""

import errno
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pocket_batch.audio.flac import decode_flac
from pocket_batch.data import Request
from pocket_batch.engine.base import Output
from pocket_batch.rows import UnitDone, UnitFailure
from pocket_batch.units.unit import read_unit

FIVE = [f"This is sentence {number} of five." for number in range(5)]
MIXED = [*FIVE, "noeos: this never ends.", "silent: nothing is heard.", "error: this fails."]


def test_every_row_ends_in_the_unit_with_what_became_of_it(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    """Case 8."""
    shop, task, engine = workshop(), make_task(MIXED), watched()
    done = shop.make(task, engine)
    assert (done.num_rows, done.num_kept, done.num_filtered, done.num_errors) == (8, 5, 1, 2)
    assert done.rejects == {"no_eos": 3, "error": 6}
    assert done.failures == {"no_eos": 1, "error": 2}
    samples = shop.samples(task)
    assert [s.key for s in samples.values()] == [r.key for r in task.requests]
    endless, failed = samples[MIXED[5]], samples[MIXED[7]]
    assert endless.status == "filtered"
    assert [r.reason for r in endless.rejects] == ["no_eos"] * 3
    assert len({r.seed for r in endless.rejects}) == 3
    assert failed.status == "error"
    assert failed.error == "The fake engine was asked to fail."
    assert done.num_samples == sum(s.num_samples for s in samples.values())
    for sample, flac in read_unit(shop.store, task.key):
        assert (flac is not None) == (sample.status == "kept")
        assert flac is None or len(decode_flac(flac)) == sample.num_samples


def test_attempts_are_bounded_and_each_has_another_seed(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    """Case 7."""
    shop, task, engine = workshop(max_attempts=4), make_task(["noeos: go on."]), watched()
    shop.make(task, engine)
    assert engine.spoken == [("noeos: go on.", number) for number in range(4)]
    (sample,) = shop.samples(task).values()
    assert sample.rejects[0].seed == task.requests[0].seed


def test_a_reading_rate_far_from_the_others_is_tried_again(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    """Case 7: bounds come of the first attempts of the unit."""

    class Drawling(watched):  # type: ignore[misc]
        def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
            for request in requests:
                (output,) = super().generate((request,))
                if "slowly" in request.text and request.attempt < 2:
                    output = replace(output, audio=np.tile(output.audio[3000:-3000], 4))
                yield output

    slow = "Say all of it slowly."
    shop = workshop()
    task = make_task([*(f"This is the ordinary sentence {n}." for n in range(40)), slow])
    shop.make(task, Drawling())
    sample = shop.samples(task)[slow]
    assert [reject.reason for reject in sample.rejects] == ["rate_outlier"] * 2
    assert (sample.status, sample.attempt) == ("kept", 2)


def test_the_order_of_answers_does_not_show(workshop: Any, make_task: Any, watched: Any) -> None:
    task = make_task(MIXED)
    calm = workshop("calm").make_whole(task)
    for seed in range(3):
        assert workshop(f"shuffled {seed}").make_whole(task, watched(shuffle=seed)) == calm


def test_a_killed_worker_costs_nothing_that_was_spoken(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    """Case 11."""
    task, shop = make_task(FIVE), workshop()
    assert shop.die(task, watched(kill_at=3))
    engine = watched()
    assert shop.make_whole(task, engine) == workshop("calm").make_whole(task)
    assert [text for text, _ in engine.spoken] == [r.text for r in task.requests[2:]]


def test_kills_at_every_place_do_not_show(workshop: Any, make_task: Any, watched: Any) -> None:
    """Case 11, with retries."""
    task = make_task(MIXED)
    calm, shop = workshop("calm").make_whole(task), workshop()
    num_kills = 0
    while shop.die(task, watched(kill_at=3)):
        num_kills += 1
    assert num_kills > 3
    assert shop.make_whole(task) == calm


def test_a_damaged_log_does_not_show(workshop: Any, make_task: Any, watched: Any) -> None:
    """Case 12."""
    task, shop = make_task(FIVE), workshop()
    calm = workshop("calm").make_whole(task)
    assert shop.die(task, watched(kill_at=5))
    (path,) = shop.logs()
    data = path.read_bytes()
    for place in range(0, len(data), len(data) // 12):
        cut, hole = data[:place], data[:place] + bytes(500) + data[place + 500 :]
        flipped = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        for damaged in (cut, hole, flipped):
            path.write_bytes(damaged)
            assert shop.make_whole(task) == calm
            for file in (shop.store.folder / "units").rglob("*.*"):
                file.unlink()


def test_a_done_unit_is_not_opened_again(workshop: Any, make_task: Any, watched: Any) -> None:
    """Case 13."""
    task, shop, engine = make_task(FIVE), workshop(), watched()
    done = shop.make(task)
    before = [(p, p.stat().st_mtime_ns) for p in sorted(shop.store.folder.rglob("*"))]
    assert shop.make(task, engine) == done
    assert not engine.spoken
    assert [(p, p.stat().st_mtime_ns) for p in sorted(shop.store.folder.rglob("*"))] == before


def test_two_writers_of_a_unit_both_finish_it(workshop: Any, make_task: Any, watched: Any) -> None:
    task, shop = make_task(FIVE), workshop()
    calm = workshop("calm").make_whole(task)
    meet = threading.Barrier(2, timeout=20)
    results: list[object] = []

    class Meeting(watched):  # type: ignore[misc]
        def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
            for output in super().generate(requests):
                meet.wait()
                yield output

    writers = [
        threading.Thread(target=lambda: results.append(shop.make(task, Meeting())))
        for _ in range(2)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(20)
    assert [type(result) for result in results] == [UnitDone, UnitDone]
    assert shop.make_whole(task) == calm


def test_a_zombie_finds_that_its_unit_was_finished(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    task, shop = make_task(FIVE), workshop()

    class Overtaken(watched):  # type: ignore[misc]
        def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
            for output in super().generate(requests):
                if len(self.spoken) == 3:
                    finished.append(shop.make(task))
                yield output

    finished: list[object] = []
    assert [shop.make(task, Overtaken())] == finished
    assert not shop.logs()


def test_a_stop_keeps_what_was_spoken(workshop: Any, make_task: Any, watched: Any) -> None:
    """Case 26."""
    task, shop, engine = make_task(FIVE), workshop(), watched()
    assert shop.make(task, engine, lambda: len(engine.spoken) >= 2) is None
    again = watched()
    assert shop.make_whole(task, again) == workshop("calm").make_whole(task)
    assert len(engine.spoken) + len(again.spoken) == 5


def test_a_full_disk_is_told_and_the_next_run_goes_on(
    workshop: Any, make_task: Any, watched: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 27."""
    task, shop, engine = make_task(FIVE), workshop(), watched()
    calm = workshop("calm").make_whole(task)
    write = _writer_with_room_for(30_000)
    with monkeypatch.context() as patch:
        patch.setattr("pocket_batch.units.partial._write_all", write)
        result = shop.make(task, engine)
    assert isinstance(result, UnitFailure)
    assert result.is_output
    assert "no space is left" in result.reason
    again = watched()
    assert shop.make_whole(task, again) == calm
    assert 0 < len(again.spoken) < 5


def _writer_with_room_for(num_bytes: int) -> Callable[[Any, bytes], None]:
    def write(file: Any, data: bytes) -> None:
        nonlocal num_bytes
        file.write(data[:num_bytes])
        num_bytes -= len(data)
        if num_bytes < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return write


def test_what_earlier_units_have_is_taken_as_it_is(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    """Case 15."""
    before, shop, engine = make_task(FIVE), workshop(), watched()
    shop.make(before)
    after = make_task([*FIVE[::-1], "One sentence more."], earlier=("00" * 32, before.key))
    assert shop.make_whole(after, engine) == workshop("calm").make_whole(after)
    assert engine.spoken == [("One sentence more.", 0)]


def test_closing_the_iterator_of_a_concurrent_engine_leaves_its_units(
    workshop: Any, make_task: Any, watched: Any
) -> None:
    class Concurrent(watched):  # type: ignore[misc]
        is_concurrent = True

    shop, engine = workshop(), Concurrent()
    tasks = [make_task(f"Unit {n}, row {m}." for m in range(3 + 400 * n)) for n in range(3)]
    results = shop.stage(engine, lambda: False).run(tasks)
    assert [result.id for result in islice(results, 1)] == [tasks[0].key]
    results.close()
    assert len(engine.spoken) < 600


def test_units_can_be_made_in_a_bucket(workshop: Any, make_task: Any, watched: Any) -> None:
    """The logs are on this machine, so that a resume finds them."""
    task = make_task(FIVE)
    calm = workshop("calm").make_whole(task)
    shop = workshop(place="memory://stage/set")
    engine = watched()
    assert shop.make(task, engine, lambda: len(engine.spoken) >= 2) is None
    assert len(shop.logs()) == 1
    again = watched()
    assert shop.make_whole(task, again) == calm
    assert len(engine.spoken) + len(again.spoken) == 5
