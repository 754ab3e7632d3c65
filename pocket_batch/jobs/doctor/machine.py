"""Versions, cores, memory and clock of this machine."""

import os
import platform
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pocket_batch
from pocket_batch.executors import cores
from pocket_batch.jobs.doctor.checks import Check, ok, problem, warning
from pocket_batch.jobs.doctor.subject import Subject
from pocket_batch.words import plural, size

PACKAGES = ("pocket-batch", "ray", "torch")
MAX_YEAR = 2100
SLACK_S = 24 * 3600.0  # of the clocks of others, who made our files


def versions() -> Iterator[Check]:
    """Of Python and of the packages that must be alike on all machines of a cluster."""
    found, missing = [f"Python {platform.python_version()}"], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        names = " ".join(missing)
        yield problem("versions", f"{', '.join(found)}; no {names}", f"run `pip install {names}`")
    else:
        yield ok("versions", ", ".join(found))


def core_count(subject: Subject) -> Iterator[Check]:
    """CPUs that are seen beside those that may be used, and the workers that this gives."""
    seen, allowed = os.cpu_count() or 1, len(cores.allowed_cpus())
    quota, usable = cores.cgroup_quota_cpus(), cores.usable_cores()
    wanted = subject.executor.cores_per_worker
    each = cores.cores_per_worker(wanted)
    fitting = max(1, usable // each)
    limits = [f"affinity {allowed}"] if allowed < seen else []
    limits += [f"quota {quota:g}"] if quota is not None and quota < allowed else []
    found = (
        f"{plural(seen, 'CPU')} seen{', ' * bool(limits)}{', '.join(limits)}; "
        f"{plural(usable, 'physical core')} usable: "
        f"{plural(fitting, 'worker')} of {plural(each, 'core')}"
    )
    asked = subject.executor.workers
    by_ray = seen if quota is None else max(1, min(seen, int(quota)))
    if asked is not None and asked > fitting and not subject.executor.address:
        found = f"{found}; {plural(asked, 'worker')} are asked for"
        yield problem("cores", found, f"ask for at most {fitting}, or leave `workers` out")
    elif each < wanted:
        yield warning("cores", found, f"workers want {wanted} cores; this will be slower")
    elif by_ray > usable:
        advice = f"Ray by itself would count {by_ray}: `ray start` needs --num-cpus={usable} here"
        yield ok("cores", found, advice)
    else:
        yield ok("cores", found)


def memory(subject: Subject) -> Iterator[Check]:
    """Whether the models of all workers fit."""
    free, each = cores.available_memory_bytes(), subject.memory_bytes
    if free is None:
        yield ok("memory", "what is free cannot be told on this system")
        return
    if not each:
        yield ok("memory", f"{size(free)} can be taken")
        return
    per_worker = cores.cores_per_worker(subject.executor.cores_per_worker)
    wanted = max(1, cores.usable_cores() // per_worker)
    if subject.executor.workers and not subject.executor.address:
        wanted = subject.executor.workers
    fitting = max(0, int((free - cores.RESERVED_BYTES) // each))
    found = (
        f"{size(free)} can be taken; {size(wanted * each)} for {plural(wanted, 'worker')} and "
        f"{size(cores.RESERVED_BYTES)} for the rest are needed"
    )
    if fitting >= wanted:
        yield ok("memory", found)
    elif free < each:
        yield problem("memory", found, "end other programs, or raise the memory limit")
    else:
        advice = f"only {plural(max(1, fitting), 'worker')} will fit: free some, or ask for fewer"
        yield warning("memory", found, advice)


def clock(now: float | None = None) -> Iterator[Check]:
    """Whether the time of day makes sense: deadlines and resumed locks depend on it."""
    now = time.time() if now is None else now
    made = Path(pocket_batch.__file__).stat().st_mtime
    local = datetime.fromtimestamp(now, UTC).astimezone()
    found = f"{local:%Y-%m-%d %H:%M:%S %Z}, the time zone that deadlines are in"
    if now < made - SLACK_S or local.year >= MAX_YEAR:
        yield problem(
            "clock", f"{local:%Y-%m-%d %H:%M}, which is not now", "set it (see timesyncd)"
        )
    else:
        yield ok("clock", found)
