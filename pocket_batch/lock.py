"""A lock on a folder, among processes of one machine and of several.

The kernel holds it, and frees it when its process dies, however it dies. Where a shared file system
does not pass locks on to other machines, the owner's sign of life in the file does their work.
"""

import fcntl
import json
import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from pocket_batch.errors import LockedError, writing

PULSE_S = 10.0
DEAD_S = 60.0  # without a sign of life, an owner on another machine is taken for dead


class Lock:
    """A file that one process at a time holds; it names its owner."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None
        self._is_over = threading.Event()

    def take(self) -> None:
        """Take it, and give a sign of life every ten seconds from now on.

        Raises:
            LockedError: another run holds it; the message names its host, process and age.
            OutputError: the file cannot be written.
        """
        with writing(self._path):
            self._file = self._path.open("a+", encoding="utf-8")
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                silent_s = self._silent_s()
            except BlockingIOError:
                silent_s = 0.0
        owner = self._owner()
        is_elsewhere = owner.get("host") not in ("", None, socket.gethostname())
        if silent_s is not None and (silent_s == 0.0 or (is_elsewhere and silent_s < DEAD_S)):
            self._file.close()
            raise LockedError(_held(owner, silent_s))
        with writing(self._path):
            self._file.truncate(0)
            mine = {"host": socket.gethostname(), "pid": os.getpid(), "since": time.time()}
            self._file.write(json.dumps(mine))
            self._file.flush()
        threading.Thread(target=self._pulse, daemon=True).start()

    def release(self) -> None:
        """Give it back; the file stays, empty."""
        self._is_over.set()
        with suppress(OSError):
            self._file.truncate(0)
        self._file.close()

    def _pulse(self) -> None:
        while not self._is_over.wait(PULSE_S):
            with suppress(OSError):
                os.utime(self._path)

    def _silent_s(self) -> float | None:
        """Since when the owner in the file is silent, by the clock of the file system; None when
        there is no owner."""
        before = os.fstat(self._file.fileno())
        if not before.st_size:
            return None
        os.utime(self._file.fileno())
        return max(0.001, os.fstat(self._file.fileno()).st_mtime - before.st_mtime)

    def _owner(self) -> dict[str, Any]:
        self._file.seek(0)
        try:
            owner = json.loads(self._file.read())
        except ValueError:
            return {}
        return owner if isinstance(owner, dict) else {}


def _held(owner: dict[str, Any], silent_s: float) -> str:
    """Who holds a lock, in a sentence or two."""
    since = owner.get("since")
    age = f" for {_duration(time.time() - since)}" if isinstance(since, int | float) else ""
    who = f"process {owner.get('pid')} on {owner.get('host')}" if owner else "another process"
    text = f"in use by {who}{age}."
    if silent_s:
        text += (
            f" Its last sign of life is {silent_s:.0f} s old; after {DEAD_S:.0f} s it is taken for "
            "dead."
        )
    return text


def _duration(seconds: float) -> str:
    minutes = max(0, round(seconds / 60))
    if minutes < 1:
        return f"{max(0, round(seconds))} s"
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
