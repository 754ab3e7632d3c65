"""A log holds what a run said, and makes way for itself."""

import logging
from pathlib import Path

import pytest

from pocket_batch.errors import OutputError
from pocket_batch.jobs import log_file
from pocket_batch.jobs.log_file import LOG_FILE, log_kept
from pocket_batch.jobs.progress import Meter


def test_a_log_has_the_time_the_level_and_the_text_and_goes_on_later(tmp_path: Path) -> None:
    with log_kept(tmp_path) as log:
        log.note("plan", "100 % of {it} and %s")
        log.note("hook", "That was wrong.", "warning")
        log.note("disk", "", free_bytes=3)
    with log_kept(tmp_path) as log:
        log.note("plan", "The next night.")
    lines = (tmp_path / LOG_FILE).read_text().splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == [
        "INFO 100 % of {it} and %s",
        "WARNING That was wrong.",
        "INFO The next night.",
    ]


def test_old_logs_make_way_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "MAX_BYTES", 2000)
    with log_kept(tmp_path) as log:
        for n in range(500):
            log.note("planned", f"{n:04} {'x' * 100}")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == [LOG_FILE, *(f"{LOG_FILE}.{n}" for n in range(1, 5))]
    assert all(path.stat().st_size <= 2000 for path in tmp_path.iterdir())
    assert "0499" in (tmp_path / LOG_FILE).read_text()


def test_progress_is_a_line_a_minute(tmp_path: Path) -> None:
    with log_kept(tmp_path) as log:
        meter = Meter(log, "speaking", 1000, 5000.0, per_s=1e9)
        for _ in range(1000):
            meter.add(5.0)
    (line,) = (tmp_path / LOG_FILE).read_text().splitlines()
    assert "speaking: 1 of 1,000, 5 s of audio" in line


def test_a_bug_has_its_stack_trace(tmp_path: Path) -> None:
    with log_kept(tmp_path) as log:
        try:
            raise ZeroDivisionError("ours")
        except ZeroDivisionError as error:
            log.error("book.epub", error)
    text = (tmp_path / LOG_FILE).read_text()
    assert "ERROR book.epub\nTraceback" in text
    assert "ZeroDivisionError: ours" in text


def test_names_that_are_no_text_are_no_reason_to_lose_a_line(tmp_path: Path) -> None:
    with log_kept(tmp_path) as log:
        log.note("planned", "caf\udce9.txt: was done.")
    assert r"caf\udce9.txt" in (tmp_path / LOG_FILE).read_text()


def test_a_disk_that_is_full_later_ends_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / LOG_FILE).symlink_to("/dev/full")
    with log_kept(tmp_path) as log:
        log.note("planned", "This is lost.")
    assert capsys.readouterr().err == ""


def test_a_folder_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=r"run\.log could not be written"),
        log_kept(tmp_path / "x"),
    ):
        pass


def test_a_log_is_none_of_the_loggers_of_the_process(tmp_path: Path) -> None:
    before = set(logging.root.manager.loggerDict)
    with log_kept(tmp_path):
        assert set(logging.root.manager.loggerDict) == before
