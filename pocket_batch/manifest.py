"""Manifests (JSON Lines), atomic files, and content keys.

A manifest is appended a line at a time and flushed, so that a killed process loses at most the
line it was writing; a torn last line is dropped on reading.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, get_type_hints

from pocket_batch.errors import InputError, writing

T = TypeVar("T")

_PLAIN: dict[Any, Any] = {str: str, int: int, float: (int, float)}


def content_key(**parts: str | int | float) -> str:
    """SHA-256 (hex) over named parts; never a position, a path, a time or a host."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def request_seed(job_seed: int, text: str, voice: str, attempt: int) -> int:
    """The seed of one request, 0 to 2**63 - 1: the same text and voice get the same noise."""
    key = content_key(job_seed=job_seed, text=text, voice=voice, attempt=attempt)
    return int(key[:16], 16) >> 1


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that its name never holds half of it.

    Raises:
        OutputError: the folder cannot be written, or the disk is full.
    """
    part = path.with_name(path.name + ".part")
    with writing(path):
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
            os.replace(part, path)
        except OSError:
            part.unlink(missing_ok=True)
            raise


class Manifest(Generic[T]):
    """A JSON Lines file of one kind of frozen dataclass; a context manager for appending."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        self.path = path
        self._kind = kind
        self._names = tuple(f.name for f in fields(kind))  # type: ignore[arg-type]
        hints = get_type_hints(kind).items()
        self._plain = {name: _PLAIN[hint] for name, hint in hints if hint in _PLAIN}
        self._file: Any = None

    def __enter__(self) -> Self:
        self._drop_torn_line()
        with writing(self.path):
            self._file = self.path.open("a", encoding="utf-8", errors="backslashreplace")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # every line was flushed; a full disk was told of by `append`
            self._file.close()

    def append(self, item: T) -> None:
        """Add one line and flush it.

        Raises:
            OutputError: the disk is full or the folder went away.
        """
        values = {name: getattr(item, name) for name in self._names}  # `asdict` copies, for nothing
        line = json.dumps(values, ensure_ascii=False, default=asdict)
        with writing(self.path):
            self._file.write(line + "\n")
            self._file.flush()

    def read(self, damaged: list[str] | None = None) -> Iterator[T]:
        """All whole lines; none when there is no file. Keys unknown to this version are ignored.

        Args:
            damaged: collects the places of lines that are not what this manifest holds.

        Raises:
            InputError: there is such a line, and no list to collect it.
        """
        if not self.path.exists():
            return
        try:
            file = self.path.open(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{self.path} cannot be read ({error.strerror}).") from error
        with file:
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):
                    return  # torn: the process died while writing it
                try:
                    yield self._item(json.loads(line))
                except (ValueError, TypeError, RecursionError) as error:
                    if damaged is not None:
                        damaged.append(f"{self.path}:{number}")
                        continue
                    raise InputError(
                        f"{self.path}:{number}: not a line of this manifest ({error}). "
                        "Remove the line, or start over with --fresh."
                    ) from error

    def replace(self, items: list[T]) -> None:
        """Write the whole manifest anew, atomically."""
        lines = (json.dumps(asdict(item), ensure_ascii=False) + "\n" for item in items)  # type: ignore[call-overload]
        write_atomic(self.path, "".join(lines).encode("utf-8", "backslashreplace"))

    def _item(self, values: object) -> T:
        """A dataclass of a JSON object; plain fields must have their type."""
        if not isinstance(values, dict):
            raise TypeError("it is not an object")
        for name, kind in self._plain.items():
            if name in values and not isinstance(values[name], kind):
                raise TypeError(f"`{name}` is {values[name]!r}")
        return self._kind(**{k: v for k, v in values.items() if k in self._names})

    def _drop_torn_line(self) -> None:
        """Cut off what follows the last newline, so that the next append starts a line."""
        if not self.path.exists():
            return
        with writing(self.path), self.path.open("rb+") as file:
            size = file.seek(0, os.SEEK_END)
            while size and (file.seek(size - 1), file.read(1))[1] != b"\n":
                size -= 1
            file.truncate(size)
