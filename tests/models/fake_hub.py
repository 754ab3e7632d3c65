"""A hub on loopback: the routes that huggingface_hub 2.4 asks for, and faults on demand.

A large file is stored as the real hub does it: `resolve` redirects to another host (here: the
other name of this machine) and tells hash and size in headers. A small one is sent at once.
"""

import hashlib
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

COMMIT = "c0ffee" + "0" * 34


@dataclass
class FakeHub:
    """What it serves, what it was asked, and how it misbehaves.

    Attributes:
        files: `owner/repository/path` -> content.
        small: names in `files` that are kept in git, so their ETag is a git blob id.
        gated: repositories that answer 401, or 403 to who has a token, unless it is `good`.
        cuts: after how many bytes of a body each of the next connections breaks.
        corrupt: names whose bodies have one byte flipped.
        ignores_range: every GET sends the whole.
        refuses_bodies: every GET of a body answers 503.
        hides_size: bodies come without Content-Length, so nobody can tell whether one was cut.
        commit: what it says is the commit of a branch.
        status: if not 0, the answer to everything, as a proxy or a login page would give it.
        is_silent: accepts connections and never answers.
        asked: (method, path, value of Range) of all requests so far.
        tokens: the Authorization header of each request to the second host.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    small: set[str] = field(default_factory=set)
    gated: set[str] = field(default_factory=set)
    cuts: list[int] = field(default_factory=list)
    corrupt: set[str] = field(default_factory=set)
    ignores_range: bool = False
    refuses_bodies: bool = False
    hides_size: bool = False
    commit: str = COMMIT
    status: int = 0
    is_silent: bool = False
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """What HF_ENDPOINT is to be."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def ranges(self) -> list[str]:
        """The value of Range of each GET of a body, empty where there was none."""
        return [r for method, path, r in self.asked if method == "GET" and "/resolve/" not in path]

    def etag(self, name: str) -> str:
        """SHA-256 of a large file, git blob id of a small one."""
        return _etag(self.files[name], name in self.small)

    def start(self) -> ThreadingHTTPServer:
        """Serve in a thread until `shutdown`."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # who asked has gone away
        self.port = server.server_address[1]
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server


@lru_cache(maxsize=64)
def _etag(content: bytes, is_small: bool) -> str:
    if is_small:
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return hashlib.sha256(content).hexdigest()


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            """Nothing on the terminal."""

        def do_HEAD(self) -> None:
            self._answer()

        def do_GET(self) -> None:
            self._answer()

        def _answer(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append((self.command, path, self.headers.get("Range", "")))
            if hub.is_silent:
                time.sleep(60)
            if hub.status:
                return self._send(hub.status, {"Content-Type": "text/html"})
            if path.startswith("/body/"):
                hub.tokens.append(self.headers.get("Authorization", ""))
                return self._send_body(path.removeprefix("/body/"), {})
            repository, _, rest = path.strip("/").partition("/resolve/")
            revision, _, file = rest.partition("/")
            name = f"{repository}/{file}"
            if repository in hub.gated and "good" not in self.headers.get("Authorization", ""):
                status = 403 if "Authorization" in self.headers else 401
                return self._send(status, {"X-Error-Code": "GatedRepo"})
            if name not in hub.files:
                return self._send(404, {"X-Error-Code": "EntryNotFound"})
            about = {"X-Repo-Commit": revision if len(revision) == 40 else hub.commit}
            if name in hub.small:
                return self._send_body(name, about)
            return self._send(
                302,
                about
                | {
                    "Location": f"http://localhost:{hub.port}/body/{name}",
                    "X-Linked-Etag": f'"{hub.etag(name)}"',
                    "X-Linked-Size": str(len(hub.files[name])),
                },
            )

        def _send(self, status: int, headers: dict[str, str], length: int = 0) -> None:
            self.send_response(status)
            if not hub.hides_size or not length:
                self.send_header("Content-Length", str(length))
            else:
                self.send_header("Connection", "close")
            for key, value in headers.items():
                self.send_header(key, value)
            self.end_headers()

        def _send_body(self, name: str, headers: dict[str, str]) -> None:
            if hub.refuses_bodies and self.command == "GET":
                return self._send(503, {})
            if name not in hub.files:
                return self._send(404, {})
            etag = f'"{hub.etag(name)}"'
            content = bytearray(hub.files[name])
            if name in hub.corrupt:
                content[len(content) // 2] ^= 1
            start, status = 0, 200
            wanted = self.headers.get("Range", "")
            is_same = self.headers.get("If-Range", etag) == etag
            if wanted and is_same and not hub.ignores_range:
                start, status = int(wanted.removeprefix("bytes=").rstrip("-")), 206
                if start >= len(content):
                    return self._send(416, {})
                headers = headers | {
                    "Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"
                }
            body = bytes(content[start:])
            self._send(status, {"ETag": etag, "Accept-Ranges": "bytes", **headers}, len(body))
            if self.command == "HEAD":
                return None
            if hub.cuts:
                self.wfile.write(body[: hub.cuts.pop(0)])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            else:
                self.wfile.write(body)
            return None

    return Handler


@pytest.fixture
def fake_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A hub that huggingface_hub and programs started by the test take for the real one."""
    hub = FakeHub()
    server = hub.start()
    use_hub(monkeypatch, tmp_path, hub.url)
    yield hub
    server.shutdown()
    server.server_close()


def use_hub(monkeypatch: pytest.MonkeyPatch, folder: Path, url: str) -> None:
    """Point everything at the hub at `url`, with caches in `folder`.

    huggingface_hub reads the environment when it is imported, so its constants are set as well.
    """
    from huggingface_hub import close_session, constants

    home = folder / "hf"
    for name in ("HF_TOKEN", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "POCKET_BATCH_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", url)
    monkeypatch.setenv("HF_HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    close_session()
