"""Say what is wrong with this machine, a job or a cluster, before a night is lost to it.

examples:
  pocket-batch doctor                              this machine
  pocket-batch doctor jobs/nightly.yaml            and a job, and the cluster that it names
  pocket-batch doctor --address head:6379          and every node of that cluster

A line for each check: ok, warning or problem, what was found, and what to do. Nothing is changed
or downloaded. Exit code 0, or 10 when there is a problem.
"""

import argparse
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from pocket_batch.errors import PartialRunError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("job", nargs="?", type=Path, metavar="JOB.yaml", help="look at it as well")
    parser.add_argument("--address", default="", metavar="HOST:PORT", help="of a Ray cluster")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(args: argparse.Namespace) -> int:
    """Print what is found."""
    from pocket_batch.jobs.doctor.examine import examine
    from pocket_batch.words import plural

    counts: Counter[str] = Counter()
    for check in examine(args.job, args.address):
        counts[check.status] += 1
        line = json.dumps(asdict(check), ensure_ascii=False) if args.json else check.line
        print(line, flush=True)
    if counts["problem"]:
        raise PartialRunError(f"The doctor found {plural(counts['problem'], 'problem')}.")
    return 0
