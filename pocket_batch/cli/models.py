"""List the models of Pocket TTS, download them, and find or check their files on this machine."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pocket_batch.errors import ModelUnavailableError, UsageError

if TYPE_CHECKING:
    from pocket_batch.models.hub import Progress
    from pocket_batch.models.presets import ModelSource

_EPILOG = """\
A NAME is one of the list, or a folder with a model of your own.

Files land in the cache that programs with huggingface_hub share (HF_HOME, HF_HUB_CACHE, HF_TOKEN).
POCKET_BATCH_MIRROR names a folder that is looked at first, laid out as owner/repository/path.
"""
_ACTIONS = {
    "list": "what there is, and what of it is on this machine (the default)",
    "pull": "download weights, tokenizer and the default voice",
    "path": "print where the files are; exit code 4 when one is missing",
    "verify": "compare the files that are here with their hashes",
}


class File(NamedTuple):
    """One file of a model: what it is, and where."""

    kind: str
    location: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and the options of each."""
    parser.epilog = _EPILOG
    parser.set_defaults(names=[], json=False, cloning=False, voice=[], to=None)
    json = {"action": "store_true", "help": "one JSON object a line"}
    _option(parser, "--json", **json)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    parser.set_defaults(action="list")
    words = {name: _action(actions, name) for name in _ACTIONS}
    _option(words["list"], "--json", **json)
    for name in ("pull", "path"):
        cloning = "the weights that can clone voices (their repository is gated)"
        _option(words[name], "--cloning", action="store_true", help=cloning)
        voice = "this voice too (repeatable)"
        _option(words[name], "--voice", action="append", metavar="NAME", help=voice)
    to = "copy the files into a mirror for machines without network"
    _option(words["pull"], "--to", type=Path, metavar="FOLDER", help=to)


def _action(actions, name: str) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
    text = _ACTIONS[name]
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}."
    )
    _option(parser, "names", nargs="*", metavar="NAME", help="models: names or folders")
    _option(parser, "--debug", action="store_true", help="show stack traces")
    return parser


def _option(parser: argparse.ArgumentParser, name: str, **how: Any) -> None:
    """Declare an option whose default is that of the whole command."""
    parser.add_argument(name, default=argparse.SUPPRESS, **how)


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    if args.action in ("pull", "path") and not args.names:
        raise UsageError(f"`models {args.action}` wants a model, such as english.")
    _RUN[args.action](args)
    return 0


def _list(args: argparse.Namespace) -> None:
    from pocket_batch.engine.auto_precision import known_precisions
    from pocket_batch.models import hub
    from pocket_batch.models.presets import find_model, load_presets

    sources = [find_model(name) for name in args.names] or load_presets().values()
    rows = []
    for source in sources:
        here = {file.kind: bool(hub.find(file.location)) for file in _all_files(source)}
        rows.append((source, here))
    if args.json:
        _print_json(rows)
        return
    _print_table(rows)
    if not args.names:
        print("\nDownload a model: pocket-batch models pull NAME")
        if known := known_precisions():
            print(f"Products of matrices beside fp32: {known}.")
            print("mixed has not been compared by ear.")


def _print_json(rows: Iterable[tuple["ModelSource", dict[str, bool]]]) -> None:
    import json

    for source, here in rows:
        row = {
            "name": source.name,
            "language": source.language,
            "parameters": source.num_parameters,
            "default_voice": source.default_voice,
            "here": {kind: here.get(kind, False) for kind in _KINDS},
        }
        print(json.dumps(row, ensure_ascii=False))


