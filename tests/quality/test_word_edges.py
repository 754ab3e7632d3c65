"""Words begin and end where the sound does, not where an ASR model guesses."""

import numpy as np
import pytest

from pocket_batch.quality.alignment import HeardWord
from pocket_batch.quality.word_edges import without_silence

RATE_HZ = 16_000


def tones(*spans: tuple[float, float]) -> np.ndarray:
    """Two seconds of silence with sound in these spans, seconds."""
    pcm = np.zeros(2 * RATE_HZ, np.int16)
    for begin, end in spans:
        pcm[round(begin * RATE_HZ) : round(end * RATE_HZ)] = 8_000
    return pcm


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        (((0.0, 0.6), (0.6, 1.7)), ((0.3, 0.6), (1.0, 1.5))),  # silence before, between, after
        (((0.4, 0.55), (1.1, 1.4)), ((0.3, 0.6), (1.0, 1.5))),  # the pauses are further off
        (((0.0, 0.62), (0.62, 2.0)), ((0.3, 0.6), (1.0, 1.5))),
    ],
)
def test_words_end_at_the_pauses_beside_them(
    heard: tuple[tuple[float, float], ...], expected: tuple[tuple[float, float], ...]
) -> None:
    words = [HeardWord(str(i), *span) for i, span in enumerate(heard)]
    found = without_silence(words, tones((0.3, 0.6), (1.0, 1.5)), RATE_HZ)
    times = [time for word in found for time in (word.begin_s, word.end_s)]
    assert times == pytest.approx([time for span in expected for time in span], abs=0.011)


def test_words_that_touch_stay_where_they_are() -> None:
    words = [HeardWord("a", 0.3, 0.5), HeardWord("b", 0.5, 0.9), HeardWord("c", 0.9, 1.2)]
    assert without_silence(words, tones((0.3, 1.2)), RATE_HZ) == words


@pytest.mark.parametrize("pcm", [np.zeros(0, np.int16), np.zeros(9, np.int16), tones()])
def test_words_in_silence_keep_their_times(pcm: np.ndarray) -> None:
    words = [HeardWord("a", 0.25, 0.5)]
    assert without_silence(words, pcm, RATE_HZ) == words
