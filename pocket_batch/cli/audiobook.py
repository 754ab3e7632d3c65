"""Turn a book (.epub, .txt, .md, or a script) into an audiobook with chapters, cover and tags.

examples:
  pocket-batch book.epub                      makes book.m4b beside it
  pocket-batch book.epub --chapters 1,3-5     only these chapters
  pocket-batch models pull english            once, while online: then alba reads, of Pocket TTS
  pocket-batch book.epub --voice heart        the quick voice that comes with the package
  pocket-batch book.epub --voice me.wav       a voice from a recording
  pocket-batch book.epub --dry-run            how long it would take, and how much disk
  pocket-batch book.epub --format mp3 --split-chapters --loudness acx
  pocket-batch book.epub --subtitles srt --read-along   also subtitles, and an EPUB that speaks
  pocket-batch book.epub --set segment.pauses.paragraph_ms=900
  pocket-batch book.epub --dialogue-voice fable --voice heart   quoted speech in another voice
  pocket-batch book.jsonl                     a script, see `pocket-batch script --help`

Stop it at any time: the same command goes on where it was. Run it again when it is done, and
nothing happens. Change a sentence of the book and give --overwrite: only that is spoken again.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any, get_args

from pocket_batch.cli.book import (
    add_choice_arguments,
    add_setting_arguments,
    add_voice_arguments,
    choices_of,
    pipeline_of,
)
from pocket_batch.cli.book import parse_chapters as parse_chapters
from pocket_batch.cli.reading import add_reading_arguments, reading_overrides
from pocket_batch.cli.running import (
    add_deadline_arguments,
    add_executor_arguments,
    add_log_arguments,
    deadline_of,
    executor_overrides,
    stop_signals,
)
from pocket_batch.cli.show import make_reporter
from pocket_batch.errors import UsageError
from pocket_batch.settings import AudiobookPipeline, FileFormat, Listen, Loudness, SubtitleKind

_ALIASES = {"m4a": "m4b"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options, in groups."""
    parser.add_argument(
        "book", metavar="BOOK", type=Path, help="an .epub, .txt, .md or .jsonl (script) file"
    )
    out = parser.add_argument_group("what is made")
    out.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: beside BOOK")
    add_voice_arguments(out)
    out.add_argument(
        "--temperature", type=float, metavar="T", help="of Pocket TTS: more is livelier, 0 to 2"
    )
    out.add_argument("--format", choices=get_args(FileFormat), help="default: m4b")
    out.add_argument(
        "--split-chapters",
        action="store_true",
        default=None,
        help="one file a chapter, numbered, in a folder with cover.jpg and a playlist",
    )
    out.add_argument(
        "--subtitles",
        action="append",
        choices=get_args(SubtitleKind),
        help="beside each audio file; for two kinds: --subtitles srt --subtitles vtt",
    )
    out.add_argument(
        "--read-along",
        action="store_true",
        default=None,
        help="also an EPUB with the speech in it, whose text is marked as it is read",
    )
    add_choice_arguments(out)
    out.add_argument("--target-lufs", type=float, metavar="LUFS", help="loudness (default: -23)")
    out.add_argument(
        "--loudness",
        choices=get_args(Loudness),
        help="acx: all that ACX asks for: RMS, peak, room tone, and 192 kbit/s 44.1 kHz for MP3",
    )
    out.add_argument(
        "--seed", type=int, metavar="N", help="another seed, another take (default: 0)"
    )
    out.add_argument(
        "--check",
        choices=get_args(Listen),
        help="how much speech recognition listens to (extra [asr]): nothing, a tenth, or all of "
        "it; what it hears wrong is spoken again (default: off)",
    )
    add_reading_arguments(parser)
    _add_run_arguments(parser)


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    run = parser.add_argument_group("how it is run")
    add_executor_arguments(run)
    add_deadline_arguments(run)
    run.add_argument("--work", type=Path, metavar="DIR", help="work folder (default: OUTPUT.work)")
    run.add_argument("--resume", action="store_true", help="go on where it was (always so)")
    run.add_argument("--fresh", action="store_true", help="throw earlier work away first")
    run.add_argument("--overwrite", action="store_true", help="replace an output that exists")
    run.add_argument("--dry-run", action="store_true", help="plan and estimate, speak nothing")
    add_setting_arguments(run)
    add_log_arguments(run)


