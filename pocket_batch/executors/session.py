"""The private folder, token and processes of a Ray instance of our own, and what old ones left.

The folder is locked while its driver lives, so a later run recognises one whose driver was killed,
ends the processes that were left behind there and removes it.
"""

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

PARENT = Path("/tmp")  # sockets lie below, and their paths may have 107 bytes in all
OLD_S = 3600.0


class SessionFolder:
    """A folder of this user alone, `path`, that exists and is locked until `close`."""

    def __init__(self) -> None:
        parent = PARENT if os.access(PARENT, os.W_OK) else Path(tempfile.gettempdir())
        prefix = f"pb-{os.getuid()}-"
        _remove_stale(parent, prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.token = self.path / "token"
        self.token.touch(mode=0o600)
        self.token.write_text(secrets.token_hex(32))

    def close(self) -> None:
        """End what still runs for this folder, and remove it."""
        _kill_and_remove(self.path)
        os.close(self._lock)


def _remove_stale(parent: Path, prefix: str) -> None:
    """Clean up after drivers that were killed: folders of this user that nobody holds locked."""
    for path in parent.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                continue
            if not (path / "lock").exists() and time.time() - found.st_mtime < OLD_S:
                continue  # perhaps just being made
            lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _kill_and_remove(path)
            finally:
                os.close(lock)


def _kill_and_remove(folder: Path) -> None:
    for pid in processes_of(folder):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder: Path) -> list[int]:
    """Processes of this user whose command line names a file in `folder`."""
    needle = f"{folder}/".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes().replace(b"\0", b"/") + b"/"
            is_ours = entry.stat().st_uid == os.getuid() and int(entry.name) != os.getpid()
            if needle in command and is_ours:
                found.append(int(entry.name))
    return found


@contextlib.contextmanager
def environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables, or unset those of None, for the time of a `with` block."""
    before = {name: os.environ.get(name) for name in changes}
    _apply(changes)
    try:
        yield
    finally:
        _apply(before)


def _apply(changes: Mapping[str, str | None]) -> None:
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
