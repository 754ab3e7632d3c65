"""A voice state: the keys and values that the backbone has after hearing an audio prompt."""

import hashlib
import os
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open

from pocket_batch.errors import ModelUnavailableError, writing

_DIGEST = "pocket_batch_sha256"  # in the metadata, which other programs pass over
_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


@dataclass(frozen=True, slots=True)
class VoiceState:
    """What a voice puts at the front of every request.

    `cache` has shape (L, 2, T, H, D): keys (index 0) and values (index 1) of every layer of the
    backbone for the T positions of the prompt. All are finite; keys are already rotated.
    """

    cache: torch.Tensor

    @property
    def num_positions(self) -> int:
        """T, the positions that the prompt takes in every slot."""
        return self.cache.shape[2]

    @property
    def num_bytes(self) -> int:
        """Size in memory."""
        return self.cache.numel() * self.cache.element_size()


def read_state(path: Path, num_layers: int, num_kv_heads: int, head_dim: int) -> VoiceState:
    """Read a state as pocket-tts exports it: `offset`, or `current_end` of older files.

    What the file has beyond the offset was never written and may be NaN: it is cut off.

    Returns:
        The state in the file's dtype.

    Raises:
        ModelUnavailableError: it is missing, damaged, or of a model of another shape; the message
            names the tensor, what was wanted and what was found.
    """
    tensors = _read_tensors(path)
    names = [f"transformer.layers.{layer}.self_attn" for layer in range(num_layers)]
    _check_names(tensors, names, path)
    layers = [_layer(tensors, name, (num_kv_heads, head_dim), path) for name in names]
    lengths = sorted({layer.shape[1] for layer in layers})
    if len(lengths) != 1:
        raise _damaged(path, f"its layers have different offsets: {lengths}")
    return VoiceState(torch.stack(layers))  # (L, 2, T, H, D)


def write_state(state: VoiceState, path: Path) -> None:
    """Write a state in the format of pocket-tts, in float32, which is all that it computes in.

    The name never holds half a file, also when two processes write it at once.

    Raises:
        OutputError: the folder cannot be written, or the disk is full.
    """
    tensors: dict[str, torch.Tensor] = {}
    for index, layer in enumerate(state.cache.float()):  # (2, T, H, D)
        name = f"transformer.layers.{index}.self_attn"
        tensors[f"{name}/cache"] = layer.unsqueeze(1).contiguous()  # (2, 1, T, H, D)
        tensors[f"{name}/offset"] = torch.tensor([state.num_positions])
        tensors[f"{name}/pad"] = torch.tensor([0])
    data = safetensors.torch.save(tensors, metadata={_DIGEST: _digest(tensors)})
    part = path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.part")
    with writing(path):
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError:
            part.unlink(missing_ok=True)
            raise


def is_usable(state: VoiceState) -> bool:
    """Whether all values of a state are numbers."""
    return bool(torch.isfinite(state.cache).all())


def similarity(a: VoiceState, b: VoiceState) -> float:
    """How alike two voices are, -1 to 1, whatever the length of their prompts; equal ones give 1.

    The mean over positions of the values of each layer, compared by cosine, and the mean of that
    over layers. Keys are left out: they are rotated by their position, so their mean depends on
    the length of the prompt.
    """
    means = [state.cache[:, 1].double().mean(dim=1).flatten(1) for state in (a, b)]  # (L, H * D)
    cosines = torch.nn.functional.cosine_similarity(means[0], means[1], dim=1)  # (L,)
    return float(cosines.mean())


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            digest = (file.metadata() or {}).get(_DIGEST)
    except FileNotFoundError as error:
        raise ModelUnavailableError(f"The voice state {path} does not exist.") from error
    except (SafetensorError, OSError) as error:
        raise _damaged(path, f"it cannot be read ({error})") from error
    if digest is not None and digest != _digest(tensors):
        raise _damaged(path, "its bytes are not those that were written")
    return tensors


def _digest(tensors: dict[str, torch.Tensor]) -> str:
    """SHA-256 of the tensors' names and bytes."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _check_names(tensors: Iterable[str], names: list[str], path: Path) -> None:
    """Refuse a file with another number of layers, or with tensors that are no voice state's."""
    found = {name.partition("/")[0] for name in tensors}
    if found != set(names):
        odd = sorted(found ^ set(names))[0]
        raise ModelUnavailableError(
            f"{path}: the tensors of `{odd}` are {'not wanted' if odd in found else 'missing'}: "
            f"the model has {len(names)} layers, the state is of {len(found)}. "
            "A state fits only the model that it was made with: name that one with --model."
        )


def _layer(
    tensors: dict[str, torch.Tensor], name: str, shape: tuple[int, int], path: Path
) -> torch.Tensor:
    """The used positions of one layer, (2, T, H, D), checked."""
    key = f"{name}/cache"
    cache = tensors.get(key)
    if cache is None:
        raise _damaged(path, f"the tensor `{key}` is missing")
    if cache.ndim != 5 or cache.shape[:2] != (2, 1) or cache.shape[3:] != shape:
        raise ModelUnavailableError(
            f"{path}: the tensor `{key}` should be (2, 1, T, {shape[0]}, {shape[1]}) for this "
            f"model, and is {tuple(cache.shape)}. "
            "A state fits only the model that it was made with: name that one with --model."
        )
    if cache.dtype not in _DTYPES:
        raise _damaged(path, f"the tensor `{key}` is {cache.dtype}, and a float was wanted")
    num_positions = _offset(tensors, name, path)
    if not 0 < num_positions <= cache.shape[2]:
        raise _damaged(path, f"`{name}` says it uses {num_positions} positions of {cache.shape[2]}")
    used = cache[:, 0, :num_positions].clone()  # (2, T, H, D), without the unused rest
    if not bool(torch.isfinite(used).all()):
        raise _damaged(path, f"the tensor `{key}` has values that are not numbers")
    return used


def _offset(tensors: dict[str, torch.Tensor], name: str, path: Path) -> int:
    """How many positions of a layer are used."""
    if bool(tensors.get(f"{name}/pad", torch.zeros(1)).any()):
        raise _damaged(path, f"`{name}/pad` is not 0: it was saved from a batch, not as a voice")
    offset = tensors.get(f"{name}/offset")
    if offset is not None:
        return _one_number(offset, f"{name}/offset", path)
    end = tensors.get(f"{name}/current_end")  # older files: its length is the offset
    if end is None or not end.ndim:
        raise _damaged(path, f"the tensor `{name}/offset` is missing")
    return end.shape[0]


def _one_number(tensor: torch.Tensor, name: str, path: Path) -> int:
    values: list[Any] = tensor.flatten().tolist()
    if len(values) != 1:
        raise _damaged(path, f"the tensor `{name}` should hold one number, and holds {len(values)}")
    number = values[0]
    if not isinstance(number, int) and not (isinstance(number, float) and number.is_integer()):
        raise _damaged(path, f"the tensor `{name}` should be a count, and is {number}")
    return int(number)


def _damaged(path: Path, reason: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"{path} is not a usable voice state: {reason}. Download or export it anew."
    )
