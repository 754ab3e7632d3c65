"""`status.json`: how a run goes, kept by the run and read by others while it works and after."""

import fcntl
import json
import os
import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pocket_batch.errors import OutputError, PocketBatchError
from pocket_batch.executors.health import WorkerHealth
from pocket_batch.jobs.progress import Download, Level, Progress, Reporter
from pocket_batch.jobs.watchers import Several
from pocket_batch.manifest import write_atomic

STATUS_FILE = "status.json"
INTERVAL_S = 2.0
MAX_WARNINGS = 20


class StatusFile:
    """A `Reporter` that keeps `status.json` of a folder, at most every two seconds.

    A disk that is full or gone is no reason to end a run: then the file stays as it was.
    """

    def __init__(self, folder: Path, kind: str, facts: dict[str, Any] | None = None) -> None:
        """`kind` is what runs: `audiobook`, `dataset` or `jobs`; `facts` are told as they are."""
        self._path = folder / STATUS_FILE
        self._written = 0.0
        self._warnings: deque[str] = deque(maxlen=MAX_WARNINGS)
        self._workers: tuple[WorkerHealth, ...] = ()
        self._content: dict[str, Any] = {
            "kind": kind,
            "state": "running",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started_at": round(time.time(), 3),
            "title": "",
            "progress": None,
            "inputs": {},
            **(facts or {}),
        }
        self._write()

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Keep warnings, the title, and how many inputs are done."""
        if level == "warning":
            self._warnings.append(text)
        if event == "plan" and "title" in fields:
            self._content["title"] = fields["title"]
        if event == "job_plan":
            self._content["inputs"] = dict(fields)
        if event == "input_done":
            inputs, name = self._content["inputs"], f"num_{fields['status']}"
            inputs[name] = inputs.get(name, 0) + 1
        self._now_and_then()

    def progress(self, snapshot: Progress) -> None:
        """Keep the newest."""
        self._content["progress"] = asdict(snapshot)
        self._now_and_then()

    def download(self, snapshot: Download) -> None:
        """Keep the newest."""
        self._content["download"] = asdict(snapshot)
        self._now_and_then()

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Keep the newest."""
        self._workers = workers
        self._now_and_then()

    def end(self, error: BaseException | None) -> None:
        """Write how the run ended."""
        code = error.exit_code if isinstance(error, PocketBatchError) else 0 if error is None else 1
        if isinstance(error, KeyboardInterrupt):
            code = 75
        states = {0: "done", 10: "partial", 75: "stopped"}
        self._content |= {
            "state": states.get(code, "failed"),
            "exit_code": code,
            "problem": str(error or ""),
        }
        self._write()

    def _now_and_then(self) -> None:
        if time.monotonic() - self._written >= INTERVAL_S:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        content = self._content | {
            "updated_at": round(time.time(), 3),
            "warnings": list(self._warnings),
            "workers": [{**asdict(each), "x_realtime": each.x_realtime} for each in self._workers],
        }
        text = json.dumps(content, ensure_ascii=False, indent=1, default=str) + "\n"
        with suppress(OutputError):
            write_atomic(self._path, text.encode("utf-8", "backslashreplace"))


@contextmanager
def status_kept(folder: Path, kind: str, reporter: Reporter, **facts: Any) -> Iterator[Reporter]:
    """A reporter that keeps `status.json` as well, and writes at the end how that was."""
    status = StatusFile(folder, kind, facts)
    try:
        yield Several(reporter, status)
    except BaseException as error:
        status.end(error)
        raise
    status.end(None)


def read_status(folder: Path) -> dict[str, Any] | None:
    """What `status.json` says, None when there is none; a run that was killed is `dead`."""
    try:
        content = json.loads((folder / STATUS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    if not all(isinstance(content.get(name), str) for name in ("kind", "state")):
        return None  # a file of that name of another program
    if content.get("state") == "running" and not _is_running(folder, content):
        content["state"] = "dead"
    return content


DEAD_S = 120.0


def _is_running(folder: Path, content: dict[str, Any]) -> bool:
    """Whether the run that wrote a status still works.

    On its own machine its lock tells; elsewhere, how old the status is.
    """
    if content.get("host") != socket.gethostname():
        updated = content.get("updated_at")
        return isinstance(updated, int | float) and time.time() - updated < DEAD_S
    return any(_is_locked(path) for path in (folder / "lock", *folder.glob("locks/*/lock")))


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False
