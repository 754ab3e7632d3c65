"""List the voices: name, engine, language, licence, and whether they can speak here and now."""

import argparse

from pocket_batch.config import load_voices, user_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--all", action="store_true", help="those for tests too")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(args: argparse.Namespace) -> int:
    """Print the voices."""
    import json

    from rich.console import Console
    from rich.table import Table

    from pocket_batch.data import EngineSpec
    from pocket_batch.engine.base import make_engine
    from pocket_batch.errors import ModelUnavailableError

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Voice", "Engine", "Language", "Licence", "Here", "What it is"):
        table.add_column(heading, overflow="fold")
    voices, problems = load_voices()
    for voice in voices.values():
        if voice.engine == "fake" and not args.all:
            continue
        try:
            make_engine(EngineSpec(voice.engine)).voice_key(voice)
            here = "yes"
        except ModelUnavailableError:
            here = "no"
        row = (voice.name, voice.engine, voice.language, voice.licence, here, voice.description)
        if args.json:
            keys = ("name", "engine", "language", "licence", "here", "description")
            print(json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False))
        table.add_row(*row)
    if not args.json:
        console = Console(highlight=False)
        console.print(table)
        for problem in problems:
            console.print(f"Warning: {problem}", style="yellow", markup=False)
        console.print(f"\nVoices of your own: a YAML file each in {user_folder() / 'voices'}.")
    return 0
