"""Make the report of an audiobook again: one HTML file about its run, with what is suspect in it.

examples:
  pocket-batch report book.work            writes book.work/report.html
  pocket-batch report book.work -o r.html  another file

Each run writes its report at the end. Open it in a browser: it needs no network and no server.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("work", metavar="BOOK.work", type=Path, help="the work folder of a book")
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="default: report.html there"
    )


def run(args: argparse.Namespace) -> int:
    """Write the report and say where it is."""
    from pocket_batch.jobs.report.write import write_report
    from pocket_batch.work_folder import WorkFolder

    print(write_report(WorkFolder(args.work), args.output))
    return 0
