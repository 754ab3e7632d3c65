"""Which models there are: the released ones by name, and folders of the user's own.

The released ones are data, `voices/models/pocket.yaml`.
"""

import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from pocket_batch.config import nearest, read_settings, shipped
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models.architecture import (
    BackboneConfig,
    FlowConfig,
    LanguageModelConfig,
    MimiConfig,
    ModelConfig,
    TextTableConfig,
    load_model_config,
)

WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILES = {"tokenizer.json": "tokenizers", "tokenizer.model": "sentencepiece"}
FALLBACK_VOICE = "alba"


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


@dataclass(frozen=True, slots=True)
class TableShape:
    """`TextTableConfig` without the place of the tokenizer."""

    dim: int
    n_bins: int
    tokenizer: str
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Architecture:
    """The sizes that several models share."""

    num_parameters: int
    flow: FlowConfig
    transformer: BackboneConfig
    table: TableShape
    mimi: MimiConfig
    dtype: str = "float32"
    z_dim: int | None = None
    insert_bos_before_voice: bool = True


@dataclass(frozen=True, slots=True)
class Repositories:
    """The two repositories of the hub: with what cloning needs, and without."""

    cloning: str
    plain: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One released model. `cloning`, `plain` and `tokenizer` are `path@revision`."""

    language: str
    architecture: str
    replacements: str
    cloning: str
    plain: str
    tokenizer: str
    default_voice: str = FALLBACK_VOICE
    remove_semicolons: bool = False
    pad_with_spaces_for_short_inputs: bool = False
    temperature: float = 0.3
    eos_threshold: float = -4.0
    sha256: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PresetTable:
    """The whole file."""

    repositories: Repositories
    states: str
    languages: dict[str, str]
    replacements: dict[str, dict[str, str]]
    architectures: dict[str, Architecture]
    models: dict[str, Entry]


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
    path = Path(os.path.expanduser(name))
    if name and os.path.isdir(path):
        return _from_folder(name, path.resolve())
    if os.path.isfile(path) and path.suffix in (".yaml", ".yml"):
        return _from_file(name, path.resolve())
    hint = nearest(name, list(_table().models))
    raise ModelUnavailableError(
        f"There is no model `{name}`, and no folder or .yaml file of that name. {hint}"
    )


def model_for_language(tag: str) -> ModelSource | None:
    """The model that reads a language given as a BCP 47 tag (`en-GB`), None when there is none."""
    code = tag.replace("_", "-").partition("-")[0].lower()
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
    if file.is_file():
        return _from_file(name, file)
    if folder.name not in _table().models:
        raise ModelUnavailableError(
            f"{name} holds no config.yaml, and `{folder.name}` is no released model. "
            f"{nearest(folder.name, list(_table().models))}"
        )
    weights = folder / WEIGHTS_FILE
    tokenizers = [folder / file for file in TOKENIZER_FILES if (folder / file).is_file()]
    if not weights.is_file() or not tokenizers:
        missing = WEIGHTS_FILE if tokenizers else "tokenizer.json or tokenizer.model"
        raise ModelUnavailableError(
            f"{name} holds no {missing}. Copy the whole folder of the model `{folder.name}` there."
        )
    released = _source(_table(), folder.name)
    return replace(
        released,
        name=name,
        config=_with_local_files(released.config, weights, tokenizers[0]),
        states=_states(folder) or released.states,
        sha256={},
    )


def _with_local_files(config: ModelConfig, weights: Path, tokenizer: Path) -> ModelConfig:
    """The same model from files of a folder; nobody knows whether its weights can clone."""
    table = replace(
        config.flow_lm.lookup_table,
        tokenizer=TOKENIZER_FILES[tokenizer.name],
        tokenizer_path=str(tokenizer),
    )
    return replace(
        config,
        flow_lm=replace(config.flow_lm, lookup_table=table),
        weights_path=str(weights),
        weights_path_without_voice_cloning=str(weights),
    )


def _from_file(name: str, file: Path) -> ModelSource:
    """The model of a configuration file; its language is known if it is named like a released."""
    config = load_model_config(file)
    stem = file.parent.name if file.name == "config.yaml" else file.stem
    known = _table().models.get(stem)
    return ModelSource(
        name=name,
        language=known.language if known else "",
        config=config,
        default_voice=known.default_voice if known else FALLBACK_VOICE,
        states=_states(file.parent),
        num_parameters=0,
    )


def _states(folder: Path) -> str:
    embeddings = folder / "embeddings"
    return str(embeddings / "{voice}.safetensors") if embeddings.is_dir() else ""
