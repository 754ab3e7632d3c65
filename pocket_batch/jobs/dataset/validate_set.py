"""Looks at the units of a set: rows, records, hashes and audio go together."""

import hashlib
from collections.abc import Callable, Iterator

from pocket_batch.errors import InputError
from pocket_batch.jobs.dataset.clips import ClipReader
from pocket_batch.jobs.dataset.export import splits_of
from pocket_batch.jobs.dataset.outcome import rows_of
from pocket_batch.jobs.dataset.problems import ClipChecks, Findings
from pocket_batch.jobs.dataset.record import read_run
from pocket_batch.jobs.dataset.tasks import planned_units
from pocket_batch.outputs.exports import Listed
from pocket_batch.rows import Unit
from pocket_batch.units.names import unit_file
from pocket_batch.units.store import Store
from pocket_batch.units.unit import read_done, read_unit

CHUNK = 2**20


def check_set(store: Store, tick: Callable[[float], None]) -> Findings:
    """Look at every unit of a set.

    Raises:
        InputError: its plan cannot be read.
    """
    findings = Findings()
    run = read_run(store)
    units = list(planned_units(store))
    ClipChecks(findings, tick).run(_clips(store, units, findings.problems))
    speakers = {s.get("name"): s.get("licence") for s in run.get("speakers", [])}
    for name in sorted(findings.speakers):
        if not speakers.get(name):
            findings.problems.append(f"run.json: no licence of the voice `{name}`")
    kept = run.get("statistics", {}).get("num_kept")
    total = findings.num_clips.total()
    if run.get("status") == "done" and kept != total:
        findings.problems.append(f"run.json: it counts {kept} utterances, and there are {total}")
    return findings


def _clips(store: Store, units: list[Unit], problems: list[str]) -> Iterator[Listed]:
    splits = ClipReader(store, splits_of(read_run(store)), with_augmented=False)
    for unit in units:
        where = unit_file(unit.id, "tar")
        done = read_done(store, unit.id)
        if done is None:
            problems.append(f"{where}: the unit is not done, or not as it was written")
            continue
        if _sha256(store, where) != done.sha256:
            problems.append(f"{where}: the file is not as it was written (SHA-256 differs)")
        rows = {row.key: row for row in rows_of(store, unit)}
        num_kept = 0
        try:
            for sample, audio in read_unit(store, unit.id):
                row = rows.pop(sample.key, None)
                if row is None:
                    problems.append(f"{where}: {sample.key}: no row has this key")
                    continue
                if sample.status != "kept":
                    continue
                num_kept += 1
                yield Listed(
                    where=f"{where}: {row.id}",
                    id=row.id,
                    text=row.text,
                    split=splits.split_of(row),
                    speaker=row.voice,
                    duration_s=sample.num_samples / sample.sampling_rate_hz,
                    num_samples=sample.num_samples,
                    sampling_rate_hz=sample.sampling_rate_hz,
                    audio=audio,
                )
        except InputError as error:
            problems.append(str(error))
        problems.extend(f"{where}: the row {row.id} is missing" for row in rows.values())
        if num_kept != done.num_kept:
            problems.append(f"{where}: {num_kept} utterances, and {done.num_kept} were written")


def _sha256(store: Store, name: str) -> str:
    digest = hashlib.sha256()
    with store.open(name) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
