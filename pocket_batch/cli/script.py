"""Write the script of a book: each utterance on a line, with its voice and the pause after it.

examples:
  pocket-batch script book.epub -o book.jsonl    then edit a line, and:
  pocket-batch book.jsonl                        only the lines that changed are spoken

A line is spoken as it stands: "text" is in spoken form, "voice" a name from `pocket-batch voices`,
"pause_after_ms" the silence after it. [pause 800ms] and [voice marius] may stand in a text; a line
may be removed, or added without an "id". The first line is about the book: title, authors, cover,
titles of chapters, and the voice of the narrator, whose lines --voice gives to another.
"""

import argparse
from pathlib import Path

from pocket_batch.cli.book import (
    add_choice_arguments,
    add_setting_arguments,
    add_voice_arguments,
    choices_of,
    pipeline_of,
)
from pocket_batch.cli.reading import add_reading_arguments, reading_overrides
from pocket_batch.cli.show import FORMATS as LOG_FORMATS
from pocket_batch.cli.show import make_reporter
from pocket_batch.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options, in groups."""
    parser.add_argument("book", metavar="BOOK", type=Path, help="an .epub, .txt or .md file")
    out = parser.add_argument_group("what is made")
    out.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: BOOK.jsonl")
    out.add_argument("--overwrite", action="store_true", help="replace a script that exists")
    add_voice_arguments(out)
    add_choice_arguments(out)
    add_reading_arguments(parser)
    run = parser.add_argument_group("how it is run")
    add_setting_arguments(run)
    run.add_argument("--quiet", action="store_true", help="only warnings and errors")
    run.add_argument(
        "--log-format", choices=LOG_FORMATS, help="default: rich on a terminal, else plain"
    )


def run(args: argparse.Namespace) -> int:
    """Write the script the arguments ask for."""
    from pocket_batch.jobs.reading import SCRIPT_SUFFIX
    from pocket_batch.jobs.script import ScriptJob, write_script
    from pocket_batch.sources.base import check_source

    check_source(args.book)
    name = args.book.stem + f" (chapters {args.chapters})" * bool(args.chapters)
    output = args.output or args.book.with_name(name + SCRIPT_SUFFIX)
    if output.is_dir():
        output = output / f"{name}{SCRIPT_SUFFIX}"
    if output.suffix.lower() != SCRIPT_SUFFIX:
        raise UsageError(f"-o {output}: a script ends in {SCRIPT_SUFFIX}. Give such a name.")
    if output.resolve() == args.book.resolve():
        raise UsageError(f"{output} is the book itself. Give another name with -o.")
    options = {"voice": args.voice, "model": args.model} | reading_overrides(args)
    job = ScriptJob(args.book, output, pipeline_of(args, options), choices_of(args), args.overwrite)
    with make_reporter(args.log_format, args.quiet) as reporter:
        write_script(job, reporter)
    return 0
