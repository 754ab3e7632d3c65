"""Which column of a table is the text, and which are the id, the voice and the rest."""

import difflib
import json
from collections.abc import Iterator
from typing import Any

from pocket_batch.errors import UsageError
from pocket_batch.rows import CorpusReject, CorpusRow, Value
from pocket_batch.settings import CorpusSettings
from pocket_batch.sources.corpus_lines import MAX_SHOWN, Record

TEXT_NAMES = (
    "text", "sentence", "transcript", "transcription", "normalized_text", "raw_text", "utterance",
    "caption", "content", "prompt", "sentences",
)  # fmt: skip
ID_NAMES = ("id", "utt_id", "utterance_id", "segment_id", "sentence_id", "uid", "key")
SPLITS = {
    "train": "train", "training": "train", "dev": "validation", "val": "validation",
    "valid": "validation", "validation": "validation", "eval": "validation", "test": "test",
    "testing": "test",
}  # fmt: skip
_MISSING = object()


class Columns:
    """Takes rows out of the records of one file.

    A path such as `segments[].text` gives one row for each item of a list; other paths into the
    same list go along with it.
    """

    def __init__(self, settings: CorpusSettings, name: str) -> None:
        """`name` is that of the file."""
        self._settings = settings
        self._name = name
        self._text = settings.text_column or ""
        self._id = settings.id_column or ""
        self._is_checked = False

    def rows(self, record: Record) -> Iterator[CorpusRow | CorpusReject]:
        """The rows of one record.

        Raises:
            UsageError: a column that was asked for is not there, or none has text.
        """
        if not self._is_checked:
            self._choose(record.values)
        where = f"{self._name}:{record.number}"
        head, is_list, _ = self._text.partition("[]")
        if not is_list or not isinstance(items := _value(record.values, head), list):
            yield self._row(record.values, None, where)
            return
        for number, item in enumerate(items, 1):
            yield self._row(record.values, (head, item), f"{where}.{number}")

    def _choose(self, values: dict[str, Any]) -> None:
        """Find text and id by their usual names, and look for all that was asked for."""
        wanted = self._settings
        by_small = {str(name).casefold(): str(name) for name in reversed(values)}
        if not self._text:
            self._text = next((by_small[n] for n in TEXT_NAMES if n in by_small), "")
            if not self._text:
                raise UsageError(
                    f"{self._name}: none of the columns {', '.join(map(str, values))} is called "
                    "text, sentence or the like. Name one with --text-column."
                )
        if not self._id:
            self._id = next((by_small[n] for n in ID_NAMES if n in by_small), "")
        named = (wanted.text_column, wanted.id_column, wanted.voice_column, wanted.split_column)
        for column in (*named, wanted.group_by, *wanted.keep_columns):
            if column and column.partition(".")[0].partition("[]")[0] not in values:
                raise UsageError(self._no_column(column, values))
        self._is_checked = True

    def _no_column(self, column: str, values: dict[str, Any]) -> str:
        near = difflib.get_close_matches(column, [str(name) for name in values], 1)
        meant = f" Did you mean `{near[0]}`?" if near else ""
        return (
            f"{self._name}: there is no column `{column}`.{meant} "
            f"The columns are {', '.join(map(str, values))}."
        )

    def _row(
        self, values: dict[str, Any], item: tuple[str, Any] | None, where: str
    ) -> CorpusRow | CorpusReject:
        settings = self._settings
        text = _text(self._found(values, item, self._text))
        row_id = _text(self._found(values, item, self._id)) or ""
        if text is None:
            return CorpusReject(where, row_id, "", "no_text", "")
        split = _text(self._found(values, item, settings.split_column)) or ""
        known = SPLITS.get(split.casefold().partition("-")[0].partition("_")[0], "")
        if split and not known:
            return CorpusReject(where, row_id, text[:MAX_SHOWN], "unknown_split", split)
        return CorpusRow(
            text=text.strip(),
            where=where,
            id=row_id,
            voice=_text(self._found(values, item, settings.voice_column)) or "",
            split=known,
            group=_text(self._found(values, item, settings.group_by)) or "",
            columns={
                name: _plain(self._found(values, item, name)) for name in settings.keep_columns
            },
        )

    def _found(
        self, values: dict[str, Any], item: tuple[str, Any] | None, column: str | None
    ) -> Any:
        """The value of a column; in the list that the text is in, that of the same item."""
        if not column:
            return None
        if item is not None:
            head, inner = item
            if column == f"{head}[]":
                return inner
            if column.startswith(f"{head}[]."):
                return _value(inner, column.removeprefix(f"{head}[]."))
        return _value(values, column)


def _value(values: Any, path: str) -> Any:
    """The value at `a.b`; a name with dots in it is found as it is."""
    if isinstance(values, dict) and path in values:
        return values[path]
    for name in path.split("."):
        values = values.get(name) if isinstance(values, dict) else None
    return values


def _text(value: Any) -> str | None:
    """A cell as text; None where there is nothing. Numbers are written as JSON writes them."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _plain(value: Any) -> Value:
    """A value for a column of the set; nested ones become JSON."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
