"""Tables of clips as Arrow has them, for the formats of Hugging Face."""

import json
from typing import Any

from pocket_batch.outputs.clip_files import common_values
from pocket_batch.outputs.exports import ColumnType, SetFacts
from pocket_batch.rows import Clip

COMMON: tuple[tuple[str, ColumnType], ...] = (
    ("id", "string"),
    ("text", "string"),
    ("normalized_text", "string"),
    ("speaker", "string"),
    ("language", "string"),
    ("duration", "float64"),
    ("sampling_rate", "int32"),
)


def columns_of(facts: SetFacts) -> tuple[tuple[str, ColumnType], ...]:
    """The columns of a table of clips; one of the set that has a name of ours gets a `_`."""
    ours = {name for name, _ in COMMON} | {"audio", "file_name"}
    own = ((f"{name}_" if name in ours else name, kind) for name, kind in facts.columns)
    return (*COMMON, *own)


def arrow_type(kind: ColumnType) -> Any:
    """The Arrow type of a column."""
    import pyarrow

    return {
        "string": pyarrow.string(),
        "int32": pyarrow.int32(),
        "int64": pyarrow.int64(),
        "float32": pyarrow.float32(),
        "float64": pyarrow.float64(),
        "bool": pyarrow.bool_(),
    }[kind]


def row_of(clip: Clip, facts: SetFacts) -> dict[str, Any]:
    """The values of a clip by the names of `columns_of`."""
    common = common_values(clip)
    values = [common[name] for name, _ in COMMON]
    values += [_fitting(clip.columns.get(name), kind) for name, kind in facts.columns]
    return dict(zip((name for name, _ in columns_of(facts)), values, strict=True))


def _fitting(value: Any, kind: ColumnType) -> Any:
    """A value as its column wants it."""
    if value is None or kind != "string" or isinstance(value, str):
        return value
    return json.dumps(value)


def features(facts: SetFacts) -> dict[str, Any]:
    """The features of a table, as the library `datasets` describes them."""
    names = {"bool": "bool"}
    return {
        name: {"dtype": names.get(kind, kind), "_type": "Value"} for name, kind in columns_of(facts)
    }
