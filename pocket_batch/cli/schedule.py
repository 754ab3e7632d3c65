"""Make the files with which a scheduler runs a job every night.

examples:
  pocket-batch schedule systemd nightly.yaml                     print them
  pocket-batch schedule systemd nightly.yaml -o units            write them, and say what to type
  pocket-batch schedule cron nightly.yaml --at 23:30             one line for a crontab
  pocket-batch schedule slurm set.yaml --shards 16 -o slurm      a data set, as an array of 16 jobs
  pocket-batch schedule slurm nightly.yaml --nodes 4 -o slurm    Ray on four nodes
  pocket-batch schedule k8s nightly.yaml --image tts:1 -o k8s    a CronJob, for KubeRay
  pocket-batch schedule ray nightly.yaml -o ray                  for a cluster that is there

The job stops at its own `deadline`, and the next night goes on.
"""

import argparse
import sys
from pathlib import Path

from pocket_batch.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from pocket_batch.jobs.schedule.files import SCHEDULERS

    parser.add_argument("scheduler", choices=SCHEDULERS, help="for which scheduler")
    parser.add_argument("job", type=Path, metavar="JOB", help="a job file")
    parser.add_argument("--at", default="22:00", metavar="HH:MM", help="default: 22:00")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="write the files there")
    parser.add_argument("--overwrite", action="store_true", help="replace files that differ")
    several = parser.add_argument_group("several machines (slurm and k8s)")
    several.add_argument(
        "--shards", type=int, metavar="N", help="parts without Ray (default for a data set: 8)"
    )
    several.add_argument(
        "--nodes", type=int, metavar="N", help="of a Ray cluster (default for books: 2)"
    )
    several.add_argument("--cpus", type=int, metavar="N", help="cores of each (default: 4)")
    k8s = parser.add_argument_group("k8s")
    k8s.add_argument("--image", metavar="NAME", help="of the container (default: pocket-batch)")
    k8s.add_argument(
        "--time-zone", metavar="NAME", help="such as Europe/Berlin (default: that of this machine)"
    )


def run(args: argparse.Namespace) -> int:
    """Make the files that the arguments ask for."""
    from pocket_batch.jobs.schedule.files import make_files, next_steps, printed, write_files
    from pocket_batch.jobs.schedule.nightly import ScheduleOptions, plan_nightly

    if args.overwrite and args.output is None:
        raise UsageError("--overwrite is for files: name their folder with -o.")
    options = ScheduleOptions(
        at=args.at,
        shards=args.shards,
        nodes=args.nodes,
        cpus=args.cpus,
        image=args.image,
        time_zone=args.time_zone,
    )
    made = make_files(args.scheduler, plan_nightly(args.job, options))
    if args.output is None:
        print(printed(made), end="")
        print("To write this to files, and see what to type next: add -o DIR.", file=sys.stderr)
        return 0
    written = write_files(made, args.output, args.overwrite)
    for name in made.files:
        print(f"{args.output / name}{'' if name in written else ' (as it was)'}")
    print(next_steps(made, args.output.absolute()))
    return 0
