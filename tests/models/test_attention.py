"""Each way to attend gives what plain softmax gives, and the bits of a query are its own."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocket_batch.models.attention import (
    TEXT_STEP,
    causal_attention,
    joined,
    shared_attention,
    window_attention,
)

HEADS = st.sampled_from([(4, 4), (4, 2), (6, 1)])  # of queries, and of keys


def random(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Queries (N, H, D) over keys and values (P, G, D), as the definition says."""
    num_heads = q.shape[1]
    k, v = (x.repeat_interleave(num_heads // x.shape[1], dim=1) for x in (k, v))
    scores = torch.einsum("nhd,phd->nhp", q, k) * q.shape[-1] ** -0.5
    return torch.einsum("nhp,phd->nhd", scores.softmax(-1), v)


@given(heads=HEADS, num_queries=st.integers(1, 20), num_keys=st.integers(1, 70))
@settings(max_examples=20, deadline=None)
def test_attention_over_shared_keys_is_plain_attention(
    heads: tuple[int, int], num_queries: int, num_keys: int
) -> None:
    q = random(0, num_queries, heads[0], 8)
    k, v = random(1, num_keys, heads[1], 8), random(2, num_keys, heads[1], 8)
    found = shared_attention(q, k.permute(1, 2, 0), v.transpose(0, 1), len(k)).normalised()
    torch.testing.assert_close(found, plain(q, k, v))


@given(heads=HEADS, split=st.integers(1, 29))
@settings(max_examples=20, deadline=None)
def test_two_parts_joined_are_attention_over_both(heads: tuple[int, int], split: int) -> None:
    q = 20 * random(0, 9, heads[0], 8)  # peaks far from each other
    k, v = random(1, 30, heads[1], 8), random(2, 30, heads[1], 8)
    a, b = (
        shared_attention(q, k[part].permute(1, 2, 0), v[part].transpose(0, 1), len(k[part]))
        for part in (slice(split), slice(split, None))
    )
    torch.testing.assert_close(joined(a, b), plain(q, k, v), rtol=1e-4, atol=1e-5)


@given(heads=HEADS, lengths=st.lists(st.integers(1, 40), min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_each_position_of_a_text_sees_those_before_it(
    heads: tuple[int, int], lengths: list[int]
) -> None:
    longest = -(-max(lengths) // TEXT_STEP) * TEXT_STEP
    q = random(0, len(lengths), longest, heads[0], 8)
    k, v = (random(seed, len(lengths), longest, heads[1], 8) for seed in (1, 2))
    found = causal_attention(q, k, v).normalised().view_as(q)
    for text, length in enumerate(lengths):
        for n in {0, length // 2, length - 1}:
            seen = slice(n + 1)
            wanted = plain(q[text, n : n + 1], k[text, seen], v[text, seen])
            torch.testing.assert_close(found[text, n : n + 1], wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("length", [1, 15, 31, 43, 48])
def test_neither_other_texts_nor_room_behind_it_change_a_bit_of_a_text(
    dtype: torch.dtype, length: int
) -> None:
    q, k, v = (random(seed, 5, 96, 16, 64).to(dtype) for seed in range(3))
    found = []
    for room in range(-(-length // TEXT_STEP) * TEXT_STEP, 97, TEXT_STEP):
        for num_texts in (1, 2, 5):
            part = causal_attention(*(x[:num_texts, :room] for x in (q, k, v)))
            found.append(
                [x.view(num_texts, room, *x.shape[1:])[0, :length] for x in
                 (part.mixed, part.peak, part.total)]
            )  # fmt: skip
    for other in found[1:]:
        assert all(map(torch.equal, found[0], other))


def test_a_window_ends_where_it_should() -> None:
    q, k, v = (random(seed, 1, 2, 150, 8) for seed in range(3))
    found = window_attention(q, k, v, context=10)[0].transpose(0, 1)  # (T, H, D)
    for n in (0, 9, 10, 63, 64, 149):
        seen = slice(max(0, n - 9), n + 1)
        k_seen, v_seen = (x[0, :, seen].transpose(0, 1) for x in (k, v))
        wanted = plain(q[0, :, n][None], k_seen, v_seen)
        torch.testing.assert_close(found[n : n + 1], wanted)
