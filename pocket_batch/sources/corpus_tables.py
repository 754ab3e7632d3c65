"""Rows of tables with named columns, as dictionaries: JSON Lines, CSV, TSV, Parquet."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.errors import InputError
from pocket_batch.sources.corpus_lines import MAX_SHOWN, BadLine, Record, lines_of

# An LJSpeech line: `LJ001-0001|text|normalised text`, no header, quotes are letters.
_LJSPEECH = re.compile(r"[\w.\-/]+\|[^|]*\|[^|]*$")
_LJSPEECH_NAMES = ("id", "text", "normalized_text")
BATCH_ROWS = 1024


def read_json_lines(path: Path) -> Iterator[Record | BadLine]:
    """One object a line; a file that is one array of objects does as well.

    Raises:
        InputError: the file cannot be read.
    """
    for line in lines_of(path):
        if isinstance(line, BadLine):
            yield line
            continue
        text = line.values.strip()
        if line.number == 1 and text.startswith("["):
            yield from _array(path)
            return
        if text:
            yield _json_record(line.number, text)


def _json_record(number: int, text: str) -> Record | BadLine:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        return BadLine(number, text[:MAX_SHOWN], "bad_line", f"not JSON: {error}"[:MAX_SHOWN])
    if not isinstance(values, dict):
        return BadLine(number, text[:MAX_SHOWN], "bad_line", "not a JSON object")
    return Record(number, values)


def _array(path: Path) -> Iterator[Record | BadLine]:
    """A file that is one JSON array, which has to be read whole."""
    text = "\n".join(line.values for line in lines_of(path) if isinstance(line, Record))
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: it begins as a JSON array and is none ({error}).") from error
    for number, item in enumerate(items, 1):
        if isinstance(item, dict):
            yield Record(number, item)
        else:
            yield BadLine(number, str(item)[:MAX_SHOWN], "bad_line", "not a JSON object")


def read_csv(path: Path) -> Iterator[Record | BadLine]:
    """Rows under a header. In .tsv files, and in LJSpeech's, quotes are letters like others.

    Raises:
        InputError: the file cannot be read, or has a line of more than 100 million letters.
    """
    csv.field_size_limit(100_000_000)
    bad: list[BadLine] = []
    lines = _good_lines(path, bad)
    first = next(lines, None)
    if first is None:
        yield from bad
        return
    is_ljspeech = bool(_LJSPEECH.match(first))
    dialect = _dialect(path, first, is_ljspeech)
    reader = csv.reader(_chained(first, lines), **dialect)
    names = list(_LJSPEECH_NAMES) if is_ljspeech else None
    try:
        for cells in reader:
            yield from _taken(bad)
            if names is None:
                names = [name.strip() for name in cells]
            elif cells:
                yield _csv_record(reader.line_num, names, cells)
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not a table ({error}).") from error
    yield from _taken(bad)


def _csv_record(number: int, names: list[str], cells: list[str]) -> Record | BadLine:
    if len(cells) > len(names):
        found = f"{len(cells)} cells, and {len(names)} columns"
        return BadLine(number, "|".join(cells)[:MAX_SHOWN], "bad_line", found)
    return Record(number, dict(zip(names, cells, strict=False)))


def _dialect(path: Path, first: str, is_ljspeech: bool) -> dict[str, Any]:
    """What separates cells: by the suffix, or by what the header has most of."""
    if is_ljspeech:
        return {"delimiter": "|", "quoting": csv.QUOTE_NONE}
    if ".tsv" in path.suffixes[-2:]:
        is_quoted = first.startswith('"')
        return {"delimiter": "\t", "quoting": csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE}
    return {"delimiter": max(",;\t|", key=first.count)}


def _good_lines(path: Path, bad: list[BadLine]) -> Iterator[str]:
    for line in lines_of(path):
        if isinstance(line, BadLine):
            bad.append(line)
            yield "\n"  # keeps the numbers right; a row without cells is none
        else:
            yield f"{line.values}\n"


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _taken(bad: list[BadLine]) -> Iterator[BadLine]:
    while bad:
        yield bad.pop(0)


def read_parquet(path: Path) -> Iterator[Record | BadLine]:
    """Rows of a Parquet file, some at a time.

    Raises:
        InputError: it is none, or damaged.
    """
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = [f.name for f in file.schema_arrow if not _has_bytes(f.type)]
            for batch in file.iter_batches(BATCH_ROWS, columns=names):
                for values in batch.to_pylist():
                    number += 1
                    yield Record(number, values)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a whole Parquet file ({error}).") from error


def _has_bytes(kind: Any) -> bool:
    """Whether a column holds audio or pictures, which nobody reads aloud."""
    import pyarrow.types as types

    if types.is_struct(kind):
        return any(_has_bytes(kind.field(i).type) for i in range(kind.num_fields))
    return bool(types.is_binary(kind) or types.is_large_binary(kind))
