"""Options that say which voice reads which book, and what is known better than in it."""

import argparse
from pathlib import Path
from typing import Any

from pocket_batch.config import load_pipeline
from pocket_batch.data import Choices, Cover
from pocket_batch.errors import InputError, UsageError
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.yaml_files import parse_assignment

MAX_CHAPTERS = 100_000


def add_voice_arguments(group: "argparse._ArgumentGroup") -> None:
    """Declare the options that choose a voice."""
    group.add_argument(
        "--voice",
        metavar="NAME|FILE",
        help="see `pocket-batch voices`, or a recording (.wav .flac .mp3 .ogg) or voice state "
        "(.safetensors); default: what suits the book's language and is on this machine",
    )
    group.add_argument(
        "--model",
        metavar="NAME|FOLDER",
        help="of Pocket TTS, see `pocket-batch models list`; default: that of the book's language",
    )


def add_choice_arguments(group: "argparse._ArgumentGroup") -> None:
    """Declare the options that say something about the book."""
    group.add_argument("--chapters", metavar="1,3-5", help="only these, as `inspect` numbers them")
    group.add_argument("--language", metavar="CODE", help="if the book is wrong about its own")
    group.add_argument("--title", metavar="TEXT", help="instead of the book's own")
    group.add_argument(
        "--author", action="append", default=[], metavar="NAME", help="likewise; may be given again"
    )
    group.add_argument("--cover", type=Path, metavar="PICTURE", help="likewise; any common format")


def add_setting_arguments(group: "argparse._ArgumentGroup") -> None:
    """Declare the options that change any setting."""
    group.add_argument("--pipeline", type=Path, metavar="FILE", help="a pipeline file of your own")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change one setting of the pipeline file; may be given again",
    )


def pipeline_of(args: argparse.Namespace, options: dict[str, Any]) -> AudiobookPipeline:
    """The pipeline file with --set and with options, by dotted keys, where they are not None.

    Raises:
        UsageError: a file or a value is wrong.
    """
    assigned = dict(parse_assignment(text) for text in args.set)
    given = {key: value for key, value in options.items() if value is not None}
    return load_pipeline(args.pipeline, assigned | given)


def choices_of(args: argparse.Namespace) -> Choices:
    """What the options say about the book.

    Raises:
        UsageError: the list of chapters makes no sense.
        InputError: the cover is not a picture.
    """
    cover = None
    if args.cover:
        from pocket_batch.audio.cover import usable_cover

        try:
            cover = usable_cover(Cover(args.cover.read_bytes(), args.cover.name))
        except OSError as error:
            raise InputError(f"{args.cover}: cannot be read ({error.strerror}).") from error
    return Choices(
        chapters=parse_chapters(args.chapters or ""),
        language=args.language or "",
        title=args.title or "",
        authors=tuple(name for name in args.author if name.strip()),
        cover=cover,
    )


def parse_chapters(text: str) -> frozenset[int]:
    """`1,3-5` -> {1, 3, 4, 5}; an empty text means all and gives none.

    Raises:
        UsageError: it is not a list of numbers and ranges.
    """
    numbers: set[int] = set()
    try:
        for part in text.split(",") if text else ():
            first, dash, last = part.partition("-")
            span = range(int(first), int(last if dash else first) + 1)
            if not span or span.start < 1 or span.stop > MAX_CHAPTERS:
                raise ValueError
            numbers.update(span)
    except ValueError as error:
        raise UsageError(f"--chapters wants numbers like 1,3-5, not `{text:.60}`.") from error
    return frozenset(numbers)
