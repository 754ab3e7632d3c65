"""Attention: few queries over a long cache, and a whole utterance over a window."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

TEXT_STEP = 16  # texts are filled up to a multiple of so many positions
WINDOW_BLOCK = 128  # queries at a time; shorter and longer blocks were slower
KEYS_STEP = 16  # keys begin at a multiple of so many, as products like it


@dataclass(frozen=True, slots=True)
class Part:
    """Softmax attention over some of the keys, before it is divided by the sum of weights.

    Attributes:
        mixed: (N, H, D), float32, values times weights.
        peak: (N, H), the largest score; weights are relative to it.
        total: (N, H), the sum of weights.
    """

    mixed: Tensor
    peak: Tensor
    total: Tensor

    def of(self, queries: slice | Tensor) -> "Part":
        """The same of some queries."""
        return Part(self.mixed[queries], self.peak[queries], self.total[queries])

    def normalised(self) -> Tensor:
        """(N, H, D), as if there were no other keys."""
        return self.mixed / self.total[..., None]


def joined(a: Part, b: Part) -> Tensor:
    """Attention over the keys of both parts, (N, H, D)."""
    peak = torch.maximum(a.peak, b.peak)
    of_a, of_b = (a.peak - peak).exp_(), (b.peak - peak).exp_()
    total = (a.total * of_a).addcmul_(b.total, of_b)
    of_a.div_(total)
    of_b.div_(total)
    return (a.mixed * of_a[..., None]).addcmul_(b.mixed, of_b[..., None])


def shared_attention(q: Tensor, k: Tensor, v: Tensor, num_keys: int) -> Part:
    """Attention of many queries over keys that all of them see: one product a head.

    Args:
        q: (N, H, D).
        k, v: (G, D, P) and (G, P, D). Each of the G heads serves H / G query heads.
        num_keys: of P; those behind them are not seen.
    """
    num_queries, num_heads, head_dim = q.shape
    kv_heads = len(k)

    def by_query(x: Tensor) -> Tensor:  # (G, N * H / G, ...) -> (N, H, ...)
        grouped = x.view(kv_heads, num_queries, -1, *x.shape[2:]).transpose(0, 1)
        return grouped.reshape(num_queries, num_heads, *x.shape[2:])

    groups = (q * head_dim**-0.5).view(num_queries, kv_heads, -1, head_dim)
    groups = groups.transpose(0, 1).reshape(kv_heads, -1, head_dim)  # (G, N * H / G, D)
    scores = groups @ k
    scores[..., num_keys:] = float("-inf")
    weights, peak = _weights(scores)
    mixed = (weights.to(v.dtype) @ v).float()
    return Part(by_query(mixed), by_query(peak), by_query(weights.sum(-1)))


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Part:
    """Attention of whole texts, each over itself; N of the result is R * T.

    What is behind the end of a text does not change its bits.

    Args:
        q, k, v: (R, T, H, D), (R, T, G, D) and (R, T, G, D) of R texts, finite everywhere. T is a
            multiple of `TEXT_STEP`.
    """
    num_texts, length, num_heads, head_dim = q.shape
    kv_heads = k.shape[2]

    def by_query(x: Tensor) -> Tensor:  # (R, G, H / G * T, ...) -> (N, H, ...)
        split = x.view(num_texts, num_heads, length, *x.shape[3:])
        return split.transpose(1, 2).reshape(-1, num_heads, *x.shape[3:])

    groups = (q * head_dim**-0.5).transpose(1, 2).reshape(num_texts, kv_heads, -1, head_dim)
    scores = (groups @ k.permute(0, 2, 3, 1)).float()  # (R, G, H / G * T, T)
    hidden = torch.full((length, length), float("-inf")).triu_(1)
    scores.view(num_texts, num_heads, length, length).add_(hidden)
    weights, peak = _weights(scores)
    mixed = (weights.to(v.dtype) @ v.transpose(1, 2)).float()
    # A plain sum adds in an order that depends on how many there are.
    total = weights.view(*weights.shape[:-1], -1, TEXT_STEP).sum(-2).sum(-1)
    return Part(by_query(mixed), by_query(peak), by_query(total))


@dataclass(frozen=True, slots=True)
class Pages:
    """Whose the first n pages of a cache are.

    Attributes:
        owner: (n,), the row whose query looks at a page.
        hidden: (n, 1, P), added to scores: 0 where there is a key, else minus infinity.
        table: (B * C,), the pages of each row, filled up with its own ones.
        order: the pages of the first row from its start on, then those of the second, ...
        starts: (B,), where each row begins in `order`.
    """

    owner: Tensor
    hidden: Tensor
    table: Tensor
    order: Tensor
    starts: Tensor


def paged_attention(q: Tensor, k: Tensor, v: Tensor, pages: Pages) -> Part:
    """Attention of one query a row over the pages that it has.

    As many products as there are pages, and nothing is read for a row that it does not have. What
    a page gives does not depend on where it is, and those of a row are added in their order.

    Args:
        q: (B, H, D).
        k, v: (n, G, P, D), finite everywhere. Each of the G heads serves H / G query heads.
    """
    num_rows, num_heads, head_dim = q.shape
    num_pages, kv_heads, size, _ = k.shape
    per_page = (q * head_dim**-0.5).index_select(0, pages.owner)  # (n, H, D)
    groups = per_page.view(num_pages * kv_heads, -1, head_dim)  # (n * G, H / G, D)
    scores = torch.bmm(groups, k.flatten(0, 1).transpose(1, 2))  # (n * G, H / G, P)
    weights = scores.view(num_pages, num_heads, size) + pages.hidden  # (n, H, P), float32
    tops = weights.amax(-1).index_select(0, pages.table)  # (B * C, H)
    peak = tops.view(num_rows, -1, num_heads).amax(1)  # (B, H)
    weights.sub_(peak.index_select(0, pages.owner)[..., None]).exp_()
    mixed = torch.bmm(weights.to(v.dtype).view(scores.shape), v.flatten(0, 1)).float()
    return Part(
        _summed(mixed.view(num_pages, -1), pages).view(q.shape),
        peak,
        _summed(weights.sum(-1), pages),
    )


def _summed(of_pages: Tensor, pages: Pages) -> Tensor:
    """The sum over each row's pages, in their order; (n, X) -> (B, X)."""
    return F.embedding_bag(pages.order, of_pages, pages.starts, mode="sum")


