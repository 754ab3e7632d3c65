"""Room on the disks of a run, before it begins and while it works."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from pocket_batch.errors import OutputError
from pocket_batch.jobs.night.book import NightBook
from pocket_batch.jobs.plan import WORK_BYTES_PER_S, output_bytes_per_s
from pocket_batch.jobs.progress import Reporter
from pocket_batch.words import size

RESERVE_BYTES = 50_000_000  # for the files of books that are being finished, and the summary


def check_free(folders: Iterable[Path], reporter: Reporter) -> OutputError | None:
    """An error if a disk is nearly full, before what is in work fails on it."""
    by_disk: dict[int, Path] = {}
    for folder in folders:
        try:
            by_disk.setdefault(os.stat(folder).st_dev, folder)
        except OSError:
            continue  # it is gone: whoever writes there next will tell
    frees = {folder: shutil.disk_usage(folder).free for folder in by_disk.values()}
    if not frees:
        return None
    folder, free = min(frees.items(), key=lambda item: item[1])
    reporter.note("disk", "", free_bytes=free)  # for machines alone
    if free >= RESERVE_BYTES:
        return None
    return OutputError(
        f"{folder}: only {size(free)} are free. All that was spoken is kept: free some space and "
        "run the same command again."
    )


def warn_of_space(books: list[NightBook], reporter: Reporter) -> None:
    """Say beforehand that not all books will fit; those that fit are made all the same."""
    needs: dict[int, float] = {}
    places: dict[int, Path] = {}
    for book in filter(lambda book: book.is_held, books):
        work = book.prepared.work.path
        disk = os.stat(work).st_dev
        places.setdefault(disk, work.parent)
        per_s = output_bytes_per_s(book.prepared.job.pipeline)
        needed = book.prepared.plan.audio_s * per_s + book.missing_audio_s * WORK_BYTES_PER_S
        needs[disk] = needs.get(disk, RESERVE_BYTES) + needed
    for disk, needed in needs.items():
        free = shutil.disk_usage(places[disk]).free
        if free < needed:
            reporter.note(
                "space",
                f"{places[disk]}: all books together need about {size(needed)}, and {size(free)} "
                "are free. The run stops when the disk is nearly full.",
                "warning",
            )
