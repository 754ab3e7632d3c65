"""Parquet with the audio inside, as the library `datasets` and model hubs have it.

Audio is stored as it is, all else packed; row groups are small enough for viewers to read.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.exports import Listed, SetFacts
from pocket_batch.outputs.tables import arrow_type, columns_of, features, row_of
from pocket_batch.outputs.tar_shards import check_numbers
from pocket_batch.rows import Clip

DESCRIPTION = "data/train-00000-of-00001.parquet ..., audio inside, for `load_dataset` and hubs"
NEEDS_WAV = False
SAMPLING_RATE_HZ = None
GROUP_ROWS = 200
GROUP_BYTES = 100_000_000  # more of it, and the viewers of hubs give up
_NAME = re.compile(r"(\w+(?:\.\w+)*)-(\d{5})-of-(\d{5})\.parquet$")


class ParquetShards:
    """Writes shards of one split after the other; they get their names when they are counted."""

    def __init__(self, folder: Path, settings: ExportSettings, facts: SetFacts) -> None:
        self._folder = folder / "data"
        self._folder.mkdir()
        self._max_bytes = settings.shard_bytes
        self._facts = facts
        self._shards: dict[str, list[Path]] = {}
        self._rows: list[dict[str, Any]] = []
        self._group_bytes = 0
        self._shard_bytes = 0
        self._split = ""
        self._writer: Any = None

    def add(self, clip: Clip) -> None:
        """Write the clip with the next row group."""
        is_full = self._shard_bytes and self._shard_bytes + len(clip.audio) > self._max_bytes
        if clip.split != self._split or is_full:
            self._end_shard()
            self._split = clip.split
        audio = {"bytes": clip.audio, "path": f"{clip.id}.{clip.suffix}"}
        self._rows.append({"audio": audio, **row_of(clip, self._facts)})
        self._group_bytes += len(clip.audio)
        self._shard_bytes += len(clip.audio)
        if len(self._rows) == GROUP_ROWS or self._group_bytes >= GROUP_BYTES // 2:
            self._end_group()

    def close(self) -> list[str]:
        """Finish the last shard, and name all of them."""
        self._end_shard()
        for split, paths in self._shards.items():
            for number, path in enumerate(paths):
                path.rename(self._folder / f"{split}-{number:05d}-of-{len(paths):05d}.parquet")
        return []

    def _end_group(self) -> None:
        import pyarrow
        import pyarrow.parquet

        if not self._rows:
            return
        schema = _schema(self._facts)
        if self._writer is None:
            paths = self._shards.setdefault(self._split, [])
            paths.append(self._folder / f"{self._split}-{len(paths):05d}.part")
            names = [name for name in _leaves(schema) if name != "audio.bytes"]
            self._writer = pyarrow.parquet.ParquetWriter(
                paths[-1],
                schema,
                compression={"audio.bytes": "NONE"} | dict.fromkeys(names, "SNAPPY"),
                use_dictionary=names,
                write_statistics=names,
            )
        table = pyarrow.Table.from_pylist(self._rows, schema)
        self._writer.write_table(table, row_group_size=len(self._rows))
        self._rows = []
        self._group_bytes = 0

    def _end_shard(self) -> None:
        self._end_group()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._shard_bytes = 0


def _leaves(schema: Any) -> list[str]:
    return ["audio.bytes", "audio.path", *(name for name in schema.names if name != "audio")]


def _schema(facts: SetFacts) -> Any:
    """The Arrow schema, with the description by which the library knows audio from bytes."""
    import pyarrow

    audio = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    own = [(name, arrow_type(kind)) for name, kind in columns_of(facts)]
    kinds = {
        "audio": {"sampling_rate": facts.sampling_rate_hz, "_type": "Audio"},
        **features(facts),
    }
    info = json.dumps({"info": {"features": kinds}})
    return pyarrow.schema([("audio", audio), *own], {"huggingface": info})


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> ParquetShards:
    """See `Format`."""
    return ParquetShards(folder, settings, facts)


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    import pyarrow
    import pyarrow.parquet

    data = folder / "data" if (folder / "data").is_dir() else folder
    shards: dict[str, list[tuple[int, int]]] = {}
    for path in sorted(data.glob("*.parquet")):
        match = _NAME.match(path.name)
        if match is None:
            problems.append(f"{path.name}: not named as split-00000-of-00001.parquet")
        else:
            shards.setdefault(match[1], []).append((int(match[2]), int(match[3])))
        try:
            with pyarrow.parquet.ParquetFile(path) as file:
                yield from _clips(file, path, match[1] if match else None, problems)
        except (pyarrow.ArrowException, OSError) as error:
            problems.append(f"{path.name}: not a whole Parquet file ({error})")
    for split, numbers in shards.items():
        check_numbers([number for number, _ in numbers], f"{split} shards", problems)
        if any(total != len(numbers) for _, total in numbers):
            problems.append(f"{split}: {len(numbers)} shards, and their names say otherwise")


def _clips(file: Any, path: Path, split: str | None, problems: list[str]) -> Iterator[Listed]:
    if not file.metadata.num_rows:
        problems.append(f"{path.name}: no rows, which breaks the load of the whole set")
    if b"huggingface" not in (file.schema_arrow.metadata or {}):
        problems.append(f"{path.name}: no description of its features: audio loads as bytes")
    number = 0
    for batch in file.iter_batches(64):
        for row in batch.to_pylist():
            number += 1
            audio = row.pop("audio", None) or {}
            name = audio.get("path") or ""
            yield Listed(
                where=f"{path.name}:{number}",
                id=str(row.get("id") or Path(name).stem),
                text=str(row.get("text") or ""),
                split=split,
                speaker=row.get("speaker"),
                duration_s=row.get("duration"),
                num_samples=None,
                sampling_rate_hz=row.get("sampling_rate"),
                audio=audio.get("bytes"),
                columns=row,
            )
