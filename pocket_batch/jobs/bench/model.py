"""The model that is measured: the weights on this machine, or a random checkpoint of that size."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pocket_batch.models import hub
from pocket_batch.models.files import find_weights
from pocket_batch.models.presets import ModelSource, find_model

VOICE_POSITIONS = 127  # ten seconds of a prompt, and the position before it


@dataclass(frozen=True, slots=True)
class Prepared:
    """Where a model is: `model` for our engine, `config` a file for pocket-tts, `state` a voice.

    `language` is that of the texts it reads, empty when unknown.
    """

    model: str
    config: str
    state: str
    language: str
    is_made_up: bool


def prepare(name: str, folder: Path) -> Prepared:
    """Find a model, or make it up in `folder` if its weights are not here, and a random voice.

    Raises:
        ModelUnavailableError: there is no model of that name.
        UsageError: its configuration is not valid.
    """
    from pocket_batch.engine.voice import VoiceState, write_state
    from pocket_batch.models.made_up import random_voice_state, write_made_up_model

    source = find_model(name)
    is_made_up = find_weights(source) is None or hub.find(source.tokenizer) is None
    if is_made_up:
        config = write_made_up_model(folder / "model", source.config)
    else:
        config = _write_config(source, folder / "config.yaml")
    state = folder / "voice.safetensors"
    write_state(VoiceState(random_voice_state(source.config, VOICE_POSITIONS)), state)
    model = str(config.parent) if is_made_up else name
    return Prepared(model, str(config), str(state), source.language, is_made_up)


def _write_config(source: ModelSource, path: Path) -> Path:
    """The configuration of a model with the places of its files on this machine."""
    content = asdict(source.config)
    content["weights_path"] = str(find_weights(source))
    content["weights_path_without_voice_cloning"] = None
    content["flow_lm"]["lookup_table"]["tokenizer_path"] = str(hub.find(source.tokenizer))
    path.write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML
    return path
