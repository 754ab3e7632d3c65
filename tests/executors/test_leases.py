"""No two workers of a user hold the same core, and a dead one holds none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pocket_batch.executors import leases
from pocket_batch.executors.leases import lease_cores, private_folder, runtime_folder

CODE = (
    "import sys, time\n"
    "from pocket_batch.executors.leases import lease_cores\n"
    "lease = lease_cores(1)\n"
    "print(*lease.cpus, flush=True)\n"
    "time.sleep(60)\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run-time folder of this test, so that real workers do not matter."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "pocket-batch"


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores 0 to 3, the first on memory node 0 and the others on node 1."""
    monkeypatch.setattr(leases, "physical_cores", lambda cpus: {0: 0, 1: 1, 2: 1, 3: 1})


@pytest.mark.usefixtures("four_cores")
def test_leases_are_apart_and_come_back() -> None:
    with lease_cores(2) as first, lease_cores(2) as second:
        assert not set(first.cpus) & set(second.cpus)
        assert len(first.cpus) == len(second.cpus) == 2
    assert len(lease_cores(4).cpus) == 4


@pytest.mark.usefixtures("four_cores")
def test_cores_of_one_memory_node_are_taken_together() -> None:
    with lease_cores(2) as lease:
        assert lease.cpus == (1, 2)


@pytest.mark.usefixtures("four_cores")
def test_too_few_free_cores_only_warn(caplog: pytest.LogCaptureFixture) -> None:
    with lease_cores(3), lease_cores(2) as second:
        assert second.cpus == (0,)
    assert "1 of 2 wanted CPU cores are free" in caplog.text


def test_the_death_of_a_process_frees_its_cores() -> None:
    process = subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    held = {int(word) for word in process.stdout.readline().split()}
    assert len(held) == 1
    with lease_cores(os.cpu_count() or 1) as lease:
        assert not held & set(lease.cpus)
    process.kill()
    process.wait()
    process.stdout.close()
    with lease_cores(os.cpu_count() or 1) as lease:
        assert held <= set(lease.cpus)


def test_the_folder_is_private(folder: Path) -> None:
    assert runtime_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_link_or_an_open_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(PermissionError):
        private_folder(tmp_path / "link")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(PermissionError):
        private_folder(tmp_path / "open")


def test_without_a_usable_folder_work_goes_on_without_leases(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("in the way")
    assert lease_cores(1).cpus == ()
    assert "cannot be leased" in caplog.text
