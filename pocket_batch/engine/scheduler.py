"""Who speaks in which slot, and when an utterance is over. No tensors here: rows only count.

An engine subclasses `Row` with what it needs to make a frame. The order of calls is: `add` what
waits, `admit` it to free slots, `compact`, one step of the model for all of `running`, `Row.take`
for each, and `finish` those that are over.
"""

from bisect import insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from pocket_batch.data import FinishReason, Request

# EOS means nothing before speech has begun: some voices start with a logit over the threshold.
MIN_FRAMES_BEFORE_EOS = 6


@dataclass(frozen=True, slots=True)
class Settings:
    """`Sampling` with nothing left open, but for what depends on the text."""

    temperature: float
    decode_steps: int
    noise_clamp: float | None
    eos_threshold: float
    frames_after_eos: int | None


@dataclass(slots=True, kw_only=True)
class Row:
    """One utterance on its way.

    Attributes:
        max_frames: where it is cut when no EOS comes.
        frames_after_eos: how many frames an utterance has from its EOS frame on.
        num_frames: those that belong to it so far.
        eos_frame: the first frame that said EOS; None until then.
        compute_s: its share of the time spent.
    """

    request: Request
    max_frames: int
    frames_after_eos: int
    num_frames: int = 0
    eos_frame: int | None = None
    compute_s: float = 0.0

    def take(self, is_eos: bool) -> bool:
        """Count the frame that was just made.

        Returns:
            Whether it belongs to the utterance; the one that says EOS may not.
        """
        if is_eos and self.eos_frame is None and self.num_frames >= MIN_FRAMES_BEFORE_EOS:
            self.eos_frame = self.num_frames
        if self.is_over:
            return False
        self.num_frames += 1
        return True

    @property
    def is_over(self) -> bool:
        """No further frame belongs to it."""
        end = self.max_frames
        if self.eos_frame is not None:
            end = min(end, self.eos_frame + self.frames_after_eos)
        return self.num_frames >= end

    @property
    def finish_reason(self) -> FinishReason:
        """`length` when the limit came before any EOS: the end of the text may be missing."""
        return "length" if self.eos_frame is None else "eos"


R = TypeVar("R", bound=Row)


class Scheduler(Generic[R]):
    """Rows that wait, and rows that run in slots 0 to `num_slots` - 1.

    Nobody is overtaken: the first who waits has the next free slot, and as no more is added than
    there are free slots, nobody waits for longer than a step.
    """

    def __init__(self, num_slots: int) -> None:
        self.num_slots = num_slots
        self.running: dict[int, R] = {}
        self._waiting: deque[R] = deque()
        self._free = list(range(num_slots))

    @property
    def num_wanted(self) -> int:
        """How many rows to `add` so that no slot stays empty."""
        return max(0, len(self._free) - len(self._waiting))

    def add(self, row: R) -> None:
        """Let a row wait for a slot."""
        self._waiting.append(row)

    def admit(self) -> Iterator[tuple[int, R]]:
        """Give free slots to waiting rows, first come first served."""
        while self._free and self._waiting:
            slot, row = self._free.pop(0), self._waiting.popleft()
            self.running[slot] = row
            yield slot, row

    def compact(self) -> Iterator[tuple[int, int]]:
        """Move rows from the highest slots to lower free ones, until the first slots have all.

        Yields:
            From which slot a row goes to which.
        """
        while self.running and self._free and self._free[0] < (source := max(self.running)):
            target = self._free.pop(0)
            self.running[target] = self.running.pop(source)
            insort(self._free, source)
            yield source, target
        self.running = dict(sorted(self.running.items()))

    def finish(self) -> list[tuple[int, R]]:
        """Take the rows that are over out of their slots."""
        over = [(slot, row) for slot, row in self.running.items() if row.is_over]
        for slot, _ in over:
            del self.running[slot]
            self._free.append(slot)
        self._free.sort()
        return over
