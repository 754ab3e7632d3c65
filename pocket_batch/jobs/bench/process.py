"""The driver's end of a worker process."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from pocket_batch import errors
from pocket_batch.errors import PocketBatchError


def nobody(done: int) -> None:
    """Progress that nobody sees."""


class WorkerProcess:
    """A process that does tasks one after the other; a context manager that ends it."""

    def __init__(self, environment: dict[str, str] | None = None) -> None:
        """Start it; `environment` is added to that of this process."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pocket_batch.jobs.bench.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=os.environ | (environment or {}),
            start_new_session=True,  # Ctrl-C is for the driver, who then ends it
        )

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def ask(
        self, task: str, told: Callable[[int], None] = nobody, **settings: Any
    ) -> dict[str, Any]:
        """Have a task done; `told` gets the number of texts that are done meanwhile.

        Raises:
            PocketBatchError: of the kind that the worker raised, or it ended without an answer.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps({"task": task, **settings}), file=self._process.stdin, flush=True)
        except BrokenPipeError as error:
            raise self._gone() from error
        for line in self._process.stdout:
            answer = json.loads(line)
            if "done" in answer:
                told(answer["done"])
            elif "error" in answer:
                kind = getattr(errors, answer["kind"], PocketBatchError)
                raise kind(answer["error"])
            else:
                result: dict[str, Any] = answer["result"]
                return result
        raise self._gone()

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # what it has not read yet
                    stream.close()

    def _gone(self) -> PocketBatchError:
        code = self._process.wait()
        why = (
            "It was ended from outside: if memory ran out, measure fewer precisions at once."
            if code < 0
            else "This is a bug: report what it says above."
        )
        return PocketBatchError(
            f"A process of the measurement ended with {code} in the middle of its work. {why}"
        )
