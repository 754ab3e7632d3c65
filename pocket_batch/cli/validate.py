"""Look at every clip of a data set, or of an export, again.

examples:
  pocket-batch validate my-set                         the set and all its exports
  pocket-batch validate my-set/exports/nemo            one of them
  pocket-batch validate /data/somebody/LJSpeech-1.1    anybody's
  pocket-batch validate my-set/exports/parquet --load-with datasets

Every audio file is decoded whole and compared with what is said of it: libraries let wrong rates
and durations through. With --load-with the library itself loads it too, and what it gives is
compared with the files. A line for each problem; exit code 0 when there is none, else 10.
"""

import argparse
from collections import Counter

from pocket_batch.cli.running import add_log_arguments, stop_signals
from pocket_batch.cli.show import make_reporter
from pocket_batch.errors import PartialRunError
from pocket_batch.outputs.exports import EXPORTS

MAX_LINES_OF_A_KIND = 20
LIBRARIES = ("datasets", "lhotse", "webdataset", "nemo")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("set", metavar="DIR", help="a data set, or an export")
    parser.add_argument("--format", metavar="NAME", help=f"of an export: {', '.join(EXPORTS)}")
    parser.add_argument("--load-with", choices=LIBRARIES, help="load it with this library as well")
    add_log_arguments(parser.add_argument_group("how it is shown"))


def run(args: argparse.Namespace) -> int:
    """Validate what the arguments name."""
    from pocket_batch.jobs.dataset.validate import validate_dataset
    from pocket_batch.words import duration, plural

    with make_reporter(args.log_format, args.quiet) as reporter, stop_signals() as stopped:
        report = validate_dataset(args.set, reporter, stopped.is_set, args.format)
        if args.load_with:
            from pocket_batch.jobs.dataset.loading import load_with

            report.problems += load_with(args.set, args.load_with, args.format, reporter)
        for line in _shortened(report.problems):
            reporter.note("problem", line, "warning")
        reporter.note(
            "validated",
            f"Looked at {', '.join(report.looked_at)}: {plural(report.num_clips, 'clip')}, "
            f"{duration(report.seconds)}, {plural(len(report.speakers), 'speaker')}, "
            f"{plural(len(report.problems), 'problem')}.",
            num_clips=report.num_clips,
            audio_s=round(report.seconds, 3),
            num_problems=len(report.problems),
        )
    if report.problems:
        raise PartialRunError(f"{args.set}: {plural(len(report.problems), 'problem')}.")
    return 0


def _shortened(problems: list[str]) -> list[str]:
    """The first lines of each kind, and how many more there are."""
    kinds: Counter[str] = Counter()
    lines = []
    for problem in problems:
        kind = _kind(problem)
        kinds[kind] += 1
        if kinds[kind] <= MAX_LINES_OF_A_KIND:
            lines.append(problem)
    more = ((kind, count - MAX_LINES_OF_A_KIND) for kind, count in kinds.items())
    return lines + [f"and {count:,} more like: ...{kind}" for kind, count in more if count > 0]


def _kind(problem: str) -> str:
    """`a.json:3: it says 5 s` -> `it says`: what is told, without places and numbers."""
    words = problem.rpartition(": ")[2].split()
    return " ".join(word for word in words if word.isalpha())[:40]
