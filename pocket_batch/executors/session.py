"""The private folder, token and processes of a Ray instance of our own, and what old ones left.

The folder is locked while its driver lives, so a later run recognises one whose driver was killed,
ends the processes that were left behind there and removes it.
"""

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
import signal
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

from pocket_batch.errors import UsageError

logger = logging.getLogger(__name__)

PARENT = Path("/tmp")  # sockets lie below, and their paths may have 107 bytes in all
KILL_S = 2.0  # a killed process is gone sooner, unless it waits for a disk
OLD_S = 3600.0
CONNECT_TIMEOUT_S = 5.0
TAKE_S = 0.05
LOOK_S = 0.2
MAX_PATH_BYTES = 107 - 64  # of a socket, less what Ray adds: /session_<time>_<pid>/sockets/...
DAEMONS = ("gcs_server", "raylet")
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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

    def kill(self) -> None:
        """End what still runs for this folder."""
        _kill(self.path)

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
    _kill(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _kill(folder: Path) -> None:
    """End all processes of a folder, also those that one of them starts meanwhile."""
    deadline = time.monotonic() + KILL_S
    while (pids := processes_of(folder)) and time.monotonic() < deadline:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def processes_of(folder: Path) -> list[int]:
    """Other processes that write to files in `folder`; by command line not all could be told."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int(entry.name) != os.getpid() and _writes_to(folder, entry / "fd"):
                found.append(int(entry.name))
    return found


class Daemons:
    """The two processes that an instance of ours cannot do without, from before it starts."""

    def __init__(self) -> None:
        self._others = _daemons()
        self._pids: set[int] = set()

    def have_ended(self) -> bool:
        """Whether one of them is gone, or only waits for us to take notice."""
        if len(self._pids) < len(DAEMONS):
            self._pids |= _daemons() - self._others
        return any(map(_has_ended, self._pids))


def _daemons() -> set[int]:
    """Children of this process that go by these names."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, _, parent = _stat(int(entry.name))
            if name in DAEMONS and parent == os.getpid():
                found.add(int(entry.name))
    return found


def _has_ended(pid: int) -> bool:
    try:
        return _stat(pid)[1] == "Z"
    except OSError:
        return True


def _stat(pid: int) -> tuple[str, str, int]:
    """Name, state and parent of a process."""
    name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
    state, parent = rest.split()[:2]
    return name, state, int(parent)


def _writes_to(folder: Path, descriptors: Path) -> bool:
    """Whether a process, by its `/proc/N/fd`, has a file in the folder open for writing."""
    for link in descriptors.iterdir():
        with contextlib.suppress(OSError):
            is_writable = bool(link.lstat().st_mode & stat.S_IWUSR)
            if is_writable and os.readlink(link).startswith(f"{folder}/"):
                return True
    return False


@contextlib.contextmanager
def environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables, or unset those of None, and leave all as they were after a `with` block."""
    before = dict(os.environ)
    _apply(changes)
    try:
        yield
    finally:
        _apply(dict.fromkeys(set(os.environ) - set(before)))
        _apply(before)


def _apply(changes: Mapping[str, str | None]) -> None:
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextlib.contextmanager
def kept_sigterm() -> Iterator[None]:
    """Keep what SIGTERM does while Ray starts, which sets a handler, or ends, which resets it.

    Stop signals go to a thread meanwhile, which calls their handlers: this takes seconds, and there
    are three to end in. Processes that are started now never take them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    is_over = threading.Event()
    taker = threading.Thread(target=_take_signals, args=(handlers, is_over), daemon=True)
    taker.start()
    try:
        yield
    finally:
        is_over.set()
        taker.join()
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _take_signals(handlers: Mapping[int, Any], is_over: threading.Event) -> None:
    """Wait for stop signals, whose own handlers Ray replaces."""
    while not is_over.is_set():
        taken = signal.sigtimedwait(STOP_SIGNALS, TAKE_S)
        if taken is not None and callable(handlers[taken.si_signo]):
            handlers[taken.si_signo](taken.si_signo, None)


def check_sockets(folder: Path) -> None:
    """Refuse a folder whose path is too long for what Ray puts there.

    Raises:
        UsageError: with what to do instead.
    """
    if len(os.fsencode(folder)) > MAX_PATH_BYTES:
        raise UsageError(
            f"Sockets of Ray cannot be put into {folder}: its path has more than {MAX_PATH_BYTES} "
            "bytes. Set TMPDIR to a folder with a short path, or use `--executor local`."
        )


def check_address(address: str) -> None:
    """Find out quickly whether anything listens at `host:port`; `auto` is left to Ray.

    Raises:
        OSError: nothing answers there.
        ValueError: not an address of this form.
    """
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise ValueError("an address is `host:port` of the head node, or `auto`")
    socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S).close()


def within(
    timeout_s: float,
    action: Callable[[], None],
    is_vain: Callable[[], bool] = lambda: False,
    then: Callable[[], object] = lambda: None,
) -> None:
    """Run an action that cannot be interrupted, but not wait for it longer than that, and only
    while it is not in vain. Its thread runs `then` when it has ended.

    Raises:
        TimeoutError: it has not ended in time; it goes on in a thread of its own.
    """
    outcome: Future[None] = Future()

    def run() -> None:
        try:
            action()
            outcome.set_result(None)
        except Exception as error:
            logger.debug("joining a cluster failed", exc_info=True)
            outcome.set_exception(error)
        then()

    threading.Thread(target=run, daemon=True).start()
    deadline = time.monotonic() + timeout_s
    while not wait([outcome], LOOK_S).done:
        if is_vain() or time.monotonic() > deadline:
            raise TimeoutError
    outcome.result()
