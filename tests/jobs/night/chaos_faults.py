"""What is done to a run: a fault hits, counts itself, and starts a new run if need be."""

import contextlib
import json
import os
import random
import resource
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chaos_cluster import FakeCluster
from chaos_place import Place, Verdict, catches

STOP_S = 3.0  # `ray job stop` kills that long after SIGTERM
TORN = ("utterances.jsonl", "run.json", "status.json", "summary.json", "segments.jsonl")
WAIT_S = 30.0  # for something to hit
CLOCK = """
import os
import time

_time = time.time


def jumping():
    with open(os.environ["CHAOS_CLOCK"]) as file:
        return _time() + int(file.read())


time.time = jumping
"""
CGROUP = Path("/sys/fs/cgroup/memory")


@dataclass
class Round:
    """One round: its place, the run that works there now, what was done to it so far."""

    place: Place
    rng: random.Random
    cluster: FakeCluster | None = None
    verdict: Verdict = field(default_factory=Verdict)
    faults: Counter[str] = field(default_factory=Counter)
    allowed: tuple[int, ...] = (0,)  # exit codes of a run that ends by itself

    def __post_init__(self) -> None:
        self.run = self.place.start()

    def is_over(self) -> bool:
        """Whether the run of now has ended by itself."""
        return self.run.poll() is not None

    def wrong(self, text: str) -> None:
        """Write down what should not be."""
        self.verdict.wrong.append(text)

    def again(self) -> None:
        """The same command, once more."""
        self.run = self.place.start()

    def workers(self) -> list[int]:
        """Pids of all speaking processes."""
        root = self.cluster.pid if self.cluster else self.run.pid
        return [pid for pid, name in descendants(root) if "ray::Worker" in name]


