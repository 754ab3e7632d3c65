"""Downloads over HTTP that go on where they stopped, and hashes that tell if they are right.

The HTTP client is that of huggingface_hub, so proxies, certificates and its offline switch are the
same for every file.
"""

import errno
import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, TypeVar

from pocket_batch.errors import ModelUnavailableError, no_space, writing
from pocket_batch.models.integrity import is_intact, safetensors_problem

Progress = Callable[[str, int, int], None]  # a file's name, its bytes so far, all its bytes or 0
T = TypeVar("T")

REACH_S = 7.0  # a server that has not answered by then cannot be reached
MAX_RETRIES = 5  # in a row without a byte, once some have come
PAUSE_S = 1.0
REPORT_EVERY_S = 0.1
_NO_NETWORK = {errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EHOSTDOWN}


class TransferError(Exception):
    """A server was not reached or refused.

    Attributes:
        status: its HTTP status, 0 without an answer.
        hub_code: what a hub calls the error, such as `GatedRepo`; empty from any other server.
    """

    def __init__(self, reason: str, status: int = 0, hub_code: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.hub_code = hub_code


@dataclass(frozen=True, slots=True)
class Source:
    """A file on a server. `size` is in bytes, 0 when unknown.

    `digest` is the SHA-256 of the content or the id of a git blob (SHA-1), empty when unknown.
    `keep_etag` says that `digest` does not name the content, so a half of another version may be
    here: the ETag is kept beside it, and the download starts over when that has changed.
    """

    name: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    size: int = 0
    digest: str = ""
    keep_etag: bool = False


def download(source: Source, target: Path, part: Path, progress: Progress) -> None:
    """Write the file to `part`, going on from what is there, and move it to `target` when right.

    Both are on one disk. Another process that downloads the same file is waited for.

    Raises:
        TransferError: the server was not reached or refused; what has come is kept in `part`.
        ModelUnavailableError: the file is not what it should be; it is removed.
        OutputError: no space, or no permission.
    """
    with writing(part):
        part.parent.mkdir(parents=True, exist_ok=True)
    with _locked(part) as file:
        if target.exists():  # by the process that was waited for
            part.unlink(missing_ok=True)
            return
        _receive(source, file, part, progress)
        if problem := _damage(source, part):
            part.unlink(missing_ok=True)
            raise ModelUnavailableError(
                f"{source.name} arrived damaged: {problem}. It was removed. "
                "Run the same command again; if this happens twice, something on the way to "
                f"{source.url} changes files."
            )
        with writing(target):
            os.replace(part, target)
            _etag_file(part).unlink(missing_ok=True)


def _damage(source: Source, part: Path) -> str:
    """What is wrong with what has come. Without a hash, a whole header has to do."""
    if not is_intact(part, source.digest):
        return f"its hash is not {source.digest}"
    if source.keep_etag and source.name.endswith(".safetensors"):
        return safetensors_problem(part)
    return ""


def within(seconds: float, call: Callable[[], T]) -> T:
    """What `call` returns, if it does so in time; a thread is left behind when it does not.

    Timeouts of a socket are not enough: they count per address, and not the look-up of a name.

    Raises:
        TransferError: not in time, or the HTTP client or the system reports no connection.
    """
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001  # whoever waits raises it
            future.set_exception(error)

    Thread(target=work, daemon=True).start()
    try:
        return future.result(seconds)
    except (client_error(), OSError) as error:
        response = getattr(error, "response", None)
        if response is not None:
            status, code = response.status_code, response.headers.get("X-Error-Code", "")
            raise TransferError(f"the server answered {status}", status, code) from error
        timed_out = not future.done() or "timed out" in str(error)
        reason = f"no answer within {seconds:.0f} s" if timed_out else _reason(error)
        raise TransferError(reason) from error


def client_error() -> type[Exception]:
    """The base of what the HTTP client raises; which client it is depends on the hub library."""
    from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]

    kind: type[Exception] = HTTPError
    return kind


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or its kind when it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _reason(error: BaseException) -> str:
    """The first line of an error of the network, in words.

    `[Errno -2] Name or service not known` -> `no network`; numbers below 0 are of name look-up.
    """
    line = first_line(error)
    number = re.match(r"\[Errno (-?\d+)\] *(.*)", line)
    if not number:
        return line
    code = int(number[1])
    return "no network" if code < 0 or code in _NO_NETWORK else number[2].lower()


