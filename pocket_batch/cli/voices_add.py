"""`pocket-batch voices add NAME FILE`: a voice of the user's own, from a recording or a state."""

import argparse
import json
import re
import shlex
from contextlib import suppress
from pathlib import Path

from pocket_batch.audio.flac import encode_flac
from pocket_batch.audio.prompt import RATE_HZ, prepare_prompt
from pocket_batch.cli.voices_check import measured, show
from pocket_batch.cli.voices_speak import speaker_for, states_of
from pocket_batch.config import load_voices, user_folder
from pocket_batch.data import Voice
from pocket_batch.errors import (
    InputError,
    ModelUnavailableError,
    OutputError,
    UsageError,
    writing,
)
from pocket_batch.manifest import write_atomic

SAME_VOICE = 0.9  # two states with a cosine over this are most likely of one speaker
_NAME = re.compile(r"\w[\w-]{0,63}")  # `ann`, `ann-2`; never a path or the name of a file
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # `en`, `pt-BR`


def add_voice(args: argparse.Namespace) -> int:
    """Check what was given, copy it into the user's folder, and describe it there."""
    folder = user_folder() / "voices"
    _check_words(args)
    _check_name(args, folder)
    if args.file.suffix.lower() == ".safetensors":
        voice = _with_state(args, folder)
    else:
        voice = _with_recording(args, folder)
    write_atomic(folder / f"{voice.name}.yaml", _as_yaml(voice).encode())
    print(f"The voice `{voice.name}` is in {folder}.")
    if load_voices()[0].get(voice.name) != voice:
        print(f"Warning: another file in {folder} has a voice `{voice.name}`, which is used.")
    _compare(voice, args.model)
    option = f" --model {shlex.quote(args.model)}" if args.model else ""
    print(f'Hear it: pocket-batch voices preview {voice.name} "Good evening."{option}')
    return 0


def _check_words(args: argparse.Namespace) -> None:
    if not _NAME.fullmatch(args.name):
        raise UsageError(
            f"`{args.name}` cannot be the name of a voice. Use letters, digits, `-` and `_`."
        )
    if not _LANGUAGE.fullmatch(args.language):
        raise UsageError(f"`{args.language}` is not a language code, such as en or pt-BR.")


def _check_name(args: argparse.Namespace, folder: Path) -> None:
    """Refuse a name that is taken, unless it may be replaced; never write over FILE itself."""
    targets = [folder / f"{args.name}{suffix}" for suffix in (".yaml", ".flac", ".safetensors")]
    there = [path for path in targets if path.exists()]
    if args.file.exists() and any(path.samefile(args.file) for path in there):
        raise OutputError(
            f"{args.file} is where the voice would be kept. Move it to another folder first."
        )
    if (there or args.name in load_voices()[0]) and not args.overwrite:
        raise OutputError(
            f"There is a voice `{args.name}` already. Choose another name, or give --overwrite."
        )


def _with_recording(args: argparse.Namespace, folder: Path) -> Voice:
    """Prepare a recording and keep it as FLAC.

    Raises:
        InputError: it cannot be a voice.
    """
    report, samples, rate_hz = measured(args.file)
    show(report)
    if report.refusal:
        raise InputError(f"{args.file}: {report.refusal}")
    prompt, notes = prepare_prompt(samples, rate_hz)
    for note in notes:
        print(note)
    target = _make_folder(folder) / f"{args.name}.flac"
    write_atomic(target, encode_flac(prompt, RATE_HZ))
    target.with_suffix(".safetensors").unlink(missing_ok=True)  # of the voice it replaces
    parameters = {"prompt": str(target)}
    return _voice(args, parameters)


def _with_state(args: argparse.Namespace, folder: Path) -> Voice:
    """Check a state against the model that made it, and keep a copy.

    Raises:
        InputError: there is no such file.
        ModelUnavailableError: it is damaged, or of a model of another shape.
    """
    from pocket_batch.engine.voice import read_state, write_state
    from pocket_batch.models.presets import find_model, model_for_language

    if not args.file.is_file():
        raise InputError(f"{args.file}: a voice state was wanted, and there is no such file.")
    source = find_model(args.model) if args.model else model_for_language(args.language)
    if source is None:
        raise ModelUnavailableError(
            f"No released model speaks `{args.language}`. Name the one that made this state "
            "with --model."
        )
    shape = source.config.flow_lm.transformer
    state = read_state(args.file, shape.num_layers, shape.kv_heads, shape.head_dim)
    target = _make_folder(folder) / f"{args.name}.safetensors"
    write_state(state, target)
    target.with_suffix(".flac").unlink(missing_ok=True)  # of the voice it replaces
    return _voice(args, {"state": str(target), "model": _absolute_model(source.name)})


def _make_folder(folder: Path) -> Path:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _absolute_model(name: str) -> str:
    """A folder as seen from everywhere; the name of a released model as it is."""
    path = Path(name).expanduser()
    return str(path.resolve()) if path.exists() else name


def _voice(args: argparse.Namespace, parameters: dict[str, str]) -> Voice:
    return Voice(
        name=args.name,
        engine="pocket",
        language=args.language,
        licence=args.licence,
        description=args.description,
        source=args.file.name,
        parameters=parameters,
    )


def _as_yaml(voice: Voice) -> str:
    """The file of a voice; every JSON string is one of YAML."""

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    keys = ("name", "engine", "language", "licence", "description", "source")
    lines = [f"{key}: {quoted(getattr(voice, key))}" for key in keys]
    lines.append("parameters:")
    lines += [f"  {key}: {quoted(value)}" for key, value in voice.parameters.items()]
    return "\n".join(lines) + "\n"


def _compare(voice: Voice, model: str | None) -> None:
    """Say which voices sound nearly like the new one, if its model is on this machine."""
    try:
        found = _similar(voice, model)
    except ModelUnavailableError as error:
        print(f"It was not compared with the voices that are here. {error}")
        return
    for name, cosine in found:
        print(f"Warning: it is nearly the same voice as `{name}` (likeness {cosine:.2f} of 1).")


def _similar(voice: Voice, model: str | None) -> list[tuple[str, float]]:
    """The voices on this machine whose states are nearly that of the new one, with the cosine.

    Raises:
        ModelUnavailableError: the model is not on this machine, or cannot encode recordings.
    """
    states = states_of(speaker_for(voice.name, model).engine)
    if states is None:
        return []
    state = states.get(voice)
    from pocket_batch.engine.voice import similarity

    found: list[tuple[str, float]] = []
    for other in load_voices()[0].values():
        if other.engine == "pocket" and other.name != voice.name:
            with suppress(ModelUnavailableError, InputError):  # it is not here, or damaged
                found.append((other.name, similarity(state, states.get(other))))
    return [(name, cosine) for name, cosine in found if cosine > SAME_VOICE]
