"""Activation functions, faster than torch's own with the same results to the last bits."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from pocket_batch.models.compiled import without_lock

# gelu(x) = x * sigmoid(x * (A + B * x * x)), the tanh approximation. Source: arXiv 1606.08415.
GELU_A = 1.5957691216057308  # 2 * sqrt(2 / pi)
GELU_B = 0.07135481283  # A * 0.044715

BLOCK = 1 << 18  # values


def elu(x: Tensor, out: Tensor | None = None) -> Tensor:
    """x where positive, else exp(x) - 1.

    numpy's expm1 is three times as fast as torch's, and lets other threads run. It goes block by
    block, so that what is between the steps stays in the cache of a core.

    Args:
        x: (T, C).
        out: where the result goes, may be x itself; a new tensor by default.
    """
    out = torch.empty_like(x) if out is None else out
    num_rows = min(len(x), max(1, BLOCK // x.shape[1]))
    negative = torch.empty(num_rows, x.shape[1])
    array = negative.numpy()
    for source, target in zip(x.split(num_rows), out.split(num_rows), strict=True):  # type: ignore[no-untyped-call]
        if len(source) < len(negative):
            negative, array = negative[: len(source)], array[: len(source)]
        wide = _split(source, negative)
        np.expm1(array, out=array)
        _join(wide, negative, target)
    return out


@without_lock
def _split(source: Tensor, negative: Tensor) -> Tensor:
    """A block in float32, itself if it is; its negative values go to `negative`."""
    wide = source.to(torch.float32)
    torch.clamp(wide, max=0, out=negative)
    return wide


@without_lock
def _join(wide: Tensor, negative: Tensor, target: Tensor) -> None:
    """The larger one goes to `target`, which may be `wide`; in another format, `wide` is lost."""
    if target.dtype == torch.float32:
        torch.maximum(wide, negative, out=target)
    else:
        target.copy_(torch.maximum(wide, negative, out=wide))


@without_lock
def gelu(x: Tensor, a: float = GELU_A, b: float = GELU_B) -> Tensor:
    """The tanh approximation of GELU; any shape, not modified."""
    if x.dtype != torch.float32:
        return F.gelu(x, approximate="tanh")  # in steps it would be rounded after each
    gate = x.square().mul_(b).add_(a).mul_(x).sigmoid_()
    return gate.mul_(x)
