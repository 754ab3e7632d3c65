"""Leases of CPU cores among all workers of a user on one machine.

A lease is an exclusive `flock` on the file `core-N.lock`, so the kernel frees it when the worker
dies, however it dies. Workers of other users, or in other containers, are not seen.
"""

import contextlib
import logging
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from pocket_batch.executors.cores import allowed_cpus, physical_cores

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

SELECTION_TIMEOUT_S = 2.0


class Lease:
    """The cores that this process holds, until `close` or its death."""

    def __init__(self, files: dict[int, int]) -> None:
        self._files = files
        self.cpus = tuple(sorted(files))

    def close(self) -> None:
        """Give the cores back."""
        while self._files:
            os.close(self._files.popitem()[1])
        self.cpus = ()

    def __enter__(self) -> "Lease":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def lease_cores(num_cores: int) -> Lease:
    """Lease physical cores that no other worker of this user holds, of one memory node if possible.

    Fewer, or none, when not enough are free or the folder of locks cannot be used: a warning says
    so, and the work goes on.
    """
    try:
        folder = runtime_folder()
        with _selection(folder):
            files = _lock_on_one_node(folder, num_cores)
    except OSError as error:
        logger.warning("CPU cores cannot be leased (%s); going on without.", error)
        return Lease({})
    if len(files) < num_cores:
        logger.warning(
            "%d of %d wanted CPU cores are free; other workers hold the rest.",
            len(files),
            num_cores,
        )
    return Lease(files)


def _lock_on_one_node(folder: Path, num_cores: int) -> dict[int, int]:
    """Lock cores, cpu -> open file, of the node with most free ones and then of the others."""
    locked: dict[int, dict[int, int]] = {}  # node -> cpu -> open file
    for cpu, node in physical_cores(allowed_cpus()).items():
        file = _lock(folder / f"core-{cpu}.lock")
        if file is not None:
            locked.setdefault(node, {})[cpu] = file
    nodes = sorted(locked.values(), key=len, reverse=True)
    free = [(cpu, file) for files in nodes for cpu, file in files.items()]
    for _, file in free[num_cores:]:
        os.close(file)
    return dict(free[:num_cores])


def _lock(path: Path) -> int | None:
    """Open and lock a file; None when another process holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    return file


@contextlib.contextmanager
def _selection(folder: Path) -> Iterator[None]:
    """One process at a time chooses, as choosing locks more cores than it keeps."""
    if fcntl is None:
        raise OSError("this system has no flock")
    deadline = time.monotonic() + SELECTION_TIMEOUT_S
    while (file := _lock(folder / "selection.lock")) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{folder}/selection.lock is held by another process")
        time.sleep(0.01)
    try:
        yield
    finally:
        os.close(file)


def runtime_folder() -> Path:
    """This user's private folder for locks; made when missing.

    Raises:
        OSError: it cannot be made, or is not a folder of this user alone.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if base and os.access(base, os.W_OK | os.X_OK):
        return private_folder(Path(base) / "pocket-batch")
    return private_folder(Path(tempfile.gettempdir()) / f"pocket-batch-{os.getuid()}")


def private_folder(path: Path) -> Path:
    """Make a folder that only this user can enter, or check that it is one.

    Raises:
        OSError: it cannot be made, is a link, or others may use it.
    """
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()  # not stat: in a shared folder another user may have put a link there
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{path} is not a folder of this user alone")
    return path
