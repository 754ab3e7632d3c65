"""A model from its checkpoint, strictly: every tensor has its place, and none is missing."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from pocket_batch.data import Precision
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models.architecture import ModelConfig
from pocket_batch.models.backbone import LanguageModel
from pocket_batch.models.mimi import Mimi
from pocket_batch.models.precision import set_precision, take_out

MAX_NAMED = 3  # tensors that an error names
FORMATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


class PocketModel(nn.Module):
    """The whole model; its attributes are the first part of every name in a checkpoint."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.flow_lm = LanguageModel(config)
        self.mimi = Mimi(config.mimi)


def load_model(config: ModelConfig, path: Path, precision: Precision = "fp32") -> PocketModel:
    """Build the model and fill it from a safetensors file, ready to be used, without gradients.

    Args:
        path: a file with the names of the released checkpoints (`flow_lm...`, `mimi...`).

    Raises:
        ModelUnavailableError: the file is not there or damaged, or a tensor is missing, unknown or
            of another shape; the message names it.
    """
    with torch.device("meta"):
        model = PocketModel(config)
    fill(model, read_tensors(path), str(path))
    set_precision(model, precision)
    model.mimi.pack()
    model.flow_lm.pack()
    take_out(model)
    return model.eval().requires_grad_(False)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file, as they are stored.

    Raises:
        ModelUnavailableError: it is not there or not such a file.
    """
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ModelUnavailableError(
            f"{path} cannot be read as safetensors ({' '.join(str(error).split())}). "
            "Delete it and fetch it again: `pocket-batch models verify` tells what is damaged."
        ) from error


def fill(module: nn.Module, tensors: Mapping[str, Tensor], origin: str) -> None:
    """Give a module its tensors by name.

    Raises:
        ModelUnavailableError: names or shapes differ from what the module has, or a tensor does
            not hold finite real numbers.
    """
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    problems = [f"`{name}` is missing" for name in sorted(wanted.keys() - found.keys())]
    problems += [f"`{name}` is not part of it" for name in sorted(found.keys() - wanted.keys())]
    problems += [
        f"`{name}` has shape {found[name]}, not {shape}"
        for name, shape in wanted.items()
        if name in found and found[name] != shape
    ]
    if problems:
        more = f", and {len(problems) - MAX_NAMED} more" * (len(problems) > MAX_NAMED)
        raise ModelUnavailableError(
            f"{origin} does not fit the model of its configuration: "
            f"{', '.join(problems[:MAX_NAMED])}{more}. Use weights and configuration of one model."
        )
    for name, tensor in tensors.items():
        if problem := _problem(tensor):
            raise ModelUnavailableError(
                f"{origin}: the tensor `{name}` {problem}. "
                "Fetch the file again, or export the model again."
            )
    module.load_state_dict(dict(tensors), strict=True, assign=True)


def _problem(tensor: Tensor) -> str:
    """Why a tensor cannot be weights, empty if it can. A sum is finite only if all of it is."""
    if tensor.dtype not in FORMATS:
        return f"holds {str(tensor.dtype).removeprefix('torch.')}, and only floats can be weights"
    wide = torch.float32 if tensor.dtype == torch.float16 else None  # its sums end at 65,504
    if not torch.isfinite(tensor.sum(dtype=wide)):
        return "has values that are infinite or not numbers"
    return ""
