"""The formats of a data set: the table of exporters, what each is given, and what reads it back.

An exporter gets clips of one split after the other (train, validation, test), each in the order of
the set, and writes the same bytes for the same clips. It writes into a folder that gets its
final name only when it is whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.errors import UsageError
from pocket_batch.rows import Clip, Value

ColumnType = Literal["string", "int32", "int64", "float32", "float64", "bool"]

EXPORTS = {
    "ljspeech": "pocket_batch.outputs.ljspeech",
    "piper": "pocket_batch.outputs.piper",
    "audiofolder": "pocket_batch.outputs.audiofolder",
    "parquet": "pocket_batch.outputs.parquet",
    "nemo": "pocket_batch.outputs.nemo",
    "nemo-tarred": "pocket_batch.outputs.nemo_tarred",
    "lhotse": "pocket_batch.outputs.lhotse",
    "lhotse-shar": "pocket_batch.outputs.lhotse_shar",
    "webdataset": "pocket_batch.outputs.webdataset",
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice of the set and what may be done with it."""

    name: str
    licence: str
    language: str
    description: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class SetFacts:
    """What an exporter knows of the whole set before the first clip.

    `columns` are those that every clip has besides its fields, with their types, in order. `name`
    is that of the set's folder. `num_clips` counts clips by split, without those of no clips.
    """

    name: str
    language: str
    licence: str
    speakers: tuple[Speaker, ...]
    columns: tuple[tuple[str, ColumnType], ...]
    num_clips: dict[str, int] = field(default_factory=dict)
    num_samples: dict[str, int] = field(default_factory=dict)
    sampling_rate_hz: int = 24_000


@dataclass(frozen=True, slots=True)
class Listed:
    """One clip as an export lists it, for the validator.

    `where` is the place of its line or member. `audio` is the whole file as found, None when it
    is missing. Fields that the format does not have are None.
    """

    where: str
    id: str
    text: str
    split: str | None
    speaker: str | None
    duration_s: float | None
    num_samples: int | None
    sampling_rate_hz: int | None
    audio: bytes | None = field(repr=False, default=None)
    columns: dict[str, Value] = field(default_factory=dict)


class Exporter(Protocol):
    """Writes one format into an empty folder."""

    def add(self, clip: Clip) -> None:
        """Write one clip."""
        ...

    def close(self) -> list[str]:
        """Finish all files; returns sentences about what the format cannot hold, to be told."""
        ...


class Format(Protocol):
    """The module of one format, as `EXPORTS` names it.

    Attributes:
        DESCRIPTION: one line for `--help`.
        NEEDS_WAV: it must hold WAV files, not FLAC.
        SAMPLING_RATE_HZ: what its readers expect, None for any.
    """

    DESCRIPTION: str
    NEEDS_WAV: bool
    SAMPLING_RATE_HZ: int | None

    def make_exporter(self, folder: Path, settings: ExportSettings, facts: SetFacts) -> Exporter:
        """An exporter into an empty folder that exists."""
        ...

    def read_back(self, folder: Path, problems: list[str]) -> Iterator[Listed]:
        """All clips that an export lists, without the library it is for.

        What is wrong with its files goes into `problems`, one line each with its place: an
        unreadable line, an audio file or member that is not listed or missing, a gap in the
        numbers of shards, a shard without rows.
        """
        ...


def check_format(name: str) -> None:
    """Refuse a format that does not exist.

    Raises:
        UsageError: naming those that do.
    """
    if name not in EXPORTS:
        raise UsageError(f"There is no format `{name}`. The formats are {', '.join(EXPORTS)}.")


def load_format(name: str) -> Format:
    """The module of a format, imported when it is asked for; `name` is a key of `EXPORTS`."""
    module: Format = import_module(EXPORTS[name])
    return module
