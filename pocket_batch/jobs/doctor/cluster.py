"""A cluster that is to be joined: whether it can be, and how each of its nodes is."""

import os
import platform
import time
from collections.abc import Iterator
from importlib.metadata import version

from pocket_batch.engine.base import make_engine
from pocket_batch.errors import PocketBatchError
from pocket_batch.executors.base import fingerprint
from pocket_batch.executors.cores import RESERVED_BYTES
from pocket_batch.executors.ray_nodes import NodeFacts, NotJoinedError, look_at_nodes
from pocket_batch.jobs.doctor.checks import Check, ok, problem, warning
from pocket_batch.jobs.doctor.places import FULL_BYTES, shared_check
from pocket_batch.jobs.doctor.subject import Subject
from pocket_batch.jobs.doctor.surroundings import EXPORT_MODE, EXPORT_PATH, find_token
from pocket_batch.words import plural, size

JOIN_S = 22.0  # Ray itself gives up after 20
TOTAL_S = 28.0
MAX_CLOCK_S = 2.0
OTHER_PORTS = {"8265": "the dashboard", "10001": "the Ray client"}


def cluster(address: str, subject: Subject) -> Iterator[Check]:
    """Join the cluster at that address, for half a minute at most, and look at its nodes."""
    deadline = time.monotonic() + TOTAL_S
    cores = subject.executor.cores_per_worker
    try:
        nodes = look_at_nodes(address, subject.groups, JOIN_S, deadline)
    except NotJoinedError as error:
        yield _not_joined(address, error)
        return
    cpus = sum(node.ray_cpus for node in nodes)
    fitting = sum(int(node.ray_cpus) // cores for node in nodes)
    found = f"joined {address}: {plural(len(nodes), 'node')}, {cpus:g} CPUs, "
    found += f"{plural(fitting, 'worker')} of {plural(cores, 'core')}"
    asked = subject.executor.workers or 1
    if not fitting:
        yield problem("cluster", found, "give nodes more CPUs, or --cores-per-worker 1")
    elif asked > fitting:
        found = f"{found}; {asked} are asked for"
        yield warning("cluster", found, "others wait for nodes that join later, or ask for fewer")
    else:
        yield ok("cluster", found, f"a machine that is missing here needs {_needs(address)}")
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        found = f"{address} takes whoever comes, without a token"
        advice = f"on each of its machines, before `ray start`: {EXPORT_MODE}; {EXPORT_PATH}"
        yield warning("cluster", found, advice)
    ours = _own_fingerprints(subject)
    for node in nodes:
        yield from node_checks(node, subject, ours)


def _needs(address: str) -> str:
    """What a machine has to have to become a node."""
    start = f"`ray start --address={address}`"
    return f"the same Ray and Python, the token with {EXPORT_MODE}, and {start}"


def _own_fingerprints(subject: Subject) -> tuple[str, ...]:
    """Of models and voices on this machine; none when one is not here."""
    try:
        return tuple(fingerprint(make_engine(spec), voices) for spec, voices in subject.groups)
    except PocketBatchError:
        return ()


def node_checks(node: NodeFacts, subject: Subject, ours: tuple[str, ...]) -> Iterator[Check]:
    """How a node is: a line of what it has, and a line for each thing that is wrong."""
    name = f"{node.host} ({node.address})"
    if node.problem:
        yield problem("node", f"no answer: {node.problem}", "look at it, or take it out", name)
        return
    wrong = [
        *_versions(node, name),
        *_cores(node, name),
        *_memory(node, subject, name),
        *_model(node, ours, name),
        *_places(node, name),
    ]
    yield ok("node", _told(node), node=name)
    yield from wrong


def _told(node: NodeFacts) -> str:
    memory = "?" if node.memory_bytes is None else size(node.memory_bytes)
    ahead = "unknown" if node.clock_s is None else f"{node.clock_s:+.2f} s"
    return (
        f"Python {node.python}, Ray {node.ray}, pocket-batch {node.pocket_batch or 'missing'}; "
        f"{node.ray_cpus:g} CPUs for Ray, {plural(node.usable_cores, 'core')} usable; "
        f"{memory} memory, {size(node.disk_bytes)} disk; clock {ahead}"
    )


def _versions(node: NodeFacts, name: str) -> Iterator[Check]:
    if not node.pocket_batch:
        advice = f"run `pip install pocket-batch=={version('pocket-batch')}` there"
        yield problem("node", "pocket-batch is not installed", advice, name)
    ours = {
        "Python": (node.python, platform.python_version()),
        "Ray": (node.ray, version("ray")),
        "pocket-batch": (node.pocket_batch or version("pocket-batch"), version("pocket-batch")),
    }
    for what, (theirs, own) in ours.items():
        if theirs != own:
            found = f"{what} is {theirs}, here it is {own}"
            yield problem("node", found, "install the same version on all machines", name)


def _cores(node: NodeFacts, name: str) -> Iterator[Check]:
    if node.pocket_batch and node.ray_cpus > node.usable_cores:
        found = f"Ray hands out {node.ray_cpus:g} CPUs, {plural(node.usable_cores, 'core')} usable"
        advice = f"workers get in each other's way: start it with --num-cpus={node.usable_cores}"
        yield warning("node", found, advice, name)


def _memory(node: NodeFacts, subject: Subject, name: str) -> Iterator[Check]:
    workers = int(node.ray_cpus) // subject.executor.cores_per_worker
    needed = workers * subject.memory_bytes + RESERVED_BYTES
    if node.memory_bytes is not None and workers and node.memory_bytes < needed:
        found = f"{plural(workers, 'worker')} need {size(needed)}, {size(node.memory_bytes)} free"
        yield warning("node", found, "give it fewer CPUs with --num-cpus, or more memory", name)


def _model(node: NodeFacts, ours: tuple[str, ...], name: str) -> Iterator[Check]:
    if node.model_problem:
        advice = "put the model there: the same cache folder or mirror on all nodes"
        yield problem("node", node.model_problem, advice, name)
    elif node.fingerprints and ours and node.fingerprints != ours:
        found = "its model or voice differs from the one here"
        yield problem("node", found, "put the same files there; workers refuse others", name)


def _places(node: NodeFacts, name: str) -> Iterator[Check]:
    if node.clock_s is not None and abs(node.clock_s) - node.clock_error_s > MAX_CLOCK_S:
        found = f"its clock is {node.clock_s:+.1f} s off ours"
        yield warning("node", found, "keep clocks together with NTP: locks and logs use them", name)
    if 0 <= node.disk_bytes < FULL_BYTES:
        found = f"{size(node.disk_bytes)} are free for temporary files"
        yield problem("node", found, "make room there", name)
    if node.shared_bytes >= 0:
        check = shared_check(node.shared_bytes, name)
        if check.status != "ok":
            yield check


def _not_joined(address: str, error: NotJoinedError) -> Check:
    """What is most likely wrong when a cluster cannot be joined."""
    told = " ".join(error.causes)
    for looks_so, found, advice in _reasons(address, told):
        if looks_so:
            return problem("cluster", f"{address}: {found}", advice)
    first = error.causes[min(1, len(error.causes) - 1)].partition("\n")[0]
    advice = f"see that `ray status --address {address}` works here; for a token: {_exports()}"
    return problem("cluster", f"{address}: {first}", advice)


def _reasons(address: str, told: str) -> Iterator[tuple[bool, str, str]]:
    """Signs in the errors of Ray and of the system, with what each means and what to do."""
    port = address.rpartition(":")[2]
    start = f"`ray start --head --port={port}` there, or correct the address"
    yield (
        "an address is `host:port`" in told,
        "is no address",
        "give HOST:PORT of the head node, or auto",
    )
    yield "gaierror" in told, "nobody knows a host of this name", "correct it, or see DNS"
    yield "ConnectionRefusedError" in told, "nothing listens at this port", start
    far = ("TimeoutError: timed out", "Connection timed out", "No route to host", "is unreachable")
    is_far = any(sign in told for sign in far)
    yield is_far, "this host does not answer", "see that it runs, and that no firewall is between"
    yield "Version mismatch" in told, _mismatch(told), "install the same versions on all machines"
    is_refused = "InvalidAuthToken" in told or "AuthenticationError" in told
    yield is_refused, *_refused()
    is_alone = "No node info found" in told or "node info for possible node ids" in told
    join = f"`ray start --address={address} --num-cpus=0` here first"
    yield is_alone, "no node of this cluster runs on this machine, and a driver needs one", join
    other = f"this is the port of {OTHER_PORTS.get(port)}"
    yield port in OTHER_PORTS, other, "give that of the head itself, by default 6379"
    late = "something listens there, but joining took too long"
    yield "TimeoutError" in told, late, f"see that it is the port of the head, and {join}"


def _mismatch(told: str) -> str:
    """`The cluster was started with:\\n Ray: 2.59.0\\n ...` -> the versions on one line."""
    rest = told.partition("Version mismatch: ")[2].splitlines()[:6]
    return "versions differ: " + " ".join(" ".join(rest).split())


def _refused() -> tuple[str, str]:
    """Why a cluster with tokens refused us, by what is set here."""
    mode, found = os.environ.get("RAY_AUTH_MODE", ""), find_token()
    if mode.lower() != "token":
        told = f"it asks for a token, and RAY_AUTH_MODE is {mode or 'not set'} here"
        return told, _exports()
    if found.problem:
        return f"a token is wanted, but {found.problem}", EXPORT_PATH
    told = f"it asks for a token, and refused the one in {found.source}"
    return told, f"copy the token of the head here, then {EXPORT_PATH}"


def _exports() -> str:
    """What to type to have a token."""
    return f"{EXPORT_MODE}; {EXPORT_PATH}" if find_token().problem else EXPORT_MODE
