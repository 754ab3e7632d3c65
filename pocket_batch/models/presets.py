"""Which models there are: the released ones by name, and folders of the user's own.

The released ones are data, `voices/models/pocket.yaml`.
"""

import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from pocket_batch.bcp47 import primary
from pocket_batch.config import nearest, read_settings, shipped
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models.architecture import (
    LanguageModelConfig,
    ModelConfig,
    TextTableConfig,
    TokenizerKind,
    load_model_config,
)
from pocket_batch.models.location import local_path
from pocket_batch.models.preset_table import FALLBACK_VOICE, Entry, PresetTable

WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILES: dict[str, TokenizerKind] = {
    "tokenizer.json": "tokenizers",
    "tokenizer.model": "sentencepiece",
}
_TOKENIZERS = " or ".join(TOKENIZER_FILES)


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model and where its files are.

    Attributes:
        name: of a released model, or the folder or file as given.
        language: of the texts it reads, ISO 639-1; empty when the folder does not say.
        config: its shape; locations in it are `hf://`, `https://` or absolute paths.
        default_voice: who speaks when nobody is named.
        states: where the state of a voice is, with `{voice}` in it; empty when there is none.
        num_parameters: those that speak, without the encoder; 0 when unknown.
        sha256: location -> SHA-256 of the file, as far as known.
    """

    name: str
    language: str
    config: ModelConfig
    default_voice: str
    states: str
    num_parameters: int = 0
    sha256: dict[str, str] = field(default_factory=dict)

    def state(self, voice: str) -> str:
        """The location of a voice's state, empty when the model has none."""
        return self.states.replace("{voice}", voice)

    @property
    def tokenizer(self) -> str:
        """The location of the tokenizer."""
        return self.config.flow_lm.lookup_table.tokenizer_path


def load_presets() -> dict[str, ModelSource]:
    """All released models by name. Read once per process: the first call takes about 0.1 s."""
    return {name: _source(_table(), name) for name in _table().models}


def find_model(name: str) -> ModelSource:
    """A released model by its name, or a model of the user's in a folder.

    Args:
        name: a released name; a folder with `config.yaml` in the format of pocket-tts, or such a
            file, with locations relative to it; or a folder named like a released model that
            holds its files (`model.safetensors`, `tokenizer.json` or `.model`, `embeddings/`).

    Raises:
        ModelUnavailableError: there is no such model; the nearest name is in the message.
        UsageError: the configuration file is not valid.
    """
    if name in _table().models:
        return _source(_table(), name)
    path = local_path(name)
    if name and path and os.path.isdir(path):
        return _from_folder(name, path)
    if path and os.path.isfile(path) and path.suffix in (".yaml", ".yml"):
        return _from_file(name, path)
    raise ModelUnavailableError(
        f"There is no model `{name:.100}`, and no folder or .yaml file of that name. "
        f"{nearest(name, list(_table().models))}"
    )


def model_for_language(tag: str) -> ModelSource | None:
    """The model that reads a language given as a BCP 47 tag (`en-GB`), None when there is none."""
    code = primary(tag)
    name = _table().languages.get(code)
    return _source(_table(), name) if name else None


@lru_cache(maxsize=1)
def _table() -> PresetTable:
    return read_settings(shipped("voices") / "models" / "pocket.yaml", PresetTable)


def _source(table: PresetTable, name: str) -> ModelSource:
    """The released model of that name."""
    entry = table.models[name]
    cloning = f"hf://{table.repositories.cloning}/{entry.cloning}"
    plain = f"hf://{table.repositories.plain}/{entry.plain}"
    tokenizer = f"hf://{table.repositories.plain}/{entry.tokenizer}"
    places = {"cloning": cloning, "plain": plain, "tokenizer": tokenizer}
    return ModelSource(
        name=name,
        language=entry.language,
        config=_config(table, entry, cloning, plain, tokenizer),
        default_voice=entry.default_voice,
        states=table.states.replace("{model}", name),
        num_parameters=table.architectures[entry.architecture].num_parameters,
        sha256={places[kind]: digest for kind, digest in entry.sha256.items()},
    )


