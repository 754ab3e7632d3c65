"""Measure the engine: how fast it speaks, by part, how full its batch is, and its memory.

Lengths are forced to those of real books, so a random checkpoint does where the weights are not
here. With `--against reference` the package pocket-tts speaks some of the same texts in turn with
ours, in float32 and in int8; what counts is the ratio within an alternation, for the machine may be
busy with other things. `bench-pipeline` measures everything but the engine.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pocket_batch.data import Precision
from pocket_batch.engine.pocket import NUM_SLOTS
from pocket_batch.errors import UsageError

if TYPE_CHECKING:
    from pocket_batch.jobs.bench.measure import Watch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("--model", default="english", help="a name or a folder (default: english)")
    choices = (*get_args(Precision), "auto", "all")
    add("--precision", choices=choices, default="auto", help="default: auto")
    add("--against", choices=("none", "reference"), default="none", help="default: none")
    add("--utterances", type=_positive, default=128, metavar="N", help="default: 128")
    texts = "speak these: a book, or a folder of books; a made-up model speaks made-up texts of "
    add("--texts", type=Path, metavar="BOOK", help=f"{texts}those lengths")
    add("--lanes", type=_positive, default=2, metavar="N", help="threads (default: 2)")
    rows = f"utterances of a lane at a time (default: {NUM_SLOTS})"
    add("--rows", type=_positive, metavar="N", help=rows)
    add("--repeats", type=_positive, default=5, metavar="N", help="alternations (default: 5)")
    add("--memory", action="store_true", help="show memory over the texts too")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument("--markdown", action="store_true", help="tables for docs/performance.md")


def run(args: argparse.Namespace) -> int:
    """Measure and print.

    Raises:
        ModelUnavailableError: there is no such model, or pocket-tts is not installed.
        InputError, UsageError: the texts are refused.
    """
    from pocket_batch.jobs.bench.measure import Plan, measure, precisions_named
    from pocket_batch.jobs.bench.report import as_dict, as_markdown, as_text

    if args.texts is not None and not args.texts.exists():
        raise UsageError(f"--texts {args.texts}: there is no such file or folder.")
    plan = Plan(
        model=str(Path(args.model).absolute()) if Path(args.model).exists() else args.model,
        precisions=precisions_named(args.precision),
        num_utterances=args.utterances,
        texts=args.texts,
        lanes=args.lanes,
        rows=args.rows,
        repeats=args.repeats,
        against_reference=args.against == "reference",
    )
    with _watching() as watch:
        found = measure(plan, watch, lambda reason: _say(f"Left out: {reason}"), _say_in_a_log)
    if args.json:
        print(json.dumps(as_dict(found)))
    else:
        print((as_markdown if args.markdown else as_text)(found, args.memory))
    return 0


@contextmanager
def _watching() -> Iterator["Watch"]:
    """A live line on a terminal, and nothing anywhere else: see `_say_in_a_log`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        line = bar.add_task("")

        def watch(what: str, done: int, total: int) -> None:
            bar.update(line, description=what, completed=done, total=total)

        yield watch


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _say_in_a_log(line: str) -> None:
    """Where there is no live line."""
    if not sys.stderr.isatty():
        _say(line)


def _positive(word: str) -> int:
    with suppress(ValueError):
        if (number := int(word)) >= 1:
            return number
    raise argparse.ArgumentTypeError(f"`{word}` is not a whole number of 1 or more")
