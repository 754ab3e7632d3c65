"""One pass of the backbone over a cache: where new keys and values go, and what a query sees.

A pass is given to the layers one after the other: `attend(layer, q, k, v)`. There are two kinds,
one position more in every slot, and whole texts in slots that have nothing but a voice.
"""

import time
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

import torch
from torch import Tensor

from pocket_batch.models.attention import (
    TEXT_STEP,
    Pages,
    Part,
    causal_attention,
    joined,
    paged_attention,
    shared_attention,
)
from pocket_batch.models.kv_cache import IDLE_PAGE, PAGE_SIZE, PAGES_STEP, Prefix, Slot, SlotCache

ROWS_STEP = 8  # with fewer rows in a product, some kernels round otherwise
TOKENS_STEP = 16  # texts are filled up to a multiple: for every size, oneDNN makes and keeps code


class Pass(Protocol):
    """What the layers need of a pass.

    Attributes:
        positions: (B, T), where the new positions are, counted from the start of the voice.
    """

    positions: Tensor

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store keys and values (B, G, T, D), attend with queries (B, H, T, D)."""
        ...

    def finish(self) -> None:
        """All layers are done: the new positions belong to their slots now."""
        ...


class StepPass:
    """One position more in each of the first slots; those that nobody is in go along."""

    def __init__(self, cache: SlotCache, num_rows: int) -> None:
        self._cache, self._slots = cache, cache.slots[:num_rows]
        for number, slot in enumerate(self._slots):
            if slot.is_used:
                cache.reserve(number, slot.length + 1)
        cache.close_gaps()
        self.positions = torch.tensor([[slot.end] for slot in self._slots])
        num_pages = -(-cache.num_pages // PAGES_STEP) * PAGES_STEP
        self._pages = _pages(num_pages, self._slots)
        places = [
            slot.places(slot.length, slot.length + 1)[0] if slot.is_used else (IDLE_PAGE, 0)
            for slot in self._slots
        ]
        self._store = _Store(cache, places)
        self._voices = _by_voice([slot.prefix for slot in self._slots])

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Like `Pass.attend`, T is 1."""
        started = time.thread_time()
        self._store(layer, k[:, :, 0], v[:, :, 0])
        num_pages = len(self._pages.owner)
        keys, values = self._cache.keys[layer, :num_pages], self._cache.values[layer, :num_pages]
        own = paged_attention(q[:, :, 0], keys, values, self._pages)
        mixed = _with_voices(q[:, :, 0], own, layer, self._voices)  # (B, H, D)
        self._cache.attention_s += time.thread_time() - started
        return mixed[:, :, None]

    def finish(self) -> None:
        """Like `Pass.finish`."""
        for slot in self._slots:
            slot.length += slot.is_used


