"""The server of a work folder: what it gives, and to whom it gives nothing."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.cli.main import main
from pocket_batch.errors import InputError
from pocket_batch.jobs.report.server import ReportServer, part_of
from pocket_batch.work_folder import WorkFolder

Command = Callable[..., int]
TONE = ("--voice", "tone", "--executor", "local", "--log-format", "plain", "--format", "wav")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReportServer]:
    """The server of a finished book; the tests that speak a line again are the last ones."""
    story = tmp_path_factory.mktemp("listen") / "story.txt"
    paragraphs = "She went out all the same.\n\nThe rain had stopped.\n\n"
    text = f"Title: A Story\n\nChapter 1. Out\n\n{paragraphs}Chapter 2. Back\n\n{paragraphs}"
    story.write_text(text, encoding="utf-8")
    assert main([str(story), *TONE]) == 0
    with ReportServer(WorkFolder(story.parent / "story.work")) as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.again.stop()
        made.shutdown()


def ask(
    server: ReportServer,
    path: str,
    method: str = "GET",
    body: str | None = None,
    token: str | None = None,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    place = f"/{server.token if token is None else token}/{path}"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, place, body, named)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def a_key(server: ReportServer) -> str:
    return next(iter(server.facts().utterances))


def waited(server: ReportServer) -> dict[str, Any]:
    """How a redo ended."""
    until = time.monotonic() + 60
    while server.again.state()["is_busy"]:
        assert time.monotonic() < until
        time.sleep(0.05)
    return server.again.state()


def test_it_gives_the_page_and_the_lines_of_each_chapter(server: ReportServer) -> None:
    status, headers, page = ask(server, "")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert b'data-mode="live"' in page
    lines = json.loads(ask(server, "lines/2.json")[2])
    assert [line["id"] for line in lines] == ["002-0001", "002-0002", "002-0003"]
    assert all(len(line["key"]) == 64 for line in lines)
    assert json.loads(ask(server, "lines/9.json")[2]) == []


def test_it_listens_on_loopback_alone_and_each_start_has_its_secret(server: ReportServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    with ReportServer(server.work) as other:
        assert other.token != server.token
    assert len(server.token) >= 32


@pytest.mark.parametrize("token", ["", "x" * 32, "..", "%00", "%C3%A9", "a/../b"])
def test_without_the_secret_nothing_is_there(server: ReportServer, token: str) -> None:
    for path in ("", "state", f"audio/{a_key(server)}.flac"):
        assert ask(server, path, token=token.encode().decode("latin-1"))[0] == 404
    assert ask(server, "redo", "POST", "{}", token="x" * 32)[0] == 404


def test_a_site_that_calls_itself_by_our_address_gets_nothing(server: ReportServer) -> None:
    port = server.server_address[1]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "", f"127.0.0.1:{port}."):
        assert ask(server, "", Host=host)[0] == 403
    assert ask(server, "", Host=f"localhost:{port}")[0] == 200


def test_a_page_of_another_site_cannot_ask_for_a_redo(server: ReportServer) -> None:
    body = json.dumps({"segment": "001-0002"})
    assert ask(server, "redo", "POST", body)[0] == 403
    assert ask(server, "redo", "POST", body, X_Token="wrong")[0] == 403
    mine = {"X_Token": server.token}
    assert ask(server, "redo", "POST", body, Origin="http://evil.example", **mine)[0] == 403
    assert ask(server, "redo", "POST", body, Origin="null", **mine)[0] == 403
    assert ask(server, "redo", "POST", "[]", **mine)[0] == 403
    assert ask(server, "redo", "POST", "[" * 60_000, **mine)[0] == 403
    assert ask(server, "redo", "POST", "x" * 70_000, **mine)[0] == 403
    assert ask(server, "redo", "POST", '{"segment": 3}', **mine)[0] == 400
    assert ask(server, "redo", "GET")[0] == 404
    assert not server.again.state()["is_busy"]


@pytest.mark.parametrize(
    "path",
    ["run.json", "../story.txt", "audio/../run.json", "audio/%2e%2e/run.json", "audio/abc.flac",
     f"audio/{'A' * 64}.flac", "audio/" + "0" * 64 + ".flac", "lines/-1.json", "lines/x.json"],
)  # fmt: skip
def test_nothing_else_of_the_disk_is_given(server: ReportServer, path: str) -> None:
    assert ask(server, path)[0] == 404


def test_sound_is_given_whole_and_in_parts(server: ReportServer) -> None:
    key = a_key(server)
    whole = server.work.audio(key).read_bytes()
    path = f"audio/{key}.flac"
    status, headers, data = ask(server, path)
    assert (status, data) == (200, whole)
    assert headers["Accept-Ranges"] == "bytes"
    status, headers, data = ask(server, path, Range="bytes=10-19")
    assert (status, data) == (206, whole[10:20])
    assert headers["Content-Range"] == f"bytes 10-19/{len(whole)}"
    assert ask(server, path, Range="bytes=-5")[2] == whole[-5:]
    assert ask(server, path, Range=f"bytes={len(whole)}-")[0] == 416
    status, headers, data = ask(server, path, "HEAD")
    assert (status, data, headers["Content-Length"]) == (200, b"", str(len(whole)))


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-", (0, 100)),
        ("bytes=0-0", (0, 1)),
        ("bytes=90-200", (90, 100)),
        ("bytes=-200", (0, 100)),
        ("bytes=100-", (100, 100)),
        ("bytes=200-300", (100, 100)),
        ("bytes=-0", (100, 100)),
        ("", None),
        ("bytes=9-3", None),
        ("bytes=-", None),
        ("bytes=\u0663-", None),
        ("bytes=0-1,5-6", None),
        ("lines=0-1", None),
    ],
)
def test_ranges_are_those_of_the_standard(asked: str, part: tuple[int, int] | None) -> None:
    assert part_of(asked, 100) == part


def test_a_folder_that_is_none_and_a_port_that_is_taken_are_refused(
    server: ReportServer, tmp_path: Path, command: Command
) -> None:
    with pytest.raises(InputError):
        ReportServer(WorkFolder(tmp_path / "none.work"))
    assert command("listen", tmp_path / "none.work") == 3
    assert command("listen", server.work.path, "--port", server.server_address[1]) == 5
    assert command("listen", server.work.path, "--port", 70_000) == 2


def test_the_command_prints_its_address_and_ends_at_a_signal(server: ReportServer) -> None:
    words = [sys.executable, "-m", "pocket_batch", "listen", str(server.work.path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    port, token = address.removeprefix("http://127.0.0.1:").strip("/").split("/")
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=10)
    connection.request("GET", f"/{token}/state")
    assert connection.getresponse().status == 200
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=20) == 0


def test_a_redo_of_the_page_is_heard_in_the_page(server: ReportServer) -> None:
    output = server.work.path.with_name("story.wav")
    sound = output.read_bytes()
    body = json.dumps({"segment": "001-0002", "text": "--fresh is what he said."})
    status, _, answer = ask(server, "redo", "POST", body, X_Token=server.token)
    assert status == 202
    assert json.loads(answer)["is_busy"]
    assert ask(server, "redo", "POST", body, X_Token=server.token)[0] == 409
    assert waited(server)["ok"]
    assert output.read_bytes() != sound
    lines = json.loads(ask(server, "lines/1.json")[2])
    assert lines[1]["text"] == "--fresh is what he said."
    assert ask(server, f"audio/{lines[1]['key']}.flac")[0] == 200


def test_what_was_changed_from_the_page_can_be_undone_there(server: ReportServer) -> None:
    lines = json.loads(ask(server, "lines/1.json")[2])
    assert [line["is_changed"] for line in lines] == [False, True, False]
    body = json.dumps({"segment": "001-0002", "undo": True})
    assert ask(server, "redo", "POST", body, X_Token=server.token)[0] == 202
    assert waited(server)["ok"]
    lines = json.loads(ask(server, "lines/1.json")[2])
    assert not any(line["is_changed"] for line in lines)
    assert lines[1]["text"] == "She went out all the same."
    body = json.dumps({"segment": "001-0002", "undo": "yes"})
    assert ask(server, "redo", "POST", body, X_Token=server.token)[0] == 400


def test_a_text_that_no_process_can_be_given_is_said_of_its_line(server: ReportServer) -> None:
    body = json.dumps({"segment": "002-0002", "text": "nul \0 inside"})
    status, _, answer = ask(server, "redo", "POST", body, X_Token=server.token)
    state = json.loads(answer)
    assert (status, state["ok"], state["is_busy"], state["segment"]) == (
        409,
        False,
        False,
        "002-0002",
    )
    assert "cannot be started" in state["text"]


def test_a_folder_that_went_away_is_said_so(
    server: ReportServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "gone.work"
    shutil.copytree(server.work.path, folder)
    with ReportServer(WorkFolder(folder)) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        shutil.rmtree(folder)
        for path in ("", "lines/1.json"):
            status, _, answer = ask(other, path)
            assert status == 500
            assert b"gone.work is no work folder" in answer
        other.shutdown()
    assert "Traceback" not in capfd.readouterr().err


def test_a_redo_that_is_refused_says_why(server: ReportServer) -> None:
    body = json.dumps({"segment": "009-0009"})
    assert ask(server, "redo", "POST", body, X_Token=server.token)[0] == 202
    state = waited(server)
    assert not state["ok"]
    assert "there is no segment `009-0009`" in state["text"]
