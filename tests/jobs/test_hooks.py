"""Hooks tell others how a run ended, never for long, and never what is secret."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pocket_batch.errors import UsageError
from pocket_batch.job_settings import Hook
from pocket_batch.jobs import hooks
from pocket_batch.jobs.hooks import call_hook, check_hook
from pocket_batch.jobs.watchers import Warnings

SECRET = "T0KEN"


class Server:
    """Answers with given codes, one after the other, and keeps what it is told."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.bodies: list[bytes] = []
        told = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(told.codes.pop(0))
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *args: object) -> None:
                """Print nothing."""

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/services/{SECRET}?key={SECRET}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(hooks, "PAUSE_S", 0.01)
    found = Server()
    yield found
    found.http.shutdown()
    found.http.server_close()


@pytest.fixture
def summary(tmp_path: Path) -> Path:
    path = tmp_path / "summary of tonight.json"
    path.write_text('{"exit_code": 10}')
    return path


def warnings(hook: Hook, summary: Path) -> list[str]:
    told = Warnings()
    call_hook(hook, summary.parent, summary, told)
    assert not any(SECRET in text for text in told.texts)
    return told.texts


@pytest.mark.parametrize(
    ("codes", "num_calls", "problem"),
    [
        ([200], 1, None),
        ([204], 1, None),
        ([404], 1, "it answers 404 Not Found"),
        ([302], 1, "it answers 302 Found"),
        ([500, 200], 2, None),
        ([429, 200], 2, None),
        ([500, 503, 502], 3, "it answers 502"),
    ],
)
def test_a_webhook_gets_the_summary_and_is_tried_again_if_that_may_help(
    server: Server, summary: Path, codes: list[int], num_calls: int, problem: str | None
) -> None:
    server.codes = codes[:]
    found = warnings(Hook(webhook=server.url), summary)
    assert server.bodies == [summary.read_bytes()] * num_calls
    assert (problem or "") in " ".join(found)
    assert bool(found) == bool(problem)


def test_a_dead_port_is_a_warning_without_the_secret(
    summary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "PAUSE_S", 0.01)
    (text,) = warnings(Hook(webhook=f"http://127.0.0.1:9/{SECRET}"), summary)
    assert text == "The webhook at 127.0.0.1 could not be told: [Errno 111] Connection refused."


@pytest.mark.parametrize(
    "url",
    [
        f"htps://host/{SECRET}",
        f"ftp://host/{SECRET}",
        f"host/{SECRET}",
        f"https:///{SECRET}",
        f"https://host/a b {SECRET}",
        f"https://me:{SECRET}@host/",
        f"https://host:99999999/{SECRET}",
        f"https://[::1/{SECRET}",
        f"https://host/{SECRET}\n",
        "",
    ],
)
def test_what_is_no_webhook_is_refused_beforehand_without_the_secret(
    url: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as refused:
        check_hook(Hook(webhook=url), tmp_path)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("command", ["", "   ", f"no-such-program {SECRET}", f"sh '{SECRET}"])
def test_what_is_no_command_is_refused_beforehand(command: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        check_hook(Hook(command=command), tmp_path)
    assert SECRET not in str(refused.value)


def test_a_command_is_seen_from_the_folder_of_the_job(summary: Path) -> None:
    script = summary.parent / "tell.sh"
    script.write_text('#!/bin/sh\necho "$2" > told-$1\n')
    with pytest.raises(UsageError, match=r"chmod \+x"):
        check_hook(Hook(command="./tell.sh"), summary.parent)
    script.chmod(0o755)
    check_hook(Hook(command="./tell.sh"), summary.parent)
    assert warnings(Hook(command="./tell.sh 'a b'"), summary) == []
    assert (summary.parent / "told-a b").read_text() == f"{summary}\n"


def test_a_command_that_fails_is_a_warning_with_its_last_words(summary: Path) -> None:
    (text,) = warnings(Hook(command=f"sh -c 'echo no mail; exit 3' {SECRET}"), summary)
    assert text == "The hook `sh` ended with exit code 3. no mail"


def test_a_command_that_vanished_meanwhile_is_a_warning(summary: Path) -> None:
    (text,) = warnings(Hook(command=f"./gone {SECRET}"), summary)
    assert "could not be run" in text


def test_a_command_that_hangs_is_ended_with_all_that_it_started(
    summary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "TIMEOUT_S", 0.3)
    started = time.monotonic()
    command = "sh -c 'sleep 60 & echo $! > pid; wait'"
    (text,) = warnings(Hook(command=command), summary)
    assert text == "The hook `sh` took over 0.3 s, and was ended."
    assert time.monotonic() - started < 3.0
    pid = (summary.parent / "pid").read_text().strip()
    deadline = time.monotonic() + 3
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _lives(pid)


def test_a_command_may_leave_something_behind_without_being_waited_for(summary: Path) -> None:
    started = time.monotonic()
    assert warnings(Hook(command="sh -c 'sleep 3 & exit 0'"), summary) == []
    assert time.monotonic() - started < 2.0


def _lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