class TextPass:
    """The first positions of some slots, all in one row: T is the sum of their numbers, and what
    is missing from as many as kernels need."""

    def __init__(self, cache: SlotCache, slots: Sequence[int], lengths: Sequence[int]) -> None:
        self._cache, self._lengths = cache, lengths
        self._slots = [cache.slots[number] for number in slots]
        positions: list[int] = []
        places: list[tuple[int, int]] = []
        prefixes: list[Prefix | None] = []
        for number, slot, length in zip(slots, self._slots, lengths, strict=True):
            assert not slot.length, "a slot is filled once"
            cache.reserve(number, length)
            positions += range(slot.end, slot.end + length)
            places += slot.places(0, length)
            prefixes += [slot.prefix] * length
        missing = -len(places) % TOKENS_STEP
        self.positions = torch.tensor([positions + [0] * missing])
        self._store = _Store(cache, places + [(IDLE_PAGE, 0)] * missing)
        self._voices = _by_voice(prefixes + [None] * missing)
        self._pack, self._unpack = _packing(lengths, missing)

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Like `Pass.attend`, B is 1."""
        started = time.thread_time()
        q, k, v = (x[0].transpose(0, 1) for x in (q, k, v))  # (T, H or G, D)
        self._store(layer, k, v)
        own = causal_attention(q[self._unpack], k[self._unpack], v[self._unpack])
        mixed = _with_voices(q, own.of(self._pack), layer, self._voices)  # (T, H, D)
        self._cache.attention_s += time.thread_time() - started
        return mixed.transpose(0, 1)[None]

    def finish(self) -> None:
        """Like `Pass.finish`."""
        for slot, length in zip(self._slots, self._lengths, strict=True):
            slot.length = length


class _Store:
    """Puts the keys and values of every layer in their places."""

    def __init__(self, cache: SlotCache, places: Sequence[tuple[int, int]]) -> None:
        self._cache = cache
        kv_heads = cache.keys.shape[2]
        starts = torch.tensor([page * kv_heads * PAGE_SIZE + place for page, place in places])
        heads = torch.arange(kv_heads) * PAGE_SIZE
        self._rows = (starts[:, None] + heads).flatten()  # (N * G,)

    def __call__(self, layer: int, k: Tensor, v: Tensor) -> None:
        """(N, G, D) each."""
        for of_layers, new in ((self._cache.keys, k), (self._cache.values, v)):
            flat = of_layers[layer].view(-1, new.shape[-1])  # (pages * G * P, D)
            flat.index_copy_(0, self._rows, new.reshape(-1, new.shape[-1]))


def _pages(num_pages: int, slots: Sequence[Slot]) -> Pages:
    """Whose pages are which when each slot has one position more.

    Slots that nobody is in share one page, in which the first position counts. Pages that are not
    in use are looked at in vain.
    """
    used = [row for row, slot in enumerate(slots) if slot.is_used]
    idle = [row for row, slot in enumerate(slots) if not slot.is_used]
    owner = [used[0] if used else 0] * num_pages
    num_visible = [0] * num_pages
    owner[IDLE_PAGE], num_visible[IDLE_PAGE] = (idle or used)[0], 1
    of_rows = [slot.pages if slot.is_used else [IDLE_PAGE] for slot in slots]
    for row in used:
        for page in of_rows[row]:
            owner[page], num_visible[page] = row, PAGE_SIZE
        num_visible[of_rows[row][-1]] = slots[row].length % PAGE_SIZE + 1
    most = max(len(pages) for pages in of_rows)
    place = torch.arange(PAGE_SIZE)
    is_hidden = place >= torch.tensor(num_visible)[:, None, None]  # (n, 1, P)
    return Pages(
        torch.tensor(owner),
        torch.zeros(is_hidden.shape).masked_fill_(is_hidden, float("-inf")),
        torch.tensor([pages + pages[:1] * (most - len(pages)) for pages in of_rows]).flatten(),
        torch.tensor([page for pages in of_rows for page in pages]),
        torch.tensor([0, *accumulate(len(pages) for pages in of_rows[:-1])]),
    )


def _packing(lengths: Sequence[int], missing: int) -> tuple[Tensor, Tensor]:
    """From texts one after the other to texts side by side, and back.

    Returns:
        (N,), where each position is among all those of texts that are filled up to one length.
        (R, T), which position is in each of these places.
    """
    longest = -(-max(lengths) // TEXT_STEP) * TEXT_STEP
    starts = [0, *accumulate(lengths[:-1])]
    pack = [r * longest + t for r, length in enumerate(lengths) for t in range(length)]
    unpack = [
        [start + t if t < length else start for t in range(longest)]
        for start, length in zip(starts, lengths, strict=True)
    ]
    return torch.tensor(pack + [0] * missing), torch.tensor(unpack)


Voices = list[tuple[slice | Tensor, Prefix]]


def _by_voice(prefixes: Sequence[Prefix | None]) -> Voices:
    """Which rows have which voice. Rows without a voice are not in use: where there is only one
    voice, they go along with it, so that no rows have to be gathered."""
    voices = {id(prefix): prefix for prefix in prefixes if prefix is not None}
    if len(voices) == 1:
        return [(slice(None), prefix) for prefix in voices.values()]
    found: Voices = []
    for prefix in voices.values():
        rows = [row for row, other in enumerate(prefixes) if other is prefix]
        rows += rows[:1] * (ROWS_STEP - len(rows))
        found.append((torch.tensor(rows), prefix))
    return found


def _with_voices(q: Tensor, own: Part, layer: int, voices: Voices) -> Tensor:
    """Attention over what is a row's own and its voice, (N, H, D) in the format of q."""
    if len(voices) == 1 and isinstance(voices[0][0], slice):
        return joined(own, _of_voice(q, layer, voices[0][1])).to(q.dtype)
    mixed = own.normalised()
    for rows, prefix in voices:
        mixed[rows] = joined(own.of(rows), _of_voice(q[rows], layer, prefix))
    return mixed.to(q.dtype)


def _of_voice(q: Tensor, layer: int, prefix: Prefix) -> Part:
    return shared_attention(q, prefix.keys[layer], prefix.values[layer], prefix.num_positions)
