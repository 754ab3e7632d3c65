"""The voices: list them, check a recording, add, hear, export or remove one."""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from pocket_batch.config import load_voices, user_folder
from pocket_batch.data import Voice

_MODULES = {
    "add": "pocket_batch.cli.voices_add:add_voice",
    "check": "pocket_batch.cli.voices_check:check",
    "export": "pocket_batch.cli.voices_speak:export",
    "list": "pocket_batch.cli.voices:list_voices",
    "remove": "pocket_batch.cli.voices_remove:remove",
    "preview": "pocket_batch.cli.voices_speak:preview",
}
LINE_WIDTH = 10_000
_MODEL = "name or folder (default: the model of the language)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options and the words that may follow `voices`."""
    _list_options(parser)
    words = parser.add_subparsers(dest="action", metavar="WORD", title="words")
    listing = _word(words, "list", "name, engine, language, licence, and whether it is here")
    _list_options(listing)
    _add_options(_word(words, "add", "add a voice from a recording or a state, for you alone"))
    export = _word(words, "export", "write the state of a voice, as pocket-tts reads it")
    export.add_argument("name", metavar="NAME")
    export.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="a .safetensors file"
    )
    export.add_argument("--model", help=_MODEL)
    export.add_argument("--overwrite", action="store_true", help="replace FILE")
    preview = _word(words, "preview", "speak a text to a WAV file")
    preview.add_argument("name", metavar="NAME")
    preview.add_argument("text", metavar="TEXT")
    preview.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: NAME-preview.wav, replaced"
    )
    preview.add_argument("--model", help=_MODEL)
    preview.add_argument("--language", metavar="CODE", help="of TEXT (default: the voice's)")
    preview.add_argument("--overwrite", action="store_true", help="replace FILE")
    remove = _word(words, "remove", "remove a voice that you added")
    remove.add_argument("name", metavar="NAME")
    check = _word(words, "check", "measure a recording: can it be a voice?")
    check.add_argument("file", metavar="FILE", type=Path)
    check.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="one JSON object"
    )


def run(args: argparse.Namespace) -> int:
    """Do what the word says; without one, list."""
    module, _, function = _MODULES[args.action or "list"].partition(":")
    return int(getattr(import_module(module), function)(args))


def list_voices(args: argparse.Namespace) -> int:
    """Print the voices."""
    import json

    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Voice", "Engine", "Language", "Licence", "Here", "What it is"):
        table.add_column(heading, overflow="fold")
    voices, problems = load_voices()
    for voice in voices.values():
        if voice.engine == "fake" and not args.all:
            continue
        here = "yes" if is_here(voice) else "no"
        row = (voice.name, voice.engine, voice.language, voice.licence, here, voice.description)
        if args.json:
            keys = ("name", "engine", "language", "licence", "here", "description")
            print(json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False))
        table.add_row(*row)
    for problem in problems if args.json else ():
        print(f"Warning: {problem}", file=sys.stderr)
    if not args.json:
        wide = None if sys.stdout.isatty() else LINE_WIDTH  # elsewhere each voice is one line
        console = Console(highlight=False, width=wide)
        with console.capture() as shown:  # a reader that leaves is for main to see
            console.print(table)
        print("\n".join(line.rstrip() for line in shown.get().splitlines()))
        for problem in problems:
            print(f"Warning: {problem}")
        print(
            "\nA voice of your own: `pocket-batch voices add NAME FILE`. "
            f"They are in {user_folder() / 'voices'}."
        )
    return 0


def is_here(voice: Voice) -> bool:
    """Whether a voice can speak on this machine now; loads no model and reads no weights."""
    from pocket_batch.engine.base import make_engine
    from pocket_batch.errors import ModelUnavailableError, UsageError
    from pocket_batch.jobs.named import spec_of

    try:
        if voice.engine == "pocket":
            return _is_pocket_here(voice)
        make_engine(spec_of(voice)).check([voice])
    except (ModelUnavailableError, UsageError):
        return False
    return True


def _is_pocket_here(voice: Voice) -> bool:
    """Whether its state or recording, and the weights that it needs, are files of this machine."""
    from pocket_batch.engine.states import find_origin
    from pocket_batch.models import files, hub
    from pocket_batch.models.presets import find_model, model_for_language

    named = "" if "prompt" in voice.parameters else voice.parameters.get("model")
    source = find_model(named) if named else model_for_language(voice.language)
    if source is None:
        return False
    origin = find_origin(source, voice)
    weights = files.find_weights(source, cloning=origin.kind == "prompt")
    places = (origin.location, source.tokenizer)
    return weights is not None and all(hub.find(place) for place in places)


def _word(words, name: str, text: str) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
    parser: argparse.ArgumentParser = words.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}."
    )
    parser.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show stack traces"
    )
    return parser


def _list_options(parser: argparse.ArgumentParser) -> None:
    is_sub = parser.prog.endswith(" list")  # its defaults must not undo what came before the word
    default = argparse.SUPPRESS if is_sub else False
    parser.add_argument("--all", action="store_true", default=default, help="those for tests too")
    parser.add_argument(
        "--json", action="store_true", default=default, help="one JSON object a line"
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Add a voice from 10 to 30 s of clean speech (WAV, FLAC, MP3, M4A), or from a state that "
        "was exported (.safetensors). Add only voices of people who have agreed to it."
    )
    parser.add_argument("name", metavar="NAME", help="what to call it")
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument(
        "--language", default="en", metavar="CODE", help="that it speaks (default: en)"
    )
    parser.add_argument("--licence", default="unknown", help="of the recording (default: unknown)")
    parser.add_argument("--description", default="", metavar="TEXT", help="shown in the list")
    parser.add_argument("--model", help="that made the state, or will use the recording")
    parser.add_argument("--overwrite", action="store_true", help="replace a voice of that name")
