"""A hidden folder beside the target: files are made in it and named only when they are finished."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pocket_batch.errors import writing

MAX_NAME_BYTES = 200  # of the target's name kept in the folder's; names have at most 255 bytes


@contextmanager
def work_folder(target: Path) -> Iterator[Path]:
    """An empty folder on the disk of `target`, removed at the end with all that is left in it.

    Its name depends on `target` alone, so what a killed run left behind is removed by the next.

    Raises:
        OutputError: it cannot be made, or what is done in it fails for want of space or permission.
    """
    name = target.name.encode()[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    folder = target.parent / f".{name}.part"
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


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
