"""The released English model says what was written, in every precision. Downloads it:
`pytest -m weights`. Of the hundred sentences in `sentences.txt`, each precision may get hardly more
words wrong than fp32.
"""

import math
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import pocket_batch
from pocket_batch.data import Precision, Request
from pocket_batch.jobs.library import LoadedEngine

WordErrorRate = Callable[..., float]
TEXT = (
    "The clock in the harbour had stopped at a quarter past three. "
    "Nobody in the town remembered when it had last been right, and nobody minded."
)
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
SENTENCES = (Path(__file__).parent / "sentences.txt").read_text(encoding="utf-8").splitlines()
TOGETHER = 10  # sentences that are listened to at a time, about half a minute
PAUSE_S = 0.4
LISTENING_HZ = 16_000
MAX_WORSE = 0.02  # of all words: two of 900 are chance, eighteen are not


@pytest.fixture(scope="module")
def rate_of(word_error_rate: WordErrorRate) -> Callable[[Precision], float]:
    """The word error rate of a precision, measured once."""

    @cache
    def measure(precision: Precision) -> float:
        engine = pocket_batch.load_engine("pocket", language="english", precision=precision)
        return heard_wrong(engine, "alba", SENTENCES, word_error_rate)

    return measure


@pytest.mark.weights
@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_default_voice_can_be_understood(
    word_error_rate: WordErrorRate, precision: Precision
) -> None:
    engine = pocket_batch.load_engine("pocket", language="english", precision=precision)
    audio = engine.say(TEXT, "alba")
    assert 5 < len(audio) / engine.sampling_rate_hz < 20
    assert word_error_rate(for_listening(audio, engine.sampling_rate_hz), TEXT) < 0.10


@pytest.mark.weights
@pytest.mark.parametrize("precision", [p for p in PRECISIONS if p != "fp32"])
def test_a_precision_is_understood_as_well_as_fp32(
    rate_of: Callable[[Precision], float], precision: Precision
) -> None:
    assert rate_of("fp32") < 0.10
    assert rate_of(precision) <= rate_of("fp32") + MAX_WORSE


@pytest.mark.slow
def test_the_comparison_hears_the_embedded_voice_and_notices_noise(
    word_error_rate: WordErrorRate,
) -> None:
    """What the tests above do with the released model, for those who have not got it."""
    few = SENTENCES[: TOGETHER if os.environ.get("POCKET_BATCH_SLOW") == "short" else 4 * TOGETHER]
    engine = pocket_batch.load_engine("hibari")
    clear = heard_wrong(engine, "heart", few, word_error_rate)
    assert clear < 0.10
    assert heard_wrong(engine, "heart", few, word_error_rate, noise=0.3) > clear + MAX_WORSE


def heard_wrong(
    engine: LoadedEngine,
    voice_name: str,
    sentences: list[str],
    word_error_rate: WordErrorRate,
    noise: float = 0.0,
) -> float:
    """The part of the words that a listener gets wrong, over all sentences.

    `noise` is the amplitude of what is added to the speech.
    """
    voice = engine.voice(voice_name)
    requests = [Request(str(n), "", text, voice, n) for n, text in enumerate(sentences)]
    spoken = {int(output.key): output.audio for output in engine.engine.generate(requests)}
    pause = np.zeros(round(PAUSE_S * engine.sampling_rate_hz), np.float32)
    rng = np.random.default_rng(1)
    num_wrong = num_words = 0.0
    for numbers in together(len(sentences)):
        text = " ".join(sentences[n] for n in numbers)
        audio = np.concatenate([piece for n in numbers for piece in (spoken[n], pause)])
        audio = audio + noise * rng.standard_normal(len(audio), np.float32)
        num = len(text.split())
        num_wrong += num * word_error_rate(for_listening(audio, engine.sampling_rate_hz), text)
        num_words += num
    return num_wrong / num_words


def together(num: int) -> Iterator[range]:
    """Numbers of the sentences that are listened to at a time."""
    for start in range(0, num, TOGETHER):
        yield range(start, min(num, start + TOGETHER))


def for_listening(audio: np.ndarray, rate_hz: int) -> np.ndarray:
    """Samples at the rate that Whisper wants."""
    from scipy.signal import resample_poly

    common = math.gcd(rate_hz, LISTENING_HZ)
    return resample_poly(audio, LISTENING_HZ // common, rate_hz // common).astype(np.float32)
