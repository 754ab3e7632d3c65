"""Rows of text files and tables: a sentence a line, JSON Lines, CSV, TSV, Parquet.

Everything is read as a stream. Text stays text: `NA`, `007` and `2024-01-01` are what they look
like. A line that cannot be read is told with its number, and the others go on.
"""

import glob
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from pocket_batch.dataset_settings import CorpusSettings
from pocket_batch.errors import UsageError
from pocket_batch.rows import CorpusReject, CorpusRow
from pocket_batch.sources.corpus_columns import Columns, known_names, one_line
from pocket_batch.sources.corpus_csv import read_csv
from pocket_batch.sources.corpus_json import read_json
from pocket_batch.sources.corpus_lines import MAX_SHOWN, BadLine, Record, lines_of
from pocket_batch.sources.corpus_parquet import read_parquet

STDIN = "-"
HEAD_ROWS = 1000  # in which the columns of a table have to show
_JSON = (".jsonl", ".ndjson", ".json")
Read = Callable[[Path, CorpusSettings], Iterator[Record | BadLine]]
_TABLES: dict[str, Read] = {
    **dict.fromkeys(_JSON, lambda path, _: read_json(path)),
    **dict.fromkeys((".csv", ".tsv"), lambda path, wanted: read_csv(path, known_names(wanted))),
    ".parquet": lambda path, _: read_parquet(path),
}
_TEXTS = (".txt", ".text", ".lst")
BOOKS = (".epub",)


def is_corpus_file(path: Path) -> bool:
    """Whether a file has a suffix that is read here, or that of a book."""
    return kind_of(path) in {*_TABLES, *_TEXTS, *BOOKS}


def kind_of(path: Path) -> str:
    """`a.jsonl.gz` -> `.jsonl`."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == ".gz" else suffix


def expand_inputs(patterns: Sequence[str]) -> list[Path]:
    """The files of paths, folders and globs, each once, those of one pattern sorted.

    Raises:
        UsageError: one leads to nothing, or to a file of another kind.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        found.update(dict.fromkeys(_expanded(pattern)))
    return list(found)


def _expanded(pattern: str) -> list[Path]:
    if pattern == STDIN:
        return [Path(STDIN)]
    path = Path(pattern)
    if path.is_dir():
        paths = sorted(p for p in path.rglob("*") if p.is_file() and is_corpus_file(p))
        if not paths:
            raise UsageError(f"{pattern}: there is no corpus in this folder. {_kinds()}")
        return paths
    if path.exists():
        if not is_corpus_file(path):
            raise UsageError(f"{pattern} is not a corpus that can be read. {_kinds()}")
        return [path]
    paths = sorted(p for name in glob.glob(pattern, recursive=True) if (p := Path(name)).is_file())
    if not paths:
        raise UsageError(f"{pattern}: there is no such file.")
    found = [p for p in paths if is_corpus_file(p)]
    if not found:
        raise UsageError(f"{pattern}: none of these files is a corpus that can be read. {_kinds()}")
    return found


def _kinds() -> str:
    return f"Corpora are {', '.join(sorted({*_TABLES, '.txt', *BOOKS}))} files."


def read_corpus(
    paths: Sequence[Path], settings: CorpusSettings
) -> Iterator[CorpusRow | CorpusReject]:
    """The rows of some files, one after the other; books are not read here.

    Raises:
        UsageError: a column that was asked for is not there, or none has text.
        InputError: a file cannot be read.
    """
    for path in paths:
        yield from _rows_of(path, settings)


def _refuse_columns(path: Path, settings: CorpusSettings) -> None:
    """A column of a file that has none was meant for another file, or the file is another kind."""
    asked = (settings.text_column, settings.id_column, settings.voice_column)
    named = next(filter(None, (*asked, settings.split_column, settings.group_by)), None)
    if named:
        raise UsageError(
            f"{path.name} is plain text, a sentence a line: it has no column `{named}`. "
            "Leave the option out, or give a table."
        )


def _rows_of(path: Path, settings: CorpusSettings) -> Iterator[CorpusRow | CorpusReject]:
    read = _TABLES.get(kind_of(path))
    if read is None:
        _refuse_columns(path, settings)
        yield from _lines(path)
        return
    columns = Columns(settings, path.name)
    records = read(path, settings)
    head = list(islice(records, HEAD_ROWS))
    is_all = len(head) < HEAD_ROWS or kind_of(path) not in _JSON
    columns.choose([row.values for row in head if isinstance(row, Record)], is_all=is_all)
    for record in chain(head, records):
        if isinstance(record, BadLine):
            yield _reject(path, record)
        else:
            yield from columns.rows(record)
    columns.finish()


def _lines(path: Path) -> Iterator[CorpusRow | CorpusReject]:
    """A text a line; empty lines and those that begin with # are none."""
    for line in lines_of(path):
        if isinstance(line, BadLine):
            yield _reject(path, line)
        elif (text := one_line(line.values)) and not text.startswith("#"):
            yield CorpusRow(text, f"{path.name}:{line.number}")


def _reject(path: Path, line: BadLine) -> CorpusReject:
    shown, value = line.text[:MAX_SHOWN], line.value[:MAX_SHOWN]
    return CorpusReject(f"{path.name}:{line.number}", "", shown, line.reason, value)
