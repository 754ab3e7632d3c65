"""Add noise, rooms, codecs, speed and gain to copies of the clips of a data set.

examples:
  pocket-batch augment my-set --snr 5:20 --gain=-6:6           white, pink and brown noise
  pocket-batch augment my-set --snr 0:20 --noise recordings/   noise of your own
  pocket-batch augment my-set --room 0.2:0.8 --codec telephone,opus --copies 2
  pocket-batch augment my-set --speed 0.9:1.1 --name speed
  pocket-batch export my-set --format parquet                  originals and copies

The originals stay as they are; `export --originals-only` leaves the copies out. Only train clips
get copies, unless --splits says otherwise. What was done to each is in its column `augmentation`.
"""

import argparse
import re

from pocket_batch.audio.augment import CODECS
from pocket_batch.cli.running import add_log_arguments, stop_signals
from pocket_batch.cli.show import make_reporter
from pocket_batch.dataset_settings import AugmentSettings
from pocket_batch.errors import UsageError
from pocket_batch.outputs.clip_files import SPLITS

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,30}")
_BOUNDS = {
    "--snr": (-20.0, 80.0),
    "--room": (0.1, 3.0),
    "--speed": (0.5, 2.0),
    "--gain": (-40.0, 40.0),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("set", metavar="DIR", help="a finished data set")
    what = parser.add_argument_group("what is done, each with the probability")
    what.add_argument("--snr", metavar="LOW:HIGH", help="noise, dB below the speech")
    what.add_argument("--noise", metavar="FOLDER", help="recordings of noise")
    what.add_argument("--room", metavar="LOW:HIGH", help="simulated rooms, RT60 in seconds")
    what.add_argument("--rooms", metavar="FOLDER", help="measured impulse responses")
    what.add_argument("--codec", metavar="NAMES", help=f"of {', '.join(CODECS)}")
    what.add_argument("--speed", metavar="LOW:HIGH", help="as a tape, such as 0.9:1.1")
    what.add_argument("--gain", metavar="LOW:HIGH", help="dB; write --gain=-6:6")
    how = parser.add_argument_group("how many, and of which")
    how.add_argument("--copies", type=int, default=1, metavar="N", help="of each clip (default: 1)")
    how.add_argument("--probability", type=float, default=0.5, metavar="P", help="default: 0.5")
    how.add_argument("--splits", default="train", metavar="NAMES", help="default: train")
    how.add_argument("--seed", type=int, default=0, metavar="N", help="another seed, others")
    how.add_argument("--name", default="aug", metavar="NAME", help="a set may have several")
    add_log_arguments(parser.add_argument_group("how it is shown"))


def run(args: argparse.Namespace) -> int:
    """Make the variants the arguments ask for."""
    from pocket_batch.jobs.dataset.augment import augment_dataset
    from pocket_batch.words import plural

    if not _NAME.fullmatch(args.name):
        raise UsageError(f"--name wants letters and digits, not `{args.name:.60}`.")
    settings = _settings(args)
    with make_reporter(args.log_format, args.quiet) as reporter, stop_signals() as stopped:
        result = augment_dataset(args.set, args.name, settings, reporter, stopped.is_set)
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in result.kinds.items())
        reporter.note(
            "augmented",
            f"{args.set}/augmented/{args.name}: {plural(result.num_variants, 'variant')}, "
            f"{result.num_new:,} of them new ({kinds or 'none'}).",
            num_variants=result.num_variants,
            kinds=result.kinds,
        )
    return 0


def _settings(args: argparse.Namespace) -> AugmentSettings:
    settings = AugmentSettings(
        copies=args.copies,
        seed=args.seed,
        probability=args.probability,
        splits=_names(args.splits, SPLITS, "--splits"),
        speed=_range(args.speed, "--speed"),
        room_s=_range(args.room, "--room"),
        rooms=args.rooms,
        snr_db=_range(args.snr, "--snr") or ((5.0, 20.0) if args.noise else None),
        noise=args.noise,
        codecs=_names(args.codec, CODECS, "--codec"),
        gain_db=_range(args.gain, "--gain"),
    )
    if not 1 <= settings.copies <= 100:
        raise UsageError(f"--copies is {settings.copies}; it must be from 1 to 100.")
    if not 0 <= settings.probability <= 1:
        raise UsageError(f"--probability is {settings.probability:g}; it must be from 0 to 1.")
    asked = (settings.speed, settings.room_s, settings.rooms, settings.snr_db, settings.gain_db)
    if not any(asked) and not settings.codecs:
        raise UsageError(
            "Nothing is to be done: give --snr, --noise, --room, --rooms, --codec, --speed "
            "or --gain."
        )
    return settings


def _range(text: str | None, option: str) -> tuple[float, float] | None:
    """`5:20` -> (5.0, 20.0); `10` is both."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    lowest, highest = _BOUNDS[option]
    try:
        bounds = float(low), float(high if colon else low)
    except ValueError as error:
        raise UsageError(f"{option} wants LOW:HIGH such as 5:20, not `{text:.60}`.") from error
    if not lowest <= bounds[0] <= bounds[1] <= highest:
        raise UsageError(f"{option} is {text:.60}; it must be from {lowest:g} to {highest:g}.")
    return bounds


def _names(text: str | None, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    names = tuple(filter(None, (text or "").split(",")))
    for name in names:
        if name not in known:
            raise UsageError(f"{option}: `{name:.60}` is none of {', '.join(known)}.")
    return names
