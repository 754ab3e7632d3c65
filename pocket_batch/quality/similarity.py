"""How alike two voices are to a network that was trained to tell speakers apart.

The weights are those in the package Resemblyzer, a GE2E encoder under the Apache licence that is
there without a network. Of the package only that file is used, for `pip install --no-deps`: what
it asks for are webrtcvad, which is compiled when it is installed and imports what setuptools no
longer has, so that Resemblyzer itself cannot be imported, and librosa with numba and scikit-learn.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pocket_batch.audio.pcm import Pcm, to_float
from pocket_batch.errors import ModelUnavailableError

Embedding = NDArray[np.float32]

PACKAGED = "resemblyzer"
INSTALL = "pip install --no-deps Resemblyzer"
LEVEL_DB = -25.0  # RMS of what it gets: the network hears levels too, and they are no voice
RATE_HZ = 16_000  # of the network
NUM_DIMENSIONS = 256
STEP_S = 0.77  # between the windows of 1.6 s, as Resemblyzer has it
FRAME_S = 0.01
SPEECH_BELOW_PEAK_DB = 35.0
KEEP_FRAMES = 10  # of silence around speech: longer pauses say nothing of a voice


class SpeakerModel:
    """A loaded speaker encoder."""

    def __init__(self, name: str) -> None:
        """Load it.

        Args:
            name: `resemblyzer`, the weights in that package, or the path of such a checkpoint.

        Raises:
            ModelUnavailableError: it is not on this machine, or of another kind.
        """
        path = find_voice_model(name)
        from pocket_batch.models.speaker import load_speaker_encoder

        self._encoder = load_speaker_encoder(path)

    def embed(self, pcm: Pcm, rate_hz: int) -> Embedding:
        """A point of unit length for the voice in int16 (S,), mono; -> (D,).

        Silence and level make no difference. Below two seconds of speech it says little; it is
        zeros without any sound.
        """
        from pocket_batch.models.speaker import HOP, WINDOW_FRAMES, mel_spectrogram

        samples = _levelled(speech_of(pcm, rate_hz))
        if not len(samples):
            return np.zeros(NUM_DIMENSIONS, np.float32)
        missing = max(0, WINDOW_FRAMES * HOP - len(samples))
        mels = mel_spectrogram(np.pad(samples, (0, missing)))[:-1]  # (F, M)
        last = len(mels) - WINDOW_FRAMES
        num_windows = 1 + round(last * FRAME_S / STEP_S)
        starts = np.linspace(0, last, num_windows).round().astype(int)
        windows = np.stack([mels[start : start + WINDOW_FRAMES] for start in starts])  # (B, F, M)
        return middle(self._encoder.embed(windows))


def find_voice_model(name: str) -> Path:
    """The file of a speaker encoder.

    Raises:
        ModelUnavailableError: it is not on this machine; the message says how to get it.
    """
    if name != PACKAGED:
        path = Path(name).expanduser()
        if path.is_file():
            return path
        raise ModelUnavailableError(
            f"The voice model `{name}` is neither `{PACKAGED}` nor a file that is here. Set "
            f"check.voice_model to one of them, or to null to compare no voices."
        )
    spec = find_spec(PACKAGED)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "pretrained.pt"
        if path.is_file():
            return path
    raise ModelUnavailableError(
        f"The voice model `{PACKAGED}` is in the package of that name, which is not installed. "
        f"Run `{INSTALL}`, or set check.voice_model to null to compare no voices."
    )


def similarity(a: Embedding, b: Embedding) -> float:
    """Cosine of two points (D,): 1 for the same voice, 0 for none in common."""
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norm if norm else 0.0


def middle(embeddings: Sequence[Embedding] | NDArray[np.float32]) -> Embedding:
    """The point of unit length in the midst of others, (N, D) -> (D,)."""
    mean = np.mean(np.asarray(embeddings, np.float32), axis=0)  # (D,)
    norm = float(np.linalg.norm(mean))
    return np.asarray(mean / norm if norm else mean, np.float32)


def speech_of(pcm: Pcm, rate_hz: int) -> NDArray[np.float32]:
    """The speech in int16 (S,), without its longer pauses, float32 at 16 kHz."""
    import soxr

    samples = to_float(pcm)
    if rate_hz != RATE_HZ:
        samples = np.asarray(soxr.resample(samples, rate_hz, RATE_HZ), np.float32)
    is_loud = _is_loud(samples, RATE_HZ)  # (F,)
    if not is_loud.any():
        return samples[:0]
    near = np.convolve(is_loud, np.ones(2 * KEEP_FRAMES + 1))  # (F + 2 * KEEP_FRAMES,)
    is_kept = np.repeat(near[KEEP_FRAMES:-KEEP_FRAMES] > 0, round(FRAME_S * RATE_HZ))
    return samples[: len(is_kept)][is_kept]


def speech_s(pcm: Pcm, rate_hz: int) -> float:
    """Seconds of int16 (S,) that are no silence."""
    return FRAME_S * int(_is_loud(to_float(pcm), rate_hz).sum())


def _is_loud(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.bool_]:
    """Whether each frame of 10 ms is within 35 dB of the loudest, (F,)."""
    size = round(FRAME_S * rate_hz)
    framed = samples[: len(samples) // size * size].reshape(-1, size)  # (F, S)
    power = np.square(framed).mean(axis=1)
    return np.asarray(power > power.max(initial=0.0) * 10 ** (-SPEECH_BELOW_PEAK_DB / 10))


def _levelled(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Speech at one level, (S,); there is always power in speech."""
    if not len(samples):
        return samples
    gain = 10 ** (LEVEL_DB / 20) / np.sqrt(np.mean(np.square(samples)))
    return np.asarray(samples * np.float32(gain))
