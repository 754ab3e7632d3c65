"""The folder of a private instance leaves nothing behind, even of a driver that was killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pocket_batch.errors import UsageError
from pocket_batch.executors import session
from pocket_batch.executors.session import (
    SessionFolder,
    check_address,
    environment,
    processes_of,
)

CODE = (
    "import subprocess, sys, time\n"
    "from pathlib import Path\n"
    "from pocket_batch.executors import session\n"
    "session.PARENT = Path(sys.argv[1])\n"
    "folder = session.SessionFolder()\n"
    "log = open(folder.path / 'log', 'w')\n"
    "child = subprocess.Popen(['sleep', '60'], stdout=log)\n"
    "print(folder.path, child.pid, flush=True)\n"
    "time.sleep(60)\n"
)


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(session, "PARENT", tmp_path)
    return tmp_path


def is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_folder_and_token_are_private_and_go_away() -> None:
    folder = SessionFolder()
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.token.stat().st_mode & 0o777 == 0o600
    assert len(folder.token.read_text()) == 64
    folder.close()
    assert not folder.path.exists()


def test_a_folder_in_use_is_left_alone() -> None:
    first = SessionFolder()
    second = SessionFolder()
    assert first.path.exists()
    first.close()
    second.close()


def test_processes_and_files_of_a_killed_driver_are_cleaned_up(parent: Path) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", CODE, str(parent)], stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    path, _, child = driver.stdout.readline().strip().rpartition(" ")
    assert Path(path).exists()
    assert int(child) in processes_of(Path(path))
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    assert is_running(int(child))
    SessionFolder().close()
    assert not Path(path).exists()
    for _ in range(100):
        if not is_running(int(child)):
            break
        time.sleep(0.01)
    assert not is_running(int(child))


def test_a_reader_of_a_log_is_not_one_of_the_processes(parent: Path) -> None:
    (parent / "log").write_text("x\n")
    with (parent / "log").open() as file, subprocess.Popen(["sleep", "60"], stdin=file) as reader:
        assert processes_of(parent) == []
        reader.kill()


def test_a_link_with_such_a_name_is_not_followed(parent: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (parent / f"pb-{os.getuid()}-link").symlink_to(target)
    SessionFolder().close()
    assert target.exists()


def test_the_environment_is_as_before_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKET_A", "1")
    monkeypatch.delenv("POCKET_B", raising=False)
    before = dict(os.environ)
    with environment({"POCKET_A": None, "POCKET_B": "2"}):
        assert "POCKET_A" not in os.environ
        assert os.environ["POCKET_B"] == "2"
    assert dict(os.environ) == before


@pytest.mark.parametrize("address", ["nonsense", "ray://host:1", ":1", "host:", "host:port"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        check_address(address)


def test_an_address_where_nothing_listens_is_refused_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(OSError, match="refused"):
        check_address(f"127.0.0.1:{port}")


def test_a_deep_folder_for_temporary_files_is_not_used(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 25."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("x" * 120)))
    folder = SessionFolder()
    assert folder.path.parent == parent
    folder.close()


def test_sockets_that_would_have_no_place_are_told_before_ray_starts() -> None:
    """Case 25, where there is no other folder."""
    session.check_sockets(Path("/tmp/pb-1000-abcdefgh"))
    with pytest.raises(UsageError, match="Set TMPDIR to a folder with a short path"):
        session.check_sockets(Path("/" + "x" * 120))
