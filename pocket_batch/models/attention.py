"""Attention: few queries over a long cache, and a whole utterance over a window."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from pocket_batch.models.compiled import without_lock

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
    return _joined(a.mixed, a.peak, a.total, b.mixed, b.peak, b.total)


@without_lock
def _joined(
    mixed_a: Tensor,
    peak_a: Tensor,
    total_a: Tensor,
    mixed_b: Tensor,
    peak_b: Tensor,
    total_b: Tensor,
) -> Tensor:
    peak = torch.maximum(peak_a, peak_b)
    of_a, of_b = (peak_a - peak).exp_(), (peak_b - peak).exp_()
    total = (total_a * of_a).addcmul_(total_b, of_b)
    of_a.div_(total)
    of_b.div_(total)
    return (mixed_a * of_a.unsqueeze(-1)).addcmul_(mixed_b, of_b.unsqueeze(-1))


@without_lock
def _weights(scores: Tensor) -> tuple[Tensor, Tensor]:
    """(..., P) -> weights (..., P), float32, relative to the largest score (...), and that."""
    scores = scores.float()
    peak = scores.amax(-1)
    return scores.sub_(peak[..., None]).exp_(), peak


@without_lock
def _by_query(x: Tensor, num_queries: int) -> Tensor:
    """(G, N * H / G, ...) -> (N, H, ...)."""
    split: Tensor = x.unflatten(1, [num_queries, -1])  # type: ignore[no-untyped-call]
    return split.transpose(0, 1).flatten(1, 2)


def shared_attention(q: Tensor, k: Tensor, v: Tensor, num_keys: int) -> Part:
    """Attention of many queries over keys that all of them see: one product a head.

    Args:
        q: (N, H, D).
        k, v: (G, D, P) and (G, P, D). Each of the G heads serves H / G query heads.
        num_keys: of P; those behind them are not seen.
    """
    return Part(*_shared(q, k, v, num_keys))


@without_lock
def _shared(q: Tensor, k: Tensor, v: Tensor, num_keys: int) -> tuple[Tensor, Tensor, Tensor]:
    num_queries, _, head_dim = q.shape
    groups = (q * head_dim**-0.5).view(num_queries, len(k), -1, head_dim)
    groups = groups.transpose(0, 1).reshape(len(k), -1, head_dim)  # (G, N * H / G, D)
    scores = torch.matmul(groups, k)
    scores[..., num_keys:] = float("-inf")
    weights, peak = _weights(scores)
    mixed = torch.matmul(weights.to(v.dtype), v).float()
    total = weights.sum(-1)
    return (
        _by_query(mixed, num_queries),
        _by_query(peak, num_queries),
        _by_query(total, num_queries),
    )


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
    found = _paged(q, k, v, pages.owner, pages.hidden, pages.table, pages.order, pages.starts)
    return Part(*found)


@without_lock
def _summed(of_pages: Tensor, order: Tensor, starts: Tensor) -> Tensor:
    """The sum over each row's pages, in their order; (n, X) -> (B, X)."""
    return F.embedding_bag(order, of_pages, starts, mode="sum")


@without_lock
def _paged(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    owner: Tensor,
    hidden: Tensor,
    table: Tensor,
    order: Tensor,
    starts: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    num_rows, num_heads, head_dim = q.shape
    num_pages, kv_heads, size, _ = k.shape
    per_page = (q * head_dim**-0.5).index_select(0, owner)  # (n, H, D)
    groups = per_page.view(num_pages * kv_heads, -1, head_dim)  # (n * G, H / G, D)
    scores = torch.bmm(groups, k.flatten(0, 1).transpose(1, 2))  # (n * G, H / G, P)
    weights = scores.view(num_pages, num_heads, size) + hidden  # (n, H, P), float32
    tops = weights.amax(-1).index_select(0, table)  # (B * C, H)
    peak = tops.view(num_rows, -1, num_heads).amax(1)  # (B, H)
    weights.sub_(peak.index_select(0, owner).unsqueeze(-1)).exp_()
    mixed = torch.bmm(weights.to(v.dtype).view(scores.shape), v.flatten(0, 1)).float()
    return (
        _summed(mixed.view(num_pages, -1), order, starts).view(q.shape),
        peak,
        _summed(weights.sum(-1), order, starts),
    )


@without_lock
def window_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    context: int,
    size: int = WINDOW_BLOCK,
    keys_step: int = KEYS_STEP,
) -> Tensor:
    """Causal attention over a whole utterance, each query seeing `context` positions back.

    Goes over blocks of queries and the keys they see, so that time and memory grow with the
    length and not with its square. Plain products are faster here than torch's fused kernel.

    Args:
        q, k, v: (1, H, T, D).

    Returns:
        (1, H, T, D).
    """
    q, k, v = q[0] * q.shape[-1] ** -0.5, k[0].contiguous(), v[0].contiguous()
    num_positions, before = q.shape[1], -(-(context - 1) // keys_step) * keys_step
    distance = torch.arange(size)[:, None] + before - torch.arange(before + size)
    hidden = (distance < 0) | (distance >= context)
    mask = torch.zeros(hidden.shape, dtype=q.dtype).masked_fill_(hidden, float("-inf"))
    blocks = []
    for start in range(0, num_positions, size):
        end, first = min(start + size, num_positions), max(0, start - before)
        seen = mask[: end - start, before - (start - first) : before + end - start]  # (T', P')
        scores = torch.baddbmm(seen, q[:, start:end], k[:, first:end].transpose(1, 2))
        blocks.append(torch.bmm(scores.softmax(-1), v[:, first:end]))  # (H, T', D)
    return torch.cat(blocks, dim=1)[None]
