"""How many CPU cores and how much memory this process may use, and which cores it takes.

A core here is a physical one: two hardware threads of one core share its arithmetic, and a second
worker there gains little. On other systems than Linux the number of CPUs is all that is known.
"""

import contextlib
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from pocket_batch.errors import UsageError

logger = logging.getLogger(__name__)

SYSTEM = Path("/sys/devices/system")
CGROUP = Path("/sys/fs/cgroup")
PROC = Path("/proc")
RESERVED_BYTES = 1_500_000_000  # for the driver, the encoder and the rest of the machine


def usable_cores() -> int:
    """Physical cores that this process may use: affinity (with cpuset) and cgroup v2 quota."""
    cores = len(physical_cores(allowed_cpus()))
    quota = cgroup_quota_cpus()
    return max(1, cores if quota is None else min(cores, int(quota)))


def allowed_cpus() -> frozenset[int]:
    """Hardware threads that the scheduler may put this process on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def physical_cores(cpus: Iterable[int], system: Path = SYSTEM) -> dict[int, int]:
    """One hardware thread of each physical core among `cpus`, with its NUMA node."""
    cores: dict[int, int] = {}
    taken: set[int] = set()
    for cpu in sorted(cpus):
        if cpu not in taken:
            taken |= _siblings(cpu, system)
            cores[cpu] = _numa_node(cpu, system)
    return cores


def _siblings(cpu: int, system: Path) -> set[int]:
    """Hardware threads of the same core, with `cpu`; it alone where the system does not tell."""
    path = system / f"cpu/cpu{cpu}/topology/thread_siblings_list"
    try:
        return {cpu} | _parse_cpu_list(path.read_text())
    except (OSError, ValueError):
        return {cpu}


def _parse_cpu_list(text: str) -> set[int]:
    """The CPUs of a list as the kernel writes it: "0-2,8" -> {0, 1, 2, 8}."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def _numa_node(cpu: int, system: Path) -> int:
    """The number of the memory node of a CPU, 0 where the system does not tell."""
    links = sorted((system / f"cpu/cpu{cpu}").glob("node[0-9]*"))
    return int(links[0].name.removeprefix("node")) if links else 0


def cgroup_quota_cpus(root: Path = CGROUP, proc: Path = PROC) -> float | None:
    """CPU time per time that the cgroup v2 of this process may use, None when not limited."""
    quotas = []
    for folder in _cgroup_folders(root, proc):
        quota, _, period = _read(folder / "cpu.max").strip().partition(" ")
        if quota.isdigit() and period.isdigit():
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def available_memory_bytes(root: Path = CGROUP, proc: Path = PROC) -> int | None:
    """Memory that can still be taken, of the machine and of the cgroup v2; None when not known."""
    free = []
    for line in _read(proc / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            free.append(int(line.split()[1]) * 1024)
    for folder in _cgroup_folders(root, proc):
        limit, used = _read(folder / "memory.max").strip(), _read(folder / "memory.current").strip()
        if limit.isdigit() and used.isdigit():
            free.append(int(limit) - int(used))
    return min(free, default=None)


def _cgroup_folders(root: Path, proc: Path) -> list[Path]:
    """The cgroup v2 folder of this process and those above it, whose limits hold as well."""
    for line in _read(proc / "self/cgroup").splitlines():
        if line.startswith("0::"):
            inside = root / line.removeprefix("0::").strip().lstrip("/")
            return [inside, *(p for p in inside.parents if p == root or root in p.parents)]
    return []


def _read(path: Path) -> str:
    """The text of a kernel file, empty when there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""


def cores_per_worker(wanted: int) -> int:
    """Cores that one worker gets: `wanted`, or all there are on a smaller machine."""
    return min(wanted, usable_cores())


def auto_workers(cores_per_worker: int, memory_bytes_per_worker: int) -> int:
    """As many workers as cores and memory allow, at least one."""
    workers = usable_cores() // cores_per_worker
    memory = available_memory_bytes()
    if memory is not None:
        workers = min(workers, (memory - RESERVED_BYTES) // memory_bytes_per_worker)
    return max(1, workers)


def check_workers(num_workers: int, cores_per_worker: int) -> None:
    """Refuse more workers than this machine has cores for.

    Raises:
        UsageError: with what was asked for and what there is.
    """
    cores = usable_cores()
    if num_workers < 1:
        raise UsageError(f"At least 1 worker is needed; {num_workers} were asked for.")
    if num_workers > max(1, cores // cores_per_worker):
        raise UsageError(
            f"{num_workers} workers of {cores_per_worker} cores need "
            f"{num_workers * cores_per_worker} cores; this process may use {cores}. "
            f"Ask for at most {max(1, cores // cores_per_worker)} workers, or leave it open."
        )


def pin_process(cpus: Iterable[int]) -> bool:
    """Keep every thread of this process, and those it starts later, on `cpus`.

    To be called before heavy imports. Returns whether it worked; a container may forbid it, and
    the work then goes on unpinned.
    """
    allowed = set(cpus)
    pinned: set[int] = set()
    try:
        # Again for threads that others started meanwhile; a pinned thread starts pinned ones.
        while new := set(_threads()) - pinned:
            for thread in new:
                with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                    os.sched_setaffinity(thread, allowed)
            pinned |= new
    except (AttributeError, OSError, ValueError) as error:
        logger.warning("Could not pin to the CPUs %s (%s); going on unpinned.", allowed, error)
        return False
    return True


def _threads() -> list[int]:
    """Ids of all threads of this process; 0 is the calling one where the system does not tell."""
    try:
        return [int(name) for name in os.listdir("/proc/self/task")]
    except OSError:
        return [0]
