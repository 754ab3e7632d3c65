"""Rows of CSV, TSV and pipe files: quoted or not, with a header or as LJSpeech and Piper have them.

A row that is not quoted as it should be must not take others with it, so rows are found here, and
`csv` only takes each one apart.
"""

import csv
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from pocket_batch.errors import InputError
from pocket_batch.sources.corpus_lines import BadLine, Record, lines_of

MAX_ROW_LINES = 1000
_ONE_COLUMN = "\x1f"  # separates nothing
# Files without a header, by how many cells their first line has; quotes are letters there.
_HEADLESS = {2: ["id", "text"], 3: ["id", "text", "normalized_text"]}
_UNCLOSED = "a quote is opened and not closed"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What separates cells, and whether quotes keep them together."""

    delimiter: str
    is_quoted: bool
    names: list[str] | None = None  # of the columns, where no header tells them


def read_csv(path: Path, known: Collection[str]) -> Iterator[Record | BadLine]:
    """Rows under a header. In .tsv files, and without a header, quotes are letters like others.

    `known` are names of columns, in small letters, which a header is known by.

    Raises:
        InputError: the file cannot be read.
    """
    csv.field_size_limit(2**31 - 1)
    lines = _Lines(path)
    first = lines.peek()
    if first is None:
        return
    dialect = _dialect(path, first, known)
    names = dialect.names
    for row in _rows(lines, dialect):
        if names is None:
            names = _header(path, row)
        elif isinstance(row, BadLine):
            yield row
        else:
            yield _record(row, names)


class _Lines:
    """Lines of a file that can be given back; blank ones at its start are left out."""

    def __init__(self, path: Path) -> None:
        self._lines = lines_of(path)
        self._given_back: deque[Record | BadLine] = deque()

    def peek(self) -> str | None:
        """The first line with text in it; None if there is none."""
        for line in self._lines:
            if text_of(line).strip():
                self.give_back([line])
                return text_of(line)
        return None

    def give_back(self, lines: list[Record | BadLine]) -> None:
        self._given_back.extendleft(reversed(lines))

    def take(self) -> Record | BadLine | None:
        return self._given_back.popleft() if self._given_back else next(self._lines, None)


def text_of(line: Record | BadLine) -> str:
    """A line as text, with U+FFFD for what is none."""
    return line.text if isinstance(line, BadLine) else str(line.values)


@dataclass(slots=True)
class _Row:
    number: int
    cells: list[str]
    text: str


def _rows(lines: _Lines, dialect: Dialect) -> Iterator[_Row | BadLine]:
    is_header = dialect.names is None
    while (line := lines.take()) is not None:
        if text_of(line):
            yield _row(line, lines, dialect, is_header=is_header)
            is_header = False


def _header(path: Path, row: _Row | BadLine) -> list[str]:
    """Names of columns; a bad byte in one spoils no other."""
    if isinstance(row, BadLine):
        raise InputError(f"{path}:{row.number}: the header cannot be read ({row.value}).")
    return [name.strip() for name in row.cells]


def _row(
    line: Record | BadLine, lines: _Lines, dialect: Dialect, *, is_header: bool
) -> _Row | BadLine:
    """The row that begins with a line, of as many lines as its quotes hold together."""
    taken = [line]
    cells = _cells(taken, dialect)
    while cells is None and len(taken) < MAX_ROW_LINES and (more := lines.take()) is not None:
        taken.append(more)
        if '"' in text_of(more):  # nothing else closes a quote
            cells = _cells(taken, dialect)
    if not cells:
        lines.give_back(taken[1:])
        return BadLine(line.number, text_of(line), "bad_line", _UNCLOSED)
    bad = next((one for one in taken if isinstance(one, BadLine)), None)
    text = "\n".join(map(text_of, taken))
    if bad is not None and not is_header:
        return BadLine(bad.number, text, bad.reason, bad.value)
    return _Row(taken[-1].number, cells, text)


def _cells(lines: list[Record | BadLine], dialect: Dialect) -> list[str] | None:
    """The cells of a row; None if a quote is open at its end, nothing if it cannot be a row."""
    texts = [f"{text_of(line)}\n" for line in lines]
    texts[-1] = texts[-1][:-1]
    if not dialect.is_quoted or not any('"' in text for text in texts):
        return texts[0].split(dialect.delimiter)
    try:
        return next(csv.reader(texts, delimiter=dialect.delimiter, strict=True), [])
    except csv.Error as error:
        if "unexpected end" in str(error):
            return None
    if len(lines) > 1:
        return []
    return texts[0].split(dialect.delimiter)  # a word in quotes, such as `"Go," he said`


def _record(row: _Row, names: list[str]) -> Record | BadLine:
    """The cells of a row by name; of columns with the same name the first counts."""
    cells = row.cells
    if len(cells) > len(names) and '"' in row.text:  # in a file whose quotes are letters
        cells = _cells([Record(row.number, row.text)], Dialect("\t", is_quoted=True)) or cells
    while len(cells) > len(names) and not cells[-1]:
        cells = cells[:-1]
    if len(cells) > len(names):
        found = f"{len(cells)} cells, and {len(names)} columns"
        return BadLine(row.number, row.text, "bad_line", found)
    values: dict[str, str | None] = {}
    for name, cell in zip_longest(names, cells):
        values.setdefault(name, cell if cell is None else _unquoted(cell, row))
    return Record(row.number, values)


def _unquoted(cell: str, row: _Row) -> str:
    """A cell with doubled quotes is quoted, even where quotes are letters."""
    inner = cell[1:-1]
    is_quoted = len(cell) > 3 and cell[0] == cell[-1] == '"' and '""' in inner
    if is_quoted and cell in row.text and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return cell


def _dialect(path: Path, first: str, known: Collection[str]) -> Dialect:
    """What separates cells: by the suffix, or by what the first line has most of."""
    if ".tsv" in path.suffixes[-2:]:
        return Dialect("\t", is_quoted=first.startswith('"'))
    delimiter = max(",;\t|", key=first.count)
    cells = first.split(delimiter)
    if len(cells) == 1:
        return Dialect(_ONE_COLUMN, is_quoted=True)
    if not any(cell.strip(' "').casefold() in known for cell in cells):
        pipes = first.split("|")
        if len(pipes) in _HEADLESS:
            return Dialect("|", is_quoted=False, names=_HEADLESS[len(pipes)])
    return Dialect(delimiter, is_quoted=True)
