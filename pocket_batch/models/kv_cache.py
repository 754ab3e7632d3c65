"""The KV cache: one slot a row, each with a length of its own, dense and without paging.

A voice prompt is stored once, as a `Prefix`, and shared by all rows that speak with it; slots hold
what is a row's own, its text and frames: 284 positions at most. What lies beyond a row's length is
finite always: a NaN that is masked would still poison the products of attention.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from pocket_batch.models.attention import joined, partial_attention

MIN_ROWS = 8  # with fewer rows in a product, some kernels round otherwise
STEP = 16  # room is a multiple of so many positions, as little as the longest row needs


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """A voice prompt as attention wants it; compared by identity.

    `keys` has shape (L, G, D, T) and `values` (L, G, T, D): L layers, G heads of keys and values,
    T positions.
    """

    keys: Tensor
    values: Tensor

    @property
    def num_positions(self) -> int:
        """T."""
        return self.values.shape[2]


def make_prefix(state: Tensor, dtype: torch.dtype = torch.float32) -> Prefix:
    """A prefix of a voice state, (L, 2, T, G, D)."""
    keys, values = state.to(dtype).unbind(1)  # (L, T, G, D) each
    return Prefix(keys.permute(0, 2, 3, 1).contiguous(), values.transpose(1, 2).contiguous())


class SlotCache:
    """Keys and values of every layer and slot.

    Attributes:
        keys, values: (L, B, G, P, D), zero where never written.
        lengths: (B,), the number of own positions each slot holds.
        prefixes: of each slot, None without a voice.
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
        self.prefixes: list[Prefix | None] = [None] * num_slots
        self.is_used = torch.zeros(num_slots, dtype=torch.bool)

    def put(self, slot: int, prefix: Prefix | None) -> None:
        """Start a slot with a voice."""
        self.clear(slot)
        self.prefixes[slot] = prefix
        self.is_used[slot] = True

    def get(self, slot: int) -> Tensor:
        """What a slot holds of its own, as a voice state: (L, 2, T, G, D), a copy."""
        length = int(self.lengths[slot])
        both = torch.stack((self.keys[:, slot, :, :length], self.values[:, slot, :, :length]), 1)
        return both.transpose(2, 3).contiguous()

    def clear(self, slot: int) -> None:
        """Empty a slot, and forget whatever was in it."""
        self.keys[:, slot] = 0
        self.values[:, slot] = 0
        self.lengths[slot] = 0
        self.prefixes[slot] = None
        self.is_used[slot] = False

    def view(self, slots: slice, num_new: int) -> "CacheView":
        """These slots about to get `num_new` positions each; call `CacheView.advance` after."""
        longest = max(int(self.lengths.max()), int(self.lengths[slots].max()) + num_new)
        self._fit(-(-longest // STEP) * STEP)
        return CacheView(self, slots, num_new)

    def _fit(self, room: int) -> None:
        """Have room for exactly so many positions, so that keys lie together in memory."""
        old = self.keys.shape[3]
        if room == old:
            return
        for name in ("keys", "values"):
            before = getattr(self, name)
            after = torch.zeros((*before.shape[:3], room, before.shape[4]), dtype=before.dtype)
            kept = min(old, room)
            after[:, :, :, :kept] = before[:, :, :, :kept]
            setattr(self, name, after)


class CacheView:
    """Some slots of a cache during one pass through the layers.

    Attributes:
        positions: (B, T), where the new positions are, counted from the start of the voice.
    """

    def __init__(self, cache: SlotCache, slots: slice, num_new: int) -> None:
        self._cache, self._slots, self._num_new = cache, slots, num_new
        starts = cache.lengths[slots]  # (B,)
        prefixes = cache.prefixes[slots]
        before = torch.tensor([p.num_positions if p else 0 for p in prefixes])  # (B,)
        self._own = starts[:, None] + torch.arange(num_new)  # (B, T)
        self.positions = self._own + before[:, None]
        self._rows = torch.arange(len(starts))[:, None]  # (B, 1)
        self._hidden = torch.arange(cache.keys.shape[3]) > self._own[..., None]  # (B, T, P)
        self._voices = _by_voice(prefixes)

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store new keys and values (B, G, T, D), then attend over all that each row holds."""
        keys = self._cache.keys[layer, self._slots]  # (B, G, P, D), views
        values = self._cache.values[layer, self._slots]
        keys[self._rows, :, self._own] = k.transpose(1, 2)
        values[self._rows, :, self._own] = v.transpose(1, 2)
        own = partial_attention(q, keys.transpose(2, 3), values, self._hidden)
        mixed = own.normalised()  # (B, H, T, D)
        for rows, prefix in self._voices:
            shared = partial_attention(q[rows], prefix.keys[layer], prefix.values[layer])
            mixed[rows] = joined(own.rows(rows), shared)
        return mixed.to(q.dtype)

    def advance(self) -> None:
        """The new positions are part of every used row now."""
        self._cache.lengths[self._slots] += self._num_new * self._cache.is_used[self._slots]


def _by_voice(prefixes: list[Prefix | None]) -> list[tuple[slice | Tensor, Prefix]]:
    """Which rows have which voice. Rows without a voice are not in use: where there is only one
    voice, they go along with it, so that no rows have to be gathered."""
    voices = {id(prefix): prefix for prefix in prefixes if prefix is not None}
    if len(voices) == 1:
        return [(slice(None), prefix) for prefix in voices.values()]
    found: list[tuple[slice | Tensor, Prefix]] = []
    for prefix in voices.values():
        rows = [row for row, other in enumerate(prefixes) if other is prefix]
        rows += rows[:1] * (MIN_ROWS - len(rows))
        found.append((torch.tensor(rows), prefix))
    return found
