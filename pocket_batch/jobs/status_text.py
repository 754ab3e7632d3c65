"""What `status.json` says, in words."""

import time
from pathlib import Path
from typing import Any

from pocket_batch.jobs.status import STATUS_FILE, read_status
from pocket_batch.words import duration, plural, size

MAX_RUNS = 50
MAX_DEPTH = 3
MAX_WARNINGS = 5
_STATES = {
    "running": "works",
    "done": "done",
    "partial": "finished, but not whole",
    "stopped": "stopped; the same command goes on",
    "failed": "FAILED",
    "dead": "was killed; the same command goes on",
}


def find_runs(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The run of a folder; if it has none, all below it, those that work first, then the newest."""
    own = read_status(folder)
    patterns = ["/".join("*" * depth) + f"/{STATUS_FILE}" for depth in range(1, MAX_DEPTH + 1)]
    below = (
        [] if own and own["kind"] != "dataset" else [p for g in patterns for p in folder.glob(g)]
    )
    found = [(path.parent, status) for path in below if (status := read_status(path.parent))]
    found.sort(key=lambda run: (run[1]["state"] != "running", -_number(run[1], "updated_at")))
    return ([(folder, own)] if own else []) + found[:MAX_RUNS]


def describe(folder: Path, status: dict[str, Any]) -> str:
    """A run in some lines."""
    state = _STATES.get(status["state"], str(status["state"]))
    title = status.get("title") or folder.name
    lines = [f"{title}: {state} ({folder})"]
    lines += [_when(status)]
    inputs, progress = status.get("inputs"), status.get("progress")
    lines += [_inputs(inputs)] if inputs and isinstance(inputs, dict) else []
    has_progress = isinstance(progress, dict) and _number(progress, "total")
    lines += [_progress(progress, status)] if progress and has_progress else []
    if status["state"] == "running":
        lines += [
            _worker(worker) for worker in _list(status, "workers") if isinstance(worker, dict)
        ]
    lines += [f"Warning: {text}" for text in _list(status, "warnings")[-MAX_WARNINGS:]]
    lines += [str(status["problem"])] if status.get("problem") else []
    return "\n  ".join(filter(None, lines))


def _when(status: dict[str, Any]) -> str:
    began, updated = _number(status, "started_at"), _number(status, "updated_at")
    who = f"process {status.get('pid')} on {status.get('host')}"
    if status["state"] == "running":
        deadline = _number(status, "deadline_at")
        until = f", until {_clock(deadline)}" if deadline else ""
        seen = f"last sign of life {duration(max(0.0, time.time() - updated))} ago"
        return f"since {_clock(began)}{until}, {who}, {seen}"
    return f"from {_clock(began)} to {_clock(updated)}, {who}"


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _inputs(inputs: dict[str, Any]) -> str:
    """How many inputs there are of each kind."""
    done = _number(inputs, "num_done") + _number(inputs, "num_already_done")
    parts = [f"{plural(int(_number(inputs, 'num_inputs')), 'input')}", f"{done:.0f} done"]
    for name, word in (("num_partial", "not whole"), ("num_failed", "failed")):
        if _number(inputs, name):
            parts.append(f"{_number(inputs, name):.0f} {word}")
    return ", ".join(parts)


def _progress(p: dict[str, Any], status: dict[str, Any]) -> str:
    total = _number(p, "total")
    share = 100 * _number(p, "done") / total if total else 0.0
    parts = [f"{p.get('phase')} {share:.0f} %" if total else f"{p.get('phase')}"]
    parts += [f"{_number(p, 'done'):,.0f} of {total:,.0f}"]
    parts += [f"{duration(_number(p, 'audio_s'))} of audio"]
    parts += [f"{_number(p, 'x_realtime'):.1f}x real time"]
    if status["state"] == "running" and _number(p, "eta_s"):
        end = time.time() + _number(p, "eta_s")
        parts += [f"{duration(_number(p, 'eta_s'))} left, done at {_clock(end)[11:]}"]
    return ", ".join(parts)


def _worker(w: dict[str, Any]) -> str:
    """`worker 1 on host: busy, 12 items, 20.1x real time, 512 MB, seen 2 s ago`."""
    parts = [f"{w.get('state')}", f"{plural(int(_number(w, 'num_items')), 'item')}"]
    parts += [f"{_number(w, 'x_realtime'):.1f}x real time", size(_number(w, "rss_bytes"))]
    growth = _number(w, "rss_growth_mb_per_h")
    parts += [f"{growth:+.0f} MB/h" if growth else ""]
    parts += [f"{_number(w, 'cpu_cores'):.1f} cores"]
    crashes = int(_number(w, "num_crashes"))
    parts += [plural(crashes, "crash").replace("crashs", "crashes") if crashes else ""]
    parts += [f"seen {duration(_number(w, 'seen_s'))} ago"]
    return f"worker {w.get('number')} on {w.get('host')}: {', '.join(filter(None, parts))}"


def _list(values: dict[str, Any], name: str) -> list[Any]:
    value = values.get(name)
    return value if isinstance(value, list) else []


def _number(values: dict[str, Any], name: str) -> float:
    value = values.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
