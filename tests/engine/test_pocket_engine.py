"""The engine `pocket` on tiny random models: noise, but through everything."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pocket_batch.data import EngineSpec, Precision, Request, Sampling, Voice
from pocket_batch.engine.base import EngineError, Output, make_engine
from pocket_batch.engine.pocket import PocketEngine
from pocket_batch.errors import InputError, ModelUnavailableError

TEXTS = ("The tide came in.", "Nobody answered", "Yes.", "It went out at a quarter past three.")
FRAME = 1920


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def voices(tmp_path_factory: pytest.TempPathFactory) -> list[Voice]:
    """Three voices, each a recording of another length."""
    folder, made = tmp_path_factory.mktemp("voices"), []
    rng = np.random.default_rng(0)
    for number, seconds in enumerate((2, 3, 5)):
        time = np.arange(24_000 * seconds) / 24_000
        speech = np.sin(2 * np.pi * 150 * time) * (1 + np.sin(2 * np.pi * 4 * time))
        audio = 0.1 * speech + 0.01 * rng.standard_normal(len(time))
        path = folder / f"voice-{number}.wav"
        soundfile.write(path, audio, 24_000)
        parameters = {"prompt": str(path)}
        made.append(Voice(f"voice-{number}", "pocket", "en", "CC0-1.0", parameters=parameters))
    return made


@pytest.fixture
def engine(tiny_model: Callable[[str], Path]) -> Callable[..., PocketEngine]:
    def make(name: str = "lsd", precision: Precision = "fp32", **sampling: Any) -> PocketEngine:
        spec = EngineSpec("pocket", str(tiny_model(name)), precision, Sampling(**sampling))
        made = PocketEngine(spec)
        made.load((), num_threads=1)
        return made

    return make


def requests_of(voices: list[Voice], num: int = 4) -> list[Request]:
    return [
        Request(f"key-{n}", f"segment-{n}", TEXTS[n % len(TEXTS)], voices[n % len(voices)], n)
        for n in range(num)
    ]


def speak(engine: PocketEngine, requests: list[Request]) -> dict[str, Output]:
    return {output.key: output for output in engine.generate(requests)}


@pytest.fixture(scope="module")
def shared(
    tiny_model: Callable[[str], Path], voices: list[Voice], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[PocketEngine, list[Voice], dict[tuple[int, str, int], Output]]]:
    """One loaded engine, its voices, and what it said of a text alone, by voice, text and seed."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    engine = PocketEngine(EngineSpec("pocket", str(tiny_model("small"))))
    engine.load(voices, num_threads=1)
    yield engine, voices, {}
    del os.environ["XDG_CACHE_HOME"]


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    chosen=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(TEXTS), st.integers(0, 3)),
        min_size=1,
        max_size=14,
    )
)
def test_a_row_does_not_depend_on_its_neighbours(
    shared: tuple[PocketEngine, list[Voice], dict[tuple[int, str, int], Output]],
    chosen: list[tuple[int, str, int]],
) -> None:
    engine, voices, alone = shared
    requests = [
        Request(str(n), "", text, voices[voice], seed)
        for n, (voice, text, seed) in enumerate(chosen)
    ]
    outputs = speak(engine, requests)
    for request, item in zip(requests, chosen, strict=True):
        if item not in alone:
            (alone[item],) = engine.generate([request])
        wanted, found = alone[item], outputs[request.key]
        assert found.finish_reason == wanted.finish_reason
        # Kernels of such narrow layers round by the place of a row; full-size ones do not.
        np.testing.assert_allclose(found.audio, wanted.audio, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["lsd", "old", "drifting", "flow_matching", "small"])
def test_every_kind_of_model_speaks_whole_frames(
    engine: Callable[..., PocketEngine], voices: list[Voice], name: str
) -> None:
    outputs = speak(engine(name), requests_of(voices))
    assert len(outputs) == 4
    for output in outputs.values():
        assert len(output.audio) % FRAME == 0
        assert len(output.audio) >= 6 * FRAME
        assert np.isfinite(output.audio).all()
        assert output.audio[0] == 0  # faded in
        assert output.compute_s > 0


def test_another_seed_text_or_voice_is_heard(
    engine: Callable[..., PocketEngine], voices: list[Voice]
) -> None:
    first = Request("a", "", TEXTS[0], voices[0], 1)
    variants = [
        first,
        Request("b", "", TEXTS[0], voices[0], 2),
        Request("c", "", TEXTS[0], voices[1], 1),
        Request("d", "", TEXTS[1], voices[0], 1),
    ]
    outputs = speak(engine(), variants)
    shortest = min(len(output.audio) for output in outputs.values())
    for other in "bcd":
        apart = np.abs(outputs["a"].audio[:shortest] - outputs[other].audio[:shortest]).max()
        assert apart > 1e-3, other


