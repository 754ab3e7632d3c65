"""Matrix products with prepared weights: the one place that knows private operators of torch.

A weight is reordered once into the layout that the kernels of oneDNN want, which makes a product of
few rows up to twice as fast. Where torch has no such operator, the stock ones give the same result.

With 8-bit weights, the rows of the input are rounded to 8 bits as well, each by a scale of its own,
so that the bits of a row depend on nothing but that row.
"""

import sys
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pocket_batch.models.elementwise import gelu

# oneDNN makes code for every number of rows that it sees, and keeps half a megabyte of it. So that
# not all lengths of speech are seen, many rows by a large weight are several products.
MAX_ROWS = 256
LARGE = 512 * 512  # numbers in a weight
ROWS_HINT = 32  # the number of rows that a layout is chosen for
MAX_CODE = 127  # of 8 bits, with a sign
ZERO_CODE = 128  # inputs are stored without one: for signed inputs oneDNN has no fast kernel
SMALLEST = 1e-30  # peak of a row; those of zeros have a scale as well
MIN_ROWS = 32  # in a product, where there are so many
BLOCK = 1 << 18  # values that are rounded at a time


class Product(nn.Module):
    """`x @ weight.T + bias` for many x and one weight, in the format of the weight."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """Prepare a weight.

        Args:
            weight: (N, K), float32 or bfloat16.
            bias: (N,), of the same type.
        """
        super().__init__()
        self._bias = None if bias is None else bias.detach().clone()
        self._max_rows = MAX_ROWS if weight.numel() >= LARGE else sys.maxsize
        self._packed = reorder(weight.contiguous())  # a copy
        self._weight = weight.contiguous().clone() if self._packed is None else None

    def forward(self, x: Tensor) -> Tensor:
        """(..., K) -> (..., N)."""
        return self._run(x, "none")

    def gelu(self, x: Tensor) -> Tensor:
        """The same, and then the tanh approximation of GELU."""
        return self._run(x, "gelu")

    def _run(self, x: Tensor, activation: str) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])  # (M, K)
        parts = [self._multiply(part, activation) for part in _parts(rows, self._max_rows)]
        y = torch.cat(parts) if len(parts) > 1 else parts[0]
        return y.view(*x.shape[:-1], -1)

    def _multiply(self, x: Tensor, activation: str) -> Tensor:
        if self._packed is None:
            assert self._weight is not None
            y = F.linear(x, self._weight, self._bias)
            return gelu(y) if activation == "gelu" else y
        return torch.ops.mkldnn._linear_pointwise(  # type: ignore[no-any-return]
            x, self._packed, self._bias, activation, [], "tanh"
        )


class Int8Product(nn.Module):
    """`Product` with a weight in 8 bits, one scale for each of its rows; bfloat16 in and out."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """Round a weight to 8 bits.

        Args:
            weight: (N, K).
            bias: (N,).
        """
        super().__init__()
        codes = torch.empty(weight.shape, dtype=torch.int8)  # (N, K)
        self._scales = torch.empty(len(weight))  # (N,)
        num_rows = _num_rows(weight.shape[1])
        for first in range(0, len(weight), num_rows):
            rows = slice(first, first + num_rows)
            wide = weight[rows].detach().to(torch.float32, copy=True)
            peaks = wide.abs().amax(dim=1).clamp_min_(SMALLEST)
            self._scales[rows] = peaks / MAX_CODE
            codes[rows] = wide.mul_(MAX_CODE / peaks[:, None]).round_().to(torch.int8)
        self._bias = None if bias is None else bias.detach().float()
        self._packed = reorder_int8(codes)
        self._codes = codes if self._packed is None else None

    def forward(self, x: Tensor) -> Tensor:
        """(..., K) -> (..., N)."""
        return self._run(x, is_gelu=False)

    def gelu(self, x: Tensor) -> Tensor:
        """The same, and then the tanh approximation of GELU."""
        return self._run(x, is_gelu=True)

    def _run(self, x: Tensor, is_gelu: bool) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])  # (M, K)
        parts = []
        for part in _parts(rows, _num_rows(rows.shape[1])):
            codes, scales = round_rows(part)
            product = self._multiply(codes).mul_(scales)  # (M', N), float32
            if self._bias is not None:
                product.add_(self._bias)
            parts.append((gelu(product) if is_gelu else product).to(x.dtype))
        y = torch.cat(parts) if len(parts) > 1 else parts[0]
        return y.view(*x.shape[:-1], -1)

    def _multiply(self, codes: Tensor) -> Tensor:
        """Codes of inputs times the weight, (M, K) -> (M, N), float32."""
        if self._packed is None:
            assert self._codes is not None
            signed = codes.float() - ZERO_CODE
            return F.linear(signed, self._codes.float()) * self._scales
        return multiply_int8(codes, self._packed, self._scales)


def _parts(x: Tensor, num_rows: int) -> list[Tensor]:
    """The rows of x, at most so many at a time."""
    return [x[first : first + num_rows] for first in range(0, len(x), num_rows)]


def _num_rows(num_columns: int) -> int:
    """How many rows stay in the cache, of those that are rounded to 8 bits."""
    return min(MAX_ROWS, max(MIN_ROWS, BLOCK // num_columns))


def round_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Round every row to 8 bits.

    Args:
        x: (M, K).

    Returns:
        codes: (M, K), bytes; `ZERO_CODE` stands for 0.
        scales: (M, 1), float32; `(codes - ZERO_CODE) * scales` is x again, roughly.
    """
    wide = x.to(torch.float32, copy=True)
    peaks = wide.abs().amax(dim=1, keepdim=True).clamp_min_(SMALLEST)
    signed = wide.mul_(MAX_CODE / peaks).round_().to(torch.int8)  # far faster than to bytes
    codes = signed.view(torch.uint8).bitwise_xor_(ZERO_CODE)  # adds ZERO_CODE, modulo 256
    return codes, peaks / MAX_CODE


