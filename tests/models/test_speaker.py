"""A speaker encoder is taken whole or not at all, and hears what it was trained to hear."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models.speaker import (
    NUM_MELS,
    RATE_HZ,
    SpeakerEncoder,
    load_speaker_encoder,
    mel_spectrogram,
)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Callable[..., Path]:
    """A random checkpoint with some tensors taken out (None), added or exchanged."""

    def make(**changes: torch.Tensor | None) -> Path:
        torch.manual_seed(0)
        tensors = SpeakerEncoder().state_dict()
        for name, tensor in changes.items():
            if tensor is None:
                del tensors[name.replace("__", ".")]
            else:
                tensors[name.replace("__", ".")] = tensor
        torch.save({"step": 1, "model_state": tensors}, tmp_path / "encoder.pt")
        return tmp_path / "encoder.pt"

    return make


def test_what_was_saved_is_what_is_loaded(checkpoint: Callable[..., Path]) -> None:
    path = checkpoint(similarity_weight=torch.ones(1), similarity_bias=torch.zeros(1))
    windows = np.random.default_rng(0).random((3, 160, NUM_MELS), np.float32)
    torch.manual_seed(0)
    found = load_speaker_encoder(path).embed(windows)
    assert np.array_equal(found, SpeakerEncoder().embed(windows))
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_a_window_is_heard_the_same_alone_and_among_others(checkpoint: Callable[..., Path]) -> None:
    encoder = load_speaker_encoder(checkpoint())
    windows = np.random.default_rng(0).random((5, 160, NUM_MELS), np.float32)
    assert np.allclose(encoder.embed(windows)[2:3], encoder.embed(windows[2:3]), atol=1e-6)


def test_listening_leaves_the_number_of_threads_as_it_was(checkpoint: Callable[..., Path]) -> None:
    encoder = load_speaker_encoder(checkpoint())
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    encoder.embed(np.zeros((1, 160, NUM_MELS), np.float32))
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("name", "tensor", "says"),
    [
        ("linear__bias", None, r"`linear.bias` should be \(256,\), and is not in it"),
        ("linear__bias", torch.zeros(192), r"`linear.bias` should be \(256,\), and is \(192,\)"),
        ("linear__bias", torch.full((256,), torch.nan), "`linear.bias` has values that are not"),
        ("lstm__weight_ih_l3", torch.zeros(1), "it has `lstm.weight_ih_l3`, which"),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(
    checkpoint: Callable[..., Path], name: str, tensor: torch.Tensor | None, says: str
) -> None:
    with pytest.raises(ModelUnavailableError, match=says):
        load_speaker_encoder(checkpoint(**{name: tensor}))


class Trap:
    """An object whose unpickling makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


def test_code_in_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    for name, save in (
        ("a.pt", torch.save),
        ("b.pt", lambda o, p: p.write_bytes(pickle.dumps(o, 2))),
    ):
        save({"model_state": Trap(tmp_path / "sprung")}, tmp_path / name)
        with pytest.raises(ModelUnavailableError, match="is not a usable speaker encoder"):
            load_speaker_encoder(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_what_is_no_checkpoint_is_refused_in_a_sentence(
    tmp_path: Path, checkpoint: Callable[..., Path]
) -> None:
    whole = checkpoint().read_bytes()
    contents = [b"", b"text\n" * 99, b"PK\x03\x04", b"\x80\x02}.", whole[:-500], whole[: 1 << 12]]
    contents += [
        pickle.dumps(thing, 2) for thing in ([1], {"model_state": 3}, {"linear.bias": "x"})
    ]
    for content in contents:
        (tmp_path / "odd.pt").write_bytes(content)
        with pytest.raises(ModelUnavailableError, match="is not a usable speaker encoder"):
            load_speaker_encoder(tmp_path / "odd.pt")
    with pytest.raises(ModelUnavailableError, match="there is no such file"):
        load_speaker_encoder(tmp_path / "gone.pt")
    with pytest.raises(ModelUnavailableError, match="cannot be read"):
        load_speaker_encoder(tmp_path)


@pytest.mark.parametrize("hz", [200, 1000, 3000])
def test_a_tone_is_in_the_band_of_its_pitch(hz: int) -> None:
    seconds = np.arange(RATE_HZ) / RATE_HZ
    mels = mel_spectrogram(np.sin(2 * np.pi * hz * seconds).astype(np.float32))
    assert mels.shape == (101, NUM_MELS)
    # Slaney's scale: linear to 1 kHz, which is mel 15 of 45.25 at 8 kHz; 42 edges over it
    mel = hz * 3 / 200 if hz <= 1000 else 15 + 27 * np.log(hz / 1000) / np.log(6.4)
    assert abs(int(mels[50].argmax()) + 1 - mel * 41 / 45.25) <= 1


def test_power_in_a_spectrogram_is_the_square_of_the_samples() -> None:
    samples = np.random.default_rng(0).standard_normal(RATE_HZ).astype(np.float32)
    assert np.allclose(mel_spectrogram(samples * 2), 4 * mel_spectrogram(samples), rtol=1e-4)
