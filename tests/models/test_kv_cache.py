"""Rows keep what is theirs, wherever their pages and slots are."""

from collections.abc import Sequence
from functools import lru_cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocket_batch.models.cached_attention import StepPass, TextPass
from pocket_batch.models.kv_cache import MAX_GAPS, PAGE_SIZE, Prefix, SlotCache, make_prefix

L, G, D = 1, 16, 64  # as wide as a released model, so that the kernels are those of one
LENGTHS = (1, 2, 25, 31, 32, 43, 60, 70)
NUM_STEPS = 6


def random(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def voice(number: int, dtype: torch.dtype = torch.float32) -> Prefix:
    return make_prefix(random(1000 + number, L, 2, 20 + 37 * number, G, D), dtype)


def position(row: int, place: int, dtype: torch.dtype) -> Tensor:
    """Query, key and value of one position of one row, (3, L, G, D)."""
    return _positions(row)[place].to(dtype)


@lru_cache
def _positions(row: int) -> Tensor:
    return random(row, 80, 3, L, G, D)


def read_texts(cache: SlotCache, slots: Sequence[int], rows: Sequence[tuple[int, int]]) -> None:
    """Texts of rows, each a number and a length, into slots."""
    texts = TextPass(cache, slots, [length for _, length in rows])
    places = [position(row, n, cache.keys.dtype) for row, length in rows for n in range(length)]
    places += [torch.zeros_like(places[0])] * (texts.positions.shape[1] - len(places))
    for layer in range(L):
        q, k, v = torch.stack([x[:, layer] for x in places], dim=2)[:, None]  # (1, G, T, D) each
        texts.attend(layer, q, k, v)
    texts.finish()


def step(cache: SlotCache, slots: dict[int, tuple[int, int]], num_rows: int) -> Tensor:
    """The next position of rows in slots, each a number and its length; (B, L, G, D)."""
    run = StepPass(cache, num_rows)
    nothing = torch.zeros(3, L, G, D, dtype=cache.keys.dtype)
    new = [
        position(*slots[slot], cache.keys.dtype) if slot in slots else nothing
        for slot in range(num_rows)
    ]
    mixed = []
    for layer in range(L):
        q, k, v = torch.stack([x[:, layer] for x in new], dim=1)[:, :, :, None]  # (B, G, 1, D)
        mixed.append(run.attend(layer, q, k, v)[:, :, 0])
    run.finish()
    return torch.stack(mixed, dim=1)


@lru_cache
def alone(row: int, length: int, num_steps: int, dtype: torch.dtype) -> list[Tensor]:
    """What attention gives for a row in a cache of its own, (L, G, D) a step."""
    cache = SlotCache(L, 8, G, D, dtype)
    cache.put(0, voice(row % 3, dtype))
    read_texts(cache, [0], [(row, length)])
    return [step(cache, {0: (row, length + n)}, 8)[0] for n in range(num_steps)]


def test_a_step_sees_the_voice_and_all_that_is_its_own() -> None:
    found = alone(1, 40, 3, torch.float32)
    prefix = voice(1)
    own = torch.stack([position(1, n, torch.float32) for n in range(43)])  # (T, 3, L, G, D)
    for layer in range(L):
        of_voice = prefix.keys[layer].permute(2, 0, 1)[: prefix.num_positions]
        keys = torch.cat((of_voice, own[:, 1, layer]))  # (T', G, D)
        of_voice = prefix.values[layer].transpose(0, 1)[: prefix.num_positions]
        values = torch.cat((of_voice, own[:, 2, layer]))
        scores = torch.einsum("gd,tgd->gt", own[42, 0, layer], keys) * D**-0.5
        wanted = torch.einsum("gt,tgd->gd", scores.softmax(-1), values)
        torch.testing.assert_close(found[2][layer], wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_rows_that_come_go_and_move_keep_their_bits(
    dtype: torch.dtype, data: st.DataObject
) -> None:
    """Whatever is done to the others, every row gets the bits that it gets alone."""
    cache = SlotCache(L, 16, G, D, dtype)
    running: dict[int, tuple[int, int, int]] = {}  # slot -> row, length of its text, steps
    wanted: dict[int, list[Tensor]] = {}
    lengths = st.lists(st.sampled_from(LENGTHS), min_size=1, max_size=4)
    num_rows = 0
    for _ in range(data.draw(st.integers(1, NUM_STEPS))):
        free = [slot for slot in range(16) if slot not in running]
        new = [(num_rows + n, length) for n, length in enumerate(data.draw(lengths))][: len(free)]
        num_rows += len(new)
        for slot, (row, length) in zip(free, new, strict=False):
            cache.put(slot, voice(row % 3, dtype))
            running[slot] = row, length, 0
            wanted[row] = alone(row, length, NUM_STEPS, dtype)
        if new:
            read_texts(cache, free[: len(new)], new)
        highest = max(running)
        target = next(slot for slot in range(17) if slot not in running)
        if target < highest and data.draw(st.booleans()):
            cache.move(highest, target)
            running[target] = running.pop(highest)
        num = -(-(max(running) + 1) // 8) * 8
        found = step(cache, {s: (row, n + done) for s, (row, n, done) in running.items()}, num)
        for slot, (row, length, done) in list(running.items()):
            assert torch.equal(found[slot], wanted[row][done])
            running[slot] = row, length, done + 1
        for slot in data.draw(st.sets(st.sampled_from(sorted(running)))):
            cache.clear(slot)
            del running[slot]


@settings(max_examples=30, deadline=None)
@given(
    actions=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 300)), max_size=60),
)
def test_a_page_has_one_owner_and_few_lie_idle(actions: list[tuple[int, int]]) -> None:
    cache = SlotCache(1, 8, 1, 4)
    for slot, length in actions:
        cache.put(slot, None)
        if length:
            cache.reserve(slot, length)
            cache.slots[slot].length = length
            cache.keys[0, cache.slots[slot].pages] = slot
        cache.close_gaps()
        pages = [page for slot in cache.slots for page in slot.pages]
        assert len(set(pages)) == len(pages)
        assert 0 not in pages
        assert max(pages, default=0) < cache.num_pages <= len(pages) + 1 + MAX_GAPS
        for number, held in enumerate(cache.slots):
            assert len(held.pages) == -(-held.length // PAGE_SIZE)
            assert (cache.keys[0, held.pages] == number).all()


def test_what_a_slot_holds_comes_back_in_the_order_of_positions() -> None:
    cache = SlotCache(L, 3, G, D)
    cache.put(1, None)
    cache.reserve(1, 100)
    cache.put(2, None)
    cache.clear(1)  # its pages come back in another order
    read_texts(cache, [2, 1], [(5, 70), (6, 3)])
    both = torch.stack([position(5, n, torch.float32)[1:] for n in range(70)])  # (T, 2, L, G, D)
    assert torch.equal(cache.get(2), both.permute(2, 1, 0, 3, 4))


def test_what_is_left_of_a_row_that_was_no_number_does_not_reach_the_next() -> None:
    cache = SlotCache(L, 8, G, D)
    cache.put(0, voice(1))
    cache.reserve(0, 90)
    cache.keys.fill_(float("nan"))
    cache.values.fill_(float("inf"))
    cache.keys[:, 0], cache.values[:, 0] = 0, 0
    cache.put(0, voice(1))
    read_texts(cache, [0], [(1, 40)])
    assert torch.equal(step(cache, {0: (1, 40)}, 8)[0], alone(1, 40, 1, torch.float32)[0])