def _print_table(rows: Iterable[tuple["ModelSource", dict[str, bool]]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Model", no_wrap=True)
    for heading in ("Language", "Parameters", "Voice", "Here"):
        table.add_column(heading, overflow="fold")
    for source, here in rows:
        parameters = f"{source.num_parameters / 1e6:.3g} M" if source.num_parameters else "?"
        voice = source.default_voice
        table.add_row(source.name, source.language, parameters, voice, _here(here))
    Console(highlight=False).print(table)


def _here(here: dict[str, bool]) -> str:
    """`yes` when a model can speak, `no` when nothing of it is here, else what is and is not."""
    cloning = "cloning weights"
    can_speak = here.get("weights") or here.get(cloning)
    if can_speak and all(is_here for kind, is_here in here.items() if "weights" not in kind):
        return "yes, with cloning" if here.get(cloning) else "yes"
    present = [kind for kind, is_here in here.items() if is_here]
    absent = [kind for kind, is_here in here.items() if not is_here and kind != cloning]
    return f"{', '.join(present)}, but no {', '.join(absent)}" if present else "no"


def _pull(args: argparse.Namespace) -> None:
    from pocket_batch.models import hub, location, mirror
    from pocket_batch.models.presets import find_model

    sources = [find_model(name) for name in args.names]
    for source in sources:
        for file in _wanted(source, args.cloning, args.voice):
            with _bar(source.name) as progress:
                path = hub.fetch(
                    file.location,
                    progress,
                    sha256=source.sha256.get(file.location, ""),
                    model=source.name,
                    cloning=args.cloning and file.kind == "cloning weights",
                )
            if args.to:
                path = mirror.copy_to_mirror(file.location, path, args.to)
            print(f"{source.name} {file.kind}: {path}", flush=True)
    if args.to:
        variable = location.MIRROR_VARIABLE
        print(f"For a machine without network: copy {args.to} there and set {variable}.")


def _path(args: argparse.Namespace) -> None:
    from pocket_batch.models import hub
    from pocket_batch.models.advice import pull_command
    from pocket_batch.models.location import mirror_remark
    from pocket_batch.models.presets import find_model

    missing, commands = [], []
    for source in [find_model(name) for name in args.names]:
        absent = []
        for file in _wanted(source, args.cloning, args.voice):
            found = hub.find(file.location)
            if found:
                print(found)
            else:
                absent.append(file)
        missing += [f"{file.kind} of {source.name} ({_place(file.location)})" for file in absent]
        if any("://" in file.location for file in absent):
            commands.append(f"`{pull_command(source.name, args.voice, args.cloning)}`")
    if missing:
        run = f" Run {' and '.join(commands)}." * bool(commands)
        raise ModelUnavailableError(
            f"Not on this machine: {', '.join(missing)}.{mirror_remark()}{run}"
        )


def _place(location: str) -> str:
    """Where a file would be expected: below a mirror, or at its own place."""
    from pocket_batch.models.location import parse_hub

    file = parse_hub(location)
    return f"in a mirror: {file.repository}/{file.path}" if file else location


def _verify(args: argparse.Namespace) -> None:
    from pocket_batch.cli.models_verify import verify
    from pocket_batch.models.presets import find_model, load_presets

    sources = [find_model(name) for name in args.names] or list(load_presets().values())
    voices = _known_voices()
    verify((source, file) for source in sources for file in _all_files(source, voices))


def _wanted(source: "ModelSource", cloning: bool, voices: list[str]) -> list[File]:
    """The files to speak with: weights, tokenizer and states of voices.

    The weights that can clone can speak too, so the others are not wanted when those are here.
    """
    from pocket_batch.models import hub

    plain = source.config.weights_path_without_voice_cloning
    own = source.config.weights_path
    weights = own if cloning or (own and hub.find(own)) else plain or own
    if not weights:
        raise ModelUnavailableError(f"The configuration of {source.name} names no such weights.")
    kind = "weights" if weights == plain else "cloning weights"
    if voices and not source.states:
        raise ModelUnavailableError(
            f"{source.name} has no voices of its own: there is no folder `embeddings` in it."
        )
    names = dict.fromkeys([source.default_voice, *voices]) if source.states else ()
    return [
        File(kind, weights),
        File("tokenizer", source.tokenizer),
        *(_voice_file(source, name) for name in names),
    ]


def _all_files(source: "ModelSource", voices: Iterable[str] = ()) -> list[File]:
    """All files that belong to a model, the default voice first among the voices."""
    named = {
        "weights": source.config.weights_path_without_voice_cloning,
        "cloning weights": source.config.weights_path,
        "tokenizer": source.tokenizer,
    }
    names = dict.fromkeys([source.default_voice, *voices]) if source.states else ()
    files = [File(kind, location) for kind, location in named.items() if location]
    return files + [_voice_file(source, name) for name in names]


def _voice_file(source: "ModelSource", name: str) -> File:
    kind = "voice" if name == source.default_voice else f"voice {name}"
    return File(kind, source.state(name))


def _known_voices() -> list[str]:
    """The names that states of voices are released under."""
    from pocket_batch.config import load_voices

    voices, _ = load_voices()
    return [
        voice.parameters.get("pocket_voice", voice.name)
        for voice in voices.values()
        if voice.engine == "pocket"
    ]


@contextmanager
def _bar(model: str) -> Iterator["Progress"]:
    """A bar on a terminal for the download of one file; nothing when it is here already."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    with bar:
        task = bar.add_task(model, total=None, visible=False)

        def report(name: str, done: int, total: int) -> None:
            bar.update(
                task,
                description=f"{model}: {name}",
                completed=done,
                total=total or None,
                visible=True,
            )

        yield report


_KINDS = ("weights", "cloning weights", "tokenizer", "voice")

_RUN: dict[str, Callable[[argparse.Namespace], None]] = {
    "list": _list,
    "pull": _pull,
    "path": _path,
    "verify": _verify,
}
