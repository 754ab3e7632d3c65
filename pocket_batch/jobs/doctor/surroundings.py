"""Variables of the environment that change what a run does, and the token of a cluster."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pocket_batch.jobs.doctor.checks import Check, ok, problem, warning

MODES = ("disabled", "token")
EXPORT_MODE = "export RAY_AUTH_MODE=token"
EXPORT_PATH = "export RAY_AUTH_TOKEN_PATH=/path/of/the/token"


@dataclass(frozen=True, slots=True)
class Token:
    """Where Ray would take its token from; never the token itself.

    `problem` says why there is none, empty when there is one. `path` is its file, if it is in one.
    """

    source: str
    problem: str = ""
    path: Path | None = None


def variables(address: str) -> Iterator[Check]:
    """Those that are set, and what comes of it."""
    ray = os.environ.get("RAY_ADDRESS")
    if ray and not address:
        found = f"RAY_ADDRESS is {ray}; runs ignore it and start a Ray of their own"
        yield warning("environment", found, f"to join that cluster, give --address {ray}")
    elif ray:
        yield ok("environment", f"RAY_ADDRESS is {ray}; only --address auto looks at it")
    if threads := os.environ.get("OMP_NUM_THREADS"):
        found = f"OMP_NUM_THREADS is {threads}; workers set their own number of threads"
        yield ok("environment", found)
    if offline := os.environ.get("HF_HUB_OFFLINE"):
        found = f"HF_HUB_OFFLINE is {offline}: nothing is downloaded"
        yield ok("environment", found, "whatever a job needs has to be on this machine")


def find_token() -> Token:
    """Where Ray would find its token, in its own order.

    Source: Ray 2.60, "Token authentication".
    """
    if os.environ.get("RAY_AUTH_TOKEN"):
        return Token("RAY_AUTH_TOKEN")
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    path = Path(named) if named else Path(os.path.expanduser("~/.ray/auth_token"))
    source = f"{path} (RAY_AUTH_TOKEN_PATH)" if named else str(path)
    try:
        is_empty = not path.read_bytes().strip()
    except OSError as error:
        return Token(source, f"{source} cannot be read ({error.strerror})")
    return Token(source, f"{source} is empty" if is_empty else "", path)


def token(address: str) -> Iterator[Check]:
    """How Ray would prove who it is, which matters to clusters that are joined."""
    mode, found = os.environ.get("RAY_AUTH_MODE"), find_token()
    told = f"RAY_AUTH_MODE is {mode or 'not set'}"
    if not address:
        told = f"{told}; a Ray of our own has a token of its own"
        yield ok("token", told)
    elif mode is not None and mode.lower() not in MODES:
        yield problem("token", told, f"it is one of {', '.join(MODES)}: {EXPORT_MODE}")
    elif mode is not None and mode.lower() == "token" and found.problem:
        yield problem("token", f"{told}, but {found.problem}", EXPORT_PATH)
    elif mode is None and not found.problem:
        told = f"{told}, so the token in {found.source} is not used"
        yield warning("token", told, f"if the cluster asks for a token: {EXPORT_MODE}")
    elif found.problem:
        yield ok("token", f"{told} and there is no token: right for a cluster that asks for none")
    else:
        yield ok("token", f"{told}, the token is in {found.source}")
    if found.path is not None and not found.problem:
        yield from _mode(found.path)


def _mode(path: Path) -> Iterator[Check]:
    """Whether others can read the file of a token."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        advice = f"run `chmod 600 {path}`: who has it can run programs on the cluster"
        yield warning("token file", f"{path} has mode {mode:04o}: others can read it", advice)
    else:
        yield ok("token file", f"{path} has mode {mode:04o}")