def _weights(scores: Tensor) -> tuple[Tensor, Tensor]:
    """(..., P) -> weights (..., P), float32, relative to the largest score (...), and that."""
    scores = scores.float()
    peak = scores.amax(-1)
    return scores.sub_(peak[..., None]).exp_(), peak


def window_attention(q: Tensor, k: Tensor, v: Tensor, context: int) -> Tensor:
    """Causal attention over a whole utterance, each query seeing `context` positions back.

    Goes over blocks of queries and the keys they see, so that time and memory grow with the
    length and not with its square. Plain products are faster here than torch's fused kernel.

    Args:
        q, k, v: (1, H, T, D).

    Returns:
        (1, H, T, D).
    """
    q, k, v = q[0] * q.shape[-1] ** -0.5, k[0].contiguous(), v[0].contiguous()
    num_positions, before = q.shape[1], -(-(context - 1) // KEYS_STEP) * KEYS_STEP
    distance = torch.arange(WINDOW_BLOCK)[:, None] + before - torch.arange(before + WINDOW_BLOCK)
    hidden = (distance < 0) | (distance >= context)
    mask = torch.zeros(hidden.shape, dtype=q.dtype).masked_fill_(hidden, float("-inf"))
    blocks = []
    for start in range(0, num_positions, WINDOW_BLOCK):
        end, first = min(start + WINDOW_BLOCK, num_positions), max(0, start - before)
        seen = mask[: end - start, before - (start - first) : before + end - start]  # (T', P')
        scores = torch.baddbmm(seen, q[:, start:end], k[:, first:end].transpose(1, 2))
        blocks.append(torch.bmm(scores.softmax(-1), v[:, first:end]))  # (H, T', D)
    return torch.cat(blocks, dim=1)[None]
