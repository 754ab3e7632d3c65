"""How workers are: what each says of itself, and what the driver makes of it over time."""

import os
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pocket_batch.executors.cores import PROC

GROWTH_SPAN_S = 300.0  # memory comes and goes: less says nothing of an hour
WARM_UP_S = 60.0  # an engine takes more with the first long texts
MB = 1_000_000.0
WorkerState = Literal["starting", "idle", "busy", "recycling"]


@dataclass(frozen=True, slots=True)
class Vitals:
    """What a worker says of itself. `cpu_s` is processor time since its process began."""

    host: str
    pid: int
    rss_bytes: int
    cpu_s: float


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """A worker as the driver sees it.

    Attributes:
        number: counts from 1; a restarted process keeps it.
        seen_s: seconds since its last sign of life.
        num_items: texts or units that it answered.
        audio_s, busy_s: seconds of speech it made, and of work that took.
        rss_growth_mb_per_h: of its process, 0 until something can be said.
        cpu_cores: that it used since the look before, 2.0 is two of them all the time.
        num_crashes, num_recycled: processes that it lost, and that were replaced for their memory.
    """

    number: int
    state: WorkerState
    host: str
    pid: int
    seen_s: float
    num_items: int
    audio_s: float
    busy_s: float
    rss_bytes: int
    rss_growth_mb_per_h: float
    cpu_cores: float
    num_crashes: int
    num_recycled: int

    @property
    def x_realtime(self) -> float:
        """Seconds of speech a second of work; 0 until something is done."""
        return self.audio_s / self.busy_s if self.busy_s > 0 else 0.0


def own_vitals(proc: Path = PROC) -> Vitals:
    """Those of this process; without memory where the system does not tell."""
    times = os.times()
    try:
        pages = int((proc / "self/statm").read_text().split()[1])
        rss_bytes = pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        rss_bytes = 0
    return Vitals(socket.gethostname(), os.getpid(), rss_bytes, times.user + times.system)


@dataclass(slots=True)
class History:
    """What became of one worker since the run began. Times are those of `time.monotonic`."""

    number: int
    seen: float = field(default_factory=time.monotonic)
    num_items: int = 0
    audio_s: float = 0.0
    busy_s: float = 0.0
    num_crashes: int = 0
    num_recycled: int = 0
    last: Vitals | None = None
    cpu_cores: float = 0.0
    _first: Vitals | None = None  # of its present process, once warm
    _first_at: float = 0.0
    _started: float = 0.0
    _looked: float = 0.0

    def see(self, vitals: Vitals, now: float | None = None) -> None:
        """Take down a sign of life."""
        now = time.monotonic() if now is None else now
        if self.last is None or self.last.pid != vitals.pid:
            self._first, self._started = None, now
        elif now > self._looked:
            self.cpu_cores = max(0.0, vitals.cpu_s - self.last.cpu_s) / (now - self._looked)
        if self._first is None and now - self._started >= WARM_UP_S:
            self._first, self._first_at = vitals, now
        self.last, self.seen, self._looked = vitals, now, now

    def growth_mb_per_h(self, span_s: float = GROWTH_SPAN_S) -> float:
        """How fast the memory of the present process grows; 0 until it was seen so long, warm."""
        if self._first is None or self.last is None or self._looked - self._first_at < span_s:
            return 0.0
        grown = (self.last.rss_bytes - self._first.rss_bytes) / MB
        return grown * 3600 / (self._looked - self._first_at)

    def health(self, state: WorkerState) -> WorkerHealth:
        """What there is to tell now."""
        last = self.last or Vitals("", 0, 0, 0.0)
        return WorkerHealth(
            number=self.number,
            state=state,
            host=last.host,
            pid=last.pid,
            seen_s=time.monotonic() - self.seen,
            num_items=self.num_items,
            audio_s=self.audio_s,
            busy_s=self.busy_s,
            rss_bytes=last.rss_bytes,
            rss_growth_mb_per_h=self.growth_mb_per_h(),
            cpu_cores=self.cpu_cores,
            num_crashes=self.num_crashes,
            num_recycled=self.num_recycled,
        )
