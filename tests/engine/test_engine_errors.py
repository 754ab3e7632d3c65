"""After an error an engine speaks as if it had not been: through the stage that asks it again."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pocket_batch.audio.flac import decode_flac
from pocket_batch.data import EngineSpec, Failure, Request, Sampling, Voice
from pocket_batch.engine.batch import Batch, Speech
from pocket_batch.engine.pocket import PocketEngine
from pocket_batch.engine.voice import VoiceState, write_state
from pocket_batch.models.architecture import load_model_config
from pocket_batch.models.made_up import random_voice_state
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.repair import CheckSpec, Repair
from pocket_batch.stages.synthesize import Spoken, Synthesize

BAD = 7  # the seed of a request that something happens to
TEXTS = ("The tide came in.", "Nobody answered.", "Yes.", "It went out at a quarter past three.")


@pytest.fixture(scope="module")
def voice(tiny_model: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Voice:
    path = tmp_path_factory.mktemp("voice") / "voice.safetensors"
    config = load_model_config(tiny_model("small") / "config.yaml")
    write_state(VoiceState(random_voice_state(config, 40)), path)
    return Voice("noise", "pocket", "en", "CC0-1.0", parameters={"state": str(path)})


@pytest.fixture
def new_engine(tiny_model: Callable[[str], Path], voice: Voice) -> Callable[[], PocketEngine]:
    """Engines of two lanes, all on the same weights."""

    def make() -> PocketEngine:
        sampling = Sampling(eos_threshold=-30.0, frames_after_eos=4)  # short, all as long
        engine = PocketEngine(EngineSpec("pocket", str(tiny_model("small")), sampling=sampling))
        engine.load([voice], 2)
        return engine

    return make


def make_requests(voice: Voice, seeds: range) -> list[Request]:
    return [Request(f"key-{n}", f"s-{n}", TEXTS[n % len(TEXTS)], voice, n) for n in seeds]


def alone(engine: PocketEngine, requests: list[Request]) -> list[bytes]:
    """The bits of each request, spoken by itself: in a tiny model they depend on its slot."""
    return [next(iter(engine.generate([request]))).audio.tobytes() for request in requests]


def key_of(result: Spoken | Failure) -> str:
    return result.key if isinstance(result, Failure) else result.utterance.key


@pytest.fixture
def broken_steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every step with the bad request in it fails once its frame is made; how many did."""
    decode, failed = Batch._decode_step, []

    def decode_and_fail(batch: Batch, running: list[Speech]) -> None:
        decode(batch, running)
        if any(speech.request.seed == BAD and speech.num_frames > 3 for speech in running):
            failed.append(len(running))
            raise torch.OutOfMemoryError("planted")

    monkeypatch.setattr(Batch, "_decode_step", decode_and_fail)
    return failed


def test_a_step_that_fails_costs_one_text_and_leaves_the_engine_like_a_new_one(
    new_engine: Callable[[], PocketEngine], voice: Voice, broken_steps: list[int]
) -> None:
    engine = new_engine()
    results = list(Synthesize(engine).run(make_requests(voice, range(12))))
    failures = [result for result in results if isinstance(result, Failure)]
    assert sorted(map(key_of, results)) == sorted(f"key-{n}" for n in range(12))
    assert [failure.key for failure in failures] == [f"key-{BAD}"]
    assert "planted" in failures[0].reason
    assert max(broken_steps) > 1  # it was in the middle of a batch
    others = make_requests(voice, range(20, 24))
    assert alone(engine, others) == alone(new_engine(), others)


def test_calls_that_share_a_batch_with_a_step_that_fails_all_get_their_results(
    new_engine: Callable[[], PocketEngine], voice: Voice, broken_steps: list[int]
) -> None:
    engine = new_engine()
    stage, all_there = Synthesize(engine), threading.Barrier(3)

    def call(first: int) -> list[Spoken | Failure]:
        all_there.wait(30)
        return list(stage.run(make_requests(voice, range(first, first + 4))))

    with ThreadPoolExecutor(3) as threads:
        found = [result for results in threads.map(call, (0, 4, 8)) for result in results]
    assert sorted(map(key_of, found)) == sorted(f"key-{n}" for n in range(12))
    assert [key_of(result) for result in found if isinstance(result, Failure)] == [f"key-{BAD}"]
    assert broken_steps
    others = make_requests(voice, range(20, 24))
    assert alone(engine, others) == alone(new_engine(), others)


@pytest.fixture
def noise_of_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise of the bad request is not a number: nor is what is made of it."""
    draw = Batch.draw_noise

    def drawn(batch: Batch, seed: int, *args: Any) -> torch.Tensor:
        noise = draw(batch, seed, *args)
        return noise * float("nan") if seed == BAD else noise

    monkeypatch.setattr(Batch, "draw_noise", drawn)


@pytest.mark.usefixtures("noise_of_nan")
def test_a_nan_is_a_failure_of_its_text_and_of_no_other(
    new_engine: Callable[[], PocketEngine], voice: Voice
) -> None:
    engine = new_engine()
    results = list(Synthesize(engine).run(make_requests(voice, range(12))))
    assert sorted(map(key_of, results)) == sorted(f"key-{n}" for n in range(12))
    (failure,) = [result for result in results if isinstance(result, Failure)]
    assert failure.key == f"key-{BAD}"
    assert "not numbers" in failure.reason
    others = make_requests(voice, range(20, 24))
    assert alone(engine, others) == alone(new_engine(), others)


@pytest.mark.usefixtures("noise_of_nan")
def test_a_text_whose_samples_are_not_numbers_gets_another_attempt(
    new_engine: Callable[[], PocketEngine], voice: Voice
) -> None:
    spec = CheckSpec(CheckSettings(listen="off"), "en")
    repair = Repair(Synthesize(new_engine()), spec)
    results = {key_of(result): result for result in repair.run(make_requests(voice, range(5, 9)))}
    assert len(results) == 4
    kept = results[f"key-{BAD}"]
    assert isinstance(kept, Spoken)
    assert kept.utterance.attempt > 0
    assert kept.checked is not None
    assert kept.checked.num_attempts > 1
    assert np.abs(decode_flac(kept.flac)).max() > 0
