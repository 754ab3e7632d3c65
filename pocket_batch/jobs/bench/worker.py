"""A process with one side of a measurement: `python -m pocket_batch.jobs.bench.worker`.

One process a side, so that each has its own memory to look at, and nothing of one is in the way of
another. Every line on standard input is a task in JSON, every line on standard output an answer.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from pocket_batch.errors import PocketBatchError
from pocket_batch.jobs.bench.model import prepare
from pocket_batch.jobs.bench.sides import (
    Ours,
    Reference,
    Side,
    peak_bytes,
    resident_bytes,
)
from pocket_batch.jobs.bench.texts import Line

TELL_EVERY_S = 0.2

Tell = Callable[[dict[str, Any]], None]


def main() -> None:
    """Do tasks until there are no more, or one fails."""
    answers = _own_output()

    def tell(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    worker = Worker(tell)
    for task in sys.stdin:
        try:
            tell({"result": worker.do(**json.loads(task))})
        except PocketBatchError as error:
            tell({"error": str(error), "kind": type(error).__name__})
            return


class Worker:
    """What a process holds, and the tasks it knows."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._side: Side | None = None

    def do(self, task: str, **settings: Any) -> dict[str, Any]:
        """The result of a task by name; see the methods."""
        tasks: dict[str, Callable[..., dict[str, Any]]] = {
            "prepare": self.prepare,
            "ours": self.load_ours,
            "reference": self.load_reference,
            "speak": self.speak,
        }
        return tasks[task](**settings)

    def prepare(self, model: str, folder: str) -> dict[str, Any]:
        """Make files; a `Prepared` comes back."""
        return asdict(prepare(model, Path(folder)))

    def load_ours(self, **settings: Any) -> dict[str, Any]:
        """Load our engine with the arguments of `Ours`."""
        started = time.perf_counter()
        side = Ours(**settings)
        self._side = side
        return {"num_slots": side.num_slots, **_loaded(started)}

    def load_reference(self, **settings: Any) -> dict[str, Any]:
        """Load pocket-tts with the arguments of `Reference`."""
        started = time.perf_counter()
        self._side = Reference(**settings)
        return _loaded(started)

    def speak(self, lines: list[dict[str, Any]]) -> dict[str, Any]:
        """Speak lines; a `Pass` comes back, and the most memory that was ever used."""
        assert self._side is not None
        shown = 0.0

        def told(done: int) -> None:
            nonlocal shown
            if time.monotonic() - shown >= TELL_EVERY_S:
                shown = time.monotonic()
                self._tell({"done": done})

        spoken = self._side.speak([Line(**line) for line in lines], told)
        return {"pass": asdict(spoken), "peak_bytes": max(peak_bytes(), resident_bytes())}


def _loaded(started: float) -> dict[str, Any]:
    return {"load_s": time.perf_counter() - started, "loaded_bytes": resident_bytes()}


def _own_output() -> TextIO:
    """Standard output for answers alone: what libraries print goes to standard error."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return own


if __name__ == "__main__":
    main()
