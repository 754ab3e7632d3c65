"""AudioFolder of the library `datasets`: a folder a split, with audio files and their metadata.

The metadata is Parquet: from CSV the library makes numbers of `007` and nothing of `NA`, from JSON
a time of `2024-01-01`.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.clip_files import (
    SPLITS,
    audio_name,
    json_line,
    orphans,
    read_audio,
    read_lines,
    text_of,
    write_clip,
    write_lines,
)
from pocket_batch.outputs.exports import Listed, SetFacts
from pocket_batch.outputs.tables import arrow_type, columns_of, row_of
from pocket_batch.rows import Clip

DESCRIPTION = "a folder a split with audio files and metadata.parquet, for `load_dataset`"
NEEDS_WAV = False
SAMPLING_RATE_HZ = None
NAME = "metadata"


class AudioFolder:
    """Writes audio as it comes, and the metadata of a split at the end."""

    def __init__(self, folder: Path, settings: ExportSettings, facts: SetFacts) -> None:
        self._folder = folder
        self._kind = settings.metadata
        self._facts = facts
        self._rows: dict[str, list[tuple[int, str, dict[str, Any]]]] = {}

    def add(self, clip: Clip) -> None:
        """Write the audio, and remember the row."""
        rows = self._rows.setdefault(clip.split, [])
        name = f"audio/{audio_name(len(rows), clip)}"
        write_clip(self._folder / clip.split, name, clip)
        rows.append((clip.position, clip.id, {"file_name": name, **row_of(clip, self._facts)}))

    def close(self) -> list[str]:
        """Write the metadata of each split, the rows in the order of the corpus."""
        for split, rows in self._rows.items():
            rows.sort(key=lambda row: row[:2])
            path = self._folder / split / f"{NAME}.{self._kind}"
            self._write(path, [row for _, _, row in rows])
        if self._kind == "parquet":
            return []
        return [
            f"From metadata.{self._kind} the library guesses types: texts such as 007, NA or "
            "2024-01-01 may come back as numbers, nothing or times. Parquet has no such trouble."
        ]

    def _write(self, path: Path, rows: list[dict[str, Any]]) -> None:
        if self._kind == "parquet":
            _write_parquet(path, rows, self._facts)
        elif self._kind == "jsonl":
            write_lines(path, map(json_line, rows))
        else:
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


def _write_parquet(path: Path, rows: list[dict[str, Any]], facts: SetFacts) -> None:
    import pyarrow
    import pyarrow.parquet

    own = [(name, arrow_type(kind)) for name, kind in columns_of(facts)]
    schema = pyarrow.schema([("file_name", pyarrow.string()), *own])
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), path)


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> AudioFolder:
    """See `Format`."""
    return AudioFolder(folder, settings, facts)


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    for split in SPLITS:
        found = sorted((folder / split).glob(f"{NAME}.*"))
        if len(found) > 1:
            problems.append(f"{split}: metadata of different kinds, which no reader takes")
        listed: set[str] = set()
        for where, values in _rows(found[0], problems) if found else ():
            name = text_of(values, "file_name") or ""
            if name in listed:
                problems.append(f"{split}/{where}: {name} is listed again")
            listed.add(name)
            yield Listed(
                where=f"{split}/{where}",
                id=text_of(values, "id") or Path(name).stem,
                text=text_of(values, "text") or "",
                split=split,
                speaker=text_of(values, "speaker"),
                duration_s=values.get("duration"),
                num_samples=None,
                sampling_rate_hz=values.get("sampling_rate"),
                audio=read_audio(folder / split / name) if name else None,
                columns=values,
            )
        if found:
            orphans(folder / split, listed, problems)


def _rows(path: Path, problems: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of metadata, each with its place."""
    if path.suffix == ".jsonl":
        yield from read_lines(path, problems)
    elif path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                yield f"{path.name}:{number}", {**row, "duration": None, "sampling_rate": None}
    else:
        import pyarrow
        import pyarrow.parquet

        try:
            table = pyarrow.parquet.read_table(path)
        except (pyarrow.ArrowException, OSError) as error:
            problems.append(f"{path.name}: not a whole Parquet file ({error})")
            return
        for number, row in enumerate(table.to_pylist(), 1):
            yield f"{path.name}:{number}", row
