"""What ACX wants: the verdict in words, and what is aimed at."""

import math
from dataclasses import replace

import pytest

from pocket_batch.audio.acx import (
    AIM_PEAK_DBTP,
    AIM_RMS_DB,
    HEAD_S,
    NOISE_DB,
    PEAK_DB,
    RMS_DB,
    TAIL_S,
    AcxLevels,
    acx_verdict,
    aimed_at_acx,
    tail_ms,
)
from pocket_batch.settings import MasterSettings

GOOD = AcxLevels(-20.0, -3.5, -70.0, 0.64, 2.0, 1_200.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "Yes."),
        ({"rms_db": -23.0, "peak_db": -3.0, "noise_floor_db": -60.0}, "Yes."),
        ({"rms_db": -18.0, "head_s": 0.5, "tail_s": 1.0, "duration_s": 7_200.0}, "Yes."),
        ({"head_s": 1.0, "tail_s": 5.0}, "Yes."),
        ({"rms_db": -25.0}, "No: too quiet, RMS -25.0 dB."),
        ({"rms_db": -math.inf, "noise_floor_db": -70.0}, "No: too quiet, RMS -inf dB."),
        ({"rms_db": -17.0}, "No: too loud, RMS -17.0 dB."),
        ({"peak_db": -1.0}, "No: peaks too high, -1.0 dB."),
        ({"noise_floor_db": -50.0}, "No: too much noise, -50.0 dB."),
        ({"noise_floor_db": -math.inf}, "No: digital silence instead of room tone."),
        ({"head_s": 0.2}, "No: 0.20 s before the first word, not 0.5 to 1 s."),
        ({"head_s": 1.3}, "No: 1.30 s before the first word, not 0.5 to 1 s."),
        ({"tail_s": 0.35}, "No: 0.35 s after the last word, not 1 to 5 s."),
        ({"tail_s": 6.0}, "No: 6.00 s after the last word, not 1 to 5 s."),
        ({"duration_s": 7_201.0}, "No: longer than 120 minutes."),
        ({"rms_db": -25.0, "tail_s": 0.5}, "RMS -25.0 dB; 0.50 s after the last word"),
        ({"noise_floor_db": None}, "Yes, as far as is known."),
        ({"head_s": None, "peak_db": -2.0}, "No: peaks too high, -2.0 dB."),
        ({"rms_db": None}, "Not known."),
    ],
)
def test_the_verdict_says_what_is_wrong(change: dict[str, float | None], words: str) -> None:
    is_acx, sentence = acx_verdict(replace(GOOD, **change))
    assert words in sentence
    assert is_acx == sentence.startswith("Yes")


def test_what_is_aimed_at_is_within_what_is_wanted() -> None:
    settings = aimed_at_acx(MasterSettings(loudness="acx"))
    head_s, tail_s = settings.lead_in_ms / 1000, tail_ms(2_000, settings) / 1000
    room_db = (settings.room_tone_db or 0.0) + 15
    aim = AcxLevels(AIM_RMS_DB, AIM_PEAK_DBTP, room_db, head_s, tail_s, 600.0)
    assert acx_verdict(aim) == (True, "Yes.")


@pytest.mark.parametrize("asked_ms", [0, 300, 500, 2_000, 9_000])
def test_head_and_tail_are_those_of_acx_whatever_the_pauses_are(asked_ms: int) -> None:
    settings = MasterSettings(loudness="acx", lead_in_ms=asked_ms)
    kept_s = settings.keep_ms / 1000  # of the silence around speech
    assert HEAD_S[0] <= aimed_at_acx(settings).lead_in_ms / 1000 <= HEAD_S[1] - kept_s
    assert TAIL_S[0] <= tail_ms(asked_ms, settings) / 1000 <= TAIL_S[1] - kept_s


def test_a_room_tone_that_was_chosen_stays_and_other_loudness_keeps_all() -> None:
    assert aimed_at_acx(MasterSettings(loudness="acx", room_tone_db=-72.0)).room_tone_db == -72.0
    plain = MasterSettings(lead_in_ms=100)
    assert aimed_at_acx(plain) is plain
    assert tail_ms(0, plain) == 0


def test_limits_are_those_that_acx_publishes() -> None:
    assert (RMS_DB, PEAK_DB, NOISE_DB) == ((-23.0, -18.0), -3.0, -60.0)
    assert (HEAD_S, TAIL_S) == ((0.5, 1.0), (1.0, 5.0))
