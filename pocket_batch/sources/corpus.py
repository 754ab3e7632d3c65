"""Rows of text files and tables: a sentence a line, JSON Lines, CSV, TSV, Parquet.

Everything is read as a stream. Text stays text: `NA`, `007` and `2024-01-01` are what they look
like. A line that cannot be read is told with its number, and the others go on.
"""

import glob
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pocket_batch.errors import InputError, UsageError
from pocket_batch.rows import CorpusReject, CorpusRow
from pocket_batch.settings import CorpusSettings
from pocket_batch.sources.corpus_columns import Columns
from pocket_batch.sources.corpus_lines import BadLine, Record, lines_of
from pocket_batch.sources.corpus_tables import read_csv, read_json_lines, read_parquet

STDIN = "-"
_TABLES = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json_lines,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
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
    return [p for p in paths if is_corpus_file(p)]


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


def _rows_of(path: Path, settings: CorpusSettings) -> Iterator[CorpusRow | CorpusReject]:
    records, is_table = _records(path, settings)
    columns = Columns(settings, path.name) if is_table else None
    try:
        for record in records:
            if isinstance(record, BadLine):
                where = f"{path.name}:{record.number}"
                yield CorpusReject(where, "", record.text, record.reason, record.value)
            elif columns is None:
                text = str(record.values)
                if text.strip() and not text.lstrip().startswith("#"):
                    yield CorpusRow(text.strip(), f"{path.name}:{record.number}")
            else:
                yield from columns.rows(record)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from error


def _records(path: Path, settings: CorpusSettings) -> tuple[Iterator[Record | BadLine], bool]:
    """Lines or records of a file, and whether they have columns."""
    if str(path) == STDIN:
        if settings.text_column:
            return read_json_lines(path), True
        return _plain(path), False
    read = _TABLES.get(kind_of(path))
    return (read(path), True) if read else (_plain(path), False)


def _plain(path: Path) -> Iterator[Record | BadLine]:
    for line in lines_of(path):
        yield line if isinstance(line, BadLine) else Record(line.number, line.values)


def is_standard_input(path: Path) -> bool:
    """Whether it is `-`, and there is something that can be read."""
    return str(path) == STDIN and sys.stdin is not None
