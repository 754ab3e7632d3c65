"""Listens to utterances inside a worker, if the settings ask for it."""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from pocket_batch.audio.flac import decode_flac
from pocket_batch.data import Request
from pocket_batch.manifest import content_key
from pocket_batch.quality.word_errors import word_errors
from pocket_batch.rows import Scores
from pocket_batch.settings import FilterSettings

if TYPE_CHECKING:
    from pocket_batch.quality.asr import Transcriber

NUM_THREADS = 2


class Listener:
    """Adds what was heard to the scores; which utterances, the hash of their row decides."""

    def __init__(self, filters: FilterSettings, language: str) -> None:
        """The model is loaded when it is first needed."""
        self._filters = filters
        self._language = language
        self._loading = threading.Lock()
        self._transcriber: Transcriber | None = None

    def heard(self, request: Request, flac: bytes, scores: Scores) -> Scores:
        """The scores of an utterance, with `wer`, `cer` and `heard` if it is listened to.

        Raises:
            ModelUnavailableError: the ASR model is not on this machine.
        """
        if self._filters.asr is None or not self._is_chosen(request.key):
            return scores
        rate_hz, pcm = _rate_of(flac), decode_flac(flac)
        text = self._model(self._filters.asr).transcribe(pcm, rate_hz, self._language)
        errors = word_errors(request.text, text, self._language)
        return replace(scores, wer=errors.wer, cer=errors.cer, heard=text)

    def _is_chosen(self, key: str) -> bool:
        share = int(content_key(listen=key)[:13], 16) / 16**13
        return share < self._filters.asr_fraction

    def _model(self, name: str) -> "Transcriber":
        with self._loading:
            if self._transcriber is None:
                from pocket_batch.quality.asr import Transcriber

                self._transcriber = Transcriber(name, NUM_THREADS)
            return self._transcriber


def _rate_of(flac: bytes) -> int:
    """The sampling rate of a FLAC file: 20 bits after 18 bytes. Source: RFC 9639, section 8.2."""
    return int.from_bytes(flac[18:21], "big") >> 4
