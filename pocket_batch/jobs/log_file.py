"""`run.log`: what a run said, with the time of each line; old files make way for new ones."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from pocket_batch.errors import writing
from pocket_batch.executors.health import WorkerHealth
from pocket_batch.jobs.progress import Download, Level, Progress
from pocket_batch.words import duration

LOG_FILE = "run.log"
MAX_BYTES = 5_000_000
NUM_OLD = 4
PROGRESS_S = 60.0


class LogFile:
    """A `Reporter` that writes to a log file, and what the library logs besides."""

    def __init__(self, handler: RotatingFileHandler) -> None:
        self._logger = logging.Logger("run")  # of its own, not among those of the process
        self._logger.addHandler(handler)
        self._told = 0.0

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Write a line."""
        if text:
            self._logger.log(logging.WARNING if level == "warning" else logging.INFO, text)

    def progress(self, snapshot: Progress) -> None:
        """Write a line a minute."""
        if time.monotonic() - self._told >= PROGRESS_S:
            self._told = time.monotonic()
            p = snapshot
            left = f", {duration(p.eta_s)} left" if p.eta_s else ""
            self._logger.info(
                f"{p.phase}: {p.done:,} of {p.total:,}, {duration(p.audio_s)} of audio, "
                f"{p.x_realtime:.1f}x real time, {p.num_workers} workers{left}"
            )

    def download(self, snapshot: Download) -> None:
        """Nothing: its beginning is a note."""

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Nothing: what is wrong is a note."""

    def error(self, text: str, error: BaseException | None = None) -> None:
        """Write an error, with its stack trace if it is a bug."""
        self._logger.error(text, exc_info=error)


@contextmanager
def log_kept(folder: Path) -> Iterator[LogFile]:
    """A log in a folder: at most five files of 5 MB.

    Raises:
        OutputError: it cannot be written.
    """
    with writing(folder / LOG_FILE):
        handler = RotatingFileHandler(
            folder / LOG_FILE,
            maxBytes=MAX_BYTES,
            backupCount=NUM_OLD,
            encoding="utf-8",
            errors="backslashreplace",  # a name of a file may hold bytes that are no text
        )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    handler.handleError = lambda record: None  # type: ignore[method-assign]  # a full disk
    try:
        yield LogFile(handler)
    finally:
        with suppress(OSError):  # likewise
            handler.close()
