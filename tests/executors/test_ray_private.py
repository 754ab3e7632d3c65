"""A private Ray instance comes and goes without a trace, however it ends."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.executors import session
from pocket_batch.executors.base import Plan, Spoken, WorkerSpec, make_executor
from pocket_batch.executors.leases import lease_cores
from pocket_batch.executors.session import processes_of

SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
DRIVER = """
import os, signal, sys, time
from pathlib import Path
from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.executors import session
from pocket_batch.executors.base import Plan, WorkerSpec, make_executor

session.PARENT = Path(sys.argv[1])
voice = Voice("tone", "fake", "en", "CC0-1.0")
texts = ["word " * 20] * 40 + ["crash: now"] + ["hang: now"] * 2
requests = [Request(f"key-{i}", "", text, voice, i) for i, text in enumerate(texts)]
before = dict(os.environ)
def handler(number, frame): pass
signal.signal(signal.SIGTERM, handler)
signal.signal(signal.SIGINT, handler)
plan = Plan(WorkerSpec(EngineSpec("fake"), (voice,), 1))
running = make_executor("ray", plan).run(requests, lambda: False, lambda event: None)
for _ in range(40):
    next(running)
assert dict(os.environ) == before
assert signal.getsignal(signal.SIGTERM) is handler
print("running", flush=True)
time.sleep(float(sys.argv[2]))
started = time.monotonic()
running.close()
print(f"closed {time.monotonic() - started:.1f}", flush=True)
"""


@pytest.fixture
def parent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An own parent of session folders, with a path short enough for sockets."""
    path = Path(f"/tmp/pbt-{os.getpid()}")
    path.mkdir(mode=0o700)
    yield path
    path.rmdir()  # fails when a session folder is left in it


def start_driver(parent: Path, wait_s: float, home: Path) -> subprocess.Popen[str]:
    variables = {
        **os.environ,
        "HOME": "/nonexistent",
        "RAY_ADDRESS": "127.0.0.1:1",
        "XDG_RUNTIME_DIR": str(home),
    }
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(parent), str(wait_s)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables,
        start_new_session=True,
    )


def test_closing_while_workers_crash_and_hang_leaves_nothing(parent: Path, tmp_path: Path) -> None:
    """Cases 23 and 24: see `start_driver`."""
    driver = start_driver(parent, 0.5, tmp_path)
    output, errors = driver.communicate(timeout=60)
    assert driver.returncode == 0, errors
    assert errors == ""
    first, second = output.splitlines()
    assert first == "running"
    assert second.startswith("closed")
    assert float(second.split()[1]) < 3.0
    assert processes_of(parent) == []
    assert list(parent.iterdir()) == []


def test_a_signal_to_the_whole_process_group_reaches_the_driver_only(
    parent: Path, tmp_path: Path
) -> None:
    """Case 26."""
    driver = start_driver(parent, 2.0, tmp_path)
    assert driver.stdout is not None
    assert driver.stdout.readline() == "running\n"
    before = set(processes_of(parent))
    os.killpg(driver.pid, signal.SIGINT)  # as Ctrl-C does
    os.killpg(driver.pid, signal.SIGTERM)  # as a service manager does
    time.sleep(1.0)
    assert _raylets(before) != []
    assert _raylets(before) == _raylets(processes_of(parent))
    output, errors = driver.communicate(timeout=60)
    assert driver.returncode == 0, errors
    assert float(output.split()[1]) < 3.0


def test_after_a_killed_driver_no_worker_goes_on_and_the_next_run_cleans_up(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = start_driver(parent, 60, tmp_path)
    assert driver.stdout is not None
    assert driver.stdout.readline() == "running\n"
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    deadline = time.monotonic() + 10
    while _workers(parent) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _workers(parent) == []
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with lease_cores(1) as lease:
        assert len(lease.cpus) == 1
    monkeypatch.setattr(session, "PARENT", parent)
    session.SessionFolder().close()
    assert processes_of(parent) == []
    assert list(parent.iterdir()) == []


def _raylets(pids: Iterable[int]) -> list[int]:
    """Those of the processes that are the node itself or its store of tables."""
    return sorted(p for p in pids if b"raylet" in _command(p) or b"gcs_server" in _command(p))


def _workers(parent: Path) -> list[int]:
    """Processes of our actors."""
    return [pid for pid in processes_of(parent) if _command(pid).startswith(b"ray::Worker")]


def _command(pid: int) -> bytes:
    """The command line of a process; empty once it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1 if SHORT else 5))
def test_random_kills_of_workers_change_no_byte(
    seed: int, parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PARENT", parent)
    rng = random.Random(seed)
    voice = Voice("tone", "fake", "en", "CC0-1.0", parameters={"sleep_s_per_audio_s": "0.01"})
    texts = [f"{'word ' * rng.randint(1, 60)}{i}" for i in range(300)]
    requests = [Request(f"key-{i}", "", text, voice, i) for i, text in enumerate(texts)]
    plan = Plan(WorkerSpec(EngineSpec("fake"), (voice,), 1))
    quick = [replace(request, voice=replace(voice, parameters={})) for request in requests]
    calm = _spoken("local", plan, quick)
    done = threading.Event()
    kills: list[int] = []

    def kill_now_and_then() -> None:
        while not done.wait(rng.uniform(1.0, 2.5)) and len(kills) < 6:
            if workers := _workers(parent):
                kills.append(rng.choice(workers))
                os.kill(kills[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        stormy = _spoken("ray", plan, requests)
    finally:
        done.set()
        killer.join()
    assert len(kills) >= 2
    assert stormy == calm


def _spoken(name: str, plan: Plan, requests: list[Request]) -> dict[str, bytes]:
    results = list(make_executor(name, plan).run(requests, lambda: False, lambda event: None))
    assert len(results) == len(requests)
    return {r.utterance.key: r.flac for r in results if isinstance(r, Spoken)}
