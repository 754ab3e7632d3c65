"""The KV cache: one slot a row, each with a length of its own, dense and without paging.

A request is some 660 positions at most (30 s of voice prompt, 50 tokens, 234 frames), so every slot
has room for the longest one running. What lies beyond a row's length is finite always: a NaN that
is masked would still poison the products of attention.
"""

import torch
from torch import Tensor

from pocket_batch.models.transformer import attention

ROOM_STEP = 64  # room grows by so many positions at a time
VIEW_STEP = 16  # keys are looked at up to a multiple of this


class SlotCache:
    """Keys and values of every layer and slot.

    Attributes:
        keys, values: (L, B, G, P, D), zero where never written.
        lengths: (B,), the number of positions each slot holds.
        is_used: (B,), whether somebody is in the slot; the others do not grow.
    """

    def __init__(
        self,
        num_layers: int,
        num_slots: int,
        kv_heads: int,
        head_dim: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.keys = torch.zeros(num_layers, num_slots, kv_heads, 0, head_dim, dtype=dtype)
        self.values = torch.zeros_like(self.keys)
        self.lengths = torch.zeros(num_slots, dtype=torch.long)
        self.is_used = torch.zeros(num_slots, dtype=torch.bool)

    def reserve(self, num_positions: int) -> None:
        """Make room for so many positions in every slot."""
        missing = num_positions - self.keys.shape[3]
        if missing > 0:
            extra = -(-missing // ROOM_STEP) * ROOM_STEP
            shape = (*self.keys.shape[:3], extra, self.keys.shape[4])
            zeros = torch.zeros(shape, dtype=self.keys.dtype)
            self.keys = torch.cat((self.keys, zeros), dim=3)
            self.values = torch.cat((self.values, zeros), dim=3)

    def put(self, slot: int, state: Tensor) -> None:
        """Start a slot with a voice state, (L, 2, T, G, D), of any length."""
        num_positions = state.shape[2]
        self.reserve(num_positions)
        self.clear(slot)
        by_head = state.transpose(2, 3)  # (L, 2, G, T, D)
        self.keys[:, slot, :, :num_positions] = by_head[:, 0]
        self.values[:, slot, :, :num_positions] = by_head[:, 1]
        self.lengths[slot] = num_positions
        self.is_used[slot] = True

    def get(self, slot: int) -> Tensor:
        """What a slot holds, as a voice state: (L, 2, T, G, D), a copy."""
        length = int(self.lengths[slot])
        both = torch.stack((self.keys[:, slot, :, :length], self.values[:, slot, :, :length]), 1)
        return both.transpose(2, 3).contiguous()

    def clear(self, slot: int) -> None:
        """Empty a slot, and forget whatever was in it."""
        self.keys[:, slot] = 0
        self.values[:, slot] = 0
        self.lengths[slot] = 0
        self.is_used[slot] = False

    def view(self, slots: slice, num_new: int) -> "CacheView":
        """These slots about to get `num_new` positions each; call `CacheView.advance` after."""
        return CacheView(self, slots, num_new)


class CacheView:
    """Some slots of a cache during one pass through the layers.

    Attributes:
        positions: (B, T), where the new positions go.
    """

    def __init__(self, cache: SlotCache, slots: slice, num_new: int) -> None:
        self._cache, self._slots, self._num_new = cache, slots, num_new
        starts = cache.lengths[slots]  # (B,)
        self.positions = starts[:, None] + torch.arange(num_new)  # (B, T)
        seen = int(self.positions.max()) + 1
        self._num_seen = min(-(-seen // VIEW_STEP) * VIEW_STEP, cache.keys.shape[3])
        self._visible = torch.arange(self._num_seen) <= self.positions[..., None]  # (B, T, P)
        self._rows = torch.arange(len(starts))[:, None]  # (B, 1)

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store new keys and values (B, G, T, D), then attend over all that each row holds."""
        keys = self._cache.keys[layer, self._slots]  # (B, G, P, D), views
        values = self._cache.values[layer, self._slots]
        keys[self._rows, :, self.positions] = k.transpose(1, 2)
        values[self._rows, :, self.positions] = v.transpose(1, 2)
        seen = self._num_seen
        return attention(q, keys[:, :, :seen], values[:, :, :seen], self._visible)

    def advance(self) -> None:
        """The new positions are part of every used row now."""
        self._cache.lengths[self._slots] += self._num_new * self._cache.is_used[self._slots]
