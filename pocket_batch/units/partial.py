"""The log of a unit in work: every attempt as it comes, so that a killed worker loses nothing.

A log is a chain of records: a line of JSON that gives the length and the hash of what follows, and
then the record of an attempt with its FLAC file. Whatever was torn, cut or lost is found by its
hash, and cut off. Records come in any order; a log is never what the set is made of.
"""

import fcntl
import hashlib
import json
import os
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from pocket_batch.errors import OutputError, writing
from pocket_batch.rows import Sample
from pocket_batch.units.unit import sample_json, sample_of

SYNC_S = 10.0
MAX_HEAD = 300  # bytes of a line that gives lengths
MAX_LOGS = 100  # of one unit on one machine at once


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt in a log: its record, and where its audio is (`num_bytes` 0 for none)."""

    sample: Sample
    path: Path
    offset: int
    num_bytes: int

    def audio(self) -> bytes:
        """The FLAC file."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.num_bytes)


class PartialLog:
    """The log that one worker writes, and what all logs of the unit hold; a context manager.

    Attributes:
        attempts: by (key, number of the attempt).
        lonely: how often each key was begun alone and nothing came of it.
        num_losses: how often a worker began this unit and never said that it left it.
    """

    def __init__(self, folder: Path, unit_id: str) -> None:
        """Read nothing yet; logs are `folder/<unit id>.<host>-<n>.partial`."""
        self.attempts: dict[tuple[str, int], Attempt] = {}
        self.lonely: Counter[str] = Counter()
        self.num_losses = 0
        self._folder = folder
        self._unit_id = unit_id
        self._file: BinaryIO | None = None
        self._synced = time.monotonic()

    def __enter__(self) -> Self:
        """Read all logs of the unit, and open one that no other process writes to.

        Raises:
            OutputError: none can be written.
        """
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._open_own()
            for path in self._paths():
                if path != self._path:
                    self._read(path)
            self._append({"mark": "begin"}, b"", b"")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            with suppress(OSError, OutputError):  # every record was flushed
                if kind is not None and self._path.exists():
                    self._append({"mark": "end"}, b"", b"")
                self._file.close()  # and with it the lock

    def append(self, sample: Sample, audio: bytes | None) -> None:
        """Add an attempt.

        Raises:
            OutputError: the disk is full, or the folder is gone.
        """
        record = sample_json(sample)
        start = self._append({"record": len(record)}, record, audio or b"")
        found = Attempt(sample, self._path, start + len(record), len(audio or b""))
        self.attempts[sample.key, sample.attempt] = found
        self.lonely.pop(sample.key, None)

    def begin_alone(self, key: str) -> None:
        """Say, before it happens, that a row is spoken alone: if that is all, it was its fault.

        Raises:
            OutputError: as `append`.
        """
        self._append({"alone": key}, b"", b"")
        self.lonely[key] += 1

    def remove(self) -> None:
        """Remove all logs of the unit, which is done.

        Raises:
            OutputError: they cannot be removed.
        """
        with writing(self._folder):
            for path in self._paths():
                path.unlink(missing_ok=True)

    def sync(self) -> None:
        """Bring what was written to the disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self._unit_id}.*.partial"))

    def _open_own(self) -> None:
        """Take the first log of this machine that is free; a zombie may still hold another one."""
        host = socket.gethostname().replace(".", "-")
        for number in range(MAX_LOGS):
            self._path = self._folder / f"{self._unit_id}.{host}-{number}.partial"
            file = self._path.open("a+b", buffering=0)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                continue
            self._file = file
            file.truncate(self._read(self._path))
            return
        raise OSError(f"{MAX_LOGS} processes write this unit")

    def _append(self, head: dict[str, Any], record: bytes, audio: bytes) -> int:
        """Write one record; returns where it starts, after its head."""
        assert self._file is not None
        body = record + audio
        digest = hashlib.sha256(body).hexdigest()
        line = json.dumps({**head, "bytes": len(body), "sha256": digest}).encode() + b"\n"
        with writing(self._path):
            start = self._file.seek(0, os.SEEK_END)
            try:
                _write_all(self._file, line + body)
            except OSError:
                self._file.truncate(start)
                raise
            if time.monotonic() - self._synced > SYNC_S:
                self.sync()
        return start + len(line)

    def _read(self, path: Path) -> int:
        """Take in a log; returns how much of it is whole."""
        end = 0
        try:
            with path.open("rb") as file:
                for head, start, body in _records(file):
                    self._take(path, head, start, body)
                    end = start + len(body)
        except FileNotFoundError:
            pass  # whoever finished the unit removed it just now
        return end

    def _take(self, path: Path, head: dict[str, Any], start: int, body: bytes) -> None:
        if "alone" in head:
            self.lonely[str(head["alone"])] += 1
            return
        if "mark" in head:
            self.num_losses = max(0, self.num_losses + (1 if head["mark"] == "begin" else -1))
            return
        num_record = int(head["record"])
        sample = sample_of(body[:num_record])
        self.lonely.pop(sample.key, None)
        found = Attempt(sample, path, start + num_record, len(body) - num_record)
        self.attempts[sample.key, sample.attempt] = found


def _records(file: BinaryIO) -> Iterator[tuple[dict[str, Any], int, bytes]]:
    """Head, place and content of each whole record, up to the first that is not."""
    while True:
        line = file.readline(MAX_HEAD)
        try:
            head = json.loads(line)
            num_bytes, digest = int(head["bytes"]), head["sha256"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        start = file.tell()
        body = file.read(num_bytes) if num_bytes >= 0 else b""
        if len(body) != num_bytes or hashlib.sha256(body).hexdigest() != digest:
            return
        if "record" in head and not _is_sample(head, body):
            return
        yield head, start, body


def _is_sample(head: dict[str, Any], body: bytes) -> bool:
    try:
        sample_of(body[: int(head["record"])])
    except (ValueError, KeyError, TypeError):
        return False
    return True


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write without a buffer, so that nothing is left in it when the process is killed."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
