"""A deadline is the next time of that name, whatever clocks do."""

import time
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.errors import UsageError
from pocket_batch.jobs.deadline import (
    GRACE_S,
    MARGIN_S,
    Deadline,
    _next,
    make_deadline,
)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def hours_until(now: str, time_of_day: str, fold: int = 0) -> float:
    at = datetime.fromisoformat(now).replace(fold=fold)
    return (_next(time_of_day, at) - at.timestamp()) / 3600


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("now", "deadline", "fold", "hours"),
    [
        ("2026-06-01T22:00", "05:30", 0, 7.5),
        ("2026-06-01T05:29", "05:30", 0, 1 / 60),
        ("2026-06-01T05:30", "05:30", 0, 24),
        ("2026-06-01T05:31", "5:30", 0, 24 - 1 / 60),
        ("2026-12-31T23:59", "00:00", 0, 1 / 60),
        ("2026-03-28T22:00", "05:30", 0, 6.5),  # to summer time
        ("2026-10-24T22:00", "05:30", 0, 8.5),  # and back
        ("2026-10-25T01:30", "02:30", 0, 1),
        ("2026-10-25T02:30", "02:45", 1, 0.25),  # the second of two half past two
        ("2026-10-25T02:45", "03:15", 0, 1.5),
        ("2026-10-25T02:45", "03:15", 1, 0.5),
        ("2026-03-29T01:30", "02:30", 0, 1),  # there is no half past two
        ("2026-03-29T03:10", "02:30", 0, 23 + 1 / 3),
    ],
)
def test_a_time_of_day_is_the_next_one_by_the_clock_on_the_wall(
    now: str, deadline: str, fold: int, hours: float
) -> None:
    assert hours_until(now, deadline, fold) == pytest.approx(hours)


@given(st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)), st.integers(0, 1439))
def test_a_time_of_day_is_within_a_day_and_never_past(now: datetime, minute: int) -> None:
    left = _next(f"{minute // 60:02}:{minute % 60:02}", now) - now.timestamp()
    assert 0 < left <= 25 * 3600


def test_yaml_makes_minutes_of_a_time_without_quotes() -> None:
    assert make_deadline(1335, None).at == make_deadline("22:15", None).at
    assert make_deadline(330, None).at == make_deadline("5:30", None).at


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "24:00", "12:60", "5", "5.30", "05:30:00", "noon", "-1:30", "5:3", "٢٤:٠٠"),
        *(5, -90, 1440, 80100, True, False, 0),
    ],
)
def test_what_is_no_time_of_day_is_refused(wrong: str | int) -> None:
    with pytest.raises(UsageError, match="such as 05:30"):
        make_deadline(wrong, None)


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("-inf")])
def test_hours_are_more_than_none(wrong: float) -> None:
    with pytest.raises(UsageError, match="more than 0"):
        make_deadline(None, wrong)


def test_whichever_comes_first_counts() -> None:
    assert make_deadline(None, None).left_s() == float("inf")
    assert make_deadline(None, 0.5).left_s() == pytest.approx(1800, abs=1)
    both = make_deadline("05:30", 0.0001)
    assert both.left_s() == pytest.approx(0.36, abs=0.1)
    assert make_deadline(None, float("inf")).left_s() == float("inf")


def test_a_clock_that_is_set_moves_a_time_of_day_and_not_the_hours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = time.time()
    at, after = Deadline(at=now + 1000), Deadline(after_s=1000)
    monkeypatch.setattr(time, "time", lambda: now + 600)
    assert at.left_s() == pytest.approx(400, abs=1)
    assert after.left_s() == pytest.approx(1000, abs=1)


def test_work_is_late_when_it_would_not_be_over_even_if_slower() -> None:
    deadline = Deadline(after_s=100)
    assert not deadline.is_late(0)
    assert not deadline.is_late((100 - MARGIN_S) / 1.5 - 1)
    assert deadline.is_late((100 - MARGIN_S) / 1.5 + 1)
    assert Deadline(after_s=MARGIN_S - 1).is_late(0)
    assert not Deadline(after_s=GRACE_S + 1).is_over()
    assert Deadline(after_s=GRACE_S - 1).is_over()
    assert Deadline(at=time.time() - 5).is_over()
    assert not Deadline().is_late(1e12)


def test_what_was_over_stays_over_when_the_clock_is_set_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = time.time()
    stops = Deadline(at=now + 100).stops(lambda: False)
    assert not stops()
    monkeypatch.setattr(time, "time", lambda: now + 99)
    assert stops()
    monkeypatch.setattr(time, "time", lambda: now)
    assert stops()


def test_a_signal_stops_without_a_deadline() -> None:
    told = [False]
    stops = Deadline().stops(lambda: told[0])
    assert not stops()
    told[0] = True
    assert stops()
