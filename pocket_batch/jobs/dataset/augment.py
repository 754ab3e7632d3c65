"""Adds variants to a finished set: noise, rooms, codecs, speed, gain. The originals stay.

What is done to a clip is drawn from a seed and its key, and recorded with it. By default only train
clips get variants: what a model is measured on stays what it was.
"""

import hashlib
import json
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pocket_batch.audio.augment import NOISES, Changes, changed
from pocket_batch.audio.clip import decode, encode
from pocket_batch.audio.pcm import Samples, to_int16
from pocket_batch.dataset_settings import AugmentSettings
from pocket_batch.errors import InputError, OutputError, StoppedError, writing
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.dataset.augmented import variant_file
from pocket_batch.jobs.dataset.clips import ClipReader
from pocket_batch.jobs.dataset.export import splits_of
from pocket_batch.jobs.dataset.outcome import rows_of
from pocket_batch.jobs.dataset.record import read_run
from pocket_batch.jobs.dataset.tasks import planned_units
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.rows import Row, Sample, Unit
from pocket_batch.units.store import Store
from pocket_batch.units.unit import add_member, new_tar, read_done, read_samples, read_unit

AUDIO = (".wav", ".flac", ".ogg", ".mp3", ".opus")
SETTINGS = "augment.json"


@dataclass(frozen=True, slots=True)
class AugmentResult:
    """How many variants there are now, and of which kinds of change."""

    num_variants: int
    kinds: dict[str, int]
    num_new: int


def augment_dataset(
    source: str,
    name: str,
    settings: AugmentSettings,
    reporter: Reporter,
    should_stop: Callable[[], bool] = lambda: False,
) -> AugmentResult:
    """Make the variants of a set, or go on with them.

    Args:
        source: the folder or URL of the set.
        name: of the augmentation; a set may have several.
        settings: what is done.
        reporter: shows how far it is.
        should_stop: ends it; units that are done are kept.

    Raises:
        InputError: it is no finished set, or a file of noise or of a room cannot be read.
        OutputError: an augmentation of that name was made with other settings, or it cannot be
            written.
        StoppedError: `should_stop()` turned true.
    """
    store = Store(source)
    run = read_run(store)
    if run.get("kind") != "dataset":
        raise InputError(f"{source} is not a data set of this program.")
    _keep_settings(store, name, settings)
    maker = _Maker(store, name, settings, ClipReader(store, splits_of(run), False))
    units = [unit for unit in planned_units(store) if read_done(store, unit.id) is not None]
    meter = Meter(reporter, "augmenting", len(units), 0.0)
    kinds: Counter[str] = Counter()
    num_new = num_variants = 0
    for unit in units:
        if should_stop():
            raise StoppedError("Stopped. The variants that are made are kept.")
        found, is_new = maker.make(unit)
        num_variants += len(found)
        num_new += len(found) * is_new
        for changes in found:
            kinds.update(k for k, v in changes.items() if v is not None and k != "seed")
        meter.add(0.0)
    meter.finish()
    return AugmentResult(num_variants, dict(sorted(kinds.items())), num_new)


def _keep_settings(store: Store, name: str, settings: AugmentSettings) -> None:
    """Remember the settings of an augmentation, and refuse others under its name."""
    path = f"augmented/{name}/{SETTINGS}"
    text = json.dumps(asdict(settings), indent=1) + "\n"
    if store.exists(path):
        if store.read(path) != text.encode():
            raise OutputError(
                f"{store.url}/augmented/{name} was made with other settings. "
                "Give the same ones, or another --name."
            )
    else:
        store.write(path, text.encode())


