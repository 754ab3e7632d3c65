"""The transformer layer that the backbone and both transformers of Mimi are made of.

A layer does not know where keys and values come from: `attend` is given to it, so that one layer
serves a cache with a length of its own for every row, and a window over a whole utterance.
Attribute names are those of the checkpoints.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pocket_batch.models.elementwise import gelu

# Queries, keys, values, each (B, H, T, D) -> (B, H, T, D).
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]

WINDOW_BLOCK = 64  # queries at a time; shorter and longer blocks were slower


class Attention(nn.Module):
    """Multi-head attention with rotary positions; a key head may serve several query heads."""

    def __init__(self, dim: int, num_heads: int, kv_heads: int, head_dim: int) -> None:
        super().__init__()
        self.num_heads, self.kv_heads, self.head_dim = num_heads, kv_heads, head_dim
        self.in_proj = nn.Linear(dim, (num_heads + 2 * kv_heads) * head_dim, bias=False)
        self.out_proj = nn.Linear(num_heads * head_dim, dim, bias=False)

    def forward(self, x: Tensor, rope: Tensor, attend: Attend) -> Tensor:
        """(B, T, C) -> (B, T, C); `rope` are the rotations of these positions, see `rotations`."""
        heads = self.in_proj(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # (B, H', T, D)
        q, k, v = heads.split((self.num_heads, self.kv_heads, self.kv_heads), dim=1)
        mixed = attend(rotate(q, rope), rotate(k, rope), v)  # (B, H, T, D)
        return self.out_proj(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


class LayerScale(nn.Module):
    """One factor a channel."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        """(..., C) -> (..., C)."""
        return x * self.scale


class Layer(nn.Module):
    """Attention, then a feed-forward network, each normalised before and added to its input."""

    def __init__(
        self,
        dim: int,
        num_heads: int,
        hidden_dim: int,
        *,
        kv_heads: int | None = None,
        head_dim: int | None = None,
        has_scale: bool = False,
    ) -> None:
        super().__init__()
        self.self_attn = Attention(
            dim, num_heads, kv_heads or num_heads, head_dim or dim // num_heads
        )
        self.norm1 = nn.LayerNorm(dim, eps=1e-5)
        self.norm2 = nn.LayerNorm(dim, eps=1e-5)
        self.linear1 = nn.Linear(dim, hidden_dim, bias=False)
        self.linear2 = nn.Linear(hidden_dim, dim, bias=False)
        self.layer_scale_1 = LayerScale(dim) if has_scale else nn.Identity()
        self.layer_scale_2 = LayerScale(dim) if has_scale else nn.Identity()

    def forward(self, x: Tensor, rope: Tensor, attend: Attend) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        x = x + self.layer_scale_1(self.self_attn(self.norm1(x), rope, attend))
        hidden = gelu(self.linear1(self.norm2(x)))  # (B, T, hidden)
        return x + self.layer_scale_2(self.linear2(hidden))  # type: ignore[no-any-return]


def rotations(positions: Tensor, head_dim: int, max_period: float) -> Tensor:
    """Cosine and sine of every position and frequency.

    Args:
        positions: (B, T), integers.

    Returns:
        (2, B, 1, T, D / 2), float32; the 1 is for the heads.

    Source: arXiv 2104.09864.
    """
    pairs = torch.arange(head_dim // 2, dtype=torch.float32)
    frequencies = torch.exp(pairs * (-math.log(max_period) * 2 / head_dim))  # (D / 2,)
    angles = positions[:, None, :, None].float() * frequencies  # (B, 1, T, D / 2)
    return torch.stack((angles.cos(), angles.sin()))


def rotate(x: Tensor, rope: Tensor) -> Tensor:
    """Turn each pair of neighbouring channels by the angle of its position; (B, H, T, D)."""
    real, imaginary = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)  # (B, H, T, D / 2) each
    cos, sin = rope
    turned = torch.stack((real * cos - imaginary * sin, real * sin + imaginary * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)


@dataclass(frozen=True, slots=True)
class Part:
    """Softmax attention over some of the keys, before it is divided by the sum of weights.

    Attributes:
        mixed: (B, H, T, D), values times weights.
        peak: (B, H, T, 1), the largest score; weights are relative to it.
        total: (B, H, T, 1), the sum of weights.
    """

    mixed: Tensor
    peak: Tensor
    total: Tensor

    def rows(self, rows: slice | Tensor) -> "Part":
        """The same of some rows."""
        return Part(self.mixed[rows], self.peak[rows], self.total[rows])

    def normalised(self) -> Tensor:
        """(B, H, T, D), as if there were no other keys."""
        return self.mixed / self.total


def joined(a: Part, b: Part) -> Tensor:
    """Attention over the keys of both parts, (B, H, T, D)."""
    peak = torch.maximum(a.peak, b.peak)
    of_a, of_b = (a.peak - peak).exp(), (b.peak - peak).exp()
    return (a.mixed * of_a + b.mixed * of_b) / (a.total * of_a + b.total * of_b)


def partial_attention(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor | None = None) -> Part:
    """Attention of few queries over many keys, as two plain products.

    For one query a row they are faster than the fused kernels, and the bits of a row depend neither
    on its neighbours nor on how many hidden keys follow.

    Args:
        q: (B, H, T, D).
        k, v: (B, G, D, P) and (B, G, P, D), finite everywhere, or without the B when all rows
            share them. Each of the G heads serves H / G query heads.
        hidden: (B, T, P), true where a query must not see a key.
    """
    num_rows, num_heads, num_queries, head_dim = q.shape
    kv_heads = k.shape[-3]
    groups = q.reshape(num_rows, kv_heads, -1, head_dim)  # (B, G, H / G * T, D)
    if k.dim() == 3:  # all queries of a head in one product
        groups = groups.transpose(0, 1).flatten(1, 2)  # (G, B * H / G * T, D)
    scores = (groups @ k).float() * head_dim**-0.5  # (..., P)
    if hidden is not None:
        by_query = scores.reshape(num_rows, kv_heads, -1, num_queries, k.shape[-1])
        by_query.masked_fill_(hidden[:, None, None], float("-inf"))
    peak = scores.amax(-1, keepdim=True)
    weights = scores.sub_(peak).exp_()
    total = weights.sum(-1, keepdim=True)
    mixed = (weights.to(v.dtype) @ v).float()

    def by_row(x: Tensor) -> Tensor:
        if k.dim() == 3:
            x = x.reshape(kv_heads, num_rows, -1, x.shape[-1]).transpose(0, 1)
        return x.reshape(num_rows, num_heads, num_queries, -1)

    return Part(by_row(mixed), by_row(peak), by_row(total))


def window_attention(q: Tensor, k: Tensor, v: Tensor, context: int) -> Tensor:
    """Causal attention over a whole utterance, each query seeing `context` positions back.

    Goes over blocks of queries and the keys they see, so that time and memory grow with the
    length and not with its square.

    Args:
        q, k, v: (B, H, T, D).

    Returns:
        (B, H, T, D).
    """
    num_positions = q.shape[2]
    blocks = []
    for start in range(0, num_positions, WINDOW_BLOCK):
        end = min(start + WINDOW_BLOCK, num_positions)
        first = max(0, start - context + 1)
        distance = torch.arange(start, end)[:, None] - torch.arange(first, end)  # (T', P')
        visible = (distance >= 0) & (distance < context)
        blocks.append(
            F.scaled_dot_product_attention(
                q[:, :, start:end], k[:, :, first:end], v[:, :, first:end], visible
            )
        )
    return torch.cat(blocks, dim=2)
