"""Attention: few queries over a long cache, and a whole utterance over a window."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

WINDOW_BLOCK = 64  # queries at a time; shorter and longer blocks were slower


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
