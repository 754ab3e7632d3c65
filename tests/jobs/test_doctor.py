"""The doctor tells what is wrong before a night, one line a check, and changes nothing."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pocket_batch.audio import ffmpeg
from pocket_batch.data import EngineSpec
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.executors import cores, session
from pocket_batch.jobs.doctor import examine, machine, models, places, surroundings
from pocket_batch.jobs.doctor.checks import Check, guarded
from pocket_batch.jobs.doctor.subject import HERE, Subject
from pocket_batch.jobs.named import voice_by_name
from pocket_batch.jobs.voice import Speaker
from pocket_batch.settings import ExecutorSettings

RAY_VARIABLES = ("RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


class Machine(NamedTuple):
    """Folders that stand for those of the kernel."""

    cgroup: Path
    proc: Path


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*RAY_VARIABLES, "OMP_NUM_THREADS", "HF_HUB_OFFLINE", "POCKET_BATCH_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Four CPUs and 8 GB, with a cgroup to write limits into."""
    found = Machine(tmp_path / "cgroup", tmp_path / "proc")
    write(found.proc / "self/cgroup", "0::/job\n")
    write(found.proc / "meminfo", "MemAvailable: 8000000 kB\n")
    quota, memory = cores.cgroup_quota_cpus, cores.available_memory_bytes
    monkeypatch.setattr(cores, "cgroup_quota_cpus", lambda: quota(*found))
    monkeypatch.setattr(cores, "available_memory_bytes", lambda: memory(*found))
    monkeypatch.setattr(cores, "allowed_cpus", lambda: frozenset(range(4)))
    monkeypatch.setattr(cores, "physical_cores", lambda cpus: dict.fromkeys(cpus, 0))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    return found


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def asked(memory_gb: float = 1.0, **settings: Any) -> Subject:
    """Somebody who speaks with an engine of that size."""
    engine = FakeEngine(EngineSpec("fake"))
    engine.memory_bytes = int(memory_gb * 1e9)
    speaker = Speaker(voice_by_name("heart"), engine, "en")
    return Subject(ExecutorSettings(**settings), (speaker,), {})


def one(checks: Iterable[Check]) -> Check:
    (check,) = checks
    return check


