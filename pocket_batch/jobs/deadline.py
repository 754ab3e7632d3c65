"""Until when a run works: a time of day, a number of hours, or both."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pocket_batch.errors import UsageError

MARGIN_S = 8.0  # what is in flight ends before this, if it takes as long as others did
SLOWER = 1.5  # than others did
GRACE_S = 4.0  # to stop what is not over then, and to end worker processes


@dataclass(frozen=True, slots=True)
class Deadline:
    """When to start nothing new, and when to stop.

    `at` is by the clock of this machine, seconds since 1970, infinite for none: a clock that is set
    while the run works moves it. `after_s` is counted from `began`, by a clock that nobody sets.
    """

    at: float = float("inf")
    after_s: float = float("inf")
    began: float = field(default_factory=time.monotonic)

    def left_s(self) -> float:
        """Seconds until it."""
        return min(self.at - time.time(), self.began + self.after_s - time.monotonic())

    def is_late(self, seconds: float) -> bool:
        """Whether work of so many seconds might not be over in time."""
        return self.left_s() < MARGIN_S + SLOWER * seconds

    def is_over(self) -> bool:
        """Whether it is time to stop, so that the process is gone by then."""
        return self.left_s() < GRACE_S

    def stops(self, is_stopped: Callable[[], bool]) -> Callable[[], bool]:
        """`should_stop` of a run that a signal can stop as well. What was over stays so, even if
        the clock is set back."""
        was_over = False

        def stops() -> bool:
            nonlocal was_over
            was_over = was_over or self.is_over()
            return was_over or is_stopped()

        return stops


def make_deadline(time_of_day: str | int | None, max_hours: float | None) -> Deadline:
    """The deadline of what was asked for, whichever comes first.

    Args:
        time_of_day: `HH:MM` of this machine's clock, today or tomorrow; also as YAML reads it
            without quotes, in minutes.
        max_hours: from now on.

    Raises:
        UsageError: not a time of day, or no hours.
    """
    if max_hours is not None and not max_hours > 0:
        raise UsageError(f"The hours of a run are {max_hours:g}; they must be more than 0.")
    at = float("inf") if time_of_day is None else _next(time_of_day)
    return Deadline(at, float("inf") if max_hours is None else max_hours * 3600)


def _next(time_of_day: str | int, now: datetime | None = None) -> float:
    """When a time of day comes next, seconds since 1970."""
    if isinstance(time_of_day, int):
        if isinstance(time_of_day, bool) or time_of_day < 60:  # no `HH:MM` of YAML is less
            raise UsageError(f"A deadline is a time of day such as 05:30, not `{time_of_day}`.")
        time_of_day = f"{time_of_day // 60}:{time_of_day % 60:02}"
    found = re.fullmatch(r"(\d{1,2}):(\d{2})", time_of_day.strip())  # 05:30 -> 05, 30
    hour, minute = (int(part) for part in found.groups()) if found else (24, 0)
    if hour > 23 or minute > 59:
        raise UsageError(f"A deadline is a time of day such as 05:30, not `{time_of_day:.40}`.")
    now = now or datetime.now()
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if at <= now:
        at += timedelta(days=1)
    return at.timestamp()  # of local time, so that a change to summer time is reckoned with
