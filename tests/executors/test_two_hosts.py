"""A cluster of two hosts, of which one is cut off in the middle of a run.

The hosts are network namespaces of this machine, joined by a cable that is pulled out: each has
Ray of its own, started as on real machines, and sees nothing of the other but its address.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pocket_batch.audio.ffmpeg import decode
from pocket_batch.data import Utterance
from pocket_batch.executors.ray_session import QUIET
from pocket_batch.manifest import Manifest

SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SHORT, reason="two minutes; test_clusters.py has nodes that go"),
]
PORT = 6399
IPS = {"head": "10.77.0.1", "far": "10.77.0.2"}  # seen in the namespaces alone
NOTICED = {  # that a host is gone, after two seconds; by default it takes half a minute
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}
VOICE = (
    "{{name: tones, engine: fake, language: en, licence: CC0-1.0, description: a tone,"
    " source: test, parameters: {{sleep_s_per_audio_s: '{}'}}}}"
)
NUM_SENTENCES = 420  # 40 s for one worker


def ip(*words: str) -> str:
    """What `ip` prints.

    Raises:
        OSError: it cannot be run, or fails.
    """
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"`ip {' '.join(words)}`: {done.stderr.strip()}")
    return done.stdout


class Hosts:
    """Two namespaces with a cable between them, and Ray in each; all gone after `close`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pbn-", dir="/tmp"))  # sockets: a short path
        self._names = {host: f"pbn{os.getpid()}{host}" for host in IPS}
        (self.folder / "token").touch(mode=0o600)
        (self.folder / "token").write_text("f" * 64)
        for folder, sleep in ("slow", "0.03"), ("quick", "0"):
            voices = self.folder / folder / "pocket-batch" / "voices"
            voices.mkdir(parents=True)
            (voices / "tones.yaml").write_text(VOICE.format(sleep))
        self.environment = {
            **os.environ,
            **QUIET,
            **NOTICED,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.folder / "token"),
            "XDG_CONFIG_HOME": str(self.folder / "slow"),
            "HOME": str(self.folder),
        }

    def connect(self) -> None:
        """Make the hosts and the cable.

        Raises:
            OSError: the kernel or our rights do not allow it.
        """
        head, far = self._names.values()
        for name in (head, far):
            ip("netns", "add", name)
        ip("link", "add", "cable", "netns", head, "type", "veth", "peer", "cable", "netns", far)
        for host, name in self._names.items():
            ip("-n", name, "addr", "add", f"{IPS[host]}/24", "dev", "cable")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "cable", "up")

    def start_ray(self, host: str) -> None:
        """Start Ray with one CPU: the head, or one that joins it.

        What an earlier Ray left behind there is ended first, as a supervisor would.
        """
        self.end_all(host)
        address = f"{IPS['head']}:{PORT}"
        role = ["--head", f"--port={PORT}"] if host == "head" else [f"--address={address}"]
        folder = self.folder / f"{host[0]}{time.time_ns() % 10**6}"
        more = [f"--temp-dir={folder}", "--num-cpus=1", "--object-store-memory=80000000"]
        more += ["--include-dashboard=false"] if host == "head" else []
        ray = str(Path(sys.executable).with_name("ray"))
        words = [ray, "start", f"--node-ip-address={IPS[host]}", *role, *more]
        done = self.popen(host, words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.communicate(timeout=60)[0].decode()
        assert done.returncode == 0, text

    def popen(self, host: str, words: list[str], **more: int) -> "subprocess.Popen[bytes]":
        """Start a command on a host."""
        words = ["ip", "netns", "exec", self._names[host], *words]
        return subprocess.Popen(words, env=self.environment, **more)  # type: ignore[call-overload]

    def pull(self) -> None:
        """Cut the far host off, in the middle of whatever it says."""
        ip("-n", self._names["far"], "link", "set", "cable", "down")

    def plug(self) -> None:
        """Connect it again."""
        ip("-n", self._names["far"], "link", "set", "cable", "up")

    def processes(self, host: str) -> list[int]:
        """Ids of all processes on a host."""
        return [int(pid) for pid in ip("netns", "pids", self._names[host]).split()]

    def has_node(self, host: str) -> bool:
        """Whether the host still takes itself for a part of the cluster."""
        commands = [Path(f"/proc/{pid}/cmdline") for pid in self.processes(host)]
        with contextlib.suppress(OSError):
            return any(b"raylet/raylet" in path.read_bytes() for path in commands)
        return True  # one went just now

    def end_all(self, host: str) -> None:
        """End all processes on a host."""
        while pids := self.processes(host):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def close(self) -> None:
        """End all that runs there, and remove all."""
        for host, name in self._names.items():
            with contextlib.suppress(OSError):
                self.end_all(host)
                ip("netns", "del", name)
        shutil.rmtree(self.folder, ignore_errors=True)


def remove_leftovers() -> None:
    """Those of test runs that were killed: their process is gone."""
    for name in re.findall(r"^pbn(\d+)(head|far)", ip("netns", "list"), re.MULTILINE):
        if not Path(f"/proc/{name[0]}").exists():
            ip("netns", "del", f"pbn{name[0]}{name[1]}")


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Two connected hosts with Ray; skipped where they cannot be made."""
    found = Hosts()
    try:
        try:
            remove_leftovers()
            found.connect()
        except OSError as error:
            pytest.skip(f"no network namespaces here: {error}")
        found.start_ray("head")
        found.start_ray("far")
        yield found
    finally:
        found.close()


def wait_for(what: Callable[[], bool], seconds: float, run: "subprocess.Popen[bytes]") -> None:
    """Wait until something is true while a run goes on."""
    deadline = time.monotonic() + seconds
    while not what():
        assert run.poll() is None, f"the run ended with {run.returncode}"
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.1)


def write_job(folder: Path, kind: str) -> Path:
    """A book, or a data set of small units, of the same sentences."""
    folder.mkdir()
    lines = [f"This is sentence number {i} of a long night of work." for i in range(NUM_SENTENCES)]
    text = folder / "text.txt"
    text.write_text(("\n\n" if kind == "audiobook" else "\n").join(lines), encoding="utf-8")
    job = folder / "job.yaml"
    output = "out/{stem}.flac" if kind == "audiobook" else "out"
    voice = "voice: tones" if kind == "audiobook" else "voices: [tones]\nset: {unit_size: 16}"
    job.write_text(f"pipeline: {kind}\ninputs: [text.txt]\noutput: '{output}'\n{voice}\n")
    return job


def command(job: Path, *options: str) -> list[str]:
    """Runs a job."""
    words = [sys.executable, "-m", "pocket_batch", "run", str(job), "--run-dir"]
    return [*words, str(job.parent / "run"), "--quiet", "--cores-per-worker", "1", *options]


def workers(job: Path) -> dict[int, int]:
    """How many items each worker process made, by its id, as the status tells now."""
    try:
        status = json.loads((job.parent / "run" / "status.json").read_text())
    except (OSError, ValueError):
        return {}
    return {each["pid"]: each["num_items"] for each in status["workers"] if each["pid"]}


def made(job: Path, kind: str) -> dict[str, bytes]:
    """What a run leaves: samples, or units."""
    out = job.parent / "out"
    if kind == "audiobook":
        keys = [u.key for u in Manifest(out / "text.work/utterances.jsonl", Utterance).read()]
        assert len(set(keys)) == len(keys) > 0, "spoken twice"
        return {"book": np.asarray(decode(out / "text.flac")).tobytes()}
    assert not list(out.glob("units/*/*.part*")), "something half-written is left"
    return {path.name: path.read_bytes() for path in out.glob("units/*/*.tar")}


@pytest.mark.parametrize("kind", ["audiobook", "dataset"])
def test_a_host_cut_off_in_the_middle_loses_and_doubles_nothing(
    hosts: Hosts, tmp_path: Path, kind: str
) -> None:
    """Case 20. The other host goes on, and the one that was cut off works again afterwards."""
    job = write_job(tmp_path / "stormy", kind)
    log = job.parent / "run" / "run.log"
    run = hosts.popen("head", command(job, "--address", f"{IPS['head']}:{PORT}"))
    try:
        wait_for(lambda: len(workers(job)) == 2 and all(workers(job).values()), 60, run)
        before = set(workers(job))
        hosts.pull()
        wait_for(lambda: "crashed" in log.read_text(), 30, run)
        hosts.plug()
        wait_for(lambda: not hosts.has_node("far"), 30, run)  # it hears that it was given up
        hosts.start_ray("far")
        wait_for(lambda: any(n for pid, n in workers(job).items() if pid not in before), 60, run)
        assert run.wait(120) == 0
    finally:
        run.kill()
    calm = write_job(tmp_path / "calm", kind)
    quick = hosts.environment | {"XDG_CONFIG_HOME": str(hosts.folder / "quick")}
    subprocess.run(command(calm, "--executor", "local"), env=quick, check=True)
    assert made(job, kind) == made(calm, kind) != {}
