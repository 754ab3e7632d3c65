"""The GE2E speaker encoder: pieces of speech become points that are near for one speaker.

Three LSTM layers over mel spectrograms, a projection, ReLU, unit length: the network of the
package Resemblyzer and of Real-Time-Voice-Cloning, whose checkpoints it reads.

Source: Wan et al., Generalized end-to-end loss for speaker verification (2018), arXiv:1710.10467.
"""

import pickle
import struct
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pocket_batch.errors import ModelUnavailableError

Floats = NDArray[np.float32]

RATE_HZ = 16_000
NUM_MELS = 40
FFT_SIZE = 400  # 25 ms
HOP = 160  # 10 ms
WINDOW_FRAMES = 160  # 1.6 s, the length it was trained with
WIDTH = 256
NUM_LAYERS = 3
_MEL_HZ = 200 / 3  # Slaney's scale: linear up to 1 kHz, then 27 steps for a factor of 6.4
_LINEAR_MELS = 15.0
_LOG_STEP = np.log(6.4) / 27
# What torch raises on files that are damaged or of another kind, depending on where.
_DAMAGED = (
    OSError, EOFError, RuntimeError, ValueError, LookupError, TypeError, AttributeError,
    AssertionError, ArithmeticError, MemoryError, struct.error, pickle.UnpicklingError,
)  # fmt: skip
_UNUSED = {"similarity_weight", "similarity_bias"}  # of its training


class SpeakerEncoder(nn.Module):
    """The network; of random weights until a checkpoint is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(NUM_MELS, WIDTH, NUM_LAYERS, batch_first=True)
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, mels: Tensor) -> Tensor:
        """Points of unit length, (B, F, M) -> (B, D)."""
        _, (hidden, _) = self.lstm(mels)  # (L, B, D)
        return nn.functional.normalize(torch.relu(self.linear(hidden[-1])), dim=1)  # (B, D)

    def embed(self, windows: Floats) -> Floats:
        """Points of windows of a spectrogram, (B, F, M) -> (B, D).

        On one thread: the steps are so small that several mostly wait for each other.
        """
        num_threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                return np.asarray(self(torch.from_numpy(windows)).numpy(), np.float32)
        finally:
            torch.set_num_threads(num_threads)


def load_speaker_encoder(path: Path) -> SpeakerEncoder:
    """Read a checkpoint, as torch saves it; no code that is in it is run.

    Raises:
        ModelUnavailableError: it is missing, damaged, or of another network; the message names
            what was wanted and what was found.
    """
    with torch.device("meta"):  # no random weights, for which a generator would move on
        encoder = SpeakerEncoder()
    wanted = encoder.state_dict()
    found = _tensors(path)
    for name, tensor in wanted.items():
        shape = tuple(found[name].shape) if name in found else None
        if shape != tuple(tensor.shape):
            has = "is not in it" if shape is None else f"is {shape} in it"
            raise _unusable(path, f"`{name}` should be {tuple(tensor.shape)}, and {has}")
        if not bool(torch.isfinite(found[name]).all()):
            raise _unusable(path, f"`{name}` has values that are not numbers")
    odd = sorted(found.keys() - wanted.keys() - _UNUSED)
    if odd:
        raise _unusable(path, f"it has `{odd[0]}`, which this network does not have")
    encoder.load_state_dict({name: found[name].float() for name in wanted}, assign=True)
    return encoder.eval()


def mel_spectrogram(samples: Floats) -> Floats:
    """Power in mel bands every 10 ms, no logarithm: (S,) at 16 kHz -> (F, NUM_MELS).

    Source: librosa's `melspectrogram` with its defaults, which the network was trained with.
    """
    padded = np.pad(samples, FFT_SIZE // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, FFT_SIZE)[::HOP]  # (F, FFT_SIZE)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FFT_SIZE) / FFT_SIZE)
    spectrum = np.fft.rfft(frames * window.astype(np.float32))  # (F, K)
    power = np.square(spectrum.real) + np.square(spectrum.imag)  # (F, K)
    return np.asarray(power @ _mel_bands().T, np.float32)


@cache
def _mel_bands() -> NDArray[np.float64]:
    """Triangles of equal area on Slaney's mel scale, (NUM_MELS, K)."""
    mels = np.linspace(0, _LINEAR_MELS + np.log(RATE_HZ / 2 / 1000) / _LOG_STEP, NUM_MELS + 2)
    above = np.maximum(mels - _LINEAR_MELS, 0)
    edges = _MEL_HZ * np.minimum(mels, _LINEAR_MELS) * np.exp(_LOG_STEP * above)  # (M + 2,) Hz
    bins = np.fft.rfftfreq(FFT_SIZE, 1 / RATE_HZ)  # (K,)
    slopes = (bins[None] - edges[:, None]) / np.diff(edges, append=np.inf)[:, None]  # (M + 2, K)
    bands = np.maximum(0, np.minimum(slopes[:-2], 1 - slopes[1:-1]))  # (M, K)
    return np.asarray(bands * (2 / (edges[2:] - edges[:-2]))[:, None])


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        content: Any = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise ModelUnavailableError(
            f"{path}: a speaker encoder was wanted, and there is no such file. "
            "Check the path in `check.voice_model`."
        ) from error
    except _DAMAGED as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise _unusable(path, f"it cannot be read ({reason})") from error
    tensors = content.get("model_state", content) if isinstance(content, dict) else {}
    if not isinstance(tensors, dict) or not all(isinstance(t, Tensor) for t in tensors.values()):
        raise _unusable(path, "it has no `model_state` of tensors")
    return tensors


def _unusable(path: Path, reason: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"{path} is not a usable speaker encoder: {reason}. Wanted is a checkpoint of the GE2E "
        "encoder of Resemblyzer or Real-Time-Voice-Cloning (LSTM, 3 x 256)."
    )
