"""Rows of Parquet files, some at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.errors import InputError
from pocket_batch.sources.corpus_lines import BadLine, Record

BATCH_ROWS = 1024


def read_parquet(path: Path) -> Iterator[Record | BadLine]:
    """Rows of a Parquet file, without columns of bytes.

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
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: not a whole Parquet file ({error}).") from error


def _has_bytes(kind: Any) -> bool:
    """Whether a column holds audio or pictures, which nobody reads aloud."""
    import pyarrow.types as types

    if types.is_struct(kind):
        return any(_has_bytes(kind.field(i).type) for i in range(kind.num_fields))
    return bool(types.is_binary(kind) or types.is_large_binary(kind))
