"""What workers say of themselves, and what is made of it over time."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.executors.health import GROWTH_SPAN_S, WARM_UP_S, History, Vitals, own_vitals


def vitals(rss_mb: float, cpu_s: float = 0.0, pid: int = 1) -> Vitals:
    return Vitals("host", pid, int(rss_mb * 1e6), cpu_s)


def test_a_process_knows_its_own_memory_and_time() -> None:
    found = own_vitals()
    assert (found.host, found.pid) == (socket.gethostname(), os.getpid())
    assert 10e6 < found.rss_bytes < 100e9
    assert found.cpu_s > 0


@pytest.mark.parametrize("content", [None, "", "1", "x y z"])
def test_a_system_that_does_not_tell_is_no_error(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "self").mkdir()
        (tmp_path / "self/statm").write_text(content)
    assert own_vitals(tmp_path).rss_bytes == 0


def test_growth_is_told_once_it_was_seen_for_long_enough_and_not_while_warming_up() -> None:
    history = History(1)
    history.see(vitals(100), 0.0)
    history.see(vitals(900), WARM_UP_S - 1)  # the first texts take much
    history.see(vitals(1000), WARM_UP_S)
    history.see(vitals(1100), WARM_UP_S + GROWTH_SPAN_S - 1)
    assert history.growth_mb_per_h() == 0.0
    history.see(vitals(1100), WARM_UP_S + GROWTH_SPAN_S)
    assert history.growth_mb_per_h() == pytest.approx(100 * 3600 / GROWTH_SPAN_S)
    history.see(vitals(1000), WARM_UP_S + 2 * GROWTH_SPAN_S)
    assert history.growth_mb_per_h() == 0.0


def test_a_new_process_begins_anew() -> None:
    history = History(1)
    for now in (0.0, WARM_UP_S, WARM_UP_S + 600):
        history.see(vitals(100 + now, cpu_s=now), now)
    assert history.growth_mb_per_h() > 500
    history.see(vitals(50, cpu_s=0.1, pid=2), WARM_UP_S + 601)
    assert history.growth_mb_per_h() == 0.0
    history.see(vitals(5000, cpu_s=1.1, pid=2), WARM_UP_S + 602)
    assert history.growth_mb_per_h() == 0.0
    assert history.cpu_cores == pytest.approx(1.0)


def test_cores_are_those_since_the_look_before() -> None:
    history = History(1)
    history.see(vitals(1, cpu_s=10.0), 100.0)
    history.see(vitals(1, cpu_s=18.0), 104.0)
    assert history.cpu_cores == pytest.approx(2.0)
    history.see(vitals(1, cpu_s=18.0), 104.0)  # two answers at once
    assert history.cpu_cores == pytest.approx(2.0)
    history.see(vitals(1, cpu_s=18.0), 108.0)
    assert history.cpu_cores == 0.0


def test_a_worker_that_said_nothing_yet_can_be_shown() -> None:
    health = History(3).health("starting")
    assert (health.number, health.host, health.pid, health.rss_bytes) == (3, "", 0, 0)
    assert health.x_realtime == 0.0
    assert health.seen_s < 5


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(0, 1e6), st.integers(1, 3)), max_size=20))
def test_whatever_comes_in_whatever_order_there_is_something_to_tell(
    seen: list[tuple[float, float, int]],
) -> None:
    history = History(1)
    for rss_mb, now, pid in seen:
        history.see(vitals(rss_mb, now, pid), now)
    health = history.health("busy")
    assert health.cpu_cores >= 0
    assert abs(health.rss_growth_mb_per_h) < 1e6
