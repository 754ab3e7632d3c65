"""What a run tells the user: notes and progress, to whatever shows them."""

import time
from collections import Counter
from dataclasses import dataclass
from typing import Literal, Protocol

from pocket_batch.data import ScriptChapter
from pocket_batch.executors.health import WorkerHealth
from pocket_batch.words import size

Level = Literal["info", "warning"]


@dataclass(frozen=True, slots=True)
class Progress:
    """A snapshot. `phase` is `speaking` or `encoding`; audio and times are seconds.

    `audio_s` is what is done of `total_audio_s` (an estimate while speaking); `x_realtime` and
    `eta_s` are 0 until something is known. `first_audio_s` is how long the first audio took.
    `num_books` is 0 for a run of one book.
    """

    phase: str
    done: int
    total: int
    chapters_done: int
    num_chapters: int
    audio_s: float
    total_audio_s: float
    elapsed_s: float
    x_realtime: float
    eta_s: float
    num_workers: int
    first_audio_s: float = 0.0
    books_done: int = 0
    num_books: int = 0


@dataclass(frozen=True, slots=True)
class Download:
    """A file on its way to this machine. `total_bytes` is 0 while nobody knows it."""

    file: str
    num_bytes: int
    total_bytes: int
    bytes_per_s: float


class Reporter(Protocol):
    """Shows a run to a person or a machine. Every call may come from the main thread only."""

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """One line; `event` and `fields` are for machines, and all there is if `text` is empty."""
        ...

    def progress(self, snapshot: Progress) -> None:
        """The newest snapshot, a few times a second at the most."""
        ...

    def download(self, snapshot: Download) -> None:
        """Likewise, while a model or a voice is downloaded."""
        ...

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """How all workers are, about once a second."""
        ...


class Silent:
    """A reporter that shows nothing, for library use and tests."""

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Show nothing."""

    def progress(self, snapshot: Progress) -> None:
        """Show nothing."""

    def download(self, snapshot: Download) -> None:
        """Show nothing."""

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Show nothing."""


class ChapterCount:
    """Tells how many chapters are complete as their utterances arrive in any order."""

    def __init__(self, script: tuple[ScriptChapter, ...]) -> None:
        self._chapters_of: dict[str, list[int]] = {}
        self._left: Counter[int] = Counter()
        self._done = 0
        for chapter in script:
            for key in {line.key for line in chapter.lines}:
                self._chapters_of.setdefault(key, []).append(chapter.number)
                self._left[chapter.number] += 1

    def done_after(self, key: str) -> int:
        """The number of complete chapters once `key` has arrived too."""
        for number in self._chapters_of.pop(key, ()):
            self._left[number] -= 1
            self._done += not self._left[number]
        return self._done


class Meter:
    """Counts what is done in one phase and reports it at most `per_s` times a second."""

    def __init__(
        self, reporter: Reporter, phase: str, total: int, total_audio_s: float, per_s: float = 5.0
    ) -> None:
        self._reporter = reporter
        self._phase = phase
        self._total = total
        self._total_audio_s = total_audio_s
        self._interval_s = 1 / per_s
        self._started = time.monotonic()
        self._shown = 0.0
        self._done = 0
        self._audio_s = 0.0
        self._first_audio_s = 0.0
        self.num_workers = 0
        self.chapters_done = 0
        self.num_chapters = 0
        self.books_done = 0
        self.num_books = 0
        self.in_work_s = 0.0  # of audio that is made, and not counted as done yet

    def add(self, audio_s: float, items: int = 1) -> None:
        """`items` more are done, of `audio_s` seconds together."""
        self._done += items
        self._audio_s += audio_s
        now = time.monotonic()
        if audio_s and not self._first_audio_s:
            self._first_audio_s = now - self._started
        if now - self._shown >= self._interval_s:
            self._shown = now
            self._reporter.progress(self.snapshot())

    def expect(self, items: int, audio_s: float) -> None:
        """So many more are to be done, of `audio_s` seconds together."""
        self._total += items
        self._total_audio_s += audio_s

    def finish(self) -> Progress:
        """Report the end of the phase, whatever was shown last."""
        snapshot = self.snapshot()
        self._reporter.progress(snapshot)
        return snapshot

    def snapshot(self) -> Progress:
        """Where the phase stands now."""
        elapsed = time.monotonic() - self._started
        audio_s = self._audio_s + self.in_work_s
        rate = audio_s / elapsed if elapsed > 0 else 0.0
        left = max(0.0, self._total_audio_s - audio_s) if self._done < self._total else 0.0
        return Progress(
            phase=self._phase,
            done=self._done,
            total=self._total,
            chapters_done=self.chapters_done,
            num_chapters=self.num_chapters,
            audio_s=audio_s,
            total_audio_s=max(self._total_audio_s, audio_s),
            elapsed_s=elapsed,
            x_realtime=rate,
            eta_s=left / rate if rate else 0.0,
            num_workers=self.num_workers,
            first_audio_s=self._first_audio_s,
            books_done=self.books_done,
            num_books=self.num_books,
        )


class DownloadMeter:
    """Reports files that are downloaded one after the other, at most `per_s` times a second.

    A file that was here already is never told.
    """

    def __init__(self, reporter: Reporter, per_s: float = 5.0) -> None:
        self._reporter = reporter
        self._interval_s = 1 / per_s
        self._file = ""
        self._started = 0.0
        self._shown = 0.0
        self._first_bytes = 0  # of an earlier attempt: they took no time now

    def report(self, file: str, num_bytes: int, total_bytes: int) -> None:
        """A file has `num_bytes` of its `total_bytes` (0 when unknown) by now."""
        now = time.monotonic()
        if file != self._file:
            self._file, self._started, self._first_bytes = file, now, num_bytes
            of_size = f", {size(total_bytes)}" if total_bytes else ""
            going_on = f", of which {size(num_bytes)} are here" if num_bytes else ""
            text = f"Downloading {file}{of_size}{going_on}."
            self._reporter.note("download", text, file=file, total_bytes=total_bytes)
        elif now - self._shown < self._interval_s and num_bytes != total_bytes:
            return
        self._shown = now
        elapsed_s = now - self._started
        rate = (num_bytes - self._first_bytes) / elapsed_s if elapsed_s else 0.0
        self._reporter.download(Download(file, num_bytes, total_bytes, rate))
