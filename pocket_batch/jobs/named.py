"""A voice by its name, or from a recording or a state file for one run alone."""

import difflib
import os
import re
from pathlib import Path

from pocket_batch.config import load_voices
from pocket_batch.data import EngineSpec, Voice
from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.models.presets import ModelSource, find_model, load_presets

POCKET = "pocket"
PROMPT_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".m4a", ".opus", ".aac", ".wma")
STATE_SUFFIX = ".safetensors"
PIPER = "piper"
PIPER_SUFFIX = ".onnx"  # with its settings beside it, in .onnx.json
MAX_NAME = 100  # characters of a name that a message repeats


def named_voice(name: str, model: str | None = None) -> Voice:
    """The voice of that name, or one for this run alone when it is a recording or a state file.

    Args:
        model: a released model or a folder; it may have voices that only it knows.

    Raises:
        ModelUnavailableError: there is no such voice or file.
        UsageError: the name is empty.
    """
    if not name.strip():
        raise UsageError(
            "The name of the voice is empty: give a name (`pocket-batch voices`) or a file."
        )
    return _from_file(name) or voice_by_name(name, model)


def voice_by_name(name: str, model: str | None = None) -> Voice:
    """The voice of that name; a model in a folder may have some that only it knows.

    Raises:
        ModelUnavailableError: there is none.
    """
    voices, problems = load_voices()
    if name in voices:
        return voices[name]
    source = find_model(located(model)) if model else None
    if source and name in own_voices(source):
        return Voice(name, POCKET, source.language, "unknown")
    known = [voice.name for voice in voices.values() if voice.engine != "fake"]
    near = difflib.get_close_matches(name[:MAX_NAME], known, n=1)
    hint = f"Did you mean `{near[0]}`? " if near else ""
    raise ModelUnavailableError(
        f"There is no voice `{printable(name)}`. {hint}"
        f"`pocket-batch voices` lists them. {' '.join(problems)}".rstrip()
    )


def spec_of(voice: Voice) -> EngineSpec:
    """The engine of a voice that is none of Pocket TTS; one of Piper is a model by itself."""
    model = voice.parameters.get("model", "") if voice.engine == PIPER else ""
    return EngineSpec(voice.engine, model)


def own_voices(source: ModelSource) -> list[str]:
    """The voices in the folder of a model; none for a released model."""
    if not source.states or "://" in source.states:
        return []
    return sorted(path.stem for path in Path(source.states).parent.glob("*.safetensors"))


def located(model: str) -> str:
    """A model's name as it is, and its folder as an absolute path, for workers elsewhere."""
    path = os.path.expanduser(model)
    return os.path.realpath(path) if model not in load_presets() and os.path.exists(path) else model


def printable(text: str, max_length: int | None = MAX_NAME) -> str:
    """A name of any bytes and length, as a message can show it."""
    shown = re.sub(r"[\ud800-\udfff]", "?", text)
    is_long = max_length is not None and len(shown) > max_length
    return f"{shown[:max_length]}..." if is_long else shown


def _from_file(name: str) -> Voice | None:
    """A voice for this run alone, when `name` is that of a recording, a state or a Piper model.

    Any file that exists is taken for a recording, unless it is called like a voice.

    Raises:
        ModelUnavailableError: there is no such file.
    """
    path = Path(os.path.expanduser(name))
    suffix = path.suffix.lower()
    is_there = os.path.isfile(path)  # False for a name that no file system takes
    if suffix in (*PROMPT_SUFFIXES, STATE_SUFFIX, PIPER_SUFFIX):
        if not is_there:
            raise ModelUnavailableError(
                f"The voice {printable(name)} is not there: a name that ends in {suffix} is taken "
                "for a file. Check its path."
            )
    elif not is_there or name in load_voices()[0]:
        return None
    if suffix == PIPER_SUFFIX:
        return _from_piper(path)
    kind = "state" if suffix == STATE_SUFFIX else "prompt"
    return Voice(
        name=printable(path.stem),
        engine=POCKET,
        language="",
        licence="unknown",
        description=f"from {printable(path.name)}",
        parameters={kind: str(path.resolve())},
    )


def _from_piper(path: Path) -> Voice:
    """A user's own voice of Piper; its language is what its settings say."""
    from pocket_batch.engine.piper_files import piper_files

    model = os.path.abspath(path)  # no links followed: the settings are beside this name
    return Voice(
        name=printable(path.stem),
        engine=PIPER,
        language=piper_files(model).language,
        licence="unknown",
        description=f"from {printable(path.name)}",
        parameters={"model": model},
    )
