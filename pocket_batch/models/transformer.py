"""The transformer layer that the backbone and both transformers of Mimi are made of.

A layer does not know where keys and values come from: `attend` is given to it, so that one layer
serves a cache with a length of its own for every row, and a window over a whole utterance.
Attribute names are those of the checkpoints.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from pocket_batch.models.products import Int8Product, Product, pack_linears

# Queries, keys, values, each (B, H, T, D) -> (B, H, T, D).
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


class Attention(nn.Module):
    """Multi-head attention with rotary positions; a key head may serve several query heads."""

    def __init__(self, dim: int, num_heads: int, kv_heads: int, head_dim: int) -> None:
        super().__init__()
        self.num_heads, self.kv_heads, self.head_dim = num_heads, kv_heads, head_dim
        self.in_proj = nn.Linear(dim, (num_heads + 2 * kv_heads) * head_dim, bias=False)
        self.out_proj = nn.Linear(num_heads * head_dim, dim, bias=False)

    def forward(self, x: Tensor, rope: Tensor, attend: Attend) -> Tensor:
        """(B, T, C) -> (B, T, C); `rope` are the rotations of these positions, see `rotations`."""
        heads = self.in_proj(x).unflatten(-1, (-1, self.head_dim))  # (B, T, H', D)
        turned, v = heads.split((self.num_heads + self.kv_heads, self.kv_heads), dim=2)
        q, k = rotate(turned, rope).split((self.num_heads, self.kv_heads), dim=2)  # type: ignore[no-untyped-call]
        mixed = attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))  # (B, H, T, D)
        return self.out_proj(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


class LayerScale(nn.Module):
    """One factor a channel."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))


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
        self.linear1: nn.Linear | Product | Int8Product = nn.Linear(dim, hidden_dim, bias=False)
        self.linear2 = nn.Linear(hidden_dim, dim, bias=False)
        self.layer_scale_1 = LayerScale(dim) if has_scale else nn.Identity()
        self.layer_scale_2 = LayerScale(dim) if has_scale else nn.Identity()

    def forward(self, x: Tensor, rope: Tensor, attend: Attend) -> Tensor:
        """(B, T, C) -> (B, T, C)."""
        x = self.self_attn(self.norm1(x), rope, attend).add_(x)
        assert not isinstance(self.linear1, nn.Linear), "weights are not packed"
        hidden = self.linear1.gelu(self.norm2(x))  # (B, T, hidden)
        return self.linear2(hidden).add_(x)  # type: ignore[no-any-return]

    def pack(self, kind: type[Product] | type[Int8Product]) -> None:
        """Prepare the weights for products of that kind; nothing runs before.

        A factor of each output of a product is a factor of the rows of its weight.
        """
        for scale, linear in (
            (self.layer_scale_1, self.self_attn.out_proj),
            (self.layer_scale_2, self.linear2),
        ):
            if isinstance(scale, LayerScale):
                linear.weight.data = linear.weight.data * scale.scale.data[:, None]
        del self.layer_scale_1, self.layer_scale_2
        pack_linears(self, kind)


def pack_layers(layers: nn.ModuleList, kind: type[Product] | type[Int8Product]) -> None:
    """Prepare the weights of all layers; see `Layer.pack`."""
    for layer in layers:
        assert isinstance(layer, Layer)
        layer.pack(kind)


def rotations(positions: Tensor, head_dim: int, max_period: float) -> Tensor:
    """The angle of every position and frequency, as a number on the unit circle.

    Args:
        positions: (B, T), integers.

    Returns:
        (B, T, 1, D / 2), complex numbers; the 1 is for the heads.

    Source: arXiv 2104.09864.
    """
    pairs = torch.arange(head_dim // 2, dtype=torch.float32)
    frequencies = torch.exp(pairs * (-math.log(max_period) * 2 / head_dim))  # (D / 2,)
    angles = positions[:, :, None, None].float() * frequencies  # (B, T, 1, D / 2)
    return torch.polar(torch.ones(()), angles)


def rotate(x: Tensor, rope: Tensor) -> Tensor:
    """Turn each pair of neighbouring channels by the angle of its position; (B, T, H, D)."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))  # (B, T, H, D / 2)
    return torch.view_as_real(pairs * rope).flatten(-2).to(x.dtype)
