"""`pocket-batch voices add NAME FILE`: a voice of the user's own, from a recording or a state."""

import argparse
import json
import os
import re
import shlex
from contextlib import suppress
from datetime import date
from pathlib import Path

from pocket_batch.audio.flac import encode_flac
from pocket_batch.audio.prompt import RATE_HZ, examine_prompt
from pocket_batch.bcp47 import primary
from pocket_batch.cli.voices_check import show
from pocket_batch.cli.voices_speak import speaker_for, tell
from pocket_batch.config import load_voices, user_folder
from pocket_batch.data import Voice
from pocket_batch.errors import (
    InputError,
    ModelUnavailableError,
    OutputError,
    UsageError,
    writing,
)
from pocket_batch.jobs.language import check_code, spoken_languages
from pocket_batch.jobs.named import located, printable
from pocket_batch.jobs.voice import states_of
from pocket_batch.manifest import write_atomic

SAME_VOICE = 0.9  # two states with a cosine over this are most likely of one speaker
MAX_ALIKE = 3  # voices that are named as such
MAX_NAME_BYTES = 64
_NAME = re.compile(r"\w[\w-]*")  # `ann`, `ann-2`; never a path or the name of a file
_SAMPLES = {
    "en": "Good evening.", "fr": "Bonsoir à tous.", "de": "Guten Abend.", "es": "Buenas tardes.",
    "it": "Buona sera.", "pt": "Boa noite.", "nl": "Goedenavond.",
}  # fmt: skip


def add_voice(args: argparse.Namespace) -> int:
    """Check what was given, copy it into the user's folder, and describe it there."""
    folder = user_folder() / "voices"
    _check_words(args)
    _check_model(args)
    _check_name(args, folder)
    if args.file.suffix.lower() == ".safetensors":
        voice = _with_state(args, folder)
    else:
        voice = _with_recording(args, folder)
    write_atomic(folder / f"{voice.name}.yaml", _as_yaml(voice).encode())
    print(f"The voice `{voice.name}` is in {folder}.")
    if load_voices()[0].get(voice.name) != voice:
        print(f"Warning: another file in {folder} has a voice `{voice.name}`, which is used.")
    try:
        _compare(voice, args.model)
    except (ModelUnavailableError, InputError) as error:
        print(f"It cannot speak on this machine yet, and was not compared with others. {error}")
        return 0
    option = f" --model {shlex.quote(args.model)}" if args.model else ""
    text = _SAMPLES.get(primary(voice.language), _SAMPLES["en"])
    print(f'Hear it: pocket-batch voices preview {voice.name} "{text}"{option}')
    return 0


def _check_words(args: argparse.Namespace) -> None:
    if not _NAME.fullmatch(args.name) or len(args.name.encode()) > MAX_NAME_BYTES:
        raise UsageError(
            f"`{printable(args.name)}` cannot be the name of a voice. Use up to {MAX_NAME_BYTES} "
            "letters, digits, `-` and `_`."
        )
    for option in ("description", "licence", "language"):
        if printable(getattr(args, option), max_length=None) != getattr(args, option):
            raise UsageError(f"--{option} has characters that are no text. Write it in UTF-8.")
    check_code(args.language)


def _check_model(args: argparse.Namespace) -> None:
    """Refuse a model that there is not, and a language that none speaks.

    Raises:
        ModelUnavailableError: naming what there is.
    """
    from pocket_batch.models.presets import find_model, model_for_language

    if args.model:
        find_model(args.model)
    elif model_for_language(primary(args.language)) is None:
        raise ModelUnavailableError(
            f"No released model speaks `{args.language}`. Give the language that the voice shall "
            f"speak: --language {'|'.join(spoken_languages())}. The recording may be in another."
        )


def _check_name(args: argparse.Namespace, folder: Path) -> None:
    """Refuse a name that is taken, unless it may be replaced; never write over FILE itself."""
    targets = [folder / f"{args.name}{suffix}" for suffix in (".yaml", ".flac", ".safetensors")]
    there = [path for path in targets if path.exists()]
    if os.path.exists(args.file) and any(path.samefile(args.file) for path in there):
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
    report, prompt = examine_prompt(args.file)
    show(report)
    if report.refusal:
        raise InputError(f"{printable(str(args.file))}: {report.refusal}")
    target = _make_folder(folder) / f"{args.name}.flac"
    write_atomic(target, encode_flac(prompt, RATE_HZ))
    target.with_suffix(".safetensors").unlink(missing_ok=True)  # of the voice it replaces
    about = f"recording {printable(args.file.name)}, {report.seconds:.1f} s"
    return _voice(args, about, {"prompt": str(target)})


def _with_state(args: argparse.Namespace, folder: Path) -> Voice:
    """Check a state against the model that made it, and keep a copy.

    Raises:
        InputError: there is no such file.
        ModelUnavailableError: it is damaged, or of a model of another shape.
    """
    from pocket_batch.engine.voice import read_state, write_state
    from pocket_batch.models.presets import find_model, model_for_language

    if not os.path.isfile(args.file):
        shown = printable(str(args.file))
        raise InputError(f"{shown}: a voice state was wanted, and there is no such file.")
    source = find_model(args.model) if args.model else model_for_language(primary(args.language))
    assert source  # see _check_model
    shape = source.config.flow_lm.transformer
    state = read_state(args.file, shape.num_layers, shape.kv_heads, shape.head_dim)
    target = _make_folder(folder) / f"{args.name}.safetensors"
    write_state(state, target)
    target.with_suffix(".flac").unlink(missing_ok=True)  # of the voice it replaces
    parameters = {"state": str(target), "model": located(source.name)}
    return _voice(args, f"state {printable(args.file.name)}", parameters)


def _make_folder(folder: Path) -> Path:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _voice(args: argparse.Namespace, about: str, parameters: dict[str, str]) -> Voice:
    return Voice(
        name=args.name,
        engine="pocket",
        language=args.language,
        licence=args.licence,
        description=args.description or f"{about}, added {date.today()}",
        source=printable(args.file.name),
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
    """Make the state of the new voice, and say which of those at hand sound nearly like it.

    Raises:
        ModelUnavailableError: the model is not on this machine, or cannot encode recordings.
    """
    speaker = speaker_for(voice.name, model)
    states = states_of(speaker.engine)
    if states is None:
        return
    speaker.engine.check([voice])
    tell(f"Making the voice with the model {speaker.engine.spec.model}, and comparing it ...")
    state = states.get(voice)
    from pocket_batch.engine.voice import similarity

    found: list[tuple[float, str]] = []
    for other in load_voices()[0].values():
        if other.engine == "pocket" and other.name != voice.name:
            with suppress(ModelUnavailableError, InputError):  # it is not here, or damaged
                at_hand = states.at_hand(other)
                found += [(similarity(state, at_hand), other.name)] if at_hand else []
    for cosine, name in sorted(found, reverse=True)[:MAX_ALIKE]:
        if cosine > SAME_VOICE:
            print(f"Warning: it is nearly the same voice as `{name}` (likeness {cosine:.2f} of 1).")
