"""Write a finished data set in the formats of speech libraries.

examples:
  pocket-batch export my-set --format parquet          for `datasets.load_dataset`
  pocket-batch export my-set --format all              every format
  pocket-batch export my-set --format ljspeech --by-speaker --sampling-rate 22050
  pocket-batch export my-set --format webdataset --audio opus --shard-size 1GB -o /data/shards
  pocket-batch export my-set --format nemo --split 0.8,0.1,0.1 --loudness -23

Each goes to my-set/exports/FORMAT, with a card (README.md) that says what may be done with it. Run
it as often as you like: the same set gives the same bytes.
"""

import argparse
import re
from pathlib import Path

from pocket_batch.cli.dataset import parse_split
from pocket_batch.cli.running import add_log_arguments, stop_signals
from pocket_batch.cli.show import make_reporter
from pocket_batch.dataset_settings import ExportSettings, SplitSettings
from pocket_batch.errors import UsageError
from pocket_batch.outputs.exports import EXPORTS, check_format, load_format

ALL = "all"
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_LOUDNESS = (-70.0, 0.0)
_RATES_HZ = (4_000, 192_000)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    formats = "\n".join(f"  {name:<12} {load_format(name).DESCRIPTION}" for name in EXPORTS)
    parser.epilog = f"formats:\n{formats}"
    parser.add_argument("set", metavar="DIR", help="a data set, as `pocket-batch dataset` makes it")
    parser.add_argument(
        "--format",
        action="append",
        required=True,
        metavar="NAME",
        help="one of those below, or all; again for more",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="for one format")
    parser.add_argument("--audio", choices=("flac", "wav", "opus"), help="default: flac")
    parser.add_argument("--sampling-rate", type=int, metavar="HZ", help="default: as it is")
    parser.add_argument("--loudness", type=float, metavar="LUFS", help="of each clip, such as -23")
    parser.add_argument("--split", metavar="TRAIN,VALIDATION,TEST", help="default: the set's own")
    parser.add_argument("--split-seed", type=int, metavar="N", help="another seed, other splits")
    parser.add_argument("--shard-size", metavar="SIZE", help="of tar and Parquet (default: 500MB)")
    parser.add_argument(
        "--metadata", choices=("parquet", "csv", "jsonl"), help="of AudioFolder (default: parquet)"
    )
    parser.add_argument(
        "--by-speaker", action="store_true", help="of LJSpeech: a folder for each voice"
    )
    parser.add_argument(
        "--originals-only", action="store_true", help="without what `augment` has made"
    )
    parser.add_argument("--partial", action="store_true", help="of a set that is not finished")
    add_log_arguments(parser.add_argument_group("how it is shown"))


def run(args: argparse.Namespace) -> int:
    """Write the exports the arguments ask for."""
    from pocket_batch.jobs.dataset.export import export_dataset, tell_export

    names = list(EXPORTS) if ALL in args.format else list(dict.fromkeys(args.format))
    for name in names:
        check_format(name)
    if args.output and len(names) > 1:
        raise UsageError("-o is for one format: several go to exports/ in the set.")
    settings = _settings(args)
    with make_reporter(args.log_format, args.quiet) as reporter, stop_signals() as stopped:
        for name in names:
            result = export_dataset(
                args.set,
                name,
                args.output,
                settings,
                reporter,
                stopped.is_set,
                not args.originals_only,
                args.partial,
            )
            tell_export(reporter, name, result)
    return 0


def _settings(args: argparse.Namespace) -> ExportSettings:
    """What was asked for; splits that were not are those of the set."""
    from pocket_batch.jobs.dataset.export import splits_of
    from pocket_batch.jobs.dataset.record import read_run
    from pocket_batch.units.store import Store

    splits = splits_of(read_run(Store(args.set)))
    if args.split:
        _, validation, test = parse_split(args.split)
        splits = SplitSettings(validation, test, splits.seed)
    if args.split_seed is not None:
        splits = SplitSettings(splits.validation, splits.test, args.split_seed)
    _check("--sampling-rate", args.sampling_rate, *_RATES_HZ)
    _check("--loudness", args.loudness, *_LOUDNESS)
    usual = ExportSettings()
    return ExportSettings(
        audio=args.audio or usual.audio,
        sampling_rate_hz=args.sampling_rate,
        loudness_lufs=args.loudness,
        shard_bytes=parse_size(args.shard_size) if args.shard_size else usual.shard_bytes,
        splits=splits,
        metadata=args.metadata or usual.metadata,
        by_speaker=args.by_speaker,
    )


def _check(option: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise UsageError(f"{option} is {value:g}; it must be from {low:g} to {high:g}.")


def parse_size(text: str) -> int:
    """`500MB` -> 500,000,000.

    Raises:
        UsageError: it is no size.
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)\s*([KMG]?)I?B?", text.strip().upper())
    num_bytes = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if num_bytes < 1:
        raise UsageError(f"--shard-size wants a size as 500MB or 1GB, not `{text:.60}`.")
    return num_bytes
