"""Listens to utterances inside a worker, if the settings ask for it."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pocket_batch.audio.pcm import Pcm
from pocket_batch.manifest import content_key
from pocket_batch.quality.alignment import Alignment, HeardWord, WordTime, align
from pocket_batch.quality.word_errors import WordErrors, word_errors
from pocket_batch.rows import Scores

if TYPE_CHECKING:
    from pocket_batch.quality.asr import Transcriber

NUM_THREADS = 2  # the cores of a worker
Judged = TypeVar("Judged", Alignment, WordErrors)
Heard = TypeVar("Heard")


class Listener:
    """Adds what was heard to the scores; of which utterances, the hash of their key decides.

    It listens quickly, and with more patience where something was wrong: what both times is heard
    otherwise than written counts, as the time with fewer errors has it.
    """

    def __init__(
        self, model: str | None, fraction: float, language: str, num_at_once: int = 1
    ) -> None:
        """The model is loaded when it is first needed.

        Args:
            model: see `Transcriber`; None listens to nothing.
            fraction: of all utterances, 0 to 1.
            language: of what is said, a BCP 47 tag.
            num_at_once: how many threads call it; the cores are divided among them.
        """
        self._num_at_once = num_at_once
        self._name = model
        self._fraction = fraction
        self._language = language
        self._loading = threading.Lock()
        self._transcriber: Transcriber | None = None

    def listens_to(self, key: str) -> bool:
        """Whether the utterance of that key is among those that are listened to."""
        return self._name is not None and is_chosen(key, self._fraction)

    def load(self) -> None:
        """Load the model now, if there is one.

        Raises:
            ModelUnavailableError: it is not on this machine.
        """
        if self._name is not None:
            self._model(self._name)

    def heard(self, pcm: Pcm, rate_hz: int, text: str, scores: Scores) -> Scores:
        """The scores of an utterance, (num_samples,), with `wer`, `cer` and `heard`.

        Raises:
            ModelUnavailableError: the ASR model is not on this machine.
        """
        assert self._name is not None
        model = self._model(self._name)

        def hear(quick: bool) -> tuple[WordErrors, str]:
            found = model.transcribe(pcm, rate_hz, self._language, quick)
            return word_errors(text, found, self._language), found

        errors, found = _better_of_two(hear)
        return replace(scores, wer=errors.wer, cer=errors.cer, heard=found)

    def listen(
        self, pcm: Pcm, rate_hz: int, text: str, scores: Scores
    ) -> tuple[Scores, tuple[WordTime, ...]]:
        """Likewise, with words that sound alike taken for the same, and when each is heard.

        Raises:
            ModelUnavailableError: the ASR model is not on this machine.
        """
        assert self._name is not None
        model = self._model(self._name)

        def hear(quick: bool) -> tuple[Alignment, list[HeardWord]]:
            words = model.words(pcm, rate_hz, self._language, quick)
            return align(text, words, self._language), words

        found, words = _better_of_two(hear)
        heard = " ".join(word.text for word in words)
        scores = replace(
            scores, wer=found.wer, cer=found.cer, num_edits=found.num_edits, heard=heard
        )
        return scores, found.word_times

    def _model(self, name: str) -> "Transcriber":
        with self._loading:
            if self._transcriber is None:
                from pocket_batch.quality.asr import Transcriber

                each = max(1, NUM_THREADS // self._num_at_once)
                self._transcriber = Transcriber(name, each, self._num_at_once)
            return self._transcriber


def _better_of_two(hear: Callable[[bool], tuple[Judged, Heard]]) -> tuple[Judged, Heard]:
    """What is heard in a quick look, or with more patience where that has fewer errors."""
    quick = hear(True)
    if quick[0].wer == 0:
        return quick
    return min(quick, hear(False), key=lambda found: found[0].wer)


def is_chosen(key: str, fraction: float) -> bool:
    """Whether a hash of a key falls into a share of all."""
    return int(content_key(listen=key)[:13], 16) / 16**13 < fraction
