"""Rows on their way into a plan, on disk: a million of them take no more memory than a few.

What is kept: every row by voice and key, and the texts and ids that were seen.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from pocket_batch.errors import InputError
from pocket_batch.rows import Row

_TABLES = """
CREATE TABLE rows (voice TEXT, key TEXT, letters INTEGER, json TEXT, PRIMARY KEY (voice, key))
    WITHOUT ROWID;
CREATE TABLE texts (hash TEXT PRIMARY KEY, num INTEGER, place TEXT) WITHOUT ROWID;
CREATE TABLE ids (id TEXT PRIMARY KEY, hash TEXT, place TEXT) WITHOUT ROWID;
"""
_FAST = ("journal_mode=OFF", "synchronous=OFF", "cache_size=-65536", "temp_store=FILE")


def json_line(row: Row) -> str:
    """A row as JSON; half a character, which no file can hold, is escaped."""
    text = json.dumps(asdict(row), ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()


class RowIndex:
    """A data base in a file of its own; a context manager."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        for pragma in _FAST:  # it is thrown away when anything goes wrong
            self._db.execute(f"PRAGMA {pragma}")
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._db.close()

    def seen(self, text: str, place: str) -> tuple[int, str]:
        """How often a text was seen before, and where first; now once more."""
        found = self._db.execute("SELECT num, place FROM texts WHERE hash = ?", (text,)).fetchone()
        if found is None:
            self._db.execute("INSERT INTO texts VALUES (?, 1, ?)", (text, place))
            return 0, ""
        self._db.execute("UPDATE texts SET num = num + 1 WHERE hash = ?", (text,))
        return int(found[0]), str(found[1])

    def check_id(self, source_id: str, text: str, place: str) -> None:
        """Remember the text of an id.

        Raises:
            InputError: it was seen with another text.
        """
        found = self._db.execute(
            "SELECT hash, place FROM ids WHERE id = ?", (source_id,)
        ).fetchone()
        if found is None:
            self._db.execute("INSERT INTO ids VALUES (?, ?, ?)", (source_id, text, place))
        elif found[0] != text:
            raise InputError(
                f"The id `{source_id[:100]}` stands for two texts, at {found[1]} and at {place}. "
                "Give each its own, or name another column with --id-column."
            )

    def add(self, row: Row) -> bool:
        """Add a row; False when the same one is there already."""
        text = json_line(row)
        values = (row.voice, row.key, len(row.spoken), text)
        return (
            self._db.execute("INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?)", values).rowcount > 0
        )

    def counts(self) -> dict[str, tuple[int, int]]:
        """Rows and letters of each voice."""
        query = "SELECT voice, COUNT(*), SUM(letters) FROM rows GROUP BY voice ORDER BY voice"
        return {voice: (num, letters) for voice, num, letters in self._db.execute(query)}

    def rows(self, voice: str, first: str, last: str) -> Iterator[tuple[str, int, str]]:
        """Key, letters and JSON of the rows of a voice from one key to another, in order."""
        where = "voice = ? AND key BETWEEN ? AND ? ORDER BY key"
        query = f"SELECT key, letters, json FROM rows WHERE {where}"
        yield from self._db.execute(query, (voice, first, last))
