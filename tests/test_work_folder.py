"""The folder beside an output, which one run at a time holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pocket_batch.data import Dropped
from pocket_batch.errors import LockedError, OutputError
from pocket_batch.manifest import Manifest
from pocket_batch.work_folder import WorkFolder

ITEMS = [Dropped("a.xhtml:1", "note", "eins")]


def test_two_runs_cannot_hold_one_work_folder(tmp_path: Path) -> None:
    first = WorkFolder(tmp_path / "book.work")
    first.acquire()
    with pytest.raises(LockedError, match=f"process {os.getpid()}"):
        WorkFolder(tmp_path / "book.work").acquire()
    first.release()
    second = WorkFolder(tmp_path / "book.work")
    second.acquire()
    second.release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal; from pocket_batch.work_folder import WorkFolder;"
        f"WorkFolder(pathlib.Path({str(tmp_path)!r})).acquire(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    folder = WorkFolder(tmp_path)
    folder.acquire()
    folder.release()


def test_clearing_a_work_folder_removes_only_what_runs_leave(tmp_path: Path) -> None:
    folder = WorkFolder(tmp_path)
    folder.store_audio("abcd", b"flac")
    Manifest(folder.file("segments.jsonl"), Dropped).replace(ITEMS)
    (tmp_path / "notes.txt").write_text("mine")
    folder.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_of_others_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="not a work folder"):
        WorkFolder(tmp_path).acquire()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_was_refused_can_be_released_all_the_same(tmp_path: Path) -> None:
    first, second = WorkFolder(tmp_path), WorkFolder(tmp_path)
    first.acquire()
    with pytest.raises(LockedError):
        second.acquire()
    second.release()
    first.release()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = WorkFolder(tmp_path / "file" / "book.work")
    with pytest.raises(OutputError, match="could not be written"):
        folder.acquire()
    folder.release()
