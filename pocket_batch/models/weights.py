"""A model from its checkpoint, strictly: every tensor has its place, and none is missing."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from pocket_batch.data import Precision
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models.architecture import ModelConfig
from pocket_batch.models.backbone import LanguageModel
from pocket_batch.models.mimi import Mimi
from pocket_batch.models.precision import LARGE_PRODUCTS, set_precision, take_out

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
    with _Unfilled():
        model = PocketModel(config)
    _check_names(model, read_shapes(path), str(path))
    # One by one, so that less is in memory at a time.
    parts: dict[str, Mimi | LanguageModel] = {"mimi": model.mimi, "flow_lm": model.flow_lm}
    for name, part in parts.items():
        _fill(part, read_tensors(path, f"{name}."), f"{path}: the tensor `{name}.")
        set_precision(part, precision)
        part.pack(LARGE_PRODUCTS[precision])
        take_out(part)
    return model.eval().requires_grad_(False)


def read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all tensors of a safetensors file; their values are not read.

    Raises:
        ModelUnavailableError: it is not there or not such a file.
    """
    with _opened(path) as file:
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def read_tensors(path: Path, prefix: str = "") -> dict[str, Tensor]:
    """The tensors of a safetensors file whose names begin so, as they are stored.

    They lie in the file itself, mapped into memory: a page is read when it is first looked at.

    Returns:
        The tensors by the rest of their names.

    Raises:
        ModelUnavailableError: it is not there or not such a file.
    """
    with _opened(path) as file:
        names = [name for name in file.keys() if name.startswith(prefix)]  # noqa: SIM118
        return {name.removeprefix(prefix): file.get_tensor(name) for name in names}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            yield file
    except (OSError, SafetensorError) as error:
        raise ModelUnavailableError(
            f"{path} cannot be read as safetensors ({' '.join(str(error).split())}). "
            "Delete it and fetch it again: `pocket-batch models verify` tells what is damaged."
        ) from error


class _Unfilled(TorchFunctionMode):
    """Layers that are made without values, as a checkpoint will replace them: no memory is touched.

    On torch's device for this, `meta`, a mere sum makes it import its compiler, a second of work.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if getattr(func, "__module__", "") == nn.init.__name__:
            return None
        return func(*args, **(kwargs or {}))


def _check_names(module: nn.Module, found: Mapping[str, tuple[int, ...]], origin: str) -> None:
    """Refuse a file whose tensors are not those of the module, in name and shape."""
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
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


def _fill(module: nn.Module, tensors: Mapping[str, Tensor], where: str) -> None:
    """Give a module its tensors by name; an error begins with `where` and the name."""
    for name, tensor in tensors.items():
        if problem := _problem(tensor):
            raise ModelUnavailableError(
                f"{where}{name}` {problem}. Fetch the file again, or export the model again."
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
