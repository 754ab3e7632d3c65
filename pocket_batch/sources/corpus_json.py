"""Rows of JSON: an object a line, one array, or objects written over many lines."""

import json
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from pocket_batch.errors import InputError
from pocket_batch.sources.corpus_lines import BadLine, Record, lines_of

_SPACE = " \t\r\n"


class WrittenNumber(float):
    """A number that remembers how it is written, such as `1.50`."""

    written: str

    def __new__(cls, written: str) -> "WrittenNumber":
        """`written` as JSON has it."""
        number = super().__new__(cls, written)
        number.written = written
        return number


# NaN is how tables without a value become JSON, and is no value.
_DECODER = json.JSONDecoder(parse_float=WrittenNumber, parse_constant=lambda _: None)


def read_json(path: Path) -> Iterator[Record | BadLine]:
    """One object a line; a file that is one array of objects does as well, or pretty-printed ones.

    Raises:
        InputError: the file cannot be read, or begins as an array and is none.
    """
    is_first = True
    for line in lines_of(path):
        text = (line.text if isinstance(line, BadLine) else line.values).strip()
        if is_first and text:
            is_first = False
            if _is_document(path, text):
                yield from _Document(path).items()
                return
        if isinstance(line, BadLine):
            yield line
        elif text:
            yield _record(line.number, text)


def _is_document(path: Path, first: str) -> bool:
    """Whether the first line shows that objects are not one a line."""
    if first[0] not in "[{":
        return False
    try:
        values = _DECODER.decode(first)
    except (ValueError, RecursionError):
        return first[0] == "[" or ".json" in path.suffixes[-2:]
    return isinstance(values, list) and any(isinstance(item, dict) for item in values)


def _record(number: int, text: str) -> Record | BadLine:
    try:
        values = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        return BadLine(number, text, "bad_line", f"not JSON: {error}")
    return _checked(number, text, values)


def _checked(number: int, text: str, values: Any) -> Record | BadLine:
    if not isinstance(values, dict):
        return BadLine(number, text, "bad_line", "not a JSON object")
    if "\\ud" in text or "\\uD" in text:  # may be half a character
        try:
            json.dumps(values, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return BadLine(number, text, "bad_encoding", "half a character")
    return Record(number, values)


class _Document:
    """A whole file of JSON values, in an array or one after the other."""

    def __init__(self, path: Path) -> None:
        lines = list(lines_of(path))
        texts = [line.text if isinstance(line, BadLine) else line.values for line in lines]
        self._path = path
        self._bad = [line for line in lines if isinstance(line, BadLine)]
        self._starts = [0, *accumulate(len(text) + 1 for text in texts)]
        self._text = "\n".join(texts)

    def items(self) -> Iterator[Record | BadLine]:
        """Each value that is an object, with its number in an array, or that of its line."""
        at = self._skip(0, "")
        is_array = self._text[at] == "["
        at = self._skip(at + is_array, "")
        number = 0
        while at < len(self._text) and not (is_array and self._text[at] == "]"):
            number += 1
            start = at
            value, at = self._value(start)
            shown = number if is_array else bisect_right(self._starts, start)
            yield self._item(shown, start, at, value)
            at = self._skip(at, "," if is_array else "")
        if is_array:
            yield from self._end(at)

    def _end(self, at: int) -> Iterator[BadLine]:
        if at >= len(self._text):
            raise InputError(f"{self._path}: it begins as a JSON array that does not end.")
        after = self._text[at + 1 :].strip()
        if after:
            line = bisect_right(self._starts, at)
            yield BadLine(line, after, "bad_line", "text after the end of the array")

    def _value(self, start: int) -> tuple[Any, int]:
        try:
            return _DECODER.raw_decode(self._text, start)
        except (ValueError, RecursionError) as error:
            line = bisect_right(self._starts, start)
            raise InputError(f"{self._path}:{line}: this is not JSON ({error}).") from error

    def _item(self, number: int, start: int, end: int, value: Any) -> Record | BadLine:
        """A value, unless a line of it has bytes that are no characters."""
        text = self._text[start:end]
        first, last = bisect_right(self._starts, start), bisect_right(self._starts, end - 1)
        if "\ufffd" in text and any(first <= bad.number <= last for bad in self._bad):
            return BadLine(number, text, "bad_encoding", f"line {first}")
        return _checked(number, text, value)

    def _skip(self, at: int, marks: str) -> int:
        while at < len(self._text) and self._text[at] in _SPACE + marks:
            at += 1
        return at