def reorder(weight: Tensor) -> Tensor | None:
    """A weight (N, K) in the layout of oneDNN, or None where torch cannot do that."""
    if not _has_onednn(torch.ops.mkldnn, "_linear_pointwise"):
        return None
    try:
        return torch.ops.mkldnn._reorder_linear_weight(weight, ROWS_HINT)  # type: ignore[no-any-return]
    except RuntimeError:
        return None  # a type or shape that this build of oneDNN has no kernel for


def reorder_int8(codes: Tensor) -> Tensor | None:
    """An 8-bit weight (N, K) in the layout of oneDNN, or None where torch cannot do that right."""
    if not (_has_onednn(torch.ops.onednn, "qlinear_pointwise") and sums_are_exact()):
        return None
    return torch.ops.onednn.qlinear_prepack(codes, [ROWS_HINT, codes.shape[1]])  # type: ignore[no-any-return]


@cache
def sums_are_exact() -> bool:
    """Whether products of bytes add up right on this processor.

    Some without instructions made for it add two of them in 16 bits, which the largest exceed.
    """
    codes = torch.full((ROWS_HINT, 64), 2 * MAX_CODE + 1, dtype=torch.uint8)
    weight = torch.full((16, 64), MAX_CODE, dtype=torch.int8)
    weight[8:] = -MAX_CODE
    try:
        packed = torch.ops.onednn.qlinear_prepack(weight, [ROWS_HINT, 64])
        found = multiply_int8(codes, packed, torch.ones(16))
    except RuntimeError:
        return False  # this build of oneDNN has no kernel for it
    signed = codes.double() - ZERO_CODE
    return torch.equal(found.double(), signed @ weight.double().T)


def multiply_int8(codes: Tensor, packed: Tensor, scales: Tensor) -> Tensor:
    """Codes (M, K) times a weight from `reorder_int8` and its scales (N,): (M, N), float32."""
    zeros = torch.zeros(len(scales), dtype=torch.int64)
    numbers = 1.0, ZERO_CODE, packed, scales, zeros, None, 1.0, 0  # scale, zero of input and output
    return torch.ops.onednn.qlinear_pointwise(codes, *numbers, torch.float32, "none", [], "")  # type: ignore[no-any-return]


def _has_onednn(namespace: Any, operator: str) -> bool:
    return torch.backends.mkldnn.is_available() and hasattr(namespace, operator)  # type: ignore[no-untyped-call]


def pack_linears(module: nn.Module, kind: type[Product] | type[Int8Product] = Product) -> None:
    """Replace every linear layer inside a module by a product of that kind."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, kind(child.weight.data, _data(child.bias)))
        else:
            pack_linears(child, kind)


def _data(parameter: nn.Parameter | None) -> Tensor | None:
    return None if parameter is None else parameter.data
