"""A book is heard at one level: utterances of a chapter, voices of a book, and the room."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.audio.levels import utterance_gains_db, voice_gains_db
from pocket_batch.audio.mastering import silence, utterance_piece
from pocket_batch.audio.room_tone import room_tone
from pocket_batch.settings import MasterSettings

RATE_HZ = 24_000
LEVELS = st.dictionaries(st.text(min_size=1), st.floats(-80, 0), min_size=1)


@given(LEVELS)
def test_no_gain_is_more_than_the_limit_and_all_go_towards_the_middle(
    levels: dict[str, float],
) -> None:
    gains = utterance_gains_db(levels, {}, 2.0)
    middle = float(np.median(list(levels.values())))
    for key, gain in gains.items():
        assert abs(gain) <= 2.0
        assert abs(levels[key] + gain - middle) <= abs(levels[key] - middle) + 1e-9


def test_each_voice_has_its_own_middle() -> None:
    levels = {"a": -20.0, "b": -21.0, "c": -22.0, "x": -30.0, "y": -31.0, "z": -32.0}
    voices = dict.fromkeys("abc", "one") | dict.fromkeys("xyz", "other")
    assert utterance_gains_db(levels, voices, 2.0) == {
        "a": -1.0, "b": 0.0, "c": 1.0, "x": -1.0, "y": 0.0, "z": 1.0
    }  # fmt: skip


def test_all_voices_come_to_the_level_of_the_first() -> None:
    levels = {"a": -20.0, "b": -26.0, "c": -60.0}
    voices = {"a": "narrator", "b": "guest", "c": "whisper"}
    gains = voice_gains_db(levels, voices, ["narrator", "guest", "whisper"])
    assert gains == {"narrator": 0.0, "guest": 6.0, "whisper": 12.0}
    assert voice_gains_db({}, voices, ["narrator"]) == {}


def test_a_gain_changes_the_speech_and_never_its_length_or_clips_it() -> None:
    tone = (20_000 * np.sin(np.arange(12_000) * 0.1)).astype(np.int16)
    plain = utterance_piece(tone, RATE_HZ, 100, MasterSettings())
    softer = utterance_piece(tone, RATE_HZ, 100, MasterSettings(), gain_db=-6.0)
    louder = utterance_piece(tone, RATE_HZ, 100, MasterSettings(), gain_db=20.0)
    assert len(plain) == len(softer) == len(louder)
    assert np.abs(softer).max() == pytest.approx(np.abs(plain).max() * 10 ** (-6 / 20), abs=2)
    assert 32_000 < np.abs(louder).max() <= 32_767
    assert np.count_nonzero(np.abs(louder) == 32_767) < 1_000


def test_room_tone_has_the_level_that_was_asked_for_and_goes_on_without_a_seam() -> None:
    noise = room_tone(20 * RATE_HZ, RATE_HZ, -66.0, 0)
    rms = np.sqrt(np.mean((noise / 32_768) ** 2))
    assert 20 * np.log10(rms) == pytest.approx(-66.0, abs=0.5)
    np.testing.assert_array_equal(noise[5_000:6_000], room_tone(1_000, RATE_HZ, -66.0, 5_000))
    assert np.abs(np.diff(noise.astype(np.int32))).max() < 60


def test_pauses_are_silent_unless_room_tone_is_asked_for() -> None:
    tone = (8_000 * np.sin(np.arange(12_000) * 0.1)).astype(np.int16)
    settings = MasterSettings(room_tone_db=-66.0)
    assert not silence(300, RATE_HZ).any()
    assert silence(300, RATE_HZ, settings).any()
    quiet = utterance_piece(tone, RATE_HZ, 300, MasterSettings())
    filled = utterance_piece(tone, RATE_HZ, 300, settings)
    assert len(quiet) == len(filled)
    num_pause = len(silence(300, RATE_HZ))
    np.testing.assert_array_equal(quiet[:-num_pause], filled[:-num_pause])
    assert not quiet[-num_pause:].any()
    assert filled[-num_pause:].any()
