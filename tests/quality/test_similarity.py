"""Two pieces of speech are as alike as their speakers, whatever is said, and however loud."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pocket_batch.audio.pcm import to_int16
from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.base import make_engine
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models.speaker import SpeakerEncoder
from pocket_batch.quality import similarity as module
from pocket_batch.quality.similarity import (
    INSTALL,
    PACKAGED,
    SpeakerModel,
    find_voice_model,
    middle,
    similarity,
    speech_of,
    speech_s,
)

Pcm = NDArray[np.int16]
TEXTS = (
    "She blushed again and again over the perverseness of the meeting.",
    "The letter was to be read before any of them had sat down to breakfast.",
    "Nothing of that kind had ever happened to the family in living memory.",
    "The road along the river was longer, but there was more to look at.",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SpeakerModel:
    """An encoder that knows nothing of voices: its weights are random."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("speaker") / "encoder.pt"
    torch.save({"model_state": SpeakerEncoder().state_dict()}, path)
    return SpeakerModel(str(path))


def hum(seconds: float, rate_hz: int = 24_000, hz: float = 140.0) -> Pcm:
    """A buzz in syllables."""
    at = np.arange(round(seconds * rate_hz)) / rate_hz
    tones = sum(np.sin(2 * np.pi * hz * n * at) / n for n in range(1, 20))
    return to_int16((tones * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * at)) * 0.1).astype(np.float32))


def quiet(seconds: float, rate_hz: int = 24_000) -> Pcm:
    return np.zeros(round(seconds * rate_hz), np.int16)


def test_an_embedding_is_a_direction(model: SpeakerModel) -> None:
    for seconds in (0.3, 1.6, 1.7, 5.0):
        point = model.embed(hum(seconds), 24_000)
        assert point.shape == (256,)
        assert point.dtype == np.float32
        assert np.linalg.norm(point) == pytest.approx(1, abs=1e-5)


def test_the_level_of_speech_is_no_voice(model: SpeakerModel) -> None:
    loud = hum(4)
    soft = np.rint(loud * 0.05).astype(np.int16)
    assert similarity(model.embed(loud, 24_000), model.embed(soft, 24_000)) > 0.9999


def test_silence_around_and_inside_is_no_voice(model: SpeakerModel) -> None:
    plain = np.concatenate([hum(2), quiet(0.2), hum(2)])
    spread = np.concatenate([quiet(2), hum(2), quiet(3), hum(2), quiet(1)])
    assert abs(len(speech_of(plain, 24_000)) - len(speech_of(spread, 24_000))) <= 0.25 * 16_000
    assert similarity(model.embed(plain, 24_000), model.embed(spread, 24_000)) > 0.999


def test_the_sampling_rate_of_speech_is_no_voice(model: SpeakerModel) -> None:
    points = [model.embed(hum(4, rate_hz), rate_hz) for rate_hz in (16_000, 22_050, 48_000)]
    assert min(similarity(points[0], point) for point in points[1:]) > 0.999


@pytest.mark.parametrize("pcm", [quiet(0), quiet(0.005), quiet(3)])
def test_what_has_no_sound_is_like_nothing(model: SpeakerModel, pcm: Pcm) -> None:
    point = model.embed(pcm, 24_000)
    assert point.shape == (256,)
    assert not point.any()
    assert speech_s(pcm, 24_000) == 0
    assert len(speech_of(pcm, 24_000)) == 0


def test_seconds_of_speech_are_counted_without_silence() -> None:
    spread = np.concatenate([quiet(2), hum(1.5), quiet(3), hum(1), quiet(1)])
    assert speech_s(spread, 24_000) == pytest.approx(2.5, abs=0.05)


def test_similarity_is_the_cosine_and_zeros_are_like_nothing() -> None:
    a, b = np.float32([3, 0, 4]), np.float32([4, 0, 3])
    assert similarity(a, b) == pytest.approx(24 / 25)
    assert similarity(a, 7 * a) == pytest.approx(1)
    assert similarity(a, np.zeros(3, np.float32)) == 0.0


def test_the_middle_is_as_near_to_all_and_has_unit_length() -> None:
    points = [np.float32([1, 0]), np.float32([0, 1])]
    assert middle(points) == pytest.approx([np.sqrt(0.5)] * 2)
    assert not middle(np.zeros((2, 2), np.float32)).any()


def test_a_model_that_is_not_here_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(ModelUnavailableError, match=r"`resemblzer` is neither `resemblyzer` nor"):
        SpeakerModel("resemblzer")
    with pytest.raises(ModelUnavailableError, match=r"check\.voice_model"):
        find_voice_model(str(tmp_path))
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailableError, match=INSTALL):
        find_voice_model(PACKAGED)


def test_a_package_that_lost_its_weights_is_as_good_as_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / PACKAGED).mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with pytest.raises(ModelUnavailableError, match=INSTALL):
        find_voice_model(PACKAGED)
    (tmp_path / PACKAGED / "pretrained.pt").touch()
    assert find_voice_model(PACKAGED) == tmp_path / PACKAGED / "pretrained.pt"


def spoken(voice: Voice) -> list[tuple[Pcm, int]]:
    engine = make_engine(EngineSpec(voice.engine))
    requests = [Request(str(i), "s", text, voice, 1) for i, text in enumerate(TEXTS)]
    rate_hz = engine.sampling_rate_hz
    return [(to_int16(output.audio), rate_hz) for output in engine.generate(requests)]


@pytest.mark.skipif(find_spec(PACKAGED) is None, reason=f"without its weights: {INSTALL}")
def test_speakers_are_told_apart_with_the_weights_of_the_package(corpus: Path) -> None:
    from pocket_batch.audio.recording import read_prompt

    model = SpeakerModel(PACKAGED)
    heart = Voice("heart", "hibari", "en-US", "Apache-2.0", parameters={"hibari_voice": "heart"})
    points = [model.embed(pcm, rate_hz) for pcm, rate_hz in spoken(heart)]
    assert min(similarity(points[0], point) for point in points) > 0.75
    for path in sorted((corpus / "voice").iterdir()):
        samples, rate_hz = read_prompt(path)
        human = model.embed(to_int16(samples), rate_hz)
        assert similarity(human, middle(points)) < 0.75, path.name