def run(args: argparse.Namespace) -> int:
    """Make the audiobook the arguments ask for."""
    from pocket_batch.executors.base import Limits
    from pocket_batch.jobs.audiobook import AudiobookJob, dry_run, run_audiobook
    from pocket_batch.sources.base import check_source

    check_source(args.book)
    if args.loudness == "acx" and args.target_lufs is not None:
        raise UsageError("--loudness acx sets the level by itself: leave --target-lufs out.")
    pipeline = pipeline_of(args, _overrides(args))
    if args.output and args.output.resolve() == args.book.resolve():
        raise UsageError(f"-o {args.output} is the book itself. Give another name.")
    output = _output(args.book, args.output, args.chapters, pipeline)
    work = args.work or _work(args.book, args.output, output, pipeline)
    if work.resolve() == output.resolve():
        raise UsageError(f"--work and -o are both {output}. Give the work folder another name.")
    deadline = deadline_of(args)
    job = AudiobookJob(
        source=args.book,
        output=output,
        work=work,
        pipeline=pipeline,
        choices=choices_of(args),
        fresh=args.fresh,
        overwrite=args.overwrite,
        command=("pocket-batch", *sys.argv[1:]),
        limits=Limits(is_late=deadline.is_late),
    )
    if args.fresh and args.resume:
        raise UsageError("--fresh throws earlier work away, --resume goes on with it: give one.")
    with make_reporter(args.log_format, args.quiet) as reporter, stop_signals() as stopped:
        if args.dry_run:
            dry_run(job, reporter)
        else:
            run_audiobook(job, reporter, deadline.stops(stopped.is_set))
    return 0


def _overrides(args: argparse.Namespace) -> dict[str, Any]:
    """The options that change the pipeline file, as dotted keys."""
    options = {
        "voice": args.voice,
        "model": args.model,
        "sampling.temperature": args.temperature,
        "seed": args.seed,
        "write.format": args.format or _format_of(args.output),
        "write.split_chapters": args.split_chapters,
        "write.subtitles": args.subtitles,
        "write.read_along": args.read_along,
        "master.target_lufs": args.target_lufs,
        "master.loudness": args.loudness,
        "check.listen": args.check,
    }
    return options | reading_overrides(args) | executor_overrides(args)


def _format_of(output: Path | None) -> str | None:
    """`-o book.mp3` asks for MP3 without another option."""
    suffix = output.suffix.lower().lstrip(".") if output and not output.is_dir() else ""
    return _ALIASES.get(suffix, suffix if suffix in get_args(FileFormat) else None)


def _output(
    book: Path, output: Path | None, chapters: str | None, pipeline: AudiobookPipeline
) -> Path:
    """Where the result goes: beside the book, in a folder that is given, or at a name.

    Some chapters alone get a name of their own, so that a trial never stands for the book.
    """
    kind = pipeline.write.format
    name = f"{book.stem} (chapters {chapters})" if chapters else book.stem
    if pipeline.write.split_chapters:
        if output is not None and _format_of(output):
            raise UsageError(f"-o {output}: --split-chapters makes a folder. Name one.")
        return output or book.with_name(name)
    if output is None:
        return book.with_name(f"{name}.{kind}")
    if output.is_dir():
        return output / f"{name}.{kind}"
    if not output.suffix:
        return output.with_name(f"{output.name}.{kind}")
    if _format_of(output) != kind:
        known = ", ".join(f".{name}" for name in (*get_args(FileFormat), *_ALIASES))
        raise UsageError(
            f"-o {output} does not fit the format {kind}. The suffixes are {known}; give the one "
            "of the format, or leave --format out."
        )
    return output


def _work(book: Path, given: Path | None, output: Path, pipeline: AudiobookPipeline) -> Path:
    """The work folder beside the output: one for a book, whatever is made of it."""
    origin = _origin(book)
    if origin and os.path.isdir(origin.with_name(f"{origin.stem}.work")):  # no name is an error
        return origin.with_name(f"{origin.stem}.work")
    if given is None or given.is_dir():
        return output.with_name(f"{book.stem}.work")
    stem = output.name if pipeline.write.split_chapters else output.stem
    return output.with_name(f"{stem}.work")


def _origin(book: Path) -> Path | None:
    """The book that a script was made from: what was spoken of it need not be spoken again."""
    from pocket_batch.jobs.reading import is_script
    from pocket_batch.sources.script import read_head

    source = read_head(book).source if is_script(book) else ""
    return book.parent / source if Path(source).name else None  # not so `/`
