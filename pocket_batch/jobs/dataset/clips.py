"""A finished set as clips: rows of its plan joined with what its units have."""

import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from pocket_batch.audio.clip import Encoding, convert
from pocket_batch.dataset_settings import SplitSettings
from pocket_batch.errors import InputError, StoppedError
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.dataset.augmented import Variant, names_of, variants_of
from pocket_batch.jobs.dataset.outcome import rows_and_samples, rows_of
from pocket_batch.jobs.dataset.tasks import planned_units
from pocket_batch.outputs.exports import ColumnType, SetFacts, Speaker
from pocket_batch.rows import Clip, Row, Sample, Split, Unit, Value
from pocket_batch.text.groups import split_of
from pocket_batch.units.store import Store
from pocket_batch.units.unit import read_done, read_unit

SCORES: tuple[tuple[str, ColumnType], ...] = (
    ("peak_db", "float32"),
    ("rms_db", "float32"),
    ("letters_per_s", "float32"),
    ("words_per_s", "float32"),
    ("leading_silence_s", "float32"),
    ("trailing_silence_s", "float32"),
    ("longest_gap_s", "float32"),
)
HEARD: tuple[tuple[str, ColumnType], ...] = (
    ("wer", "float32"),
    ("cer", "float32"),
    ("heard", "string"),
)
AUGMENTED: tuple[tuple[str, ColumnType], ...] = (
    ("augmentation", "string"),
    ("original_id", "string"),
)
OWN: tuple[tuple[str, ColumnType], ...] = (
    ("source_id", "string"),
    ("seed", "int64"),
    ("attempt", "int32"),
)

# What a column of a corpus may not be called in an export: fields of a clip in any of the formats.
_FIELDS = (
    "id text normalized_text speaker language lang duration sampling_rate audio file_name split "
    "audio_filepath offset shard_id flac wav opus txt json __key__ __url__"
)
_TAKEN = {*_FIELDS.split(), *(name for name, _ in (*OWN, *SCORES, *HEARD, *AUGMENTED))}
_INT64 = range(-(2**63), 2**63)


@dataclass(slots=True)
class Census:
    """What a set has, counted before anything is written. `num_samples` is at the units' rates."""

    num_clips: Counter[str] = field(default_factory=Counter)
    num_samples: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    rates_hz: Counter[int] = field(default_factory=Counter)
    speakers: set[str] = field(default_factory=set)
    columns: dict[str, set[type]] = field(default_factory=dict)
    is_heard: bool = False
    is_augmented: bool = False
    num_missing: int = 0

    def add(self, row: Row, split: str, num_samples: int, rate_hz: int) -> None:
        """Count one clip."""
        self.num_clips[split] += 1
        self.num_samples[split] += num_samples
        self.seconds[split] = self.seconds.get(split, 0.0) + num_samples / rate_hz
        self.rates_hz[rate_hz] += 1
        self.speakers.add(row.voice)
        for name, value in row.columns.items():
            is_huge = isinstance(value, int) and value not in _INT64
            kind = str if is_huge else type(value)
            self.columns.setdefault(_free_name(name), set()).add(kind)

    def column_types(self) -> tuple[tuple[str, ColumnType], ...]:
        """All columns of the set with their types."""
        own = ((name, _type_of(kinds)) for name, kinds in sorted(self.columns.items()))
        heard = HEARD if self.is_heard else ()
        augmented = AUGMENTED if self.is_augmented else ()
        return (*OWN, *SCORES, *heard, *augmented, *own)


def _free_name(name: str) -> str:
    """`text` -> `text_`: a column of the corpus never takes the place of a field of ours."""
    return f"{name}_" if name.rstrip("_") in _TAKEN or name in _TAKEN else name


def _fitting(value: Value, kind: ColumnType) -> Value:
    """A value as its column wants it, so that every format gets the same type in every row."""
    if value is None:
        return None
    if kind == "string":
        text = value if isinstance(value, str) else json.dumps(value)
        return text.encode("utf-8", "replace").decode()  # half of a surrogate pair is no text
    if kind == "float64":
        return float(value) if math.isfinite(float(value)) else None  # JSON has no NaN
    return value


def _type_of(kinds: set[type]) -> ColumnType:
    """The type that holds all values of a column: text, unless all are of one other kind."""
    found = kinds - {type(None)}
    if found == {bool}:
        return "bool"
    if found == {int}:
        return "int64"
    return "float64" if found and found <= {int, float} else "string"


