"""The KV cache: one slot a row, each with a length of its own, in pages of a few positions.

A voice prompt is stored once, as a `Prefix`, and shared by all rows that speak with it; pages hold
what is a row's own, its text and frames. A row has as many pages as it needs, anywhere among those
in use, so that no time goes to positions that it does not have, and it moves to another slot
without being copied. Pages hold finite numbers always: a NaN that is masked would still poison the
products of attention.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush

import torch
from torch import Tensor
from torch.nn import functional as F

PAGE_SIZE = 32  # positions; with fewer, products are slower, with more, they do more in vain
PAGES_STEP = 16  # pages are looked at in multiples: for every number, oneDNN makes and keeps code
PREFIX_STEP = 16  # products over odd numbers of keys round otherwise for some numbers of queries
IDLE_PAGE = 0  # where slots that nobody is in put what they make
MAX_GAPS = 8  # unused pages among the used ones: they cost time, and so does moving others there


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """A voice prompt as attention wants it; compared by identity.

    `keys` has shape (L, G, D, P) and `values` (L, G, P, D): L layers, G heads of keys and values,
    the first `num_positions` of P positions; the rest are zeros.
    """

    keys: Tensor
    values: Tensor
    num_positions: int


def make_prefix(state: Tensor, dtype: torch.dtype = torch.float32) -> Prefix:
    """A prefix of a voice state, (L, 2, T, G, D)."""
    num_positions = state.shape[2]
    state = F.pad(state.to(dtype), (0, 0, 0, 0, 0, -num_positions % PREFIX_STEP))
    keys, values = state.unbind(1)  # (L, P, G, D) each
    keys, values = keys.permute(0, 2, 3, 1).contiguous(), values.transpose(1, 2).contiguous()
    return Prefix(keys, values, num_positions)


@dataclass(slots=True)
class Slot:
    """What one row holds.

    Attributes:
        prefix: its voice.
        length: its own positions.
        pages: where those are, in their order.
        is_used: whether somebody is in it; the others do not grow.
    """

    prefix: Prefix | None = None
    length: int = 0
    pages: list[int] = field(default_factory=list)
    is_used: bool = False

    @property
    def end(self) -> int:
        """All its positions, the voice included."""
        return self.length + (self.prefix.num_positions if self.prefix else 0)

    def places(self, first: int, end: int) -> list[tuple[int, int]]:
        """Where positions `first` to `end` - 1 are, each a page and a place in it."""
        return [(self.pages[n // PAGE_SIZE], n % PAGE_SIZE) for n in range(first, end)]


class SlotCache:
    """Keys and values of every layer and slot.

    Attributes:
        keys, values: (L, N, G, P, D), N pages of P positions.
        slots: what is where.
        num_pages: those from the first to the last one in use.
        attention_s: processor time that went to attention so far.
    """

    def __init__(
        self,
        num_layers: int,
        num_slots: int,
        kv_heads: int,
        head_dim: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.keys = torch.zeros(num_layers, PAGES_STEP, kv_heads, PAGE_SIZE, head_dim, dtype=dtype)
        self.values = torch.zeros_like(self.keys)
        self.slots = [Slot() for _ in range(num_slots)]
        self.num_pages = IDLE_PAGE + 1
        self.attention_s = 0.0
        self._gaps: list[int] = []  # a heap of the pages before `num_pages` that nobody has

    def put(self, slot: int, prefix: Prefix | None) -> None:
        """Start a slot with a voice."""
        self.clear(slot)
        self.slots[slot] = Slot(prefix, is_used=True)

    def clear(self, slot: int) -> None:
        """Empty a slot, and forget whatever was in it."""
        for page in self.slots[slot].pages:
            heappush(self._gaps, page)
        self.slots[slot] = Slot()

    def move(self, source: int, target: int) -> None:
        """Let what is in one slot be in another; no numbers are copied."""
        self.clear(target)
        self.slots[source], self.slots[target] = self.slots[target], self.slots[source]

    def get(self, slot: int) -> Tensor:
        """What a slot holds of its own, as a voice state: (L, 2, T, G, D), a copy."""
        pages, length = self.slots[slot].pages, self.slots[slot].length
        both = torch.stack((self.keys[:, pages], self.values[:, pages]), 1)  # (L, 2, n, G, P, D)
        return both.transpose(3, 4).flatten(2, 3)[:, :, :length].contiguous()

    def reserve(self, slot: int, num_positions: int) -> None:
        """See to it that a slot has pages for so many positions of its own."""
        pages = self.slots[slot].pages
        while len(pages) * PAGE_SIZE < num_positions:
            page = heappop(self._gaps) if self._gaps else self._new_page()
            self.keys[:, page] = 0
            self.values[:, page] = 0
            pages.append(page)

    def close_gaps(self) -> None:
        """Put the last pages where unused ones are, until those are few."""
        while len(self._gaps) > MAX_GAPS:
            last = self.num_pages - 1
            if last in self._gaps:
                self._gaps.remove(last)
                self._gaps.sort()  # a sorted list is a heap
            else:
                page = heappop(self._gaps)
                self.keys[:, page] = self.keys[:, last]
                self.values[:, page] = self.values[:, last]
                pages = next(slot.pages for slot in self.slots if last in slot.pages)
                pages[pages.index(last)] = page
            self.num_pages -= 1

    def _new_page(self) -> int:
        """One page more, which may take memory for more of them."""
        if self.num_pages == self.keys.shape[1]:
            num_pages = self.num_pages + max(1, self.num_pages // 4)
            num_pages = -(-num_pages // PAGES_STEP) * PAGES_STEP
            for name in ("keys", "values"):
                before = getattr(self, name)
                after = torch.zeros(len(before), num_pages, *before.shape[2:], dtype=before.dtype)
                after[:, : self.num_pages] = before
                setattr(self, name, after)
        self.num_pages += 1
        return self.num_pages - 1
