"""What is particular to the hibari engine."""

import hashlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.hibari import HibariEngine, without_zeroth
from pocket_batch.errors import ModelUnavailableError

HEART = Voice("heart", "hibari", "en-US", "Apache-2.0", parameters={"hibari_voice": "heart"})
EMMA = Voice("emma", "hibari", "en-GB", "Apache-2.0", parameters={"hibari_voice": "emma"})


@pytest.fixture(scope="module")
def engine() -> HibariEngine:
    engine = HibariEngine(EngineSpec("hibari"))
    engine.load([HEART], 1)
    return engine


def seconds(engine: HibariEngine, text: str) -> float:
    (output,) = engine.generate([Request("key", "segment", text, HEART, 1)])
    return len(output.audio) / engine.sampling_rate_hz


@pytest.mark.parametrize("text", ["", "   ", "***", "你好"])
def test_a_text_without_any_sound_gives_empty_audio(engine: HibariEngine, text: str) -> None:
    (output,) = engine.generate([Request("key", "segment", text, HEART, 1)])
    assert output.audio.shape == (0,)
    assert output.finish_reason == "eos"


@pytest.mark.parametrize(
    "text", ["Sir William Lucas", "Queen Victoria Street", "King Charles", "Chapter Lovely"]
)
def test_a_name_after_a_title_is_no_numeral(text: str) -> None:
    g2p = pytest.importorskip("hibari.g2p").G2P()
    assert len(g2p(without_zeroth(text)).split()) == len(text.split())  # nor `the zeroth` beside


def test_a_numeral_after_a_title_is_still_read() -> None:
    for text in ("Henry VIII married.", "Louis XVI and Chapter IV", "plain"):
        assert without_zeroth(text) == text


def test_nothing_of_a_text_at_the_limit_is_lost(engine: HibariEngine) -> None:
    for sentence in ("the old house, ", "the old house "):  # with and without a place to cut
        text = (sentence * 30)[: engine.max_tokens]
        once = seconds(engine, sentence * 3)
        assert seconds(engine, text) > 0.8 * once * len(text) / (3 * len(sentence))


def test_phonemes_beyond_what_the_package_cuts_at_are_all_spoken(engine: HibariEngine) -> None:
    text = ("FBI CIA NSA " * 40)[: engine.max_tokens]  # about 700 phonemes without a clause
    assert seconds(engine, text) > 30


def test_the_parameter_names_the_voice_and_else_its_own_name() -> None:
    named = Voice("narrator", "hibari", "en-US", "Apache-2.0", parameters={"hibari_voice": "heart"})
    bare = Voice("heart", "hibari", "en-US", "Apache-2.0")
    engine = HibariEngine(EngineSpec("hibari"))
    assert engine.voice_key(named) == engine.voice_key(bare)


def test_the_voice_key_is_the_hash_of_the_model_file() -> None:
    import hibari.voices

    data = Path(hibari.voices.voice_path("heart")).read_bytes()
    assert HibariEngine(EngineSpec("hibari")).voice_key(HEART) == hashlib.sha256(data).hexdigest()


def test_a_voice_that_is_not_on_the_machine_is_never_downloaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import hibari.voices

    def download(*_: object) -> None:
        raise AssertionError("downloaded")

    monkeypatch.setenv("HIBARI_HOME", str(tmp_path))
    monkeypatch.setattr(hibari.voices, "download", download)
    engine = HibariEngine(EngineSpec("hibari"))
    for action in (lambda: engine.voice_key(EMMA), lambda: engine.load([EMMA], 1)):
        with pytest.raises(ModelUnavailableError, match=r"--voice emma -o hello\.wav` once"):
            action()
    with pytest.raises(ModelUnavailableError, match="not on this machine"):
        list(engine.generate([Request("key", "segment", "Hello.", EMMA, 1)]))


def test_an_unknown_voice_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(ModelUnavailableError, match="emma, fable, fenrir, heart, kore"):
        HibariEngine(EngineSpec("hibari")).voice_key(Voice("hart", "hibari", "en", "Apache-2.0"))


def test_a_missing_package_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocket_batch.engine.hibari.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailableError, match="pip install hibari-tts"):
        HibariEngine(EngineSpec("hibari"))


def test_one_model_serves_two_lanes_without_mixing_texts(engine: HibariEngine) -> None:
    requests = [Request(str(i), "", f"{'very ' * (i % 7)}good.", HEART, i) for i in range(24)]
    alone = {o.key: o.audio for o in engine.generate(requests)}
    lanes = HibariEngine(EngineSpec("hibari"))
    lanes.load([HEART], 4)
    for output in lanes.generate(requests):
        assert np.array_equal(output.audio, alone[output.key])


def test_an_error_in_the_middle_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A session of onnxruntime holds no state between calls, nor does the analysis of text."""
    engine = HibariEngine(EngineSpec("hibari"))
    engine.load([HEART], 2)
    requests = [Request(str(n), "", f"Number {n} is good.", HEART, n) for n in range(6)]
    wanted = {output.key: output.audio for output in engine.generate(requests)}
    model = engine._models["heart"]
    run = model.sess.run
    calls = iter(range(99))

    def fail(*args: object) -> object:
        result = run(*args)
        if next(calls) == 3:
            raise RuntimeError("planted")
        return result

    with monkeypatch.context() as patch:
        patch.setattr(model, "sess", SimpleNamespace(run=fail))
        with pytest.raises(RuntimeError, match="planted"):
            list(engine.generate(requests))
    for output in engine.generate(requests):
        assert np.array_equal(output.audio, wanted[output.key])
