"""The synthesize stage turns everything an engine does into one result per request."""

import io
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from pocket_batch.data import EngineSpec, Failure, Request, Voice
from pocket_batch.engine.base import Output, make_engine
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.executors.base import WorkerSpec, fingerprint, make_stage
from pocket_batch.stages.synthesize import BACKOFF_S, Spoken, Synthesize

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


def test_after_an_error_that_is_not_of_a_text_the_engine_is_asked_again_later_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """But an engine that never speaks again is soon known for broken."""
    waits: list[float] = []
    monkeypatch.setattr("pocket_batch.stages.synthesize.sleep", waits.append)
    run("error: one")
    assert waits == []
    stage = Synthesize(FakeEngine(EngineSpec("fake")))
    for _ in range(9):
        list(stage.run(make_requests("oom: one")))
    assert waits == [BACKOFF_S, 2 * BACKOFF_S, 4 * BACKOFF_S]
    list(stage.run(make_requests("two")))
    list(stage.run(make_requests("oom: three")))
    assert waits[3:] == [BACKOFF_S, 2 * BACKOFF_S]  # of all together, and of one by itself


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


def test_requests_are_read_as_the_engine_asks_for_them() -> None:
    num_read = 0

    def source() -> Iterator[Request]:
        nonlocal num_read
        for request in make_requests(*["word"] * 50):
            num_read += 1
            yield request

    results = Synthesize(FakeEngine(EngineSpec("fake"))).run(source())
    next(results)
    assert num_read <= 2
    assert sum(1 for _ in results) == 49


def test_what_comes_behind_a_bad_text_is_one_stream_again() -> None:
    class Counting(FakeEngine):
        num_generated = 0

        def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
            self.num_generated += 1
            return super().generate(requests)

    engine = Counting(EngineSpec("fake"))
    texts = ["word"] * 20 + ["error: x"] + ["word"] * 20
    assert len(list(Synthesize(engine).run(make_requests(*texts)))) == 41
    assert engine.num_generated == 3


def test_an_exception_of_the_requests_is_not_taken_for_the_engines() -> None:
    def source() -> Iterator[Request]:
        yield from make_requests("one", "two")
        raise ValueError("no more")

    results = Synthesize(FakeEngine(EngineSpec("fake"))).run(source())
    assert [isinstance(next(results), Spoken) for _ in range(2)] == [True, True]
    with pytest.raises(ValueError, match="no more"):
        next(results)


class _Batched(FakeEngine):
    """Calls share a batch: as long as `bomb:` is in it, all calls in it fail."""

    is_concurrent = True

    def __init__(self, spec: EngineSpec, num_calls: int) -> None:
        super().__init__(spec)
        self._all_there = threading.Barrier(num_calls)
        self._lock = threading.Lock()
        self._texts: list[str] = []
        self._is_first = threading.local()

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        requests = tuple(requests)
        texts = [request.text for request in requests]
        with self._lock:
            self._texts += texts
        try:
            if not hasattr(self._is_first, "over"):
                self._is_first.over = True
                self._all_there.wait(30)
            with self._lock:
                is_bad = any("bomb:" in text for text in self._texts)
            if not hasattr(self._is_first, "failed"):
                self._is_first.failed = True
                self._all_there.wait(30)
            if is_bad:
                raise MemoryError
            yield from super().generate(requests)
        finally:
            with self._lock:
                for text in texts:
                    self._texts.remove(text)


def test_a_text_that_breaks_the_batch_of_others_fails_alone() -> None:
    calls = [["a1", "a2"], ["b1", "bomb: b", "b2"], ["c1"], ["d1", "d2", "d3"]]
    stage = Synthesize(_Batched(EngineSpec("fake"), len(calls)))
    with ThreadPoolExecutor(len(calls)) as threads:
        found = list(threads.map(lambda texts: list(stage.run(make_requests(*texts))), calls))
    assert [len(results) for results in found] == [len(texts) for texts in calls]
    failures = [r for results in found for r in results if isinstance(r, Failure)]
    assert [failure.text for failure in failures] == ["bomb: b"]


def test_a_worker_refuses_files_that_changed_since_the_plan() -> None:
    voice = Voice("tone", "fake", "en", "CC0-1.0")
    spec = EngineSpec("fake")
    planned = fingerprint(make_engine(spec), (voice,))
    assert make_stage(WorkerSpec(spec, (voice,), 1, planned)).engine.name == "fake"
    other = Voice("another tone", "fake", "en", "CC0-1.0")
    with pytest.raises(ModelUnavailableError, match="Run the same command again"):
        make_stage(WorkerSpec(spec, (other,), 1, planned))
