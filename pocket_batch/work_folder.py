"""The folder beside an output that makes every run resumable."""

import shutil
from pathlib import Path

from pocket_batch.errors import LockedError, OutputError, writing
from pocket_batch.lock import Lock
from pocket_batch.manifest import write_atomic


class WorkFolder:
    """The folder beside the output that makes every run resumable. One run holds it at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: Lock | None = None

    def file(self, name: str) -> Path:
        """A file of the work folder by name, such as `segments.jsonl`."""
        return self.path / name

    def audio(self, key: str) -> Path:
        """Where the FLAC of an utterance lies."""
        return self.path.joinpath("audio", key[:2], f"{key}.flac")

    def store_audio(self, key: str, flac: bytes) -> None:
        """Write the FLAC of an utterance atomically."""
        path = self.audio(key)
        if not path.parent.is_dir():  # mostly it is, and to fail over that takes longer
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, flac)

    def acquire(self) -> None:
        """Make the folder and take its lock.

        Raises:
            LockedError: another run holds it.
            OutputError: the folder cannot be made or written, or it holds files of others.
        """
        if self.path.is_dir() and any(self.path.iterdir()) and not self.file("lock").is_file():
            raise OutputError(
                f"{self.path} is not a work folder of this program, and not empty. "
                "Name another one with --work."
            )
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(self.file("lock"))
        try:
            self._lock.take()
        except LockedError as error:
            self._lock = None
            raise LockedError(
                f"{self.path}: {error} Wait for it, or choose another with --work."
            ) from error

    def release(self) -> None:
        """Give the lock back."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def clear(self) -> None:
        """Remove what earlier runs left, for --fresh; the lock stays held."""
        for path in self.path.iterdir() if self.path.is_dir() else ():
            if path.name in WORK_FILES:
                with writing(path):
                    _remove(path)


def _remove(path: Path) -> None:
    """Remove a file, a link, or a folder with what is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


WORK_FILES = (
    "audio",
    "book.json",
    "dropped.jsonl",
    "segments.jsonl",
    "utterances.jsonl",
    "checks.jsonl",
    "cover",
    "failures.jsonl",
    "scores.jsonl",
    "chapters.jsonl",
    "timeline.jsonl",
    "measured.json",
    "quality.json",
    "read-along.part",
    "report.html",
    "run.json",
    "status.json",
)
