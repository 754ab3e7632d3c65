"""One process at a time holds a folder, on one machine and on several."""

import errno
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pocket_batch import lock as locks
from pocket_batch.errors import LockedError, OutputError
from pocket_batch.lock import DEAD_S, Lock

HOLD = (
    "import pathlib, sys, time; from pocket_batch.lock import Lock;"
    "Lock(pathlib.Path(sys.argv[1])).take(); print('held', flush=True); time.sleep(60)"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def owned_elsewhere(path: Path, silent_s: float) -> None:
    """A lock as another machine leaves it, whose kernel does not tell ours."""
    owner = {"host": "another", "pid": 4711, "since": time.time() - 7_500}
    path.write_text(json.dumps(owner))
    os.utime(path, (time.time() - silent_s,) * 2)


def take_and_release(path: Path) -> None:
    lock = Lock(path)
    lock.take()
    lock.release()


def test_a_lock_names_its_owner_and_is_empty_afterwards(path: Path) -> None:
    lock = Lock(path)
    lock.take()
    owner = json.loads(path.read_text())
    assert (owner["host"], owner["pid"]) == (socket.gethostname(), os.getpid())
    lock.release()
    assert path.read_text() == ""
    take_and_release(path)


def test_a_lock_of_another_process_is_refused_until_that_is_killed(path: Path) -> None:
    """Case 25."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(LockedError, match=rf"process {process.pid} on .* for \d+ s\.$"):
            Lock(path).take()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]
    assert path.read_text()
    take_and_release(path)


def test_an_owner_elsewhere_that_gives_signs_of_life_is_believed(path: Path) -> None:
    owned_elsewhere(path, DEAD_S - 20)
    with pytest.raises(LockedError) as refused:
        Lock(path).take()
    text = str(refused.value)
    assert "process 4711 on another for 2 h 05 min." in text
    assert f"Its last sign of life is {DEAD_S - 20:.0f} s old; after 60 s it is taken" in text


def test_asking_does_not_keep_a_dead_owner_alive(path: Path) -> None:
    owned_elsewhere(path, DEAD_S - 0.3)
    for _ in range(3):
        with pytest.raises(LockedError):
            Lock(path).take()
    time.sleep(0.4)
    take_and_release(path)


def test_an_owner_elsewhere_that_is_silent_for_long_is_dead(path: Path) -> None:
    owned_elsewhere(path, DEAD_S + 1)
    take_and_release(path)


def test_how_old_a_sign_of_life_is_is_told_by_the_clock_of_the_files(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 28: a machine whose clock is wrong takes no lock of a living one."""
    now = time.time()
    owned_elsewhere(path, 5)
    monkeypatch.setattr(time, "time", lambda: now + 86_400)
    with pytest.raises(LockedError):
        Lock(path).take()


@pytest.mark.parametrize("left", ["", "{", "[]", '"x"', "null", "{}", '{"host": 7}', "\0" * 40])
def test_what_a_crash_leaves_in_a_lock_does_not_hold_it_for_ever(path: Path, left: str) -> None:
    path.write_text(left)
    os.utime(path, (1, 1))
    take_and_release(path)


def test_signs_of_life_come_as_long_as_it_is_held(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "PULSE_S", 0.02)
    monkeypatch.setattr(locks, "_PULSE", locks._Pulse())
    lock = Lock(path)
    lock.take()
    os.utime(path, (1, 1))
    deadline = time.monotonic() + 3
    while path.stat().st_mtime < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert path.stat().st_mtime > 2
    lock.release()
    time.sleep(0.1)
    os.utime(path, (1, 1))
    time.sleep(0.1)
    assert path.stat().st_mtime == 1


def test_a_thousand_locks_need_one_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    held = [Lock(tmp_path / f"{n}") for n in range(200)]
    for lock in held:
        lock.take()
    assert threading.active_count() <= before + 1
    for lock in held:
        lock.release()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="could not be written"):
        Lock(tmp_path / "none" / "lock").take()
    (tmp_path / "lock").mkdir()
    with pytest.raises(OutputError, match="could not be written"):
        Lock(tmp_path / "lock").take()


def test_a_lock_that_was_refused_leaves_no_file_open(path: Path) -> None:
    owned_elsewhere(path, 1)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(LockedError):
            Lock(path).take()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_full_disk_is_said_even_where_closing_the_file_fails_as_well(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.TextIOWrapper):
        waiting = False

        def write(self, text: str) -> int:
            self.waiting = True
            return len(text)

        def flush(self) -> None:
            if self.waiting:
                raise OSError(errno.ENOSPC, "No space left on device")

    def opened(self: Path, mode: str, encoding: str) -> Full:
        return Full(io.FileIO(self, "a+"), encoding=encoding)

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(OutputError, match="no space is left"):
        Lock(path).take()
