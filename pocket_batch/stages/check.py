"""Stage `check`: finds utterances that were spoken but may be wrong, from their records alone."""

import re
from collections.abc import Iterable, Iterator

from pocket_batch.data import Failure, Suspect, Utterance
from pocket_batch.settings import CheckSettings

# Below this many letters the silence around the words outweighs the words.
MIN_LETTERS = 12
_IPA = re.compile(r"(?<=\])\(/[^()]*/\)")  # `[Siobhan](/ʃɪˈvɔːn/)` -> `[Siobhan]`


class Check:
    """Lists in `suspects` what ran into its length limit or was read too fast or too slow."""

    name = "check"

    def __init__(self, settings: CheckSettings, texts: dict[str, str]) -> None:
        """`texts` holds the spoken text of each content key."""
        self._settings = settings
        self._texts = texts
        self.suspects: list[Suspect] = []
        self.num_cut_off = 0

    def run(self, items: Iterable[Utterance | Failure]) -> Iterator[Utterance | Failure]:
        """Pass everything on; remember what is suspect."""
        for item in items:
            if isinstance(item, Utterance):
                text = self._texts[item.key]
                reason = self._reason(item, text)
                if reason:
                    self.suspects.append(Suspect(item.key, item.segment_id, text, reason))
            yield item

    def _reason(self, utterance: Utterance, text: str) -> str:
        """Why an utterance is suspect, or an empty string."""
        if utterance.finish_reason == "length":
            self.num_cut_off += 1
            return "The engine reached its length limit before the end of the text."
        letters = sum(character.isalnum() for character in _IPA.sub("", text))
        rate = letters * utterance.sampling_rate_hz / max(1, utterance.num_samples)
        if letters < MIN_LETTERS:
            return ""
        if rate < self._settings.min_letters_per_s:
            return f"Read at {rate:.1f} letters a second: too slow, perhaps noise or repetition."
        if rate > self._settings.max_letters_per_s:
            return f"Read at {rate:.1f} letters a second: too fast, perhaps words are missing."
        return ""
