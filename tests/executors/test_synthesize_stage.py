"""The synthesize stage turns everything an engine does into one result per request."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from pocket_batch.data import EngineSpec, Failure, Request, Voice
from pocket_batch.engine.base import Output, make_engine
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.executors.base import WorkerSpec, fingerprint, make_stage
from pocket_batch.stages.synthesize import Spoken, Synthesize

VOICE = Voice("tone", "fake", "en", "CC0-1.0")


def make_requests(*texts: str) -> list[Request]:
    return [Request(f"key-{i}", f"segment-{i}", text, VOICE, i) for i, text in enumerate(texts)]


def run(*texts: str) -> dict[str, Spoken | Failure]:
    results = Synthesize(FakeEngine(EngineSpec("fake"))).run(make_requests(*texts))
    return {r.key if isinstance(r, Failure) else r.utterance.key: r for r in results}


def test_an_utterance_records_what_was_made() -> None:
    (result,) = run("Hello, world.").values()
    assert isinstance(result, Spoken)
    samples, rate = soundfile.read(io.BytesIO(result.flac), dtype="float32")
    assert rate == result.utterance.sampling_rate_hz == 24_000
    assert len(samples) == result.utterance.num_samples == 13 * 1440
    assert len(result.flac) == result.utterance.num_bytes
    (output,) = FakeEngine(EngineSpec("fake")).generate(make_requests("Hello, world."))
    assert np.abs(samples - output.audio).max() <= 1 / 32768


def test_an_error_over_one_text_fails_that_text_alone() -> None:
    results = run("one", "error: two", "three", "oom: four", "five")
    failed = {key: r.reason for key, r in results.items() if isinstance(r, Failure)}
    assert len(results) == 5
    assert failed == {
        "key-1": "The fake engine was asked to fail.",
        "key-3": "The engine failed over this text: MemoryError.",
    }


def test_audio_that_cannot_be_a_recording_is_a_failure() -> None:
    results = run("empty: x", "nan: x", "silent: x")
    assert isinstance(results["key-0"], Failure)
    assert results["key-0"].reason == "No audio came of this text."
    assert isinstance(results["key-1"], Failure)
    assert "not numbers" in results["key-1"].reason
    assert isinstance(results["key-2"], Failure)
    assert "silence" in results["key-2"].reason


def test_a_failure_tells_how_many_attempts_were_made() -> None:
    request = replace(make_requests("error: x")[0], attempt=2)
    (result,) = Synthesize(FakeEngine(EngineSpec("fake"))).run([request])
    assert isinstance(result, Failure)
    assert result.attempts == 3
    assert (result.key, result.segment_id, result.text) == ("key-0", "segment-0", "error: x")


def test_two_requests_of_one_key_give_two_results() -> None:
    request = make_requests("Yes.")[0]
    results = list(
        Synthesize(FakeEngine(EngineSpec("fake"))).run(
            [request, replace(request, segment_id="other")]
        )
    )
    assert sorted(r.utterance.segment_id for r in results if isinstance(r, Spoken)) == [
        "other",
        "segment-0",
    ]


class _Forgetful(FakeEngine):
    """Answers only the first of several requests."""

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        yield next(super().generate(requests))


def test_what_an_engine_leaves_out_is_asked_for_again() -> None:
    results = list(
        Synthesize(_Forgetful(EngineSpec("fake"))).run(make_requests("one", "two", "three"))
    )
    assert sum(isinstance(r, Spoken) for r in results) == 3


def test_a_worker_refuses_files_that_changed_since_the_plan() -> None:
    voice = Voice("tone", "fake", "en", "CC0-1.0")
    spec = EngineSpec("fake")
    planned = fingerprint(make_engine(spec), (voice,))
    assert make_stage(WorkerSpec(spec, (voice,), 1, planned)).engine.name == "fake"
    other = Voice("another tone", "fake", "en", "CC0-1.0")
    with pytest.raises(ModelUnavailableError, match="Run the same command again"):
        make_stage(WorkerSpec(spec, (other,), 1, planned))
