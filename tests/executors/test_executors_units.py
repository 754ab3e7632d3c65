"""Executors make the same units whatever happens to their workers."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.executors import local, session
from pocket_batch.executors.base import Plan, Result, WorkerEvent, WorkerSpec, make_executor
from pocket_batch.manifest import content_key, request_seed
from pocket_batch.rows import UnitDone, UnitFailure, UnitTask
from pocket_batch.stages.unit import UnitSpec

SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
VOICE = Voice("tone", "fake", "en", "CC0-1.0")
SLOW = replace(VOICE, parameters={"sleep_s_per_audio_s": "0.03"})


def make_tasks(num: int, voice: Voice = VOICE, num_rows: int = 4) -> list[UnitTask]:
    return [
        make_task([f"Unit {n} has row {i} too." for i in range(num_rows)], voice)
        for n in range(num)
    ]


def make_task(texts: list[str], voice: Voice = VOICE) -> UnitTask:
    keys = {content_key(text=text): text for text in texts}
    requests = tuple(
        Request(key, key, keys[key], voice, request_seed(0, keys[key], voice.name, 0))
        for key in sorted(keys)
    )
    return UnitTask(content_key(keys=" ".join(sorted(keys))), voice.name, requests)


def make_plan(store: Path, num_workers: int = 1, item_timeout_s: float = 30.0) -> Plan:
    units = UnitSpec(str(store), FilterSettings(), "en", item_timeout_s=item_timeout_s)
    return Plan(WorkerSpec(EngineSpec("fake"), (VOICE,), 1, units=units), num_workers)


def run(
    name: str,
    plan: Plan,
    tasks: list[UnitTask],
    should_stop: Callable[[], bool] = lambda: False,
    on_event: Callable[[WorkerEvent], None] = lambda event: None,
    on_result: Callable[[int], None] = lambda num: None,
) -> list[Result]:
    results = []
    for result in make_executor(name, plan).run(tasks, should_stop, on_event):
        results.append(result)
        on_result(len(results))
    return results


def units_in(folder: Path) -> dict[str, bytes]:
    """The bytes of all units; logs of work must be gone."""
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("units/*/*"))}
    assert {Path(name).suffix for name in files} <= {".tar", ".json"}
    return {name: data for name, data in files.items() if name.endswith(".tar")}


def logs_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("units/*/*.partial"))


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An own parent of session folders, with a path short enough for sockets."""
    path = Path(f"/tmp/pbt-{os.getpid()}")
    path.mkdir(mode=0o700)
    monkeypatch.setattr(session, "PARENT", path)
    yield path
    path.rmdir()  # fails when a session folder is left in it


def workers_of(parent: Path) -> list[int]:
    pids = []
    for pid in session.processes_of(parent):
        command = Path(f"/proc/{pid}/cmdline")
        if command.exists() and command.read_bytes().startswith(b"ray::Worker"):
            pids.append(pid)
    return pids


def test_a_worker_killed_in_the_middle_changes_no_byte_of_any_unit(
    parent: Path, tmp_path: Path
) -> None:
    """Cases 11 and 16: neither kills nor the number of workers show in what is made."""
    kills: list[int] = []

    def kill(num_done: int) -> None:
        if num_done == 15:
            kills.append(workers_of(parent)[0])
            os.kill(kills[-1], signal.SIGKILL)

    assert len(run("local", make_plan(tmp_path / "calm"), make_tasks(40))) == 40
    plan = make_plan(tmp_path / "stormy", num_workers=2)
    results = run("ray", plan, make_tasks(40, SLOW), on_result=kill)
    assert len(kills) == 1
    assert len([r for r in results if isinstance(r, UnitDone)]) == 40
    assert units_in(tmp_path / "stormy") == units_in(tmp_path / "calm")
    assert len(units_in(tmp_path / "calm")) == 40


