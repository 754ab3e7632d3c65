"""`pocket-batch voices check FILE`: what a recording is like, and whether it can be a voice."""

import argparse
import json
import math
from dataclasses import asdict

from pocket_batch.audio.prompt import PromptReport, examine_prompt
from pocket_batch.errors import InputError
from pocket_batch.jobs.named import printable


def check(args: argparse.Namespace) -> int:
    """Print what was measured; warnings are no failure."""
    report, _ = examine_prompt(args.file)
    if args.json:
        values = {
            key: None if isinstance(value, float) and math.isinf(value) else value
            for key, value in asdict(report).items()
        }
        print(json.dumps(values, ensure_ascii=False))
    else:
        show(report)
    if report.refusal:
        raise InputError(f"{printable(str(args.file))}: {report.refusal}")
    if not args.json:
        print("It can be a voice: `pocket-batch voices add NAME FILE`.")
    return 0


def show(report: PromptReport) -> None:
    """Print a report, one figure a line, then its warnings."""
    loudness = "silent" if math.isinf(report.lufs) else f"{report.lufs:.1f} LUFS"
    print(f"Length         {report.seconds:.1f} s, of which {report.speech_s:.1f} s are speech")
    print(f"Sampling rate  {report.sampling_rate_hz:,} Hz")
    print(f"Noise          about {report.snr_db:.1f} dB below the voice")
    print(f"Clipped        {100 * report.clipped_share:.2g} % of the samples")
    print(f"Silence        {100 * report.silence_share:.0f} %")
    print(f"Loudness       {loudness}")
    for warning in report.warnings:
        print(f"Warning: {warning}")