@contextmanager
def _locked(part: Path) -> Iterator[BinaryIO]:
    """The file open for appending, held by this process alone."""
    while True:
        with writing(part):
            file = part.open("a+b")
        with file:
            with suppress(OSError):  # some network disks have no locks
                fcntl.flock(file, fcntl.LOCK_EX)
            # It may have been moved away or removed while we waited.
            if part.exists() and os.path.samestat(os.fstat(file.fileno()), part.stat()):
                yield file
                return


def _receive(source: Source, file: BinaryIO, part: Path, progress: Progress) -> None:
    """Append what is missing, over as many connections as it takes."""
    failures, has_come = 0, False
    while True:
        start = file.seek(0, os.SEEK_END)
        if source.size and start == source.size:
            progress(source.name, start, start)
            return None
        if source.size and shutil.disk_usage(part.parent).free < source.size - start:
            raise no_space(part)
        try:
            return _append(source, file, part, progress)
        except TransferError as error:
            grown = file.seek(0, os.SEEK_END) > start
            has_come = has_come or grown
            failures = 0 if grown else failures + 1
            if error.status or not has_come or failures > MAX_RETRIES:
                raise
        time.sleep(PAUSE_S)


def _append(source: Source, file: BinaryIO, part: Path, progress: Progress) -> None:
    """One connection: ask for the rest and write it as it comes."""
    start = _usable_bytes(source, file, part)
    headers = {**source.headers, "Accept-Encoding": "identity"} | _range(source, part, start)
    with _answer(source.url, headers) as response:
        if start and response.status_code == 416:  # beyond its end: it has become shorter
            file.truncate(0)
            raise TransferError("the file has changed; run the same command again")
        if response.status_code not in (200, 206):
            raise TransferError(f"the server answered {response.status_code}", response.status_code)
        if response.status_code == 200:  # the whole, whatever was asked for
            start = 0
            file.truncate(0)
            with writing(part):
                _note_etag(source, part, response.headers.get("ETag", ""))
        total = source.size or start + int(response.headers.get("Content-Length", 0))
        try:
            done = _copy(
                response.iter_bytes(), file, part, lambda n: progress(source.name, n, total)
            )
        except client_error() as error:
            raise TransferError(f"the connection broke ({_reason(error)})") from error
    if done < total:
        raise TransferError(f"the connection ended after {done:,} of {total:,} bytes")


def _copy(
    chunks: Iterator[bytes], file: BinaryIO, part: Path, report: Callable[[int], None]
) -> int:
    """Write all chunks and report now and then; the size of the file comes back, bytes."""
    done, reported_s = file.seek(0, os.SEEK_END), 0.0
    report(done)
    try:
        for chunk in chunks:
            with writing(part):
                file.write(chunk)
            done += len(chunk)
            if time.monotonic() - reported_s > REPORT_EVERY_S:
                report(done)
                reported_s = time.monotonic()
    finally:
        with writing(part):
            file.flush()
    report(done)
    return done


@contextmanager
def _answer(url: str, headers: dict[str, str]) -> Iterator[Any]:
    """The response to a GET, its body not read yet. Credentials stay with the first host."""
    from huggingface_hub import get_session

    session = get_session()
    request = session.build_request("GET", url, headers=headers, timeout=REACH_S)
    response = within(REACH_S, lambda: session.send(request, stream=True, follow_redirects=True))
    try:
        yield response
    finally:
        response.close()


def _usable_bytes(source: Source, file: BinaryIO, part: Path) -> int:
    """How much of the file is here and may be kept."""
    start = file.seek(0, os.SEEK_END)
    is_other = source.keep_etag and not _etag_file(part).exists()
    if is_other or (source.size and start > source.size):
        file.truncate(0)
        return 0
    return start


def _range(source: Source, part: Path, start: int) -> dict[str, str]:
    """The headers that ask for the rest, and for the whole if it has changed since."""
    if not start:
        return {}
    headers = {"Range": f"bytes={start}-"}
    if source.keep_etag:
        headers["If-Range"] = _etag_file(part).read_text(encoding="utf-8")
    return headers


def _note_etag(source: Source, part: Path, etag: str) -> None:
    """Keep a strong ETag; a weak one (`W/"..."`) does not promise the same bytes."""
    if source.keep_etag and etag.startswith('"'):
        _etag_file(part).write_text(etag, encoding="utf-8")
    else:
        _etag_file(part).unlink(missing_ok=True)


def _etag_file(part: Path) -> Path:
    return part.with_name(part.name + ".etag")
