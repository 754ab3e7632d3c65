"""A lock on a folder, among processes of one machine and of several.

The kernel holds it, and frees it when its process dies, however it dies. Where a shared file system
does not pass locks on to other machines, the owner's sign of life in the file does their work.
"""

import fcntl
import json
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from pocket_batch.errors import LockedError, writing
from pocket_batch.words import duration

PULSE_S = 10.0
DEAD_S = 60.0  # without a sign of life, an owner on another machine is taken for dead


def leave_signals_alone() -> None:
    """Let stop signals go to other threads than this one, also where Ray has put its own handlers
    for a moment: those end the process."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))


class _Pulse:
    """One thread that gives the signs of life of all locks: a run may hold thousands."""

    def __init__(self) -> None:
        self._held: set[Lock] = set()  # which keeps their files open as well
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, lock: "Lock") -> None:
        with self._guard:
            self._held.add(lock)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)
                self._thread.start()

    def remove(self, lock: "Lock") -> None:
        with self._guard:
            self._held.discard(lock)

    def _beat(self) -> None:
        leave_signals_alone()
        while True:
            time.sleep(PULSE_S)
            with self._guard:
                held = list(self._held)
                if not held:
                    self._thread = None
                    return
            for lock in held:
                with suppress(OSError):
                    os.utime(lock.path)


_PULSE = _Pulse()


class Lock:
    """A file that one process at a time holds; it names its owner."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._file: Any = None

    def take(self) -> None:
        """Take it, and give a sign of life every ten seconds from now on.

        Raises:
            LockedError: another run holds it; the message names its host, process and age.
            OutputError: the file cannot be written.
        """
        with writing(self.path):
            self._file = self.path.open("a+", encoding="utf-8")
        try:
            self._take()
        except BaseException:
            with suppress(OSError):  # on a full disk it fails once more, and would hide why
                self._file.close()
            raise
        _PULSE.add(self)

    def _take(self) -> None:
        with writing(self.path):
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                silent_s = self._silent_s()
            except BlockingIOError:
                silent_s = 0.0
        owner = self._owner()
        is_elsewhere = owner.get("host") not in ("", None, socket.gethostname())
        if silent_s is not None and (silent_s == 0.0 or (is_elsewhere and silent_s < DEAD_S)):
            raise LockedError(_held(owner, silent_s))
        with writing(self.path):
            self._file.truncate(0)
            mine = {"host": socket.gethostname(), "pid": os.getpid(), "since": time.time()}
            self._file.write(json.dumps(mine))
            self._file.flush()

    def release(self) -> None:
        """Give it back; the file stays, empty."""
        _PULSE.remove(self)
        with suppress(OSError):
            self._file.truncate(0)
        self._file.close()

    def _silent_s(self) -> float | None:
        """Since when the owner in the file is silent, by the clock of the file system; None when
        there is no owner.

        The time of its last sign is put back: who only asks must not keep a dead owner alive.
        """
        file = self._file.fileno()
        before = os.fstat(file)
        if not before.st_size:
            return None
        os.utime(file)
        silent_s = os.fstat(file).st_mtime - before.st_mtime
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        return max(0.001, silent_s)

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
    age = (
        f" for {duration(max(0.0, time.time() - since))}" if isinstance(since, int | float) else ""
    )
    who = f"process {owner.get('pid')} on {owner.get('host')}" if owner else "another process"
    text = f"in use by {who}{age}."
    if silent_s:
        text += (
            f" Its last sign of life is {silent_s:.0f} s old; after {DEAD_S:.0f} s it is taken for "
            "dead."
        )
    return text
