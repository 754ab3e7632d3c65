"""Which column of a table is the text, and which are the id, the voice and the rest."""

import difflib
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pocket_batch.dataset_settings import CorpusSettings
from pocket_batch.errors import UsageError
from pocket_batch.rows import CorpusReject, CorpusRow, Value
from pocket_batch.sources.corpus_json import WrittenNumber
from pocket_batch.sources.corpus_lines import MAX_SHOWN, Record

TEXT_NAMES = (
    "text", "sentence", "transcript", "transcription", "normalized_text", "raw_text", "utterance",
    "caption", "content", "prompt", "sentences",
)  # fmt: skip
ID_NAMES = ("id", "utt_id", "utterance_id", "segment_id", "sentence_id", "uid", "key")
SPLITS = {
    "train": "train", "training": "train", "trn": "train", "dev": "validation",
    "val": "validation", "valid": "validation", "validation": "validation", "eval": "validation",
    "test": "test", "testing": "test", "tst": "test",
}  # fmt: skip
# White space that only lines and pages have; a text is one line.
_BREAKS = re.compile(r"\s*[\t-\r\x1c-\x1f\x85\u2028\u2029]\s*")
Bound = list[tuple[str, Any]]  # items of lists by their paths, the innermost first


def one_line(text: str) -> str:
    """A text without line ends and tabs."""
    return _BREAKS.sub(" ", text).strip()


def known_names(settings: CorpusSettings) -> set[str]:
    """Names of columns, in small letters, which a header is known by."""
    return {name.casefold() for name in (*TEXT_NAMES, *_wanted(settings))}


def _wanted(settings: CorpusSettings) -> list[str]:
    named = [settings.text_column, settings.id_column, settings.voice_column]
    named += [settings.split_column, settings.group_by, *settings.keep_columns]
    return list(dict.fromkeys(name for name in named if name))


class Columns:
    """Takes rows out of the records of one file.

    A path such as `segments[].text` gives one row for each item of a list, also of lists in lists;
    other paths into the same lists go along with it.
    """

    def __init__(self, settings: CorpusSettings, name: str) -> None:
        """`name` is that of the file."""
        self._settings = settings
        self._name = name
        self._text = settings.text_column or ""
        self._id = settings.id_column or ""
        self._missing = set(_wanted(settings))
        self._names: list[str] = []

    def choose(self, records: Sequence[dict[str, Any]], *, is_all: bool) -> None:
        """Find text and id by their usual names in the first records of a file.

        Raises:
            UsageError: no column has text, or, `is_all`, one that was asked for is not there.
        """
        if not records:
            return
        self._names = list(dict.fromkeys(str(name) for values in records for name in values))
        by_small = {name.casefold(): name for name in reversed(self._names)}
        if not self._text:
            self._text = next((by_small[n] for n in TEXT_NAMES if n in by_small), "")
        if not self._text:
            raise UsageError(
                f"{self._name}: none of the columns {', '.join(self._names)} is called "
                "text, sentence or the like. Name one with --text-column."
            )
        self._id = self._id or next((by_small[n] for n in ID_NAMES if n in by_small), "")
        for values in records:
            self._see(values)
        if is_all or self._text in self._missing:
            self.finish()

    def finish(self) -> None:
        """Look whether all that was asked for was in some record.

        Raises:
            UsageError: a column was in none.
        """
        for column in _wanted(self._settings):
            if column in self._missing and self._names:
                raise UsageError(self._no_column(column))

    def _see(self, values: dict[str, Any]) -> None:
        self._missing -= {column for column in self._missing if _has(values, column)}

    def _no_column(self, column: str) -> str:
        near = difflib.get_close_matches(column, self._names, 1)
        meant = f" Did you mean `{near[0]}`?" if near else ""
        return (
            f"{self._name}: there is no column `{column}`.{meant} "
            f"The columns are {', '.join(self._names)}."
        )

    def rows(self, record: Record) -> Iterator[CorpusRow | CorpusReject]:
        """The rows of one record; a list without items is a reject."""
        if self._missing:
            self._see(record.values)
        where = f"{self._name}:{record.number}"
        is_empty = True
        for place, bound in _items([("", record.values)], "", self._text, where):
            is_empty = False
            yield self._row(bound, place)
        if is_empty:
            row_id = _text(_found([("", record.values)], self._id)) or ""
            yield CorpusReject(where, row_id, "", "no_text", "empty list")

    def _row(self, bound: Bound, where: str) -> CorpusRow | CorpusReject:
        settings = self._settings
        text = _text(_found(bound, self._text))
        row_id = _text(_found(bound, self._id)) or ""
        if text is None:
            return CorpusReject(where, row_id, "", "no_text", "")
        split = _text(_found(bound, settings.split_column)) or ""
        known = split_named(split)
        if split and not known:
            return CorpusReject(where, row_id, text[:MAX_SHOWN], "unknown_split", split)
        return CorpusRow(
            text=one_line(text),
            where=where,
            id=row_id,
            voice=_text(_found(bound, settings.voice_column)) or "",
            split=known,
            group=_text(_found(bound, settings.group_by)) or "",
            columns={name: _plain(_found(bound, name)) for name in settings.keep_columns},
        )


def split_named(name: str) -> str:
    """`train.clean.100` -> `train`, `dev_other` -> `validation`; empty if it names none, or two."""
    words = re.findall(r"[^\W\d_]+", name.casefold())
    found = {SPLITS[word] for word in words if word in SPLITS}
    return found.pop() if len(found) == 1 else ""


def _items(bound: Bound, path: str, rest: str, where: str) -> Iterator[tuple[str, Bound]]:
    """Every item of the lists on the way to a text, with its place."""
    head, mark, tail = rest.partition("[]")
    items = _found(bound, path + head) if mark else None
    if not isinstance(items, list):
        yield where, bound
        return
    path += f"{head}[]"
    for number, item in enumerate(items, 1):
        yield from _items([(path, item), *bound], path, tail, f"{where}.{number}")


def _found(bound: Bound, column: str | None) -> Any:
    """The value of a column; in the lists that the text is in, that of the same item."""
    for path, item in bound if column else ():
        if column == path:
            return item
        if not path:
            return _value(item, str(column))
        if str(column).startswith(f"{path}."):
            return _value(item, str(column).removeprefix(f"{path}."))
    return None


def _value(values: Any, path: str) -> Any:
    """`meta.text` of nested objects; None where there is nothing."""
    if isinstance(values, dict) and path in values:
        return values[path]
    for name in path.split("."):
        values = values.get(name) if isinstance(values, dict) else None
    return values


def _has(values: Any, path: str) -> bool:
    """Whether there is such a path, even with no value; a list without items may have any."""
    if not path or values is None:
        return True
    if isinstance(values, dict) and path in values:
        return True
    if path.startswith("[]"):
        return isinstance(values, list) and _has_any(values, path[2:].removeprefix("."))
    name = re.split(r"\.|\[\]", path, maxsplit=1)[0]
    if not isinstance(values, dict) or name not in values:
        return False
    return _has(values[name], path[len(name) :].removeprefix("."))


def _has_any(items: Iterable[Any], path: str) -> bool:
    items = list(items)
    return not items or any(_has(item, path) for item in items)


def _text(value: Any) -> str | None:
    """A cell as text; None where there is nothing. Numbers stay as they are written."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, WrittenNumber):
        return value.written
    if isinstance(value, float) and not math.isfinite(value):
        return None  # how tables of numbers say that there is nothing
    return json.dumps(value, ensure_ascii=False, default=str)


def _plain(value: Any) -> Value:
    """A value for a column of the set; nested ones become JSON."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
