"""Matrix products with prepared weights: the one place that knows private operators of torch.

A weight is reordered once into the layout that the kernels of oneDNN want, which makes a product of
few rows up to twice as fast. Where torch has no such operator, the stock one gives the same result.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ROWS_HINT = 32  # the number of rows that a layout is chosen for


class Product(nn.Module):
    """`x @ weight.T + bias` for many x and one weight."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """Prepare a weight.

        Args:
            weight: (N, K), float32 or bfloat16.
            bias: (N,), of the same type.
        """
        super().__init__()
        self.dtype = weight.dtype
        self._bias = None if bias is None else bias.detach().clone()
        self._packed = reorder(weight.contiguous())  # a copy
        self._weight = weight.contiguous().clone() if self._packed is None else None

    def forward(self, x: Tensor) -> Tensor:
        """(..., K) -> (..., N)."""
        if self._packed is None:
            assert self._weight is not None
            return F.linear(x, self._weight, self._bias)
        return torch.ops.mkldnn._linear_pointwise(  # type: ignore[no-any-return]
            x, self._packed, self._bias, "none", [], ""
        )


def reorder(weight: Tensor) -> Tensor | None:
    """A weight (N, K) in the layout of oneDNN, or None where torch cannot do that."""
    if not (
        torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    ):
        return None
    try:
        return torch.ops.mkldnn._reorder_linear_weight(weight, ROWS_HINT)  # type: ignore[no-any-return]
    except RuntimeError:
        return None  # a type or shape that this build of oneDNN has no kernel for


def pack_linears(module: nn.Module) -> None:
    """Replace every linear layer inside a module by a `Product`."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Product(child.weight.data, _data(child.bias)))
        else:
            pack_linears(child)


def _data(parameter: nn.Parameter | None) -> Tensor | None:
    return None if parameter is None else parameter.data