def test_a_machine_that_is_well_gets_a_line_a_check_and_exit_code_0(
    command: Callable[..., int], no_hub: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("doctor") == 0
    lines = capsys.readouterr().out.splitlines()
    names = {line[9:].partition(":")[0] for line in lines}
    assert names >= {"voice", "versions", "cores", "memory", "clock", "ffmpeg", "model cache"}
    assert names >= {"embedded voice", "disk", "core leases", "sockets", "home", "token"}
    assert all(line[:9].rstrip() in ("ok", "warning") for line in lines)


def test_a_problem_gives_exit_code_10_and_no_stack_trace(
    command: Callable[..., int],
    no_hub: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def break_down(name: str) -> str:
        raise RuntimeError("it is\nbroken")

    monkeypatch.setattr(machine, "version", break_down)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        write(tmp_path / "book.txt", "A short text.")
        write(
            tmp_path / "job.yaml",
            f"inputs: [book.txt]\noutput: out/{{stem}}.m4b\nexecutor: {{address: '{address}'}}\n",
        )
        assert command("doctor", tmp_path / "job.yaml", "--json") == 10
    printed = capsys.readouterr()
    checks = {c["name"]: c for c in map(json.loads, printed.out.splitlines())}
    assert checks["inputs"]["found"] == "1 book found"
    assert checks["versions"]["found"] == "RuntimeError: it is"
    assert checks["cluster"]["found"] == f"{address}: nothing listens at this port"
    assert set(checks["cluster"]) == {"name", "status", "found", "advice", "node"}
    assert "2 problems" in printed.err
    assert "Traceback" not in printed.err


def test_cores_are_those_of_affinity_and_quota(kernel: Machine) -> None:
    """Case 22."""
    check = one(machine.core_count(asked()))
    assert (check.status, check.advice) == ("ok", "")
    assert check.found == "4 CPUs seen; 4 physical cores usable: 2 workers of 2 cores"
    write(kernel.cgroup / "job/cpu.max", "250000 100000\n")
    check = one(machine.core_count(asked()))
    assert "quota 2.5; 2 physical cores usable: 1 worker of 2 cores" in check.found
    write(kernel.cgroup / "job/cpu.max", "100000 100000\n")
    assert one(machine.core_count(asked())).status == "warning"


def test_what_ray_would_count_wrongly_is_said(
    kernel: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "allowed_cpus", lambda: frozenset({0, 1}))
    check = one(machine.core_count(asked()))
    assert "4 CPUs seen, affinity 2; 2 physical cores usable" in check.found
    assert "--num-cpus=2" in check.advice


def test_more_workers_than_cores_are_a_problem_but_for_a_cluster(kernel: Machine) -> None:
    """Case 21."""
    assert one(machine.core_count(asked(workers=3))).status == "problem"
    assert one(machine.core_count(asked(workers=3, address="head:6379"))).status == "ok"


def test_memory_is_that_of_all_workers(kernel: Machine) -> None:
    assert one(machine.memory(asked(memory_gb=1))).status == "ok"
    check = one(machine.memory(asked(memory_gb=4)))
    assert (check.status, check.advice.partition(":")[0]) == ("warning", "only 1 worker will fit")
    write(kernel.cgroup / "memory.max", "2000000000\n")
    write(kernel.cgroup / "memory.current", "500000000\n")
    assert one(machine.memory(asked(memory_gb=4))).status == "problem"


def test_a_clock_that_stands_in_the_past_is_a_problem() -> None:
    assert one(machine.clock(86_400.0)).status == "problem"
    assert one(machine.clock()).status == "ok"


def test_an_ffmpeg_that_is_not_there_or_does_not_run_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = one(models.encoder(Subject(ExecutorSettings(), (), {}, system_ffmpeg=True)))
    assert check.status == "problem"
    write(tmp_path / "ffmpeg", "no program")
    monkeypatch.setattr(ffmpeg, "find_ffmpeg", lambda use_system: str(tmp_path / "ffmpeg"))
    assert "cannot be started" in one(models.encoder(asked())).found


def test_a_model_cache_that_cannot_be_written_is_told(
    no_hub: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert one(models.cache()).status == "ok"
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/cache")
    monkeypatch.setattr(os, "access", lambda path, mode: "/proc" not in str(path))
    check = one(models.cache())
    assert (check.status, "/proc/cache" in check.found) == ("warning", True)


def test_a_mirror_that_is_not_there_is_told(no_hub: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKET_BATCH_MIRROR", "/nowhere")
    _, check = models.cache()
    assert (check.name, check.status) == ("mirror", "warning")


def test_a_place_that_cannot_be_written_is_a_problem() -> None:
    """Whoever asks: not even root can write into /proc."""
    found = {c.found.split()[0]: c.status for c in places.disks(at(Path("/proc/out")))}
    assert found == {"output": "problem", "temporary": "ok"}
    nobodys = Subject(ExecutorSettings(), (), {HERE: Path("/proc")})
    assert next(iter(places.disks(nobodys))).status == "warning"


def at(folder: Path) -> Subject:
    return Subject(ExecutorSettings(), (), {"output": folder})


@pytest.mark.parametrize(("free", "status"), [(10**8, "problem"), (10**9, "warning")])
def test_a_disk_that_is_full_soon_is_told(
    free: int, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: real._replace(free=free))
    assert next(iter(places.disks(at(tmp_path / "new" / "folder")))).status == status
    assert not any(path.name == "new" for path in tmp_path.iterdir())


def test_a_disk_whose_server_has_another_time_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_written", lambda folder: 7.0)
    checks = [c for c in places.disks(at(tmp_path)) if c.status == "warning"]
    assert "-7.0 s off ours" in checks[0].found


def test_the_shared_memory_of_docker_is_too_small() -> None:
    assert places.shared_check(2**30).status == "ok"
    check = places.shared_check(64 * 2**20)
    assert check.status == "warning"
    assert "--shm-size" in check.advice


def test_a_folder_of_locks_that_others_may_enter_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert one(places.leases()).found == f"locks are in {tmp_path}/pocket-batch"
    (tmp_path / "pocket-batch").chmod(0o755)
    assert one(places.leases()).status == "warning"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    assert "XDG_RUNTIME_DIR is /nowhere, which cannot be written" in one(places.leases()).found


def test_a_long_path_for_sockets_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert one(places.sockets()).status == "ok"
    long = tmp_path / ("x" * 50)
    long.mkdir()
    monkeypatch.setattr(session, "PARENT", long)
    assert "TMPDIR" in one(places.sockets()).found


def test_a_home_that_cannot_be_written_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    check = one(places.home())
    assert check.status == "ok"
    assert "cannot be written" in check.found


def test_variables_that_change_a_run_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(surroundings.variables("")) == []
    monkeypatch.setenv("RAY_ADDRESS", "dead:1")
    check = one(surroundings.variables(""))
    assert (check.status, "ignore it" in check.found) == ("warning", True)
    assert one(surroundings.variables("head:6379")).status == "ok"
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert len(list(surroundings.variables(""))) == 3


@pytest.mark.parametrize(
    ("mode", "holder", "status", "found", "advice"),
    [
        (None, "", "ok", "right for a cluster that asks for none", ""),
        (None, "file", "warning", "is not used", "export RAY_AUTH_MODE=token"),
        (None, "home", "warning", "is not used", "export RAY_AUTH_MODE=token"),
        ("token", "", "problem", "cannot be read", "export RAY_AUTH_TOKEN_PATH="),
        ("token", "empty", "problem", "is empty", "export RAY_AUTH_TOKEN_PATH="),
        ("TOKEN", "file", "ok", "RAY_AUTH_TOKEN_PATH", ""),
        ("token", "variable", "ok", "the token is in RAY_AUTH_TOKEN", ""),
        ("token", "home", "ok", ".ray/auth_token", ""),
        ("tokn", "file", "problem", "RAY_AUTH_MODE is tokn", "export RAY_AUTH_MODE=token"),
        ("disabled", "", "ok", "RAY_AUTH_MODE is disabled", ""),
    ],
)
def test_where_the_token_comes_from_is_told_and_never_the_token(
    mode: str | None,
    holder: str,
    status: str,
    found: str,
    advice: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret, path = "5ec7e7" * 10, tmp_path / "token"
    if mode is not None:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    if holder == "variable":
        monkeypatch.setenv("RAY_AUTH_TOKEN", secret)
    if holder == "home":
        path = tmp_path / "home/.ray/auth_token"
    if holder in ("file", "empty"):
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    if holder in ("file", "empty", "home"):
        write(path, "\n" if holder == "empty" else secret)
    check, *more = surroundings.token("head:6379")
    assert (check.status, found in check.found) == (status, True), check
    assert advice in check.advice
    assert not any(secret in c.line for c in (check, *more))
    assert any(c.name == "token file" for c in more) == (holder in ("file", "home"))


def test_a_token_that_others_can_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "token", "secret")
    (tmp_path / "token").chmod(0o644)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    _, check = surroundings.token("")
    assert (check.status, "mode 0644" in check.found) == ("warning", True)
    assert f"chmod 600 {tmp_path}/token" in check.advice


def test_a_check_that_cannot_be_made_is_a_problem_and_the_others_go_on() -> None:
    def look() -> Iterable[Check]:
        raise PermissionError(13, "no", "/some/place")

    check = one(guarded("disk", look))
    assert check.status == "problem"
    assert "/some/place" in check.found


def test_a_job_that_cannot_even_be_looked_at_leaves_the_other_checks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(job: Path | None) -> object:
        raise PermissionError(13, "no", "/some/place")

    monkeypatch.setattr(examine, "make_subject", fail)
    checks = examine.examine(Path("job.yaml"))
    assert next(checks).name == "job"
    assert next(checks).name == "versions"