class _Maker:
    """Makes the variants of one unit after the other."""

    def __init__(
        self, store: Store, name: str, settings: AugmentSettings, reader: ClipReader
    ) -> None:
        self._store = store
        self._name = name
        self._settings = settings
        self._reader = reader
        self._noises = _files(settings.noise)
        self._rooms = _files(settings.rooms)

    def make(self, unit: Unit) -> tuple[list[dict[str, Any]], bool]:
        """The changes of all variants of a unit, and whether they were made now."""
        path = variant_file(self._name, unit.id)
        rows = {row.key: row for row in rows_of(self._store, unit)}
        wanted = {
            key: row
            for key, row in rows.items()
            if self._reader.split_of(row) in self._settings.splits
        }
        if self._store.exists(path):
            found = [asdict(self._changes(row, i)) for row, i in self._copies(unit, wanted)]
            return found, False
        return self._write(unit, wanted, path), True

    def _copies(self, unit: Unit, wanted: dict[str, Row]) -> Iterator[tuple[Row, int]]:
        for sample in read_samples(self._store, unit.id):
            if sample.status == "kept" and sample.key in wanted:
                for number in range(self._settings.copies):
                    yield wanted[sample.key], number

    def _write(self, unit: Unit, wanted: dict[str, Row], path: str) -> list[dict[str, Any]]:
        found = []
        with TemporaryDirectory(prefix="pocket-batch-") as folder:
            part = Path(folder) / "variants.tar"
            with writing(part), part.open("wb") as file, new_tar(file) as tar:
                for name, record, audio in self._variants(unit, wanted):
                    add_member(tar, f"{name}.flac", audio)
                    add_member(tar, f"{name}.json", json.dumps(record, sort_keys=True).encode())
                    found.append(json.loads(record["parameters"]))
            self._store.put(part, path)
        return found

    def _variants(
        self, unit: Unit, wanted: dict[str, Row]
    ) -> Iterator[tuple[str, dict[str, Any], bytes]]:
        """Name, record and FLAC file of each variant, in the order of the unit."""
        with ThreadPoolExecutor(usable_cores()) as threads:
            waiting: deque[Future[tuple[str, dict[str, Any], bytes]]] = deque()
            for sample, flac in read_unit(self._store, unit.id):
                if flac is None or sample.key not in wanted:
                    continue
                for number in range(self._settings.copies):
                    row = wanted[sample.key]
                    waiting.append(threads.submit(self._variant, row, sample, flac, number))
                    if len(waiting) > 4 * usable_cores():
                        yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _variant(
        self, row: Row, sample: Sample, flac: bytes, number: int
    ) -> tuple[str, dict[str, Any], bytes]:
        changes = self._changes(row, number)
        pcm, rate_hz = decode(flac)
        samples = pcm.astype(np.float32) * np.float32(1 / 32_768)  # (S,)
        impulse = _samples(changes.impulse, rate_hz) if changes.impulse else None
        is_file = changes.noise is not None and changes.noise not in NOISES
        noise = _samples(str(changes.noise), rate_hz) if is_file else None
        new = to_int16(changed(samples, rate_hz, changes, impulse, noise))
        variant_id = f"{row.id}_{self._name}{number + 1}"
        shown = replace(
            changes,
            impulse=Path(changes.impulse).name if changes.impulse else None,
            noise=Path(changes.noise).name if changes.noise else None,
        )
        record = {
            "row": asdict(replace(row, id=variant_id)),
            "original_id": row.id,
            "parameters": json.dumps(asdict(shown), sort_keys=True),
            "num_samples": len(new),
            "sampling_rate_hz": rate_hz,
        }
        return f"{sample.key}-{number}", record, encode(new, rate_hz, "flac")

    def _changes(self, row: Row, number: int) -> Changes:
        """What is done to one copy of a clip; each kind happens or not, but one does at least."""
        settings = self._settings
        seed = _seed(settings.seed, self._name, row.key, number)
        rng = np.random.Generator(np.random.PCG64(seed))
        kinds = [
            kind
            for kind, is_asked in (
                ("speed", settings.speed is not None),
                ("room", settings.room_s is not None or bool(self._rooms)),
                ("noise", settings.snr_db is not None),
                ("codec", bool(settings.codecs)),
                ("gain", settings.gain_db is not None),
            )
            if is_asked
        ]
        taken = {kind for kind in kinds if rng.random() < settings.probability}
        taken = taken or {str(rng.choice(kinds))}
        found: dict[str, Any] = {"seed": seed}
        if "speed" in taken:
            found["speed"] = _uniform(rng, settings.speed)
        if "room" in taken and self._rooms:
            found["impulse"] = str(rng.choice(self._rooms))
        elif "room" in taken:
            found["room_s"] = _uniform(rng, settings.room_s)
        if "noise" in taken:
            found["noise"] = str(rng.choice(self._noises or list(NOISES)))
            found["snr_db"] = _uniform(rng, settings.snr_db)
        if "codec" in taken:
            found["codec"] = str(rng.choice(settings.codecs))
        if "gain" in taken:
            found["gain_db"] = _uniform(rng, settings.gain_db)
        return Changes(**found)


def _uniform(rng: np.random.Generator, bounds: tuple[float, float] | None) -> float:
    low, high = bounds or (0.0, 0.0)
    return round(float(rng.uniform(low, high)), 3)


def _seed(seed: int, name: str, key: str, number: int) -> int:
    text = f"augment {seed} {name} {key} {number}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1


def _files(folder: str | None) -> list[str]:
    """The audio files of a folder, sorted, or one file.

    Raises:
        InputError: there are none.
    """
    if not folder:
        return []
    path = Path(folder)
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    found = [str(p) for p in files if p.suffix.lower() in AUDIO]
    if not found:
        raise InputError(f"{folder}: there is no audio in it ({', '.join(AUDIO)}).")
    return found


@lru_cache(maxsize=64)
def _samples(path: str, rate_hz: int) -> Samples:
    """A recording as mono samples at a rate; of several channels the first.

    Raises:
        InputError: it cannot be read.
    """
    import soundfile
    import soxr

    try:
        samples, own_hz = soundfile.read(path, dtype="float32", always_2d=True)  # (S, C)
    except (soundfile.LibsndfileError, OSError, RuntimeError) as error:
        raise InputError(f"{path} cannot be read ({error}).") from error
    mono = samples[:, 0]
    if not len(mono) or not mono.any():
        raise InputError(f"{path} is empty or silent.")
    found: Samples = soxr.resample(mono, own_hz, rate_hz).astype(np.float32)
    return found
