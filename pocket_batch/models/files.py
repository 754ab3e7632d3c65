"""The files of a model: which it needs, whether they are here, and how to get them."""

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal

from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models import hub
from pocket_batch.models.advice import Wanted, not_on_disk, permission
from pocket_batch.models.architecture import ModelConfig
from pocket_batch.models.location import mirror_remark, parse_hub
from pocket_batch.models.mirror import sha256_at
from pocket_batch.models.presets import ModelSource, load_presets

Kind = Literal["weights", "cloning weights", "tokenizer"]


def find_weights(source: ModelSource, cloning: bool = False) -> Path | None:
    """The checkpoint of a model on this machine, or None.

    Args:
        cloning: it has to be the one whose Mimi encoder works, to encode recordings.
    """
    own, other = source.config.weights_path, source.config.weights_path_without_voice_cloning
    found = hub.find(own) if own else None
    if found is None and other and not cloning:
        found = hub.find(other)
    return found


def fetch_weights(source: ModelSource, progress: hub.Progress, cloning: bool = False) -> Path:
    """The checkpoint of a model, downloaded unless it is here.

    The one for cloning is behind terms that have to be accepted, so the other is taken when it
    serves: they speak alike.

    Raises:
        ModelUnavailableError: it cannot be had.
    """
    found = find_weights(source, cloning)
    if found is not None:
        return found
    location = _weights_location(source, cloning)
    if not location:
        raise not_here(source, "cloning weights" if cloning else "weights")
    return hub.fetch(
        location,
        progress,
        sha256=source.sha256.get(location, ""),
        model=source.name,
        cloning=cloning,
    )


def model_identity(source: ModelSource) -> str:
    """What tells this model's voice from all others: its configuration and its weights.

    The weights of a released model are told by their revision if they come, or will come, from
    it; all others by the SHA-256 of their bytes.

    Raises:
        ModelUnavailableError: the weights are not here, or cannot be read.
    """
    return f"config {config_digest(source.config)} weights {_weights_identity(source)}"


def tokenizer_identity(source: ModelSource) -> str:
    """SHA-256 of the tokenizer.

    Raises:
        ModelUnavailableError: it is not here, or cannot be read.
    """
    path = hub.find(source.tokenizer)
    if path is None:
        raise not_here(source, "tokenizer")
    return sha256_at(source.tokenizer, path)


def config_digest(config: ModelConfig) -> str:
    """SHA-256 of all that a configuration says but where files are."""
    table = replace(config.flow_lm.lookup_table, tokenizer_path="")
    config = replace(
        config,
        flow_lm=replace(config.flow_lm, lookup_table=table),
        weights_path=None,
        weights_path_without_voice_cloning=None,
    )
    return hashlib.sha256(json.dumps(asdict(config)).encode()).hexdigest()


def not_here(source: ModelSource, kind: Kind = "weights") -> ModelUnavailableError:
    """The error for a model that lacks a file on this machine."""
    is_cloning = kind == "cloning weights"
    is_tokenizer = kind == "tokenizer"
    location = source.tokenizer if is_tokenizer else _weights_location(source, is_cloning)
    if not location:
        return ModelUnavailableError(
            f"The configuration of the model `{source.name}` names no `weights_path`. "
            "Add it: the path of weights that can clone voices."
        )
    wanted = Wanted(location, model=source.name, cloning=is_cloning)
    if "://" not in location:
        return not_on_disk(wanted)
    file = parse_hub(location)
    first = f"{permission(file)}, and run" if file and is_cloning else "Run"
    what = "tokenizer is" if is_tokenizer else "weights with voice cloning are"
    what = "weights are" if kind == "weights" else what
    return ModelUnavailableError(
        f"Of the model `{source.name}` the {what} not on this machine.{mirror_remark()} "
        f"{first} `{wanted.command}` while online."
    )


def _weights_location(source: ModelSource, cloning: bool) -> str:
    """Where the weights to download are: those that need no permission, if they serve."""
    own, other = source.config.weights_path, source.config.weights_path_without_voice_cloning
    return (own if cloning else other or own) or ""


def _weights_identity(source: ModelSource) -> str:
    """The revision in which both kinds of a released model are, which speak alike, or SHA-256."""
    own, other = source.config.weights_path or "", source.config.weights_path_without_voice_cloning
    path = find_weights(source)
    is_released = source.name in load_presets()
    if path is None and not is_released:
        raise not_here(source)
    for location in (own, other or ""):
        if path is None or hub.is_pinned_snapshot(location, path):
            return own if is_released else location
    assert path is not None
    return sha256_at(own if path == hub.find(own) else other or "", path)