@pytest.mark.slow
@pytest.mark.skipif(SHORT, reason="the simulated cluster of test_unit_queue.py does the same")
def test_texts_that_crash_or_hang_are_all_that_a_unit_lacks(parent: Path, tmp_path: Path) -> None:
    """Case 17: the unit is finished without them, after three crashes of each."""
    bad = [make_task(["Good here.", f"{word}: now"]) for word in ("crash", "hang")]
    plan = make_plan(tmp_path, num_workers=2, item_timeout_s=1.0)
    results = run("ray", plan, [*bad, *make_tasks(4)])
    assert all(isinstance(r, UnitDone) for r in results), results
    found = {r.id: r for r in results if isinstance(r, UnitDone)}
    assert len(found) == 6
    assert [(found[t.key].num_kept, found[t.key].num_errors) for t in bad] == [(1, 1), (1, 1)]
    assert sum(r.num_errors for r in found.values()) == 2


@pytest.mark.slow
def test_a_stop_with_ray_leaves_whole_logs_and_the_next_run_goes_on(
    parent: Path, tmp_path: Path
) -> None:
    """Case 26: what was spoken is kept, and no log tells of a worker that died."""
    tasks = make_tasks(2, SLOW, num_rows=200)
    is_stopped = threading.Event()

    def on_event(event: WorkerEvent) -> None:
        if event.kind == "working":
            is_stopped.set()

    started = time.monotonic()
    plan = make_plan(tmp_path / "stopped", num_workers=2)
    assert run("ray", plan, tasks, is_stopped.is_set, on_event) == []
    assert time.monotonic() - started < 20.0
    logs = logs_in(tmp_path / "stopped")
    assert logs.count(b'"end"') == logs.count(b'"begin"') > 0
    quick = make_tasks(2, num_rows=200)
    assert len(run("local", plan, quick)) == 2
    run("local", make_plan(tmp_path / "calm"), quick)
    assert units_in(tmp_path / "stopped") == units_in(tmp_path / "calm")


def test_a_stop_takes_effect_inside_a_unit_and_loses_nothing(tmp_path: Path) -> None:
    """Case 26, without Ray."""
    tasks = make_tasks(2, num_rows=50)
    asked = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 30

    plan = make_plan(tmp_path / "stopped")
    assert run("local", plan, tasks, should_stop) == []
    assert 0 < logs_in(tmp_path / "stopped").count(b"fLaC") < 50
    assert len(run("local", plan, tasks)) == 2
    run("local", make_plan(tmp_path / "calm"), tasks)
    assert units_in(tmp_path / "stopped") == units_in(tmp_path / "calm")


def test_the_local_executor_tells_of_its_work_inside_a_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "WORKING_S", 0.0)
    events: list[str] = []
    run("local", make_plan(tmp_path), make_tasks(1), on_event=lambda e: events.append(e.kind))
    assert events[:2] == ["starting", "ready"]
    assert events.count("working") >= 4


def test_tasks_are_asked_for_one_by_one(tmp_path: Path) -> None:
    read = 0

    def tasks() -> Iterator[UnitTask]:
        nonlocal read
        for task in make_tasks(10):
            read += 1
            yield task

    results = make_executor("local", make_plan(tmp_path)).run(tasks(), lambda: False, print)
    next(results)
    assert read <= 2
    results.close()  # type: ignore[attr-defined]


def test_a_folder_that_cannot_be_written_is_told_as_such(tmp_path: Path) -> None:
    """As case 27: the driver can stop with one message."""
    (tmp_path / "units").write_text("in the way")
    results = run("local", make_plan(tmp_path), make_tasks(1))
    (failure,) = results
    assert isinstance(failure, UnitFailure)
    assert failure.is_output


def test_what_is_done_is_told_and_not_made_again(tmp_path: Path) -> None:
    """Case 37: however a worker ended after a unit was written, the unit counts."""
    first = run("local", make_plan(tmp_path), make_tasks(3))
    times = [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("units/*/*"))]
    assert run("local", make_plan(tmp_path), make_tasks(3)) == first
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("units/*/*"))] == times
