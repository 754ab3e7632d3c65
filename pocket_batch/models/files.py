"""The files of a model: which it needs, whether they are here, and how to get them."""

from pathlib import Path

from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models import hub
from pocket_batch.models.download import sha256_of
from pocket_batch.models.presets import ModelSource


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
    own, other = source.config.weights_path, source.config.weights_path_without_voice_cloning
    location = other if other and not cloning else own
    if location is None:
        raise ModelUnavailableError(
            f"The configuration of the model `{source.name}` names no `weights_path`. "
            "Add it: the path of model.safetensors beside the configuration."
        )
    return hub.fetch(location, progress, sha256=source.sha256.get(location, ""), model=source.name)


def model_identity(source: ModelSource) -> str:
    """What tells these weights from all others: the revision of a released model, else SHA-256.

    Raises:
        ModelUnavailableError: the file of a model that is not a released one is not here.
    """
    location = source.config.weights_path or ""
    if location.startswith("hf://") and "@" in location:
        return location
    path = find_weights(source)
    if path is None:
        raise not_here(source)
    return sha256_of(path)


def not_here(source: ModelSource, cloning: bool = False) -> ModelUnavailableError:
    """The error for a model whose files are not on this machine."""
    option = " --cloning" * cloning
    kind = " with voice cloning" * cloning
    return ModelUnavailableError(
        f"The weights{kind} of the model `{source.name}` are not on this machine. "
        f"Run `pocket-batch models pull {source.name}{option}` while online."
    )