def descendants(root: int) -> Iterator[tuple[int, str]]:
    """Pids and command lines of all processes below one."""
    parents, names = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            stat = (entry / "stat").read_text()
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes()
            names[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    for pid in parents:
        above = parents.get(pid)
        while above and above != root:
            above = parents.get(above)
        if above == root:
            yield pid, names.get(pid, "")


def kill_worker(here: Round) -> None:
    """SIGKILL to one worker, or to all of them."""
    pids = waited(here.workers, here)
    for pid in pids if here.rng.random() < 0.3 else here.rng.sample(pids, min(1, len(pids))):
        here.faults["worker"] += kill(pid, signal.SIGKILL)


def kill_driver(here: Round) -> None:
    """SIGKILL to the command itself; then it is given again."""
    here.run.kill()
    if here.place.ended(here.run) == -signal.SIGKILL:
        here.faults["driver"] += 1
        here.again()


def kill_daemon(here: Round) -> None:
    """SIGKILL to raylet, GCS, or another process of the private instance."""
    name = here.rng.choice(("raylet", "raylet", "gcs_server", "gcs_server", "dashboard", "monitor"))
    for pid in waited(lambda: daemons(here.run.pid, name), here):
        here.faults[name.removesuffix("_server")] += kill(pid, signal.SIGKILL)


def daemons(driver: int, name: str) -> list[int]:
    """Pids of the processes of a private instance that go by a name."""
    found = descendants(driver)
    return [pid for pid, line in found if name in line.split(" --")[0] and "ray::" not in line]


def waited(look: Callable[[], list[int]], here: Round) -> list[int]:
    """What there is to be hit, as soon as there is something."""
    deadline = time.monotonic() + WAIT_S
    while not (found := look()) and not here.is_over() and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def kill_node(here: Round) -> None:
    """A whole machine of the cluster is gone; another one comes, perhaps later."""
    assert here.cluster is not None
    here.cluster.tell("kill")
    here.faults["node"] += 1
    if here.rng.random() < 0.7:
        time.sleep(here.rng.uniform(0.0, 3.0))
    here.cluster.tell("add")


def terminate(here: Round) -> None:
    """SIGTERM: it ends in time, with its own code; then it is given again."""
    was_caught = catches(here.run.pid, signal.SIGTERM)
    started = time.monotonic()
    here.run.terminate()
    code = here.place.ended(here.run)
    elapsed_s = time.monotonic() - started
    if elapsed_s > STOP_S:
        here.wrong(f"SIGTERM took {elapsed_s:.1f} s")
    if code not in (75, 0) and not (code == -signal.SIGTERM and not was_caught):
        here.wrong(f"SIGTERM gave {code}")
    here.faults["SIGTERM"] += code != 0
    if code:
        here.again()


def tear(here: Round) -> None:
    """The driver is killed, and a file that it keeps ends anywhere."""
    kill_driver_only(here)
    files = [path for path in here.place.output.rglob("*.json*") if path.name in TORN]
    if files:
        name = here.rng.choice(sorted({path.name for path in files}))
        path = here.rng.choice(sorted(path for path in files if path.name == name))
        content = path.read_bytes()
        path.write_bytes(content[: here.rng.randrange(len(content) + 1)])
        here.faults[f"torn {name}"] += 1
    here.again()


def kill_driver_only(here: Round) -> None:
    """SIGKILL to the command; nothing goes on."""
    here.run.kill()
    here.faults["driver"] += here.place.ended(here.run) == -signal.SIGKILL


def second_run(here: Round) -> None:
    """The same command beside the first: it names who works there, and touches nothing."""
    if not here.place.is_at_work() or here.is_over():
        return
    other = here.place.start(log="second")
    code = here.place.ended(other, 60)
    here.place.codes.pop()
    if here.is_over():
        return  # it may well have been done, and the second one found that
    said = here.place.said("second")
    wanted = (socket.gethostname(), f"process {here.run.pid} ", " for ", " s.")
    if code != 6 or not all(word in said for word in wanted):
        here.wrong(f"a second run gave {code}: {said[-200:]}")
    here.faults["second run"] += 1


def leave_lock(here: Round) -> None:
    """The driver is killed, and locks of another machine are there, silent for over a minute."""
    kill_driver_only(here)
    for lock in here.place.output.glob("*/lock"):
        leave_other_lock(lock, 61.0)
    here.faults["dead lock"] += 1
    here.again()


def leave_other_lock(lock: Path, silent_s: float) -> None:
    """A lock of a machine that gave its last sign of life so long ago."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    owner = {"host": "another.example", "pid": 4711, "since": time.time() - silent_s - 5.0}
    lock.write_text(json.dumps(owner))
    os.utime(lock, (time.time() - silent_s,) * 2)


def freeze_worker(here: Round) -> None:
    """A worker stands still: SIGSTOP, which nobody takes back."""
    for pid in waited(here.workers, here)[:1]:
        here.faults["frozen"] += kill(pid, signal.SIGSTOP)


def starve_worker(here: Round) -> None:
    """A worker gets no more memory: in a control group the kernel ends it, else a limit does."""
    for pid in waited(here.workers, here)[:1]:
        if here.rng.random() < 0.5 and _starve_by_cgroup(pid):
            here.faults["OOM (cgroup)"] += 1
            continue
        with contextlib.suppress(ProcessLookupError, PermissionError):
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
            size = pages * resource.getpagesize()
            resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
            here.faults["OOM (limit)"] += 1


def _starve_by_cgroup(pid: int) -> bool:
    """Move a process into a group with less memory than it needs; the kernel does the rest."""
    group = CGROUP / f"pocket-batch-chaos-{os.getpid()}-{pid}"
    try:
        group.mkdir()
    except OSError:
        return False
    try:
        (group / "memory.limit_in_bytes").write_text(str(2 * 2**20))
        (group / "cgroup.procs").write_text(str(pid))
        deadline = time.monotonic() + 15.0
        while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        return not Path(f"/proc/{pid}").exists()
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


def fill_disk(here: Round) -> None:
    """The disk is full, or nearly; the run ends and says so; then there is room again."""
    if not here.place.is_at_work():
        return
    filler = here.place.folder / "filler"
    free = os.statvfs(here.place.folder)
    leave = here.rng.choice((0, 4_096, 100_000, 30_000_000))
    size = max(0, free.f_bavail * free.f_frsize - leave)
    with contextlib.suppress(OSError), filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
    code = here.place.ended(here.run, 60)
    filler.unlink()
    if code not in (0, 5):
        here.wrong(f"a full disk gave {code}")
    if "Traceback" in here.place.said():
        here.wrong("a full disk gave a traceback")
    here.faults["full disk"] += code == 5
    here.again()


def jump_clock(here: Round) -> None:
    """The clock of the run, not that of the others, is set some hours forth or back."""
    offset = here.rng.choice((-90_000, -7_200, -61, 61, 7_200, 90_000))
    write_offset(here.place.folder, offset)
    here.faults["clock"] += 1


def write_offset(folder: Path, seconds: int) -> None:
    """Set the clock of a place so much before or after that of this machine."""
    part = folder / "clock.part"
    part.write_text(str(seconds))
    part.rename(folder / "clock")


def clock_of(folder: Path) -> dict[str, str]:
    """Variables that give the programs of a run a clock of their own, which `write_offset` sets.

    (`faketime` cannot: under it `time.sleep` of Python 3.11 fails.)
    """
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(CLOCK)
    write_offset(folder, 0)
    path = os.pathsep.join(filter(None, (str(folder / "site"), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "CHAOS_CLOCK": str(folder / "clock")}


def kill(pid: int, number: int) -> bool:
    """Send a signal; False when the process is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


Fault = Callable[[Round], None]
