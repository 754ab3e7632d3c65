"""How much louder or softer each utterance is made, so that a book is heard at one level."""

from collections.abc import Mapping, Sequence
from statistics import median

MAX_VOICE_GAIN_DB = 12.0


def utterance_gains_db(
    levels_db: Mapping[str, float], voices: Mapping[str, str], max_db: float
) -> dict[str, float]:
    """Gains that bring the utterances of a chapter nearer to the middle one of their voice.

    Args:
        levels_db: the level of each utterance by key.
        voices: the name of the voice by key.
        max_db: no gain is more than this, up or down.
    """
    by_voice: dict[str, list[float]] = {}
    for key, level in levels_db.items():
        by_voice.setdefault(voices.get(key, ""), []).append(level)
    middle = {voice: median(levels) for voice, levels in by_voice.items()}
    return {
        key: max(-max_db, min(max_db, middle[voices.get(key, "")] - level))
        for key, level in levels_db.items()
    }


def voice_gains_db(
    levels_db: Mapping[str, float], voices: Mapping[str, str], order: Sequence[str]
) -> dict[str, float]:
    """Gains that bring all voices of a book to the level of the first of `order` that speaks."""
    by_voice: dict[str, list[float]] = {}
    for key, level in levels_db.items():
        by_voice.setdefault(voices.get(key, ""), []).append(level)
    first = next((voice for voice in order if voice in by_voice), "")
    if not first:
        return {}
    target = median(by_voice[first])
    return {
        voice: max(-MAX_VOICE_GAIN_DB, min(MAX_VOICE_GAIN_DB, target - median(levels)))
        for voice, levels in by_voice.items()
    }
