"""A hidden folder beside the target: files are made in it and named only when they are finished."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pocket_batch.errors import LockedError, writing

MAX_NAME_BYTES = 200  # of the target's name kept in the folder's; names have at most 255 bytes


@contextmanager
def work_folder(target: Path) -> Iterator[Path]:
    """An empty folder on the disk of `target`, removed at the end with all that is left in it.

    Its name depends on `target` alone, so what a killed run left behind is removed by the next.

    Raises:
        LockedError: another run writes the same target.
        OutputError: it cannot be made, or what is done in it fails for want of space or permission.
    """
    name = os.fsdecode(os.fsencode(target.name)[:MAX_NAME_BYTES])
    folder = target.parent / f".{name}.part"
    with writing(target):
        folder.mkdir(parents=True, exist_ok=True)
        held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _lock(held, target)
            try:
                for left in folder.iterdir():
                    left.unlink()
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(held)


def _lock(folder: int, target: Path) -> None:
    """Hold an open folder; the kernel frees it when this process ends.

    Raises:
        LockedError: another run writes the same target.
    """
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise LockedError(
            f"{target} is being written by another run. Wait for it, or choose another -o."
        ) from error


def move(made: Path, target: Path) -> None:
    """Give a finished file its name, after it has reached the disk."""
    with made.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(made, target)


def replace_file(target: Path, data: bytes) -> None:
    """Write a small file, whole or not at all.

    Raises:
        OutputError: it cannot be written.
    """
    with work_folder(target) as folder:
        made = folder / target.name
        made.write_bytes(data)
        move(made, target)
