"""Options that say what of a book is read, how its words are said, and who speaks its lines."""

import argparse
from typing import Any, get_args

from pocket_batch.settings import Normalizer, Notes, Special


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options, in two groups."""
    what = parser.add_argument_group("what is read")
    what.add_argument(
        "--notes", choices=get_args(Notes), help="footnotes and endnotes (default: drop)"
    )
    what.add_argument(
        "--keep-matter",
        action="store_true",
        default=None,
        help="contents, copyright pages, half titles and indexes too",
    )
    what.add_argument(
        "--alt", action="store_true", default=None, help="descriptions of pictures too"
    )
    for name, default in (("tables", "read"), ("code", "read"), ("formulas", "read")):
        what.add_argument(f"--{name}", choices=get_args(Special), help=f"default: {default}")
    how = parser.add_argument_group("how it is read")
    how.add_argument(
        "--lexicon",
        metavar="FILE",
        help="respellings (.yaml .csv), or none; default: BOOK.lexicon.yaml and "
        "lexicon.yaml beside BOOK",
    )
    how.add_argument(
        "--dialogue-voice", metavar="NAME|FILE", help="another voice for quoted speech"
    )
    how.add_argument(
        "--cast",
        metavar="FILE",
        help="who speaks which quoted lines, or none; default: BOOK.cast.yaml beside BOOK",
    )
    how.add_argument(
        "--normalizer",
        choices=get_args(Normalizer),
        help="of numbers and signs (default: builtin)",
    )


def reading_overrides(args: argparse.Namespace) -> dict[str, Any]:
    """The settings of these options that were given, as dotted keys."""
    options = {
        "read.notes": args.notes,
        "read.keep_matter": args.keep_matter,
        "read.alt": args.alt,
        "read.tables": args.tables,
        "read.code": args.code,
        "read.formulas": args.formulas,
        "normalize.lexicon": args.lexicon,
        "normalize.normalizer": args.normalizer,
        "dialogue_voice": args.dialogue_voice,
        "cast": args.cast,
    }
    return {key: value for key, value in options.items() if value is not None}
