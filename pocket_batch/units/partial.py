"""The log of a unit in work: every attempt as it comes, so that a killed worker loses nothing.

A log is a chain of records: a line with a hash over all of the record and, as JSON, the length of
what follows; then an attempt with its FLAC file. Whatever was torn, cut or lost is found by its
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

from pocket_batch.errors import DamagedAudioError, OutputError, writing
from pocket_batch.rows import Sample
from pocket_batch.units.unit import sample_json, sample_of

SYNC_S = 10.0
MAX_HEAD = 300  # bytes of a line that gives lengths
MAX_LOGS = 100  # of one unit on one machine at once


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt in an open log: its record, and where its audio is (`num_bytes` 0 for none)."""

    sample: Sample
    log: BinaryIO
    offset: int
    num_bytes: int

    def audio(self) -> bytes:
        """The FLAC file, also of a log whose name another process removed meanwhile.

        Raises:
            DamagedAudioError: it is not what was logged.
        """
        try:
            data = os.pread(self.log.fileno(), self.num_bytes, self.offset)
        except OSError:
            data = b""  # a log that another machine removed
        if hashlib.sha256(data).hexdigest() != self.sample.audio_sha256:
            raise DamagedAudioError(
                f"{self.log.name}: the audio of {self.sample.key} is not what was logged. "
                "Run the same command again."
            )
        return data


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
        self._others: list[BinaryIO] = []  # kept open: whoever is first removes logs
        self._busy: set[Path] = set()
        self._synced = time.monotonic()

    def __enter__(self) -> Self:
        """Read all logs of the unit, and open one that no other process writes to.

        Raises:
            OutputError: none can be written.
        """
        try:
            with writing(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
                self._open_own()
                self._open_others()
            self._append({"mark": "begin"}, b"", b"")
        except OutputError:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(OSError, OutputError):  # every record was flushed
            if kind is not None and self._path.exists():
                self._append({"mark": "end"}, b"", b"")
        self._close()

    def _close(self) -> None:
        for file in (self._file, *self._others):
            if file is not None:
                with suppress(OSError):
                    file.close()  # and with it the lock

    def append(self, sample: Sample, audio: bytes | None) -> None:
        """Add an attempt.

        Raises:
            OutputError: the disk is full, or the folder is gone.
        """
        record = sample_json(sample)
        start = self._append({"record": len(record)}, record, audio or b"")
        assert self._file is not None
        found = Attempt(sample, self._file, start + len(record), len(audio or b""))
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
        """Remove all logs of the unit, which is done, and what killed processes left of its files.

        Others who are still at it keep theirs open, and find that the unit is done.

        Raises:
            OutputError: they cannot be removed.
        """
        with writing(self._folder):
            for path in (*self._paths(), *self._folder.glob(f"{self._unit_id}.*.part")):
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
            if not _lock(file, self._path):
                file.close()
                self._busy.add(self._path)
                continue
            self._file = file
            file.truncate(self._read(file))
            return
        raise OSError(f"{MAX_LOGS} processes write this unit")

    def _open_others(self) -> None:
        for path in self._paths():
            if path != self._path:
                with suppress(FileNotFoundError):  # whoever finished the unit removed it just now
                    file = path.open("rb", buffering=0)
                    self._others.append(file)
                    num_losses = self.num_losses
                    self._read(file)
                    if path in self._busy:
                        self.num_losses = num_losses  # that worker lives

    def _append(self, head: dict[str, Any], record: bytes, audio: bytes) -> int:
        """Write one record; returns where it starts, after its head."""
        assert self._file is not None
        body = record + audio
        told = json.dumps({**head, "bytes": len(body)}).encode()
        line = _digest(told, body) + b" " + told + b"\n"
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

    def _read(self, file: BinaryIO) -> int:
        """Take in a log; returns how much of it is whole."""
        end = 0
        alone = ""  # the row that is being spoken alone
        num_losses = 0
        reader = os.fdopen(os.dup(file.fileno()), "rb")  # with a buffer
        with reader:
            reader.seek(0)
            for head, start, body in _records(reader):
                end = start + len(body)
                if "alone" in head:
                    alone = str(head["alone"])
                    self.lonely[alone] += 1
                elif "mark" in head:
                    is_end = head["mark"] == "end"
                    num_losses = max(0, num_losses + (-1 if is_end else 1))
                    if is_end and self.lonely[alone]:
                        self.lonely[alone] -= 1  # it was not its fault that nothing came
                    alone = ""
                else:
                    self._take(file, int(head.get("record", 0)), start, body)
                    alone = ""
        self.num_losses += num_losses
        return end

    def _take(self, file: BinaryIO, num_record: int, start: int, body: bytes) -> None:
        try:
            sample = sample_of(body[:num_record])
        except ValueError:
            return  # of another version of this program: spoken again
        self.lonely.pop(sample.key, None)
        found = Attempt(sample, file, start + num_record, len(body) - num_record)
        self.attempts[sample.key, sample.attempt] = found


def _lock(file: BinaryIO, path: Path) -> bool:
    """Whether a log is ours now: locked, and still the file of that name."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks: only a log that nobody has begun is surely ours.
        return os.fstat(file.fileno()).st_size == 0
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _records(file: BinaryIO) -> Iterator[tuple[dict[str, Any], int, bytes]]:
    """Head, place and content of each whole record, up to the first that is not."""
    while True:
        digest, _, told = file.readline(MAX_HEAD).removesuffix(b"\n").partition(b" ")
        try:
            head = json.loads(told)
            num_bytes = int(head["bytes"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        start = file.tell()
        body = file.read(num_bytes) if num_bytes >= 0 else b""
        if len(body) != num_bytes or _digest(told, body) != digest:
            return
        yield head, start, body


def _digest(told: bytes, body: bytes) -> bytes:
    return hashlib.sha256(told + b"\n" + body).hexdigest().encode()


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write without a buffer, so that nothing is left in it when the process is killed."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
