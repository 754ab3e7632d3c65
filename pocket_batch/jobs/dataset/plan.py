"""What a data set will be, before anything is spoken: its rows, in units.

Rows of one voice fall into buckets by the first bits of their keys. So a unit depends on the texts
it has and on nothing else: the same corpus in another order gives the same units, and a text more
changes one of them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

from pocket_batch.config import as_dict
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.errors import InputError, StoppedError, writing
from pocket_batch.executors.base import fingerprint
from pocket_batch.jobs.dataset.ids import row_id, short_hash
from pocket_batch.jobs.dataset.index import RowIndex
from pocket_batch.jobs.dataset.speakers import DatasetSpeakers
from pocket_batch.jobs.dataset.texts import SpokenText, Texts, rejected
from pocket_batch.jobs.dataset.voices import Assignment
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.manifest import content_key, request_seed
from pocket_batch.rows import CorpusReject, Row, Split, Unit
from pocket_batch.text.groups import split_of, text_group

ROWS, UNITS, REJECTS, PLAN = "rows.jsonl", "units.jsonl", "rejects.jsonl", "plan.json"
PLAN_FILES = (ROWS, UNITS, REJECTS, PLAN)  # in the order in which they are put into the set
KEY_DIGITS = 16  # hexadecimal ones that buckets are made by
MIN_UNIT = 64  # rows: fewer say too little about how fast a voice reads
FEW_UNITS = 8  # of one voice: so many are made of a small set, to keep some workers busy


@dataclass(slots=True)
class DatasetPlan:
    """The summary of a plan: `plan.json`. `voices` are those that have rows."""

    fingerprint: str
    num_rows: int = 0
    num_units: int = 0
    rejects: dict[str, int] = field(default_factory=dict)
    by_voice: dict[str, int] = field(default_factory=dict)
    letters_by_voice: dict[str, int] = field(default_factory=dict)
    by_split: dict[str, int] = field(default_factory=dict)

    @property
    def voices(self) -> list[str]:
        """Names of the voices that have rows, sorted."""
        return sorted(self.by_voice)


class Planner:
    """Makes the files of a plan in a folder of this machine."""

    def __init__(
        self,
        pipeline: DatasetPipeline,
        paths: Sequence[Path],
        speakers: DatasetSpeakers,
        reporter: Reporter,
        should_stop: Callable[[], bool],
    ) -> None:
        """Read nothing yet.

        Raises:
            UsageError: settings that do not go together.
        """
        self._pipeline = pipeline
        self._paths = paths
        self._speakers = speakers
        self._assignment = Assignment(pipeline.voices, pipeline.seed, speakers.by_name)
        self._meter = Meter(reporter, "planning", 0, 0.0, per_s=2.0)
        self._should_stop = should_stop
        self._rejects: Counter[str] = Counter()
        self._splits: Counter[str] = Counter()
        self._keys: dict[str, dict[str, str]] = {}
        self._num_texts = 0

    def make(self, folder: Path, fingerprint: str) -> DatasetPlan:
        """Write rows.jsonl, units.jsonl, rejects.jsonl and plan.json.

        Raises:
            InputError: a corpus cannot be read, or an id stands for two texts.
            UsageError: a column or a voice does not exist.
            StoppedError: `should_stop()` turned true.
            OutputError: the folder cannot be written.
        """
        plan = DatasetPlan(fingerprint)
        with (
            writing(folder),
            RowIndex(folder / "index.sqlite") as index,
            (folder / REJECTS).open("w", encoding="utf-8", errors="backslashreplace") as rejects,
        ):
            self._take_all(index, rejects)
            self._write_units(index, folder, plan)
        (folder / "index.sqlite").unlink()
        plan.rejects = dict(sorted(self._rejects.items()))
        plan.by_split = dict(sorted(self._splits.items()))
        with writing(folder):
            (folder / PLAN).write_text(json.dumps(asdict(plan), indent=1) + "\n", encoding="utf-8")
        return plan

    def _take_all(self, index: RowIndex, rejects: TextIO) -> None:
        engines = [speaker.engine for speaker in self._speakers.by_name.values()]
        texts = Texts(self._pipeline, self._paths, self._speakers.language, engines)
        for text in texts.run():
            if self._should_stop():
                raise StoppedError("Stopped while planning. Nothing was spoken yet.")
            self._meter.add(0.0)
            found = [text] if isinstance(text, CorpusReject) else self._take(text, index)
            for reject in found:
                self._rejects[reject.reason] += 1
                rejects.write(json.dumps(asdict(reject), ensure_ascii=False) + "\n")
        self._meter.finish()

    def _take(self, text: SpokenText, index: RowIndex) -> list[CorpusReject]:
        """Put the rows of a text into the index; what of them is left out comes back."""
        row, group = text.row, text_group(text.text)
        is_exact = self._pipeline.corpus.dedupe == "exact"
        same = short_hash(text.text if is_exact else group, 16)
        if row.id:
            index.check_id(f"{row.id} {text.part}", same, row.where)
        take, place = index.seen(f"{row.voice} {same}", row.where)
        if take and self._pipeline.corpus.dedupe != "keep":
            return [rejected(row, "duplicate", place)]
        kept_together = f"={row.group}" if row.group else group
        split: Split = row.split or split_of(kept_together, self._pipeline.splits)  # type: ignore[assignment]
        self._num_texts += 1
        rejects = []
        for voice in self._voices(row.voice, group, split):
            if voice not in self._speakers.by_name:
                rejects.append(rejected(row, "unknown_voice", voice))
            elif not self._assignment.may_speak(voice, split):
                rejects.append(rejected(row, "crosses_split", f"{voice} {split}"))
            else:
                is_fixed = bool(row.split) or self._assignment.is_by_split
                made = self._row(text, voice, take, kept_together, split if is_fixed else "")
                if index.add(made):
                    self._splits[split] += 1
                else:
                    rejects.append(rejected(row, "duplicate", "said as another text"))
        return rejects

    def _voices(self, asked: str, group: str, split: Split) -> tuple[str, ...]:
        """Who speaks a text: the voice that its row names, else those that are chosen."""
        return (asked,) if asked else self._assignment.voices_for(group, split)

    def _row(self, text: SpokenText, voice: str, take: int, group: str, split: str) -> Row:
        row = text.row
        seed = seed_of(self._pipeline.seed, text.spoken, voice, take)
        named = voice if self._assignment.several else ""
        return Row(
            key=content_key(text=text.spoken, seed=seed, **self._key_parts(voice)),
            id=row_id(row.id, text.text, named, text.part, take),
            source_id=row.id,
            position=self._num_texts - 1,
            where=row.where,
            text=text.text,
            spoken=text.spoken,
            voice=voice,
            language=self._speakers.language,
            group=group,
            split=split,
            take=take,
            seed=seed,
            columns=row.columns,
        )

    def _key_parts(self, voice: str) -> dict[str, str]:
        """What of a content key is the same for all rows of a voice."""
        if voice not in self._keys:
            speaker = self._speakers.by_name[voice]
            engine = speaker.engine
            own = {"voice": engine.voice_key(speaker.voice), "engine": engine.name}
            self._keys[voice] = own | engine.identity()
        return self._keys[voice]

    def _write_units(self, index: RowIndex, folder: Path, plan: DatasetPlan) -> None:
        """Write rows and units in the order of units: by the bits of their keys, then by voice."""
        settings = filters_hash(self._pipeline)
        counts = index.counts()
        buckets = sorted(
            (shard, voice)
            for voice, (num, _) in counts.items()
            for shard in shards_of(num, self._pipeline.unit_size)
        )
        offset = 0
        with (
            (folder / ROWS).open("wb") as rows,
            (folder / UNITS).open("w", encoding="utf-8") as units,
        ):
            for shard, voice in buckets:
                unit, lines = self._unit(index, voice, shard, offset, settings)
                if unit.num_rows:
                    rows.write(lines)
                    units.write(json.dumps(asdict(unit), ensure_ascii=False) + "\n")
                    offset += unit.num_bytes
                    plan.num_units += 1
        plan.num_rows = sum(num for num, _ in counts.values())
        plan.by_voice = {voice: num for voice, (num, _) in counts.items()}
        plan.letters_by_voice = {voice: letters for voice, (_, letters) in counts.items()}

    @staticmethod
    def _unit(
        index: RowIndex, voice: str, shard: str, offset: int, settings: str
    ) -> tuple[Unit, bytes]:
        found = list(index.rows(voice, *key_range(shard)))
        lines = "".join(f"{text}\n" for _, _, text in found).encode()
        unit_id = content_key(keys=" ".join(key for key, _, _ in found), settings=settings)
        letters = sum(number for _, number, _ in found)
        return Unit(unit_id, voice, shard, len(found), letters, offset, len(lines)), lines


def seed_of(job_seed: int, spoken: str, voice: str, take: int) -> int:
    """The seed of the first attempt at a row; each take of a text has its own."""
    name = f"{voice} take {take}" if take else voice
    return request_seed(job_seed, spoken, name, attempt=0)


def shards_of(num_rows: int, unit_size: int) -> list[str]:
    """The beginnings of keys, in bits, that divide rows into units of at most about `unit_size`.

    A small set gets some units all the same, so that several workers have something to do.
    """
    bits = 0
    while num_rows / 2**bits > unit_size:
        bits += 1
    while 2**bits < FEW_UNITS and num_rows / 2 ** (bits + 1) >= MIN_UNIT:
        bits += 1
    return [format(number, f"0{bits}b") if bits else "" for number in range(2**bits)]


def key_range(shard: str) -> tuple[str, str]:
    """`10` -> the first and the last key that begin with these bits, to `KEY_DIGITS` digits."""
    num_bits = 4 * KEY_DIGITS
    first = int(shard.ljust(num_bits, "0"), 2)
    last = int(shard.ljust(num_bits, "1"), 2)
    return f"{first:0{KEY_DIGITS}x}", f"{last:0{KEY_DIGITS}x}" + "g"  # beyond every digit


def filters_hash(pipeline: DatasetPipeline) -> str:
    """Of all that decides which attempt is kept."""
    return content_key(filters=json.dumps(as_dict(pipeline.filters), sort_keys=True))


def plan_fingerprint(
    pipeline: DatasetPipeline, inputs: Sequence[dict[str, object]], speakers: DatasetSpeakers
) -> str:
    """All that a plan depends on; what it will be used for, and where it is worked on, is not.

    Raises:
        ModelUnavailableError: a voice is not on this machine.
    """
    from importlib.metadata import version

    settings = as_dict(pipeline)
    for name in ("executor", "licence", "precision"):
        del settings[name]
    hashes = [str(found["sha256"]) for found in inputs]
    keys = [
        f"{name} {fingerprint(speaker.engine, (speaker.voice,))}"
        for name, speaker in sorted(speakers.by_name.items())
    ]
    return content_key(
        settings=json.dumps(settings, sort_keys=True),
        inputs=" ".join(hashes),
        voices=" ".join(keys),
        version=version("pocket-batch"),
    )


_ANEW = f"Remove {PLAN}, and run the command that made the set again."


def read_units(lines: Iterator[bytes]) -> Iterator[Unit]:
    """The units of `units.jsonl`.

    Raises:
        InputError: a line is damaged.
    """
    for number, line in enumerate(lines, 1):
        try:
            yield Unit(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise InputError(f"{UNITS}:{number}: not a unit ({error}). {_ANEW}") from error


def read_rows(lines: Iterator[bytes]) -> Iterator[Row]:
    """The rows of `rows.jsonl`, or of a part of it.

    Raises:
        InputError: a line is damaged.
    """
    for line in lines:
        try:
            yield Row(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise InputError(f"{ROWS}: not a row: {line[:60]!r} ({error}). {_ANEW}") from error
