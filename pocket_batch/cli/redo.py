"""Speak single lines of a finished audiobook again, and make the audiobook anew of all.

examples:
  pocket-batch redo book.work --segment 003-0007             another take of one line
  pocket-batch redo book.work --segment 003-0007 --text "Doctor Lee's name is spelled so."
  pocket-batch redo book.work --segment 003-0007 --voice fable
  pocket-batch redo book.work --suspect                      another take of all suspects
  pocket-batch redo book.work --chapter 3                    of a whole chapter
  pocket-batch redo book.work --segment 003-0007 --undo      as the book has it

The report (report.html) names the segments. --text is spoken as it stands ("twelve", not "12"). A
line that is heard in several places changes in all of them. What is made anew is what the last
command made of this work folder, with its options. What is chosen is kept in redo.jsonl of the
work folder, and the command that made the book honours it from then on. The embedded voice speaks a
text always the same: give it another text to hear it differently.
"""

import argparse
from pathlib import Path

from pocket_batch.cli.running import add_log_arguments, stop_signals
from pocket_batch.cli.show import make_reporter
from pocket_batch.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("work", metavar="BOOK.work", type=Path, help="the work folder of a book")
    which = parser.add_argument_group("what is spoken again (one of these)")
    which.add_argument(
        "--segment", action="append", default=[], metavar="ID", help="a line; may be given again"
    )
    which.add_argument("--suspect", action="store_true", help="all that the report lists")
    which.add_argument("--chapter", type=int, metavar="N", help="all lines of a chapter")
    how = parser.add_argument_group("how")
    how.add_argument("--text", metavar="TEXT", help="what to speak instead, in spoken form")
    how.add_argument("--voice", metavar="NAME|FILE", help="who speaks it; of the same engine")
    how.add_argument("--undo", action="store_true", help="as it was without `redo`")
    run = parser.add_argument_group("how it is run")
    run.add_argument("--source", type=Path, metavar="FILE", help="where the book is now")
    run.add_argument(
        "--overwrite", action="store_true", help="replace an output that was changed by others"
    )
    add_log_arguments(run)


def run(args: argparse.Namespace) -> int:
    """Speak again what the arguments name."""
    from pocket_batch.jobs.redo import RedoJob, run_redo

    num_given = bool(args.segment) + args.suspect + (args.chapter is not None)
    if num_given != 1:
        raise UsageError("Give one of --segment ID, --suspect and --chapter N.")
    if args.undo and (args.text or args.voice):
        raise UsageError("--undo goes back to what the book has: leave --text and --voice out.")
    if args.text is not None and not args.text.strip():
        raise UsageError("--text is empty: give what is to be spoken.")
    job = RedoJob(
        work=args.work,
        segments=tuple(args.segment),
        suspects=args.suspect,
        chapter=args.chapter,
        text=args.text or "",
        voice=args.voice or "",
        undo=args.undo,
        source=args.source,
        overwrite=args.overwrite,
    )
    with make_reporter(args.log_format, args.quiet) as reporter, stop_signals() as stopped:
        run_redo(job, reporter, stopped.is_set)
    return 0
