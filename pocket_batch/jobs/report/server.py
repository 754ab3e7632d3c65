"""A small server on loopback: the report of a work folder, its sound, and lines spoken again.

Whoever knows the address may listen and redo: its token keeps other users of the machine out. A
page of another site can neither read anything (the `Host` must be ours, which ends DNS rebinding)
nor ask for a redo (that needs a header that only our page can send).
"""

import json
import re
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pocket_batch.errors import PocketBatchError
from pocket_batch.jobs.redone import read_redone
from pocket_batch.jobs.report.again import Again
from pocket_batch.jobs.report.facts import Facts, read_facts
from pocket_batch.jobs.report.page import make_page
from pocket_batch.work_folder import WorkFolder

HOST = "127.0.0.1"
MAX_BODY = 65_536
_AUDIO = re.compile(r"audio/([0-9a-f]{64})\.flac")
_LINES = re.compile(r"lines/(\d{1,9})\.json")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class ReportServer(ThreadingHTTPServer):
    """Serves one work folder at `url` until it is shut down."""

    daemon_threads = True

    def __init__(self, work: WorkFolder, port: int = 0) -> None:
        """Listen on loopback; port 0 is any that is free.

        Raises:
            OSError: the port is taken.
            InputError: the folder is no work folder.
        """
        read_facts(work)
        super().__init__((HOST, port), _Handler)
        self.work = work
        self.token = secrets.token_urlsafe(24)
        self.again = Again(work)
        self._page: tuple[tuple[int, ...], str] | None = None

    @property
    def url(self) -> str:
        """The address, with its secret part."""
        return f"http://{HOST}:{self.server_address[1]}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser may call us."""
        port = self.server_address[1]
        return f"{HOST}:{port}", f"localhost:{port}"

    def facts(self) -> Facts:
        """The work folder as it is now."""
        return read_facts(self.work)

    def page(self) -> str:
        """The report, made again when a run has changed the folder."""
        names = ("run.json", "checks.jsonl", "timeline.jsonl")
        state = tuple(_changed_at(self.work.file(name)) for name in names)
        if self._page is None or self._page[0] != state:
            self._page = (state, make_page(self.facts(), live=True))
        return self._page[1]


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: ReportServer
    protocol_version = "HTTP/1.1"
    server_version = "pocket-batch"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer the page, lines, sound, and how a redo goes."""
        path = self._path()
        if path is None:
            return
        try:
            self._answer(path)
        except PocketBatchError as error:  # the folder is gone, or something is damaged
            self.close_connection = True
            data = f"{error}\n".encode("utf-8", "replace")
            self._send(data, "text/plain; charset=utf-8", HTTPStatus.INTERNAL_SERVER_ERROR)

    def _answer(self, path: str) -> None:
        if path == "":
            self._send(self.server.page().encode("utf-8", "replace"), "text/html; charset=utf-8")
        elif path == "state":
            self._send_json(self.server.again.state())
        elif found := _LINES.fullmatch(path):
            self._send_json(_lines(self.server.facts(), int(found[1])))
        elif found := _AUDIO.fullmatch(path):
            self._send_file(self.server.work.audio(found[1]))
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Start a redo."""
        path = self._path()
        if path is None:
            return
        body = self._body()
        if path != "redo" or body is None:
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        segment, text = body.get("segment"), body.get("text", "")
        undo = body.get("undo", False)
        is_right = isinstance(segment, str) and isinstance(text, str) and isinstance(undo, bool)
        if not is_right or not segment:
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        is_started = self.server.again.start(segment, text, undo)
        status = HTTPStatus.ACCEPTED if is_started else HTTPStatus.CONFLICT
        self._send_json(self.server.again.state(), status)

    def _path(self) -> str | None:
        """What is asked for below our secret folder; None after a refusal."""
        if self.headers.get("Host", "") not in self.server.hosts:
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        token, _, rest = self.path.partition("?")[0].removeprefix("/").partition("/")
        is_known = secrets.compare_digest(token.encode(), self.server.token.encode())
        if not is_known or not self.path.startswith(f"/{token}/"):
            self._refuse(HTTPStatus.NOT_FOUND)
            return None
        return rest

    def _body(self) -> dict[str, Any] | None:
        """The JSON object of a request of our own page; None for any other."""
        origin = self.headers.get("Origin")
        is_ours = origin is None or origin.removeprefix("http://") in self.server.hosts
        token = self.headers.get("X-Token", "")
        size = self.headers.get("Content-Length", "")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()) or not is_ours:
            return None
        if not size.isdecimal() or int(size) > MAX_BODY:
            return None
        try:
            body = json.loads(self.rfile.read(int(size)))
        except (ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) else None

    def _send_file(self, path: Path) -> None:
        """A file, or the part of it that was asked for."""
        try:
            data = path.read_bytes()  # an utterance, which is some hundred kilobytes
        except OSError:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        span = part_of(self.headers.get("Range", ""), len(data))
        if span is not None and span[0] >= span[1]:
            range_header = {"Content-Range": f"bytes */{len(data)}"}
            self._send(b"", "text/plain", HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, range_header)
            return
        headers = {"Accept-Ranges": "bytes"}
        if span is None:
            self._send(data, "audio/flac", HTTPStatus.OK, headers)
            return
        begin, end = span
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(data)}"
        self._send(data[begin:end], "audio/flac", HTTPStatus.PARTIAL_CONTENT, headers)

    def _send_json(self, content: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        data = json.dumps(content).encode()
        self._send(data, "application/json", status)

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True  # a body that was not read would be taken for a request
        self._send(f"{status.phrase}\n".encode(), "text/plain", status)

    def _send(
        self,
        data: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        try:
            self.send_response(status)
            for name, value in {**_HEADERS, **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the browser has what it wanted

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: addresses hold the token."""


def part_of(asked: str, size: int) -> tuple[int, int] | None:
    """`bytes=0-99` of 1,000 -> (0, 100); begin and end are equal where none of it is there.

    None for all: of what is no range, is wrong, or asks for several parts.

    Source: RFC 9110, section 14.2: what is not understood is passed over.
    """
    found = _RANGE.fullmatch(asked.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size
    begin, last = int(found[1]), int(found[2] or size - 1)
    if found[2] and last < begin:
        return None
    return (begin, min(size, last + 1)) if begin < size else (size, size)


def _lines(facts: Facts, chapter: int) -> list[dict[str, str | bool]]:
    """The lines of a chapter; `key` is empty where nothing can be heard."""
    redone = {choice.segment_id for choice in read_redone(facts.work)}
    return [
        {
            "id": place.segment.id,
            "text": place.segment.text,
            "key": place.key if place.key in facts.utterances else "",
            "is_changed": place.segment.id in redone,
        }
        for place in facts.places
        if place.segment.chapter == chapter
    ]


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
