"""`pocket-batch schedule` prints what it makes, or writes it and says what to type."""

from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., int]


@pytest.mark.parametrize("kind", ["cron", "ray", "slurm"])
def test_one_file_is_printed_as_it_is(
    command: Command, books: Path, capsys: pytest.CaptureFixture[str], kind: str, tmp_path: Path
) -> None:
    assert command("schedule", kind, books) == 0
    printed = capsys.readouterr()
    assert "-o DIR" in printed.err
    command("schedule", kind, books, "-o", tmp_path / "made")
    (path,) = (tmp_path / "made").iterdir()
    assert path.read_text() == printed.out


def test_several_files_are_printed_with_their_names(
    command: Command, books: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("schedule", "systemd", books, "--at", "6:30") == 0
    out = capsys.readouterr().out
    assert "# == pocket-batch-nightly.service\n" in out
    assert "# == pocket-batch-nightly.timer\n" in out
    assert "OnCalendar=*-*-* 06:30:00" in out


def test_files_are_written_and_the_next_command_is_said(
    command: Command, books: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "my units"
    assert command("schedule", "systemd", books, "-o", folder) == 0
    out = capsys.readouterr().out
    assert f"  cd '{folder}'\n" in out
    assert "sudo systemctl daemon-reload" in out
    assert sorted(path.name for path in folder.iterdir()) == [
        "pocket-batch-nightly.service",
        "pocket-batch-nightly.timer",
    ]


def test_a_script_can_be_run_at_once(command: Command, books: Path, tmp_path: Path) -> None:
    command("schedule", "ray", books, "-o", tmp_path / "made")
    assert (tmp_path / "made" / "pocket-batch-nightly-ray.sh").stat().st_mode & 0o111


def test_a_file_that_differs_is_kept_and_then_nothing_is_written(
    command: Command, books: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    timer, service = (tmp_path / f"pocket-batch-nightly.{kind}" for kind in ("timer", "service"))
    timer.write_text("mine")
    assert command("schedule", "systemd", books, "-o", tmp_path) == 5
    assert "--overwrite" in capsys.readouterr().err
    assert timer.read_text() == "mine"
    assert not service.exists()
    assert command("schedule", "systemd", books, "-o", tmp_path, "--overwrite") == 0
    assert "OnCalendar" in timer.read_text()


def test_the_same_command_again_changes_nothing(
    command: Command, books: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command("schedule", "k8s", books, "-o", tmp_path / "made")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "made").iterdir()}
    assert command("schedule", "k8s", books, "-o", tmp_path / "made") == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "made").iterdir()} == before
    assert "(as it was)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("inbx: a\noutput: b\n", "Did you mean `inbox`?"),
        ("inputs: [a]\noutput: '{stem}'\ndeadline: later\n", "A deadline is a time of day"),
        ("inputs: [a]\noutput: b\npipeline: none.yaml\n", "none.yaml"),
    ],
)
def test_a_bad_job_file_is_refused(
    command: Command,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    put_job: Callable[[Path, str], Path],
    text: str,
    message: str,
) -> None:
    job = put_job(tmp_path / "job.yaml", text)
    assert command("schedule", "systemd", job) == 2
    assert message in capsys.readouterr().err


def test_a_job_file_that_is_not_there_is_refused(
    command: Command, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert command("schedule", "cron", tmp_path / "none.yaml") == 2
    assert "none.yaml: cannot be read" in capsys.readouterr().err
