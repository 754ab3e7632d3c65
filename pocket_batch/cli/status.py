"""Show how a run goes or how it ended, from its files.

examples:
  pocket-batch status audiobooks/nightly.run    a run of job files
  pocket-batch status book.work                 one book that no job made
  pocket-batch status my-set                    a data set
  pocket-batch status .                         all runs in and below a folder
  pocket-batch status . --watch                 again every two seconds, until none works
  pocket-batch status . --json                  for machines

Exit code: that of the run, or 0 while it works; 1 for a run that was killed.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from pocket_batch.errors import InputError

WATCH_S = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=Path())
    parser.add_argument("--watch", action="store_true", help="again every two seconds")
    parser.add_argument("--json", action="store_true", help="one object a run and line")


def run(args: argparse.Namespace) -> int:
    """Show the runs of a folder."""
    from pocket_batch.jobs.status_text import describe, find_runs

    while True:
        runs = find_runs(args.folder)
        if not runs and (args.folder / "run.json").is_file():
            raise InputError(
                f"{args.folder}: its book was made by a run of jobs, and the folder of that "
                f"(JOB.run) tells how it went; `pocket-batch report {args.folder}` tells of it."
            )
        if not runs:
            raise InputError(
                f"{args.folder}: no run is known there. Give the folder of one: JOB.run, BOOK.work "
                "or a data set."
            )
        if args.json:
            for folder, status in runs:
                print(json.dumps({"folder": str(folder), **status}, ensure_ascii=False))
        else:
            _clear(args.watch)
            print("\n\n".join(describe(folder, status) for folder, status in runs), flush=True)
        if not args.watch or not any(s["state"] == "running" for _, s in runs):
            return max(_code(status) for _, status in runs)
        time.sleep(WATCH_S)


def _clear(is_watching: bool) -> None:
    import sys

    if is_watching and sys.stdout.isatty():
        print("\033[2J\033[H", end="")


def _code(status: dict[str, Any]) -> int:
    if status["state"] == "running":
        return 0
    code = status.get("exit_code", 1)
    return code if isinstance(code, int) else 1
