"""What every engine of the table must do."""

import math
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.base import ENGINES, Engine, Output, make_engine
from pocket_batch.errors import ModelUnavailableError

VOICES = {
    "fake": Voice("tone", "fake", "en", "CC0-1.0"),
    "hibari": Voice("heart", "hibari", "en-US", "Apache-2.0", parameters={"hibari_voice": "heart"}),
}
TEXTS = (
    "It is a truth universally acknowledged.",
    "Yes.",
    "A single man in possession of a good fortune, must be in want of a wife.",
    "Yes.",
    "However little known the feelings or views of such a man may be!",
)


@pytest.fixture(scope="module", params=sorted(set(ENGINES) & set(VOICES)))
def engine(request: pytest.FixtureRequest) -> Engine:
    engine = make_engine(EngineSpec(request.param))
    engine.load([VOICES[engine.name]], 2)
    return engine


def make_requests(engine: Engine) -> list[Request]:
    voice = VOICES[engine.name]
    return [Request(f"key-{i}", f"segment-{i}", text, voice, i) for i, text in enumerate(TEXTS)]


def speak(engine: Engine, requests: list[Request]) -> dict[str, Output]:
    return {output.key: output for output in engine.generate(requests)}


def test_every_request_gives_one_output_of_finite_audio(engine: Engine) -> None:
    requests = make_requests(engine)
    outputs = list(engine.generate(requests))
    assert sorted(o.key for o in outputs) == sorted(r.key for r in requests)
    for output in outputs:
        assert output.audio.dtype == np.float32
        assert output.audio.ndim == 1
        assert np.isfinite(output.audio).all()
        assert 0.2 < len(output.audio) / engine.sampling_rate_hz < 10
        assert output.finish_reason == "eos"
        assert output.compute_s >= 0


def test_a_result_depends_on_its_own_request_alone(engine: Engine) -> None:
    requests = make_requests(engine)
    together = speak(engine, requests)
    for request in reversed(requests):
        alone = speak(engine, [request])[request.key]
        assert np.array_equal(alone.audio, together[request.key].audio)


def test_the_number_of_threads_does_not_change_a_sample(engine: Engine) -> None:
    two = speak(engine, make_requests(engine))
    other = make_engine(EngineSpec(engine.name))
    other.load([VOICES[engine.name]], 1)
    one = speak(other, make_requests(engine))
    assert all(np.array_equal(one[key].audio, two[key].audio) for key in two)


def test_an_engine_loads_by_itself_when_nobody_asked_it_to(engine: Engine) -> None:
    request = make_requests(engine)[0]
    loaded = speak(engine, [request])[request.key]
    fresh = speak(make_engine(EngineSpec(engine.name)), [request])[request.key]
    assert np.array_equal(fresh.audio, loaded.audio)


def test_the_seed_is_heard(engine: Engine) -> None:
    first, second = make_requests(engine)[1], make_requests(engine)[3]
    outputs = speak(engine, [first, second])
    assert not np.array_equal(outputs[first.key].audio, outputs[second.key].audio)


def test_requests_are_read_as_they_are_needed(engine: Engine) -> None:
    read = []

    def source() -> Iterator[Request]:
        for request in make_requests(engine) * 20:
            read.append(request)
            yield request

    outputs = engine.generate(source())
    next(outputs)
    assert len(read) <= 20
    outputs.close()  # type: ignore[attr-defined]


def test_no_requests_give_no_outputs(engine: Engine) -> None:
    assert list(engine.generate([])) == []


def test_the_level_is_that_of_speech(engine: Engine) -> None:
    for output in engine.generate(make_requests(engine)):
        rms_db = 20 * math.log10(float(np.sqrt(np.mean(output.audio**2))))
        assert -35 < rms_db < -15
        assert np.abs(output.audio).max() <= 1.0


def test_what_an_engine_says_of_itself_is_usable(engine: Engine) -> None:
    assert engine.version
    assert engine.sampling_rate_hz == 24_000
    assert engine.count_tokens("Hello.") <= engine.max_tokens
    assert engine.x_realtime > 0
    assert engine.memory_bytes > 10_000_000


def test_a_voice_key_is_a_hash_and_does_not_change(engine: Engine) -> None:
    voice = VOICES[engine.name]
    key = engine.voice_key(voice)
    assert len(key) == 64
    assert make_engine(EngineSpec(engine.name)).voice_key(voice) == key


def test_an_unknown_engine_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(ModelUnavailableError, match="fake, hibari"):
        make_engine(EngineSpec("hibary"))


def test_making_an_engine_imports_no_model_code() -> None:
    import subprocess

    code = (
        "import sys; from pocket_batch.data import EngineSpec; "
        "from pocket_batch.engine.base import make_engine; make_engine(EngineSpec('hibari'));"
        "sys.exit('hibari' in sys.modules or 'onnxruntime' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
