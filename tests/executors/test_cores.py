"""Cores and memory are counted as the kernel grants them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pocket_batch.errors import UsageError
from pocket_batch.executors import cores

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="affinity is a Linux call")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_system(root: Path, siblings: list[str], nodes: list[int]) -> Path:
    for cpu, (line, node) in enumerate(zip(siblings, nodes, strict=True)):
        write(root / f"cpu/cpu{cpu}/topology/thread_siblings_list", line + "\n")
        (root / f"cpu/cpu{cpu}/node{node}").mkdir()
    return root


def make_cgroup(tmp_path: Path, files: dict[str, str]) -> tuple[Path, Path]:
    root, proc = tmp_path / "cgroup", tmp_path / "proc"
    write(proc / "self/cgroup", "0::/a/b\n")
    write(proc / "meminfo", "MemTotal: 9000000 kB\nMemAvailable: 4000000 kB\n")
    for name, text in files.items():
        write(root / name, text)
    return root, proc


def test_one_hardware_thread_of_each_core_counts(tmp_path: Path) -> None:
    system = make_system(tmp_path, ["0,2", "1,3", "0,2", "1,3"], [0, 1, 0, 1])
    assert cores.physical_cores(range(4), system) == {0: 0, 1: 1}
    assert cores.physical_cores([2, 3], system) == {2: 0, 3: 1}


def test_without_topology_every_cpu_is_a_core(tmp_path: Path) -> None:
    assert cores.physical_cores(range(3), tmp_path) == {0: 0, 1: 0, 2: 0}


def test_the_tightest_quota_of_all_groups_above_holds(tmp_path: Path) -> None:
    root, proc = make_cgroup(
        tmp_path,
        {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "250000 100000\n", "cpu.max": "9 1\n"},
    )
    assert cores.cgroup_quota_cpus(root, proc) == 2.5


def test_no_quota_is_no_limit(tmp_path: Path) -> None:
    assert cores.cgroup_quota_cpus(*make_cgroup(tmp_path, {"cpu.max": "max 100000\n"})) is None
    assert cores.cgroup_quota_cpus(tmp_path / "none", tmp_path / "none") is None


def test_memory_is_limited_by_machine_and_group(tmp_path: Path) -> None:
    root, proc = make_cgroup(tmp_path, {"a/memory.max": "max\n", "a/memory.current": "5\n"})
    assert cores.available_memory_bytes(root, proc) == 4_000_000 * 1024
    write(root / "a/memory.max", "3000000000\n")
    write(root / "a/memory.current", "1000000000\n")
    assert cores.available_memory_bytes(root, proc) == 2_000_000_000


@pytest.mark.parametrize(("quota", "expected"), [(None, 4), (2.9, 2), (0.5, 1), (64.0, 4)])
def test_usable_cores_are_whole_and_at_least_one(
    quota: float | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "physical_cores", lambda cpus: dict.fromkeys(range(4), 0))
    monkeypatch.setattr(cores, "cgroup_quota_cpus", lambda: quota)
    assert cores.usable_cores() == expected


@pytest.mark.parametrize(
    ("memory_gb", "per_worker_gb", "expected"),
    [(100, 1, 4), (3.6, 1, 2), (1.0, 1, 1), (None, 1, 4)],
)
def test_workers_fit_cores_and_memory(
    memory_gb: float | None, per_worker_gb: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = None if memory_gb is None else int(memory_gb * 1e9)
    monkeypatch.setattr(cores, "usable_cores", lambda: 8)
    monkeypatch.setattr(cores, "available_memory_bytes", lambda: memory)
    assert cores.auto_workers(2, per_worker_gb * 10**9) == expected


def test_too_many_workers_are_refused_with_both_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 21."""
    monkeypatch.setattr(cores, "usable_cores", lambda: 4)
    cores.check_workers(2, 2)
    with pytest.raises(UsageError, match=r"3 workers of 2 cores need 6 cores; .* may use 4"):
        cores.check_workers(3, 2)
    with pytest.raises(UsageError, match="At least 1 worker"):
        cores.check_workers(0, 2)


def test_a_worker_gets_no_more_cores_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "usable_cores", lambda: 1)
    assert cores.cores_per_worker(2) == 1
    cores.check_workers(1, cores.cores_per_worker(2))


@linux_only
def test_pinning_moves_every_thread_and_those_made_later() -> None:
    code = (
        "import os, threading, time\n"
        "from pocket_batch.executors.cores import pin_process\n"
        "threading.Thread(target=time.sleep, args=(1,), daemon=True).start()\n"
        "cpu = min(os.sched_getaffinity(0))\n"
        "assert pin_process([cpu])\n"
        "threading.Thread(target=time.sleep, args=(1,), daemon=True).start()  # one made later\n"
        "for thread in os.listdir('/proc/self/task'):\n"
        "    assert os.sched_getaffinity(int(thread)) == {cpu}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@linux_only
def test_pinning_that_is_not_possible_only_warns(caplog: pytest.LogCaptureFixture) -> None:
    before = os.sched_getaffinity(0)
    assert cores.pin_process([100_000]) is False
    assert "going on unpinned" in caplog.text
    assert os.sched_getaffinity(0) == before


@linux_only
def test_a_process_that_is_held_on_one_cpu_sees_one_core() -> None:
    """Case 22, as under `taskset -c 0`."""
    code = (
        "import os\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from pocket_batch.executors.cores import check_workers, usable_cores\n"
        "assert usable_cores() == 1\n"
        "check_workers(1, 1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
