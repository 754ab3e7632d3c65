"""The place of a data set: who holds it, its plan, its room, and what it needs no more."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pocket_batch.errors import InputError, LockedError, OutputError
from pocket_batch.jobs.dataset.plan import PLAN, PLAN_FILES, DatasetPlan
from pocket_batch.jobs.dataset.record import RUN_FILE
from pocket_batch.jobs.dataset.tasks import planned_units
from pocket_batch.jobs.progress import Reporter
from pocket_batch.units.names import unit_file
from pocket_batch.units.store import Store
from pocket_batch.units.unit import done_ids
from pocket_batch.words import plural, size
from pocket_batch.work_folder import WorkFolder

LOCKS = "locks"


@contextmanager
def held(store: Store, shard: tuple[int, int] | None) -> Iterator[Path | None]:
    """Hold a set, or one part of it, so that no other run does the same work.

    Yields the folder for the status of the run, None where the set is no folder.

    Raises:
        LockedError: another run holds it.
        OutputError: the folder cannot be written, or holds files of others.
    """
    if store.folder is None:
        yield None  # a store has no locks; whatever two runs make of a unit is the same
        return
    refuse_foreign(store)
    name = "all" if shard is None else f"{shard[0]}-of-{shard[1]}"
    lock = WorkFolder(store.folder / LOCKS / name)
    try:
        lock.acquire()
    except LockedError as error:
        raise LockedError(str(error).replace("--work", "-o")) from error
    try:
        yield store.folder if shard is None else lock.path
    finally:
        lock.release()


def refuse_foreign(store: Store) -> None:
    """Refuse a folder that holds something else than a set of ours.

    Raises:
        OutputError: it does, or cannot be read.
    """
    folder = store.folder
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file. Name a folder with -o.")
    known = (RUN_FILE, LOCKS, PLAN)
    try:
        is_ours = not folder.is_dir() or any((folder / name).exists() for name in known)
        if is_ours or not any(folder.iterdir()):
            return
    except OSError as error:
        raise OutputError(f"{folder} cannot be read ({error.strerror}).") from error
    raise OutputError(
        f"{folder} is not a data set of this program, and not empty. Name another folder with -o."
    )


def planned_here(store: Store, fingerprint: str) -> DatasetPlan | None:
    """The plan in a set, if it is the one that is wanted and whole."""
    if not all(store.exists(name) for name in PLAN_FILES):
        return None
    try:
        plan = DatasetPlan(**json.loads(store.read(PLAN)))
    except (ValueError, TypeError, InputError):
        return None
    return plan if plan.fingerprint == fingerprint else None


def put_plan(folder: Path, store: Store) -> None:
    """Put the files of a plan into a set; until the last one is there, the set has none.

    Raises:
        OutputError: they cannot be written.
    """
    store.remove(PLAN)
    for name in PLAN_FILES:
        store.put(folder / name, name)


def check_space(store: Store, num_bytes: float) -> None:
    """Make sure that the disk has room for what is still to be made.

    Raises:
        OutputError: naming what is needed and what is free.
    """
    if store.folder is None:
        return
    free = shutil.disk_usage(store.folder).free
    if free < num_bytes:
        raise OutputError(
            f"{store.url}: the set needs about {size(num_bytes)} more, and {size(free)} are free. "
            "Make room, or choose another disk with -o."
        )


def prune(store: Store, reporter: Reporter) -> None:
    """Remove finished units that are not in the plan.

    Raises:
        OutputError: one cannot be removed.
    """
    planned = {unit.id for unit in planned_units(store)}
    old = sorted(done_ids(store) - planned)
    for unit_id in old:
        store.remove(unit_file(unit_id, "done.json"))
        store.remove(unit_file(unit_id, "tar"))
    if old:
        reporter.note("pruned", f"Removed {plural(len(old), 'unit')} that the set no longer needs.")
