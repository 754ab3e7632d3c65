"""What became of a plan, read from the records of its units."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Self

from pocket_batch.jobs.dataset.plan import ROWS, read_rows
from pocket_batch.jobs.dataset.record import SetStatistics
from pocket_batch.jobs.dataset.tasks import planned_units
from pocket_batch.rows import Row, Sample, Unit
from pocket_batch.units.store import Store
from pocket_batch.units.unit import read_done, read_samples

FAILURES = "failures.jsonl"


@dataclass(slots=True)
class Outcome:
    """Statistics of all units that are done. `num_missing` are those of this run that are not."""

    statistics: SetStatistics = field(default_factory=SetStatistics)
    num_missing: int = 0
    is_whole: bool = True
    first_failure: str = ""
    failed: list[Unit] = field(default_factory=list)

    @classmethod
    def of(cls, store: Store, shard: tuple[int, int] | None) -> Self:
        """Look at every unit of the plan; with a shard only its own are missing.

        Raises:
            InputError: the set cannot be read.
        """
        outcome = cls()
        own = {unit.id for unit in planned_units(store, shard)}
        for unit in planned_units(store):
            done = read_done(store, unit.id)
            if done is None:
                outcome.is_whole = False
                outcome.num_missing += unit.id in own
                continue
            outcome.statistics.add(done)
            if done.num_filtered or done.num_errors:
                outcome.failed.append(unit)
        return outcome

    def write_failures(self, store: Store) -> None:
        """Write `failures.jsonl`: every row that came to nothing, with its attempts.

        Raises:
            OutputError: it cannot be written.
        """
        lines = (
            json.dumps(
                {
                    "id": row.id,
                    "where": row.where,
                    "text": row.text,
                    "voice": row.voice,
                    "status": sample.status,
                    "error": sample.error,
                    "attempts": [
                        {name: getattr(reject, name) for name in reject.__slots__}
                        for reject in sample.rejects
                    ],
                },
                ensure_ascii=False,
            )
            for unit in self.failed
            for row, sample in rows_and_samples(store, unit)
            if sample.status != "kept"
        )
        text = "".join(f"{line}\n" for line in lines)
        store.write(FAILURES, text.encode("utf-8", "backslashreplace"))


def rows_of(store: Store, unit: Unit) -> list[Row]:
    """The rows of a unit, sorted by key.

    Raises:
        InputError: the plan cannot be read.
    """
    with store.open(ROWS) as file:
        file.seek(unit.offset)
        return list(read_rows(iter(BytesIO(file.read(unit.num_bytes)))))


def rows_and_samples(store: Store, unit: Unit) -> Iterator[tuple[Row, Sample]]:
    """The rows of a finished unit with what became of each."""
    samples = {sample.key: sample for sample in read_samples(store, unit.id)}
    for row in rows_of(store, unit):
        if row.key in samples:
            yield row, samples[row.key]