class ClipReader:
    """Reads the clips of a set, in its order."""

    def __init__(
        self,
        store: Store,
        splits: SplitSettings,
        with_augmented: bool = True,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._splits = splits
        self._augmentations = names_of(store) if with_augmented else []
        self._should_stop = should_stop

    def census(self) -> Census:
        """Count what there is, without reading audio.

        Raises:
            InputError: it is no set, or damaged.
        """
        found = Census()
        for unit in planned_units(self._store):
            if read_done(self._store, unit.id) is None:
                found.num_missing += unit.num_rows
                continue
            for row, sample in rows_and_samples(self._store, unit):
                self._check()
                if sample.status == "kept":
                    split = self.split_of(row)
                    found.add(row, split, sample.num_samples, sample.sampling_rate_hz)
                    found.is_heard |= sample.scores is not None and sample.scores.wer is not None
            for variant in self._variants(unit):
                row = variant.row
                found.add(row, self.split_of(row), variant.num_samples, variant.sampling_rate_hz)
                found.is_augmented = True
        return found

    def split_of(self, row: Row) -> Split:
        """The split of a row: its own, or by its group."""
        return row.split or split_of(row.group, self._splits)  # type: ignore[return-value]

    def read(self, facts: SetFacts, encoding: Encoding, split: str | None = None) -> Iterator[Clip]:
        """Clips with all columns of the set, encoded as is wanted.

        Args:
            facts: of the set.
            encoding: of the audio.
            split: only this one; None for all.

        Raises:
            InputError: it is no set, or damaged.
            AudioError: audio is damaged, or the encoding does not have its rate.
            StoppedError: `should_stop()` turned true.
        """

        def made(row: Row, values: dict[str, Value], flac: bytes, num: int, rate_hz: int) -> Clip:
            encoded = convert(flac, num, rate_hz, encoding)
            return Clip(
                id=row.id,
                split=self.split_of(row),
                text=row.text,
                normalized_text=row.spoken,
                speaker=row.voice,
                language=row.language,
                num_samples=encoded.num_samples,
                sampling_rate_hz=encoded.sampling_rate_hz,
                suffix=encoding.kind,
                audio=encoded.audio,
                columns={name: _fitting(values.get(name), kind) for name, kind in facts.columns},
                position=row.position,
            )

        with ThreadPoolExecutor(usable_cores()) as threads:
            waiting: deque[Future[Clip]] = deque()
            for found in self._found(split):
                self._check()
                waiting.append(threads.submit(made, *found))
                if len(waiting) > 4 * usable_cores():
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _found(self, split: str | None) -> Iterator[tuple[Row, dict[str, Value], bytes, int, int]]:
        """Rows with the values of their columns, and their FLAC files."""
        for unit in planned_units(self._store):
            if read_done(self._store, unit.id) is None:
                continue
            rows = {r.key: r for r in rows_of(self._store, unit)}
            keys = {key for key, row in rows.items() if split in (None, self.split_of(row))}
            if not keys:
                continue
            for sample, flac in read_unit(self._store, unit.id):
                if flac is not None and sample.key in keys:
                    row = rows[sample.key]
                    values = _values(row, sample)
                    yield row, values, flac, sample.num_samples, sample.sampling_rate_hz
            for variant in self._variants(unit):
                if split in (None, self.split_of(variant.row)):
                    extra: dict[str, Value] = {
                        "augmentation": variant.parameters,
                        "original_id": variant.original_id,
                    }
                    values = _own_columns(variant.row) | extra
                    audio = variant.read()
                    rate_hz = variant.sampling_rate_hz
                    yield variant.row, values, audio, variant.num_samples, rate_hz

    def _variants(self, unit: Unit) -> Iterator[Variant]:
        return variants_of(self._store, unit, self._augmentations)

    def _check(self) -> None:
        if self._should_stop():
            raise StoppedError("Stopped. The set is as it was; nothing was written.")


def _values(row: Row, sample: Sample) -> dict[str, Value]:
    """The values of all columns that may be in the set."""
    scores: dict[str, Value] = {}
    if sample.scores:
        scores = {name: getattr(sample.scores, name) for name, _ in (*SCORES, *HEARD)}
    own: dict[str, Value] = {
        "seed": sample.seed,
        "attempt": sample.attempt,
    }
    return {**_own_columns(row), **scores, **own}


def _own_columns(row: Row) -> dict[str, Value]:
    """The columns of the corpus by their names in the set, and the id that it had there."""
    columns = {_free_name(name): value for name, value in row.columns.items()}
    return {**columns, "source_id": row.source_id}


def facts_of(run: dict[str, Any], census: Census, sampling_rate_hz: int) -> SetFacts:
    """What an exporter is told, from `run.json` and the census.

    Raises:
        InputError: `run.json` is not that of a set.
    """
    try:
        speakers = tuple(Speaker(**values) for values in run["speakers"])
        return SetFacts(
            name=str(run["name"]),
            language=str(run["language"]),
            licence=str(run["licence"]),
            speakers=tuple(s for s in speakers if s.name in census.speakers),
            columns=census.column_types(),
            num_clips=dict(census.num_clips),
            num_samples=dict(census.num_samples),
            sampling_rate_hz=sampling_rate_hz,
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"run.json is not that of a data set ({error}).") from error
