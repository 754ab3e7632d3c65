"""What ACX, where audiobooks are handed in for Audible, wants of a file: judged, and aimed at.

Source: ACX audio submission requirements: RMS -23 to -18 dB, peaks of at most -3 dB, a noise floor
of at most -60 dB, 0.5 to 1 s of room tone at the head and 1 to 5 s at the tail, 120 minutes at
most, MP3 of 192 kbit/s or more at 44.1 kHz. ACX Check for Audacity tells of the first three.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pocket_batch.audio.quiet import FAINTEST_DB
from pocket_batch.settings import MasterSettings

RMS_DB = (-23.0, -18.0)
PEAK_DB = -3.0
NOISE_DB = -60.0
HEAD_S = (0.5, 1.0)
TAIL_S = (1.0, 5.0)
MAX_DURATION_S = 120 * 60.0
ROUNDING_DB = 0.05  # levels are told with one decimal
ROUNDING_S = 0.005  # and seconds with two

# What is aimed at, far enough from the limits that an encoder or another meter changes nothing.
AIM_RMS_DB = -20.0
AIM_PEAK_DBTP = -3.5  # what is decoded from an MP3 has other peaks than what was encoded
AIM_MP3_KBPS = 192
AIM_SAMPLING_RATE_HZ = 44_100
AIM_ROOM_TONE_DB = -80.0  # before gain, which is some 5 to 15 dB
AIM_HEAD_MS = (600, 900)
AIM_TAIL_MS = (1_200, 4_500)


@dataclass(frozen=True, slots=True)
class AcxLevels:
    """A file as it is heard, None where nothing is known. Levels are dB of full scale.

    `noise_floor_db` is below `quiet.FAINTEST_DB` for digital silence; `head_s` and `tail_s` are the
    silence before the first sound and after the last.
    """

    rms_db: float | None
    peak_db: float | None
    noise_floor_db: float | None = None
    head_s: float | None = None
    tail_s: float | None = None
    duration_s: float | None = None


def acx_verdict(levels: AcxLevels) -> tuple[bool, str]:
    """Whether a file is as ACX wants it, and a sentence that says what is not.

    Of its encoding nothing is said. Silence without any noise is refused: its noise floor is low
    enough for a meter, but ACX asks for the sound of a room.
    """
    if levels.rms_db is None or levels.peak_db is None:
        return False, "Not known."
    wrong = [*_wrong_levels(levels), *_wrong_lengths(levels)]
    if wrong:
        return False, f"No: {'; '.join(wrong)}."
    is_known = None not in (levels.noise_floor_db, levels.head_s, levels.tail_s)
    return True, "Yes." if is_known else "Yes, as far as is known."


def _wrong_levels(levels: AcxLevels) -> Iterator[str]:
    rms_db, peak_db, noise_db = levels.rms_db, levels.peak_db, levels.noise_floor_db
    low, high = RMS_DB
    if rms_db is not None and not low - ROUNDING_DB <= rms_db <= high + ROUNDING_DB:
        yield f"too {'quiet' if rms_db < low else 'loud'}, RMS {rms_db:.1f} dB"
    if peak_db is not None and peak_db > PEAK_DB + ROUNDING_DB:
        yield f"peaks too high, {peak_db:.1f} dB"
    if noise_db is not None and noise_db > NOISE_DB + ROUNDING_DB:
        yield f"too much noise, {noise_db:.1f} dB"
    if noise_db is not None and noise_db < FAINTEST_DB:
        yield "digital silence instead of room tone"


def _wrong_lengths(levels: AcxLevels) -> Iterator[str]:
    ends = (("before the first", levels.head_s, HEAD_S), ("after the last", levels.tail_s, TAIL_S))
    for where, found_s, (low, high) in ends:
        if found_s is not None and not low - ROUNDING_S <= found_s <= high + ROUNDING_S:
            yield f"{found_s:.2f} s {where} word, not {low:g} to {high:g} s"
    if levels.duration_s is not None and levels.duration_s > MAX_DURATION_S:
        yield "longer than 120 minutes"


def aimed_at_acx(settings: MasterSettings) -> MasterSettings:
    """The settings with which chapters are joined: for ACX with room tone and its head.

    Other loudness keeps all as it is.
    """
    if settings.loudness != "acx":
        return settings
    tone_db = AIM_ROOM_TONE_DB if settings.room_tone_db is None else settings.room_tone_db
    return replace(
        settings, room_tone_db=tone_db, lead_in_ms=_within(settings.lead_in_ms, AIM_HEAD_MS)
    )


def tail_ms(pause_ms: int, settings: MasterSettings) -> int:
    """The pause at the end of a chapter; for ACX as long as its tail shall be."""
    return _within(pause_ms, AIM_TAIL_MS) if settings.loudness == "acx" else pause_ms


def _within(value: int, limits: tuple[int, int]) -> int:
    return max(limits[0], min(limits[1], value))