def test_no_eos_within_the_limit_is_a_finish_reason(
    engine: Callable[..., PocketEngine], voices: list[Voice]
) -> None:
    made = engine(eos_threshold=30.0)
    (output,) = made.generate(requests_of(voices, 1))
    num_tokens = made.count_tokens(TEXTS[0])
    assert output.finish_reason == "length"
    assert len(output.audio) == FRAME * int(np.ceil((num_tokens / 3 + 2) * 12.5))


def test_frames_after_eos_can_be_set(
    engine: Callable[..., PocketEngine], voices: list[Voice]
) -> None:
    """With a threshold that every frame passes, EOS comes at the first frame it may."""
    requests = requests_of(voices, 1)
    for num_frames in (0, 1, 9):
        made = engine(eos_threshold=-30.0, frames_after_eos=num_frames)
        (output,) = made.generate(requests)
        assert len(output.audio) == (6 + num_frames) * FRAME
        assert output.finish_reason == "eos"


def test_without_temperature_the_seed_is_not_heard(
    engine: Callable[..., PocketEngine], voices: list[Voice]
) -> None:
    made = engine(temperature=0.0)
    outputs = speak(made, [Request(str(n), "", TEXTS[0], voices[0], n) for n in range(2)])
    np.testing.assert_allclose(outputs["0"].audio, outputs["1"].audio, atol=1e-5)


@pytest.mark.parametrize("precision", ["bf16", "mixed"])
def test_other_precisions_speak_too(
    engine: Callable[..., PocketEngine], voices: list[Voice], precision: Precision
) -> None:
    for output in speak(engine(precision=precision), requests_of(voices)).values():
        assert output.audio.dtype == np.float32
        assert np.isfinite(output.audio).all()


def test_a_text_with_nothing_to_say_gives_empty_audio(
    engine: Callable[..., PocketEngine], voices: list[Voice]
) -> None:
    made = engine()
    assert made.count_tokens("  ") == 0
    (output,) = made.generate([Request("key", "", " \n ", voices[0], 0)])
    assert len(output.audio) == 0


def test_a_text_over_the_limit_is_refused_by_itself(
    engine: Callable[..., PocketEngine], voices: list[Voice]
) -> None:
    with pytest.raises(EngineError, match="tokens, and the model speaks 50"):
        list(engine().generate([Request("key", "", "tide " * 60, voices[0], 0)]))


def test_the_key_tells_settings_apart_that_are_heard(
    engine: Callable[..., PocketEngine],
) -> None:
    made = [
        engine(),
        engine(temperature=0.5),
        engine(decode_steps=2),
        engine(eos_threshold=-3.0),
        engine(precision="bf16"),
        engine("drifting"),
    ]
    identities = {tuple(sorted(one.identity().items())) for one in made}
    assert len(identities) == len(made)
    assert engine(temperature=0.3).identity() == engine().identity()  # 0.3 is the model's own


def test_a_prompt_that_is_no_recording_is_refused(
    engine: Callable[..., PocketEngine], tmp_path: Path
) -> None:
    path = tmp_path / "voice.wav"
    path.write_bytes(b"RIFF, but nothing else")
    voice = Voice("broken", "pocket", "en", "unknown", parameters={"prompt": str(path)})
    with pytest.raises(InputError, match=r"voice\.wav"):
        engine().load([voice], 1)


def test_an_unknown_model_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ModelUnavailableError, match="english"):
        make_engine(EngineSpec("pocket", "englsh"))


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["fp32", "bf16", "mixed"])
def test_a_row_of_a_full_size_model_has_the_same_bits_whatever_its_neighbours(
    tiny_model: Callable[[str], Path], voices: list[Voice], precision: Precision
) -> None:
    """Neither its slot, nor who speaks beside it, nor the number of lanes changes a sample."""
    engine = PocketEngine(EngineSpec("pocket", str(tiny_model("english")), precision))
    engine.load(voices, num_threads=1)
    requests = requests_of(voices, 11)
    together = speak(engine, requests)
    for request in requests[:3]:
        (alone,) = engine.generate([request])
        assert np.array_equal(alone.audio, together[request.key].audio)
    engine.load(voices, num_threads=2)
    in_two_lanes = speak(engine, requests[::-1])
    for request in requests:
        assert np.array_equal(in_two_lanes[request.key].audio, together[request.key].audio)
