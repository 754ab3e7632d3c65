"""Lines of a text file, decoded one by one, so that a bad one hurts no other."""

import gzip
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pocket_batch.errors import InputError

MAX_SHOWN = 200  # characters of a bad line in the list of rejects
CHUNK = 2**20
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


@dataclass(frozen=True, slots=True)
class Record:
    """A line of text, or the named values of a row; `number` counts from 1."""

    number: int
    values: Any


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be read, and why."""

    number: int
    text: str
    reason: str
    value: str


def open_bytes(path: Path) -> Any:
    """A file, unpacked if it is .gz; `-` is standard input.

    Raises:
        InputError: it cannot be opened.
    """
    if str(path) == "-":
        return sys.stdin.buffer
    try:
        if path.suffix.lower() == ".gz":
            return gzip.open(path, "rb")
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from error


def lines_of(path: Path) -> Iterator[Record | BadLine]:
    """Lines without their ends, whichever of LF, CRLF and CR these are; no byte order mark.

    Raises:
        InputError: the file cannot be read.
    """
    with closing(open_bytes(path)) as file:
        start = file.peek(3)[:3] if hasattr(file, "peek") else b""
        encoding = _MARKS.get(start[:2], "utf-8")
        for number, raw in enumerate(_raw_lines(file, encoding), 1):
            yield _decoded(raw, number, encoding)


def _decoded(raw: bytes, number: int, encoding: str) -> Record | BadLine:
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        shown = raw[:MAX_SHOWN].decode(encoding, "replace")
        return BadLine(number, shown, "bad_encoding", f"byte {error.start}")
    return Record(number, text.removeprefix("\ufeff") if number == 1 else text)


def _raw_lines(file: IO[bytes], encoding: str) -> Iterator[bytes]:
    """Pieces of a stream between its line ends."""
    ends = [end.encode(encoding) for end in ("\r\n", "\r", "\n")]
    width = len(ends[1])
    rest = b""
    try:
        while chunk := file.read(CHUNK):
            rest += chunk
            hold = len(rest) % width
            held = rest[len(rest) - hold :] if hold else b""
            whole = rest[: len(rest) - hold]
            if whole.endswith(ends[1]):  # its LF may come with the next piece
                held = whole[-width:] + held
                whole = whole[:-width]
            *lines, rest = _split(whole, encoding)
            yield from lines
            rest += held
    except (EOFError, OSError) as error:
        raise InputError(f"The corpus cannot be read to its end ({error}).") from error
    if rest:
        *lines, last = _split(rest, encoding)
        yield from lines
        if last:
            yield last


def _split(data: bytes, encoding: str) -> list[bytes]:
    """Split at every kind of line end; the last piece is what follows the last one."""
    if encoding == "utf-8":
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    text = data.decode(encoding, "surrogatepass")
    pieces = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [piece.encode(encoding, "surrogatepass") for piece in pieces]
