"""What is particular to the fake engine: tests of all else lean on it."""

import time

import numpy as np
import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.base import EngineError, Output
from pocket_batch.engine.fake import FakeEngine

VOICE = Voice("tone", "fake", "en", "CC0-1.0")


def speak(text: str, seed: int = 0, voice: Voice = VOICE) -> Output:
    (output,) = FakeEngine(EngineSpec("fake")).generate(
        [Request("key", "segment", text, voice, seed)]
    )
    return output


def test_the_length_follows_the_text() -> None:
    assert len(speak("x" * 100).audio) == 100 * 1440
    assert len(speak("x").audio) == 7200


def test_both_ends_are_silent() -> None:
    audio = speak("x" * 50).audio
    assert not audio[:2400].any()
    assert not audio[-2400:].any()
    assert audio[2400:-2400].any()


def test_an_hour_of_audio_takes_less_than_a_second() -> None:
    requests = [Request(str(i), "", "x" * 250, VOICE, i) for i in range(240)]
    started = time.process_time()
    num_samples = sum(
        len(output.audio) for output in FakeEngine(EngineSpec("fake")).generate(requests)
    )
    assert num_samples == 3600 * 24_000
    assert time.process_time() - started < 1.0


def test_a_text_can_ask_for_each_kind_of_trouble() -> None:
    assert speak("noeos: on and on").finish_reason == "length"
    assert not speak("silent: hush").audio.any()
    assert np.isnan(speak("nan: what").audio).any()
    assert speak("empty: nothing").audio.size == 0
    with pytest.raises(EngineError):
        speak("error: no")
    with pytest.raises(MemoryError):
        speak("oom: too much")


def test_it_can_be_as_slow_as_asked() -> None:
    slow = Voice("tone", "fake", "en", "CC0-1.0", parameters={"sleep_s_per_audio_s": "0.02"})
    assert speak("x" * 100, voice=slow).compute_s >= 6.0 * 0.02
