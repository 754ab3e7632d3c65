"""Turn a corpus of texts into a speech data set.

examples:
  pocket-batch dataset sentences.txt -o my-set                 a sentence a line
  pocket-batch dataset corpus.jsonl -o my-set --voice heart --voice joe --voices-per-text all
  pocket-batch dataset 'parts/*.parquet' -o my-set --text-column text --group-by document
  pocket-batch dataset corpus.tsv -o my-set --dry-run          hours, bytes and worker-hours first
  pocket-batch dataset corpus.txt -o s3://bucket/my-set --shard 3/16   one of 16 jobs, without Ray
  pocket-batch export my-set --format parquet                  for the library that you use
  pocket-batch validate my-set                                 look at every clip again

A corpus is .txt, .jsonl, .csv, .tsv, .parquet or .epub; several, globs, folders, or - for standard
input. Stop it at any time: the same command goes on where it was. Run it again when the corpus has
changed, and only what is new is spoken. Nothing is lost silently: rejects.jsonl has the texts that
were left out, failures.jsonl what was spoken and not kept, each with its reason.
"""

import argparse
import sys
from typing import Any

from pocket_batch.cli.book import add_setting_arguments
from pocket_batch.cli.running import (
    add_deadline_arguments,
    add_executor_arguments,
    add_log_arguments,
    deadline_of,
    executor_overrides,
    stop_signals,
)
from pocket_batch.cli.show import make_reporter
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options, in groups."""
    parser.add_argument("corpus", metavar="CORPUS", nargs="+", help="files, globs, folders, or -")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="a folder, or a URL as s3://bucket/set"
    )
    _add_corpus_arguments(parser)
    _add_voice_arguments(parser)
    _add_quality_arguments(parser)
    run = parser.add_argument_group("how it is run")
    add_executor_arguments(run)
    add_deadline_arguments(run)
    run.add_argument(
        "--shard", metavar="I/N", help="only part I of N, from 0: for job arrays without Ray"
    )
    run.add_argument("--dry-run", action="store_true", help="plan and estimate, speak nothing")
    run.add_argument(
        "--new-run",
        action="store_true",
        help="go on although the settings are others than before; what still fits is used",
    )
    run.add_argument(
        "--prune", action="store_true", help="remove what was spoken and is no longer in the set"
    )
    run.add_argument(
        "--export", action="append", default=[], metavar="FORMAT", help="and then `export` it"
    )
    add_setting_arguments(run)
    add_log_arguments(run)


def _add_corpus_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is spoken")
    group.add_argument("--text-column", metavar="NAME", help="such as text or segments[].text")
    group.add_argument("--id-column", metavar="NAME", help="default: the usual names, if there")
    group.add_argument("--voice-column", metavar="NAME", help="rows that name their voice")
    group.add_argument("--split-column", metavar="NAME", help="rows that name their split")
    group.add_argument("--group-by", metavar="NAME", help="one value stays in one split")
    group.add_argument(
        "--keep-column", action="append", metavar="NAME", help="goes into the set; again for more"
    )
    group.add_argument("--language", metavar="CODE", help="default: what the voices speak")
    group.add_argument(
        "--recase", action="store_true", default=None, help="for TEXTS ALL IN CAPITALS"
    )
    group.add_argument(
        "--dedupe",
        choices=("normalized", "exact", "keep"),
        help="of equal texts: one, but for case and punctuation (default); one of exactly equal "
        "ones; all of them, each another take",
    )
    group.add_argument("--lexicon", metavar="FILE", help="how words are said")


def _add_voice_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("who speaks")
    group.add_argument(
        "--voice",
        action="append",
        default=[],
        metavar="NAME[=WEIGHT]",
        help="see `pocket-batch voices`, or a file; again for more voices",
    )
    group.add_argument("--voices-per-text", metavar="K|all", help="default: 1")
    group.add_argument(
        "--test-voice", action="append", metavar="NAME", help="one that speaks the test texts only"
    )
    group.add_argument("--model", metavar="NAME|FOLDER", help="of Pocket TTS")
    group.add_argument("--seed", type=int, metavar="N", help="another seed, another take")


def _add_quality_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is kept, and what for")
    group.add_argument("--max-attempts", type=int, metavar="N", help="per text (default: 3)")
    group.add_argument(
        "--asr", nargs="?", const="auto", metavar="MODEL", help="listen to it (extra [asr])"
    )
    group.add_argument("--asr-fraction", type=float, metavar="SHARE", help="of what is spoken")
    group.add_argument("--split", metavar="TRAIN,VALIDATION,TEST", help="default: 0.9,0.05,0.05")
    group.add_argument("--license", metavar="ID", help="the set must allow this, as CC-BY-4.0")
    group.add_argument("--text-license", metavar="ID", help="of the corpus")
    group.add_argument("--allow-noncommercial", action="store_true", default=None)
    group.add_argument("--allow-unknown-license", action="store_true", default=None)


def run(args: argparse.Namespace) -> int:
    """Make the data set the arguments ask for."""
    from pocket_batch.executors.base import Limits
    from pocket_batch.jobs.dataset.export import export_dataset, tell_export
    from pocket_batch.jobs.dataset.job import DatasetJob
    from pocket_batch.jobs.dataset.run import dry_run, run_dataset
    from pocket_batch.outputs.exports import check_format

    for name in args.export:
        check_format(name)
    deadline = deadline_of(args)
    job = DatasetJob(
        inputs=tuple(args.corpus),
        output=args.output,
        pipeline=_pipeline(args),
        shard=shard_of(args.shard),
        new_run=args.new_run,
        prune=args.prune,
        command=("pocket-batch", *sys.argv[1:]),
        limits=Limits(is_late=deadline.is_late),
    )
    with make_reporter(args.log_format, args.quiet) as reporter, stop_signals() as stopped:
        should_stop = deadline.stops(stopped.is_set)
        if args.dry_run:
            dry_run(job, reporter, should_stop)
            return 0
        run_dataset(job, reporter, should_stop)
        for name in args.export:
            found = export_dataset(job.output, name, None, None, reporter, should_stop)
            tell_export(reporter, name, found)
    return 0


def _pipeline(args: argparse.Namespace) -> DatasetPipeline:
    """The pipeline file with the options."""
    from pocket_batch.config import load_dataset_pipeline
    from pocket_batch.yaml_files import parse_assignment

    options = _options(args) | executor_overrides(args)
    assigned = dict(parse_assignment(text) for text in args.set)
    given = {key: value for key, value in options.items() if value is not None}
    return load_dataset_pipeline(args.pipeline, assigned | given)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """The options as dotted keys of the pipeline file; None where not given."""
    _, validation, test = parse_split(args.split) if args.split else (None, None, None)
    return {
        "corpus.text_column": args.text_column,
        "corpus.id_column": args.id_column,
        "corpus.voice_column": args.voice_column,
        "corpus.split_column": args.split_column,
        "corpus.group_by": args.group_by,
        "corpus.keep_columns": args.keep_column,
        "corpus.language": args.language,
        "corpus.recase": args.recase,
        "corpus.dedupe": args.dedupe,
        "normalize.lexicon": args.lexicon,
        "voices.voices": dict(_weighted(text) for text in args.voice) or None,
        "voices.per_text": _per_text(args.voices_per_text),
        "voices.test": args.test_voice,
        "model": args.model,
        "seed": args.seed,
        "filters.max_attempts": args.max_attempts,
        "filters.asr": args.asr,
        "filters.asr_fraction": args.asr_fraction,
        "splits.validation": validation,
        "splits.test": test,
        "licence.wanted": args.license,
        "licence.text": args.text_license,
        "licence.allow_noncommercial": args.allow_noncommercial,
        "licence.allow_unknown": args.allow_unknown_license,
    }


def _weighted(text: str) -> tuple[str, float]:
    """`heart=2` -> ("heart", 2.0); `heart` -> ("heart", 1.0)."""
    name, equals, weight = text.rpartition("=")
    if not equals:
        return text, 1.0
    try:
        return name, float(weight)
    except ValueError:
        return text, 1.0  # a file with `=` in its name


def _per_text(text: str | None) -> int | None:
    if text is None:
        return None
    if text == "all":
        return 0
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"--voices-per-text wants a number or `all`, not `{text:.60}`.") from error


def shard_of(text: str | None) -> tuple[int, int] | None:
    """`3/16` -> (3, 16).

    Raises:
        UsageError: it is not a part of so many.
    """
    if text is None:
        return None
    part, slash, whole = text.partition("/")
    if not (slash and part.isdecimal() and whole.isdecimal() and int(part) < int(whole)):
        raise UsageError(
            f"--shard wants I/N with I from 0 to N - 1, such as 0/16, not `{text:.60}`."
        )
    return int(part), int(whole)


def parse_split(text: str) -> tuple[float, float, float]:
    """`0.9,0.05,0.05` -> shares of train, validation and test; `90,5,5` is the same.

    Raises:
        UsageError: it is not three shares.
    """
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        shares = []
    total = sum(shares)
    if len(shares) != 3 or min(shares) < 0 or not 0 < total < float("inf"):
        raise UsageError(f"--split wants three shares as 0.9,0.05,0.05, not `{text:.60}`.")
    train, validation, test = (share / total for share in shares)
    return train, validation, test
