"""Lines of a text file, decoded one by one, so that a bad one hurts no other."""

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

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
    """A line that cannot be read, and why; `text` has U+FFFD for bytes that are no characters."""

    number: int
    text: str
    reason: str
    value: str


def lines_of(path: Path) -> Iterator[Record | BadLine]:
    """Lines without their ends, whichever of LF, CRLF and CR these are; no byte order mark.

    Raises:
        InputError: the file cannot be read, or its packing is damaged.
    """
    try:
        with _opened(path) as file:
            encoding = _MARKS.get(file.peek(2)[:2], "utf-8")
            for number, raw in enumerate(_raw_lines(file, encoding), 1):
                yield _decoded(raw, number, encoding)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (EOFError, zlib.error) as error:
        raise InputError(
            f"{path}: it is damaged or cut short, and cannot be unpacked ({error})."
        ) from error


def _opened(path: Path) -> io.BufferedReader:
    """A file, unpacked if it is .gz."""
    if path.suffix.lower() == ".gz":
        return io.BufferedReader(cast(Any, gzip.open(path, "rb")), CHUNK)
    return path.open("rb")


def _decoded(raw: bytes, number: int, encoding: str) -> Record | BadLine:
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        text = raw.decode(encoding, "replace").removeprefix("\ufeff")
        return BadLine(number, text, "bad_encoding", f"byte {error.start}")
    return Record(number, text.removeprefix("\ufeff") if number == 1 else text)


def _raw_lines(file: IO[bytes], encoding: str) -> Iterator[bytes]:
    """Pieces of a stream between its line ends."""
    carriage_return = "\r".encode(encoding)
    width = len(carriage_return)
    rest: list[bytes] = []  # of a line whose end has not come
    held = b""
    while chunk := file.read(CHUNK):
        data = held + chunk
        cut = len(data) - len(data) % width
        if data[:cut].endswith(carriage_return):  # its LF may come with the next piece
            cut -= width
        data, held = data[:cut], data[cut:]
        first, *others = _split(data, encoding)
        rest.append(first)
        if others:
            yield b"".join(rest)
            yield from others[:-1]
            rest = [others[-1]]
    *lines, last = _split(b"".join([*rest, held]), encoding)
    yield from lines
    if last:
        yield last


def _split(data: bytes, encoding: str) -> list[bytes]:
    """Split at every kind of line end; the last piece is what follows the last one."""
    if encoding == "utf-8":
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    even = len(data) // 2 * 2  # half a character at the end makes its line a bad one
    text = data[:even].decode(encoding, "surrogatepass")
    pieces = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    *lines, last = [piece.encode(encoding, "surrogatepass") for piece in pieces]
    return [*lines, last + data[even:]]
