"""`pocket-batch run` from the command line: what it refuses, its exit codes, whom it tells."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def job(tmp_path: Path, story: Path) -> Callable[..., Path]:
    os.utime(story, (1, 1))

    def make(**settings: Any) -> Path:
        path = tmp_path / "nightly.yaml"
        found = {"inputs": ["story.txt"], "voice": "tone", "output": "out/{title}.wav"}
        path.write_text(json.dumps(found | {"executor": {"name": "local"}} | settings))
        return path

    return make


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--deadline", "25:00"), "such as 05:30"),
        (("--deadline", "5"), "such as 05:30"),
        (("--max-hours", "0"), "more than 0"),
        (("--max-hours", "nan"), "more than 0"),
        (("--shard", "3/3"), "--shard wants I/N"),
        (("--shard", "1"), "--shard wants I/N"),
        (("--set", "master"), "--set wants KEY=VALUE"),
        (("--set", "mastr.fade_ms=3"), "Did you mean `master`"),
        (("--workers", "many"), "--workers wants a number"),
        (("--keep-watching",), "needs a job with an `inbox`"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    command: Command,
    job: Callable[..., Path],
    capsys: Capture,
    words: tuple[str, ...],
    problem: str,
) -> None:
    assert command("run", job(), *words) == 2
    assert problem in capsys.readouterr().err
    assert not (job().parent / "out").exists()


def test_a_job_file_that_is_missing_or_wrong_is_refused(
    command: Command, tmp_path: Path, job: Callable[..., Path], capsys: Capture
) -> None:
    assert command("run", tmp_path / "none.yaml") == 2
    assert command("run", job(), tmp_path / "none.yaml") == 2
    assert command("run", job(outptu="x")) == 2
    assert "Did you mean `output`" in capsys.readouterr().err
    assert command("run", job(on_failure={"command": "no-such-program"})) == 2


def test_the_same_job_twice_is_one(command: Command, job: Callable[..., Path]) -> None:
    path = job()
    assert command("run", path, path) == 0
    summary = json.loads((path.parent / "out/nightly.run/summary.json").read_text())
    assert len(summary["inputs"]) == 1


def test_the_run_folder_can_be_named(command: Command, job: Callable[..., Path]) -> None:
    path = job()
    assert command("run", path, "--run-dir", path.parent / "here") == 0
    assert {p.name for p in (path.parent / "here").iterdir()} >= {
        "summary.json",
        "summary.txt",
        "status.json",
        "run.log",
        "lock",
    }


def test_the_command_line_wins_over_the_job(command: Command, job: Callable[..., Path]) -> None:
    path = job(max_hours=1 / 3600, set={"seed": 1})
    assert command("run", path) == 75
    assert command("run", path, "--max-hours", "1", "--set", "seed=2") == 0
    record = json.loads((path.parent / "out/A Small Story.work/run.json").read_text())
    assert record["seed"] == 2


def test_one_hook_is_called_when_all_is_well_and_the_other_when_not(
    command: Command, job: Callable[..., Path]
) -> None:
    hooks = {
        "on_finish": {"command": "cp --target-directory=good"},
        "on_failure": {"command": "cp --target-directory=bad"},
    }
    path = job(**hooks)
    good, bad = path.parent / "good", path.parent / "bad"
    good.mkdir()
    bad.mkdir()
    assert command("run", path) == 0
    assert json.loads((good / "summary.json").read_text())["exit_code"] == 0
    assert not any(bad.iterdir())
    assert command("run", job(inputs=["none.txt"], **hooks)) == 10
    assert json.loads((bad / "summary.json").read_text())["exit_code"] == 10


def test_a_hook_that_fails_is_a_warning_in_the_log_and_changes_no_code(
    command: Command, job: Callable[..., Path], capsys: Capture
) -> None:
    path = job(on_finish={"command": "false --token S3CRET"})
    assert command("run", path) == 0
    log = (path.parent / "out/nightly.run/run.log").read_text()
    assert "WARNING The hook `false` ended with exit code 1." in log
    assert "S3CRET" not in log + capsys.readouterr().err


def test_a_json_log_has_an_object_a_line(
    command: Command, job: Callable[..., Path], capsys: Capture
) -> None:
    assert command("run", job(), "--log-format", "json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    names = [event["event"] for event in events]
    assert {"planned", "job_plan", "input_done", "summary"} <= set(names)
    (done,) = (event for event in events if event["event"] == "input_done")
    assert (Path(done["input"]).name, done["status"]) == ("story.txt", "done")


def test_an_output_that_cannot_be_written_fails_its_book(
    command: Command, job: Callable[..., Path]
) -> None:
    path = job(output="story.txt/{title}.wav", run_dir="run")
    assert command("run", path) == 10
    (line,) = json.loads((path.parent / "run/summary.json").read_text())["inputs"]
    assert (line["status"], line["exit_code"]) == ("failed", 5)


def test_a_run_folder_that_cannot_be_written_is_5(
    command: Command, job: Callable[..., Path]
) -> None:
    assert command("run", job(run_dir="story.txt/run")) == 5


def test_a_disk_that_is_nearly_full_stops_the_run_with_5_and_all_speech_kept(
    command: Command, job: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 13."""
    from pocket_batch.errors import OutputError
    from pocket_batch.jobs.night.book import NightBook

    original = NightBook.store

    def store(self: NightBook, result: Any) -> None:
        if self.line.num_spoken == 2:
            raise OutputError("no space is left")
        original(self, result)

    path = job()
    with monkeypatch.context() as patch:
        patch.setattr(NightBook, "store", store)
        assert command("run", path) == 5
    summary = json.loads((path.parent / "out/nightly.run/summary.json").read_text())
    assert summary["stop"] == "no space is left"
    assert (summary["inputs"][0]["status"], summary["inputs"][0]["num_spoken"]) == ("stopped", 2)
    assert command("run", path) == 0
    summary = json.loads((path.parent / "out/nightly.run/summary.json").read_text())
    assert summary["inputs"][0]["num_spoken"] == summary["inputs"][0]["num_segments"]


def test_sigterm_ends_a_run_that_waits_for_its_inbox(job: Callable[..., Path]) -> None:
    """Case 26."""
    path = job(inbox="inbox", keep_watching=True, inputs=[])
    (path.parent / "inbox").mkdir()
    command = [sys.executable, "-m", "pocket_batch", "run", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    status = path.parent / "out/nightly.run/status.json"
    deadline = time.monotonic() + 30
    while not status.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) in (0, 75)
    assert time.monotonic() - started < 4.0
    assert json.loads(status.read_text())["state"] in ("done", "stopped")
