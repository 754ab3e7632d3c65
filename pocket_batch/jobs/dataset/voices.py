"""Which voices speak which text: decided by a hash of seed and text alone.

So neither the order of rows, nor a resume, nor a job array can change it, and a voice more moves
as few texts as can be (weighted rendezvous hashing).

Source: Wang, Ravishankar, "Weighted rendezvous hashing", IETF draft-ietf-bess-weighted-hrw, 2019.
"""

import math
from collections.abc import Iterable

from pocket_batch.dataset_settings import VoicesSettings
from pocket_batch.errors import UsageError
from pocket_batch.rows import Split
from pocket_batch.text.groups import unit_hash


class Assignment:
    """Chooses voices for texts."""

    def __init__(self, settings: VoicesSettings, seed: int, voices: Iterable[str]) -> None:
        """Check the settings.

        Args:
            settings: weights are taken from it; a voice without one has the weight 1.
            seed: of the set; another one is another choice.
            voices: all that may be chosen.

        Raises:
            UsageError: a text is to have more voices than there are, or no voice is left for it.
        """
        names = list(dict.fromkeys(voices))
        unknown = [name for name in settings.test if name not in names]
        if unknown:
            raise UsageError(
                f"The test voice {', '.join(unknown)} is none of the voices of the set, which are "
                f"{', '.join(names)}. Name it with --voice too."
            )
        self._weights = {name: settings.voices.get(name, 1.0) for name in names}
        self._test = set(settings.test)
        self._seed = seed
        self._num = settings.per_text
        pools = [self._pool("train"), self._pool("test")]
        if not all(pools):
            raise UsageError("All voices are test voices: nobody is left for the other texts.")
        if self._num > min(map(len, pools)):
            raise UsageError(
                f"Each text is to be spoken by {self._num} voices, and there are "
                f"{min(map(len, pools))}. Name more with --voice, or ask for fewer."
            )

    def voices_for(self, group: str, split: Split) -> tuple[str, ...]:
        """The voices of all texts of a group; test voices have the test texts to themselves."""
        pool = self._pool(split)
        if self._num == 0 or self._num == len(pool):
            return tuple(pool)
        ranked = sorted(pool, key=lambda name: (self._distance(name, group), name))
        return tuple(ranked[: self._num])

    def may_speak(self, voice: str, split: Split) -> bool:
        """Whether a voice that a row names itself crosses no border of splits."""
        return not self._test or (voice in self._test) == (split == "test")

    @property
    def is_by_split(self) -> bool:
        """Whether who speaks depends on the split."""
        return bool(self._test)

    @property
    def several(self) -> bool:
        """Whether a text has more than one voice."""
        return self._num != 1 and len(self._weights) > 1

    def _pool(self, split: Split) -> list[str]:
        return [name for name in self._weights if self.may_speak(name, split)]

    def _distance(self, name: str, group: str) -> float:
        number = max(unit_hash(f"voice {self._seed} {name} {group}"), 1e-18)
        return -math.log(number) / self._weights[name]
