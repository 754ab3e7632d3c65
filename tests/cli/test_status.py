"""`pocket-batch status` shows runs from their files, with the exit code of what it shows."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.cli import status as statuses
from pocket_batch.jobs.status import StatusFile
from pocket_batch.lock import Lock

Command = Callable[..., int]
Capture = pytest.CaptureFixture[str]


def test_a_book_that_was_made_is_shown(
    command: Command, story: Path, capsys: Capture, tmp_path: Path
) -> None:
    output = tmp_path / "story.wav"
    assert command(story, "-o", output, "--voice", "tone", "--executor", "local") == 0
    capsys.readouterr()
    assert command("status", tmp_path / "story.work") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("A Small Story: done (")
    assert "Warning" not in shown


def test_a_run_that_was_killed_has_code_1_and_says_how_to_go_on(
    command: Command, tmp_path: Path, capsys: Capture
) -> None:
    StatusFile(tmp_path, "jobs", {"title": "nightly"})
    assert command("status", tmp_path) == 1
    assert "nightly: was killed; the same command goes on" in capsys.readouterr().out


@pytest.mark.parametrize(("state", "code"), [("done", 0), ("partial", 10), ("stopped", 75)])
def test_the_code_is_that_of_the_worst_run(
    command: Command, tmp_path: Path, state: str, code: int
) -> None:
    for name, found in (("a", {"state": "done", "exit_code": 0}), ("b", {"state": state})):
        (tmp_path / name).mkdir()
        content = {"kind": "jobs", "exit_code": code, **found}
        (tmp_path / name / "status.json").write_text(json.dumps(content))
    assert command("status", tmp_path) == code


def test_json_is_a_line_a_run(command: Command, tmp_path: Path, capsys: Capture) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        StatusFile(tmp_path / name, "jobs").end(None)
    assert command("status", tmp_path, "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {Path(line["folder"]).name for line in lines} == {"a", "b"}
    assert {line["state"] for line in lines} == {"done"}


def test_where_there_is_no_run_it_is_said(
    command: Command, tmp_path: Path, capsys: Capture
) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        assert command("status", folder) == 3
        assert "no run is known there" in capsys.readouterr().err


def test_watching_ends_with_the_run(
    command: Command, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = Lock(tmp_path / "lock")
    lock.take()
    status = StatusFile(tmp_path, "jobs", {"title": "nightly"})
    looks = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            status.end(None)
            lock.release()

    monkeypatch.setattr(statuses.time, "sleep", sleep)
    assert command("status", tmp_path, "--watch") == 0
    assert looks == [2.0, 2.0]
    shown = capsys.readouterr().out
    assert shown.count("nightly: works") == 2
    assert shown.count("nightly: done") == 1