def _config(
    table: PresetTable, entry: Entry, cloning: str, plain: str, tokenizer: str
) -> ModelConfig:
    shape = table.architectures[entry.architecture]
    return ModelConfig(
        flow_lm=LanguageModelConfig(
            dtype=shape.dtype,
            flow=shape.flow,
            transformer=shape.transformer,
            lookup_table=TextTableConfig(
                dim=shape.table.dim,
                n_bins=shape.table.n_bins,
                tokenizer=shape.table.tokenizer,
                tokenizer_path=tokenizer,
                rank=shape.table.rank,
            ),
            z_dim=shape.z_dim,
            insert_bos_before_voice=shape.insert_bos_before_voice,
        ),
        mimi=shape.mimi,
        weights_path=cloning,
        weights_path_without_voice_cloning=plain,
        pad_with_spaces_for_short_inputs=entry.pad_with_spaces_for_short_inputs,
        remove_semicolons=entry.remove_semicolons,
        replace_characters=table.replacements[entry.replacements],
        default_temperature=entry.temperature,
        default_eos_threshold=entry.eos_threshold,
    )


def _from_folder(name: str, folder: Path) -> ModelSource:
    """The model in a folder, as its own file says or as the released model of that name."""
    file = folder / "config.yaml"
    if os.path.isfile(file):
        return _from_file(name, file)
    released = _released_like(folder)
    if not released:
        raise ModelUnavailableError(
            f"{name} holds no config.yaml, and `{folder.name}` is no released model. "
            f"{nearest(folder.name, list(_table().models))}"
        )
    weights, tokenizer = folder / WEIGHTS_FILE, _tokenizer_in(folder)
    if not tokenizer or not os.path.isfile(weights):
        missing = WEIGHTS_FILE if tokenizer else _TOKENIZERS
        raise ModelUnavailableError(
            f"{name} holds no {missing}. "
            f"Copy the whole folder of the model `{released.name}` there."
        )
    config = replace(  # nobody knows whether its weights can clone
        released.config,
        weights_path=str(weights),
        weights_path_without_voice_cloning=str(weights),
    )
    return replace(
        released,
        name=name,
        config=_with_tokenizer(config, tokenizer),
        states=_states(folder) or released.states,
        sha256={},
    )


def _from_file(name: str, file: Path) -> ModelSource:
    """The model of a configuration file; its language is known if it is named like a released."""
    config = _completed(name, load_model_config(file), file.parent)
    stem = file.parent if file.name == "config.yaml" else file.with_suffix("")
    known = _released_like(stem)
    return ModelSource(
        name=name,
        language=known.language if known else "",
        config=config,
        default_voice=known.default_voice if known else FALLBACK_VOICE,
        states=_states(file.parent),
        num_parameters=0,
    )


def _completed(name: str, config: ModelConfig, folder: Path) -> ModelConfig:
    """A configuration that names no weights or no tokenizer has them beside it."""
    if not (config.weights_path or config.weights_path_without_voice_cloning):
        weights = folder / WEIGHTS_FILE
        if not os.path.isfile(weights):
            raise _lacks(name, "weights_path", folder, WEIGHTS_FILE)
        config = replace(config, weights_path=str(weights))
    if not config.flow_lm.lookup_table.tokenizer_path:
        tokenizer = _tokenizer_in(folder)
        if not tokenizer:
            raise _lacks(name, "flow_lm.lookup_table.tokenizer_path", folder, _TOKENIZERS)
        config = _with_tokenizer(config, tokenizer)
    return config


def _lacks(name: str, key: str, folder: Path, file: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"The configuration of the model `{name}` names no `{key}`, and {folder} holds no {file}. "
        f"Put {file} there, or name it with that key."
    )


def _released_like(path: Path) -> ModelSource | None:
    """The released model that a path is named like: as given, or where its links lead."""
    for name in (path.name, Path(os.path.realpath(path)).name):
        if name in _table().models:
            return _source(_table(), name)
    return None


def _tokenizer_in(folder: Path) -> Path | None:
    return next((folder / name for name in TOKENIZER_FILES if os.path.isfile(folder / name)), None)


def _with_tokenizer(config: ModelConfig, tokenizer: Path) -> ModelConfig:
    table = replace(
        config.flow_lm.lookup_table,
        tokenizer=TOKENIZER_FILES[tokenizer.name],
        tokenizer_path=str(tokenizer),
    )
    return replace(config, flow_lm=replace(config.flow_lm, lookup_table=table))


def _states(folder: Path) -> str:
    embeddings = folder / "embeddings"
    return str(embeddings / "{voice}.safetensors") if os.path.isdir(embeddings) else ""
