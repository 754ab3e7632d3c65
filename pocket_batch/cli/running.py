"""Options that say where work is done and how it is shown, and signals that stop it."""

import argparse
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, get_args

from pocket_batch.cli.show import FORMATS as LOG_FORMATS
from pocket_batch.errors import StoppedError, UsageError
from pocket_batch.settings import ExecutorName

if TYPE_CHECKING:
    from pocket_batch.jobs.deadline import Deadline


HARD_STOP_S = 2.5  # `ray job stop` kills 3 s after SIGTERM


def add_executor_arguments(group: "argparse._ArgumentGroup") -> None:
    """Declare the options of executors."""
    group.add_argument(
        "--executor",
        choices=get_args(ExecutorName),
        help="ray: worker processes; local: this process; auto (default): ray, except for work "
        "that would be over before Ray has started",
    )
    group.add_argument("--workers", metavar="N|auto", help="default: auto, as many as fit")
    group.add_argument("--cores-per-worker", type=int, metavar="N", help="default: 2")
    group.add_argument("--address", metavar="HOST:PORT", help="join this Ray cluster")


def add_deadline_arguments(group: "argparse._ArgumentGroup") -> None:
    """Declare the options of when to stop."""
    group.add_argument(
        "--deadline", metavar="HH:MM", help="stop in time, with all work saved (exit code 75)"
    )
    group.add_argument("--max-hours", type=float, metavar="N", help="likewise, N hours from now")


def deadline_of(args: argparse.Namespace) -> "Deadline":
    """Until when to work.

    Raises:
        UsageError: it makes no sense.
    """
    from pocket_batch.jobs.deadline import make_deadline

    return make_deadline(args.deadline, args.max_hours)


def add_log_arguments(group: "argparse._ArgumentGroup") -> None:
    """Declare the options of what is shown."""
    group.add_argument("--quiet", action="store_true", help="only warnings and errors")
    group.add_argument(
        "--log-format", choices=LOG_FORMATS, help="default: rich on a terminal, else plain"
    )


def executor_overrides(args: argparse.Namespace) -> dict[str, Any]:
    """The options of executors, as dotted keys of a pipeline file; None where not given."""
    if args.workers == "auto":  # where the pipeline file has a number too
        args.set = [*args.set, "executor.workers=null"]
    return {
        "executor.name": args.executor or ("ray" if args.address else None),
        "executor.workers": _workers(args.workers),
        "executor.cores_per_worker": args.cores_per_worker,
        "executor.address": args.address,
    }


def _workers(text: str | None) -> int | None:
    if text is None or text == "auto":
        return None
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"--workers wants a number or `auto`, not `{text:.60}`.") from error


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; a second one of the same kind ends at once."""
    stopped = threading.Event()
    before: dict[int, Any] = {}
    last_word = threading.Timer(HARD_STOP_S, _end_now)
    last_word.daemon = True

    def on_signal(number: int, frame: object) -> None:
        if stopped.is_set() and threading.current_thread() is not threading.main_thread():
            _end_now()
        if number == signal.SIGTERM and not stopped.is_set():
            last_word.start()
        stopped.set()
        with suppress(ValueError):  # another thread calls this while Ray starts
            signal.signal(number, before[number])
        os.write(2, b"Stopping; once more ends at once.\n")  # print may be busy just now

    for number in (int(signal.SIGINT), int(signal.SIGTERM), int(signal.SIGHUP)):
        before[number] = signal.signal(number, on_signal)
    try:
        yield stopped
    finally:
        last_word.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_now() -> None:
    """End this process whatever it does: it is killed in a moment, and all state is on disk."""
    os.write(2, b"Stopped in the middle of something; the same command goes on.\n")
    os._exit(StoppedError.exit_code)
