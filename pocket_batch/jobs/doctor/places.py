"""Disks and folders of this machine: room, permission, and where locks and sockets go."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pocket_batch.errors import UsageError
from pocket_batch.executors import session
from pocket_batch.executors.leases import runtime_folder
from pocket_batch.jobs.doctor.checks import Check, ok, problem, warning
from pocket_batch.jobs.doctor.subject import HERE, Subject
from pocket_batch.jobs.plan import WORK_BYTES_PER_S
from pocket_batch.words import size

SHARED = Path("/dev/shm")
MIN_SHARED_BYTES = 100 * 2**20  # what Ray's object store of ours takes
MIN_FREE_BYTES = 2 * 10**9
FULL_BYTES = 200 * 10**6
MIN_FILES = 20_000
MAX_CLOCK_S = 2.0
AUDIO_BYTES_PER_H = 3600 * (WORK_BYTES_PER_S + 24_000)  # of the work folder, and FLAC beside it


def nearest_folder(path: Path) -> Path:
    """The folder itself, or the deepest one above it that exists."""
    path = path.absolute()
    return next((p for p in (path, *path.parents) if p.is_dir()), Path("/"))


def disks(subject: Subject) -> Iterator[Check]:
    """Whether each place that is written to has permission and room."""
    places = {**subject.folders, "temporary files": Path(tempfile.gettempdir())}
    for what, path in places.items():
        folder = nearest_folder(path)
        name = f"{what} {path}"
        try:
            behind_s = _written(folder)
        except OSError as error:
            advice = "choose another place, change its permissions, or make room"
            tell = warning if what == HERE else problem
            yield tell("disk", f"{name} cannot be written ({error.strerror})", advice)
            continue
        yield _room(name, folder)
        if abs(behind_s) > MAX_CLOCK_S:
            found = f"{name}: the clock of its server is {-behind_s:+.1f} s off ours"
            yield warning("disk", found, "keep clocks together with NTP: locks use them")


def _written(folder: Path) -> float:
    """Write a file without a name into a folder; returns how far its time is behind ours, in s.

    Permissions alone do not tell: quotas and servers have a word as well.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        now = time.time()
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())
        return now - os.fstat(file.fileno()).st_mtime


def _room(name: str, folder: Path) -> Check:
    """How much more goes onto a disk."""
    free, state = shutil.disk_usage(folder).free, os.statvfs(folder)
    hours = free / AUDIO_BYTES_PER_H
    found = f"{name} has {size(free)} free, room for about {hours:,.0f} h of speech"
    if free < FULL_BYTES:
        return problem("disk", found, "make room, or choose another disk")
    if state.f_files and state.f_favail < MIN_FILES:
        found = f"{name} has room for {state.f_favail:,} more files only"
        return warning("disk", found, "remove files: each sentence is one until its book is done")
    if free < MIN_FREE_BYTES:
        return warning("disk", found, "make room, or choose another disk")
    return ok("disk", found)


def shared_memory(folder: Path = SHARED) -> Iterator[Check]:
    """Whether Ray's object store has its place; 64 MB, as in Docker, are too few."""
    if not folder.is_dir():
        return
    total = shutil.disk_usage(folder).total
    yield shared_check(total)


def shared_check(total_bytes: int, node: str = "") -> Check:
    """The verdict on the size of /dev/shm."""
    found = f"/dev/shm has {size(total_bytes)}"
    if total_bytes >= MIN_SHARED_BYTES:
        return ok("shared memory", found, node=node)
    advice = (
        "Ray uses slow files instead: start the container with --shm-size=1g, in Kubernetes mount "
        "an emptyDir of medium Memory there"
    )
    return warning("shared memory", found, advice, node)


def leases() -> Iterator[Check]:
    """Whether workers can agree on who has which core."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    note = ""
    if base and not os.access(base, os.W_OK | os.X_OK):
        note = f" (XDG_RUNTIME_DIR is {base}, which cannot be written)"
    try:
        yield ok("core leases", f"locks are in {runtime_folder()}{note}")
    except OSError as error:
        advice = "workers share cores by chance: set XDG_RUNTIME_DIR to a folder of yours alone"
        where = f" ({error.filename})" if error.filename else ""
        yield warning("core leases", f"{error.strerror or error}{where}{note}", advice)


def sockets() -> Iterator[Check]:
    """Whether a Ray of our own has a place with a short path."""
    parent = session.PARENT
    if not os.access(parent, os.W_OK):
        parent = Path(tempfile.gettempdir())
    folder = parent / f"pb-{os.getuid()}-01234567"
    try:
        session.check_sockets(folder)
    except UsageError as error:
        yield problem("sockets", str(error))
        return
    if os.access(parent, os.W_OK | os.X_OK):
        yield ok("sockets", f"Ray's sockets go into {parent}")
    else:
        yield problem("sockets", f"{parent} cannot be written", "set TMPDIR to a writable folder")


def home() -> Iterator[Check]:
    """A home that cannot be written is no harm by itself."""
    folder = os.path.expanduser("~")
    if os.access(folder, os.W_OK | os.X_OK):
        yield ok("home", f"{folder} can be written")
    else:
        found = f"{folder} cannot be written; runs write nothing there but caches"
        yield ok("home", found, "to keep caches, set XDG_CACHE_HOME and HF_HOME to other folders")
