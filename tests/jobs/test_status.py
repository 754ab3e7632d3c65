"""`status.json` tells how a run goes, and whether it goes at all."""

import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.errors import PartialRunError, StoppedError, UsageError
from pocket_batch.executors.health import History, Vitals
from pocket_batch.jobs import status as statuses
from pocket_batch.jobs.progress import Meter, Silent
from pocket_batch.jobs.status import DEAD_S, StatusFile, read_status, status_kept
from pocket_batch.jobs.status_text import describe, find_runs
from pocket_batch.lock import Lock


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statuses, "INTERVAL_S", 0.0)


def read(folder: Path) -> dict[str, Any]:
    found = read_status(folder)
    assert found is not None
    return found


def put(folder: Path, **values: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    content = {"kind": "jobs", "state": "running", "host": socket.gethostname(), **values}
    (folder / "status.json").write_text(json.dumps(content))


def test_a_run_that_holds_its_lock_works_and_without_it_was_killed(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock")
    lock.take()
    StatusFile(tmp_path, "audiobook")
    assert read(tmp_path)["state"] == "running"
    assert read(tmp_path)["pid"] == os.getpid()
    lock.release()
    assert read(tmp_path)["state"] == "dead"


def test_a_part_of_a_data_set_that_works_is_enough(tmp_path: Path) -> None:
    (tmp_path / "locks" / "0-of-2").mkdir(parents=True)
    lock = Lock(tmp_path / "locks" / "0-of-2" / "lock")
    lock.take()
    put(tmp_path, kind="dataset")
    assert read(tmp_path)["state"] == "running"
    lock.release()
    assert read(tmp_path)["state"] == "dead"


def test_a_run_elsewhere_is_dead_when_it_says_nothing_for_long(tmp_path: Path) -> None:
    put(tmp_path, host="another", updated_at=time.time() - DEAD_S + 5)
    assert read(tmp_path)["state"] == "running"
    put(tmp_path, host="another", updated_at=time.time() - DEAD_S - 5)
    assert read(tmp_path)["state"] == "dead"
    put(tmp_path, host="another")
    assert read(tmp_path)["state"] == "dead"


@pytest.mark.parametrize(
    ("error", "state", "code"),
    [
        (None, "done", 0),
        (PartialRunError("Some failed."), "partial", 10),
        (StoppedError("A deadline."), "stopped", 75),
        (KeyboardInterrupt(), "stopped", 75),
        (UsageError("No."), "failed", 2),
        (ZeroDivisionError("bug"), "failed", 1),
    ],
)
def test_how_a_run_ended_is_told(
    tmp_path: Path, error: BaseException | None, state: str, code: int
) -> None:
    with suppress(BaseException), status_kept(tmp_path, "jobs", Silent()):
        if error is not None:
            raise error
    found = read(tmp_path)
    assert (found["state"], found["exit_code"]) == (state, code)
    assert found["problem"] == str(error or "")
    assert describe(tmp_path, found)


def test_inputs_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    with status_kept(tmp_path, "jobs", Silent(), title="night") as told:
        told.note("input_done", "", status="already_done")
        told.note("job_plan", "", num_inputs=5, num_done=1, num_failed=1, num_left=3)
        for status in ("done", "partial", "failed"):
            told.note("input_done", "", status=status)
        text = describe(tmp_path, read(tmp_path) | {"state": "running"})
        assert "5 inputs, 2 done, 1 not whole, 2 failed" in text


def test_only_the_last_warnings_are_kept(tmp_path: Path) -> None:
    with status_kept(tmp_path, "jobs", Silent()) as told:
        for n in range(50):
            told.note("hook", f"Warning {n}", "warning")
    assert read(tmp_path)["warnings"] == [f"Warning {n}" for n in range(30, 50)]


def test_a_person_sees_what_works_how_fast_and_when_it_is_over(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock")
    lock.take()
    status = StatusFile(tmp_path, "jobs", {"title": "nightly", "deadline_at": time.time() + 3600})
    history = History(1)
    history.see(Vitals("node-a", 12, 512_000_000, 1.0), now=1.0)
    history.see(Vitals("node-a", 12, 512_000_000, 3.0), now=2.0)
    history.num_items, history.audio_s, history.busy_s = 12, 100.0, 5.0
    history.num_crashes = 2
    status.health((history.health("busy"),))
    meter = Meter(status, "speaking", 400, 4000.0, per_s=1e9)
    for _ in range(100):
        meter.add(10.0)
    text = describe(tmp_path, read(tmp_path))
    lock.release()
    for part in (
        "nightly: works (",
        f"process {os.getpid()} on {socket.gethostname()}, last sign of life 0 s ago",
        ", until 20",
        "speaking 25 %, 100 of 400, 16 min 40 s of audio",
        "left, done at ",
        "worker 1 on node-a: busy, 12 items, 20.0x real time, 512 MB, 2.0 cores, 2 crashes, seen",
    ):
        assert part in text
    assert "None" not in text


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"{",
            b'{"kind": "jobs"',
            b"[]",
            b"null",
            b"{}",
            b'{"kind": 1, "state": 2}',
            b"\xff",
        ),
        *(b'{"state": "running"}', b"[" * 100_000),
    ],
)
def test_a_file_that_is_torn_or_of_another_program_is_no_run(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "status.json").write_bytes(content)
    assert read_status(tmp_path) is None
    assert find_runs(tmp_path) == []


def test_odd_values_are_no_reason_not_to_show_the_rest(tmp_path: Path) -> None:
    odd: tuple[Any, ...] = (None, 7, "x", [1], {"a": None})
    for value in odd:
        names = ("title", "inputs", "progress", "workers", "warnings", "problem", "updated_at")
        put(tmp_path, host="another", state="done", **dict.fromkeys(names, value))
        assert describe(tmp_path, read(tmp_path))


def test_all_runs_below_a_folder_are_found_those_that_work_first(tmp_path: Path) -> None:
    put(tmp_path / "a/old.run", state="done", updated_at=1)
    put(tmp_path / "a/b/new.run", state="failed", updated_at=3)
    put(tmp_path / "works.run", host="another", updated_at=time.time())
    put(tmp_path / "too/deep/for/it.run", state="done")
    found = [folder.name for folder, _ in find_runs(tmp_path)]
    assert found == ["works.run", "new.run", "old.run"]
    assert [f.name for f, _ in find_runs(tmp_path / "works.run")] == ["works.run"]
    assert find_runs(tmp_path / "none") == []


def test_a_disk_that_is_full_ends_no_run(tmp_path: Path) -> None:
    with status_kept(tmp_path, "jobs", Silent()) as told:
        (tmp_path / "status.json.part").symlink_to("/dev/full")
        told.note("plan", "", title="A title")
    assert read(tmp_path)["state"] == "done"
