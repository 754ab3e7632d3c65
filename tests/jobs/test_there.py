"""A dry run of a book sees what is there, what is missing beside it, and lines that were chosen."""

from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., int]
TONE = ("--voice", "tone", "--executor", "local", "--log-format", "plain", "--format", "wav")


def test_a_dry_run_sees_what_is_there_and_what_is_missing_beside_it(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(story, *TONE) == 0
    words = ("--segment", "001-0003", "--text", "Quite another thing.")
    assert command("redo", story.with_suffix(".work"), *words) == 0
    before = {path: path.stat().st_mtime_ns for path in story.parent.rglob("*")}
    capsys.readouterr()
    assert command(story, *TONE, "--dry-run") == 0
    told = capsys.readouterr().err
    assert "1 line as chosen with `redo`" in told
    assert "is already done" in told
    assert command(story, *TONE, "--dry-run", "--subtitles", "srt") == 0
    told = capsys.readouterr().err
    assert "story.wav is there; to be made beside it: srt." in told
    assert "Would take" not in told
    assert command(story, *TONE, "--dry-run", "--set", "seed=5") == 0
    assert "Would take" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in story.parent.rglob("*")} == before


def test_a_dry_run_says_what_would_stop_the_run(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    story.with_suffix(".wav").write_bytes(b"of somebody else")
    assert command(story, *TONE, "--dry-run") == 5
    assert "Give --overwrite" in capsys.readouterr().err
    assert command(story, *TONE, "--dry-run", "--overwrite") == 0
