"""Units as workers get them, read from the plan as they are asked for."""

from collections.abc import Iterator
from io import BytesIO

from pocket_batch.data import Request, Voice
from pocket_batch.errors import InputError
from pocket_batch.jobs.dataset.plan import ROWS, UNITS, read_rows, read_units
from pocket_batch.rows import Unit, UnitTask
from pocket_batch.units.store import Store
from pocket_batch.units.unit import read_samples


def planned_units(store: Store, shard: tuple[int, int] | None = None) -> Iterator[Unit]:
    """The units of the plan in a set; with `shard` (i, n) those of part i of n.

    Raises:
        InputError: there is no plan.
    """
    with store.open(UNITS) as file:
        for unit in read_units(iter(file)):
            if shard is None or int(unit.id[:16], 16) % shard[1] == shard[0]:
                yield unit


def unit_tasks(
    store: Store, units: Iterator[Unit], voices: dict[str, Voice], earlier: "Earlier"
) -> Iterator[UnitTask]:
    """The tasks of units, with the rows of each read when its turn comes.

    Raises:
        InputError: the plan is damaged.
    """
    with store.open(ROWS) as file:
        for unit in units:
            file.seek(unit.offset)
            data = file.read(unit.num_bytes)
            if len(data) < unit.num_bytes:
                raise InputError(f"{store.url}/{ROWS} is cut off. Run the command with --new-run.")
            voice = voices[unit.voice]
            requests = tuple(
                Request(row.key, row.key, row.spoken, voice, row.seed)
                for row in read_rows(iter(BytesIO(data)))
            )
            yield UnitTask(unit.id, unit.voice, requests, earlier.of(requests))


class Earlier:
    """Finished units that are not in the plan any more, and what they have.

    Made once a run: only their keys are held, 20 bytes each.
    """

    def __init__(self, store: Store, done: set[str], planned: set[str]) -> None:
        """Look into the units that are done and not planned."""
        self._unit_of: dict[bytes, str] = {}
        for unit_id in sorted(done - planned):
            try:
                for sample in read_samples(store, unit_id):
                    self._unit_of[bytes.fromhex(sample.key)[:12]] = unit_id
            except InputError:
                continue  # what it has is spoken again

    def of(self, requests: tuple[Request, ...]) -> tuple[str, ...]:
        """The units that have some of these rows."""
        found = {self._unit_of.get(bytes.fromhex(request.key)[:12]) for request in requests}
        return tuple(sorted(unit_id for unit_id in found if unit_id))
