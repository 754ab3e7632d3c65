"""Work through job files: many books or data sets, one queue, one summary.

examples:
  pocket-batch run nightly.yaml                     all that its inputs and inbox hold
  pocket-batch run nightly.yaml --deadline 05:30    until then; the same command goes on
  pocket-batch run books.yaml corpus.yaml           one run, one summary
  pocket-batch run nightly.yaml --dry-run           what there is to do, and how long it takes
  pocket-batch run nightly.yaml --keep-watching     wait for more in its inbox
  pocket-batch status audiobooks/nightly.run        how it goes, from another terminal
  pocket-batch listen audiobooks/emma.work          hear what a book has to be looked at
  pocket-batch redo audiobooks/emma.work --suspect  and speak that again: the next run keeps it

A job file:

  pipeline: audiobook            # or dataset, or a pipeline file of your own
  inbox: inbox                   # and inputs: [more/*.epub, that/book.epub]
  voice: heart
  output: audiobooks/{author}/{title}.m4b
  set: {check.listen: sample, write.subtitles: [srt], write.read_along: true}
  deadline: "05:30"

What is done is found by its content and skipped. A bad book does not stop the others. Stop it at
any time: the same command goes on. `pocket-batch schedule` puts it into a timer of systemd, cron,
Slurm or Kubernetes; docs/nightly.md tells the rest; `pocket-batch schema job` is for your editor.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pocket_batch.cli.dataset import shard_of
from pocket_batch.cli.running import (
    add_deadline_arguments,
    add_executor_arguments,
    add_log_arguments,
    executor_overrides,
    stop_signals,
)
from pocket_batch.cli.show import make_reporter
from pocket_batch.errors import UsageError

if TYPE_CHECKING:
    from pocket_batch.jobs.deadline import Deadline
    from pocket_batch.jobs.night.job import NightJob


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("job", metavar="JOB", nargs="+", type=Path, help="job files")
    run = parser.add_argument_group("how it is run; all win over the job file")
    add_deadline_arguments(run)
    add_executor_arguments(run)
    run.add_argument(
        "--keep-watching", action="store_true", help="wait for more in the inbox until the deadline"
    )
    run.add_argument("--shard", metavar="I/N", help="only part I of N, from 0: for job arrays")
    run.add_argument(
        "--run-dir", type=Path, metavar="DIR", help="of status, summary and log (default: JOB.run)"
    )
    run.add_argument("--dry-run", action="store_true", help="plan and estimate, speak nothing")
    run.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="of every job's pipeline"
    )
    add_log_arguments(run)


def run(args: argparse.Namespace) -> int:
    """Work through the jobs that the arguments name."""
    from pocket_batch.jobs.night.job import open_job
    from pocket_batch.jobs.night.run import Night, run_night
    from pocket_batch.yaml_files import parse_assignment

    options: dict[str, Any] = executor_overrides(args)
    given = dict(parse_assignment(text) for text in args.set)
    given |= {key: value for key, value in options.items() if value is not None}
    jobs = tuple(open_job(path, given) for path in dict.fromkeys(args.job))
    if args.keep_watching and not any(job.settings.inbox for job in jobs):
        raise UsageError("--keep-watching needs a job with an `inbox` to watch.")
    shard = shard_of(args.shard)
    folder = args.run_dir or jobs[0].run_dir
    night = Night(
        jobs=jobs,
        deadline=_deadline(args, jobs),
        run_dir=folder / f"{shard[0]}-of-{shard[1]}" if shard else folder,
        shard=shard,
        keep_watching=args.keep_watching or any(job.settings.keep_watching for job in jobs),
        dry_run=args.dry_run,
        command=("pocket-batch", *sys.argv[1:]),
    )
    with make_reporter(args.log_format, args.quiet) as reporter, stop_signals() as stopped:
        run_night(night, reporter, stopped.is_set)
    return 0


def _deadline(args: argparse.Namespace, jobs: "tuple[NightJob, ...]") -> "Deadline":
    """That of the command line, else the first of those of the jobs."""
    from pocket_batch.jobs.deadline import make_deadline

    if args.deadline is not None or args.max_hours is not None:
        return make_deadline(args.deadline, args.max_hours)
    found = [make_deadline(job.settings.deadline, job.settings.max_hours) for job in jobs]
    return min(found, key=lambda deadline: deadline.left_s())
