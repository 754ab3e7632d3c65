"""What is unlike most that the same voice says in a run, by median and MAD."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pocket_batch.quality.checks import in_order, repeats_itself
from pocket_batch.quality.levels import MAD_SCALE, MIN_RATES, MIN_SPREAD, num_letters
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings

Floats = NDArray[np.float64]
MIN_WORDS = 8  # a heading, or a word or two with who said them, are read in their own way
MIN_ITEMS = 10  # fewer say little about a level or a timbre
MIN_LEVEL_DB = 4.0  # nearer than these is no fault, however even a voice is
MIN_SEMITONES = 4.0
MIN_TIMBRE_DB = 1.0
NUM_FITS = 3  # each without the outliers of the one before
_VOWELS = frozenset("aeiouyàáâäæèéêëìíîïòóôöøœùúûüāēīōūåãõ")
_STOPS = frozenset(",;:.!?—–…")


def learned_problems(
    items: Mapping[str, tuple[str, Scores]], settings: CheckSettings
) -> dict[str, tuple[str, ...]]:
    """What is unlike the other utterances of one voice.

    Args:
        items: text and scores of each utterance of a voice.
        settings: how far from the median an utterance may be; 0 for any distance.

    Returns:
        Codes by key, for those that have any. Nothing where there are too few to tell.
    """
    found: dict[str, set[str]] = {}
    for code, keys in (
        ("rate_outlier", _rates(items, settings)),
        ("level_outlier", _levels(items, settings)),
        ("voice_outlier", _voices(items, settings)),
        ("repetition", _repetitions(items, settings)),
    ):
        for key in keys:
            found.setdefault(key, set()).add(code)
    return {key: in_order(codes) for key, codes in found.items()}


def _rates(items: Mapping[str, tuple[str, Scores]], settings: CheckSettings) -> list[str]:
    """Speech that is longer or shorter than its text lets expect.

    The duration is fitted to letters, syllables, words and stops, by least squares.
    """
    keys = [key for key, (text, _) in items.items() if len(text.split()) >= MIN_WORDS]
    if settings.rate_mads <= 0 or len(keys) < MIN_RATES:
        return []
    lengths = np.array([_lengths(items[key][0]) for key in keys])  # (N, 5)
    seconds = np.array([_speech_s(items[key][1]) for key in keys])  # (N,)
    is_usual = np.ones(len(keys), bool)
    for _ in range(NUM_FITS):
        weights, *_ = np.linalg.lstsq(lengths[is_usual], seconds[is_usual], rcond=None)
        expected = np.maximum(lengths @ weights, 0.2)
        off = seconds / expected - 1  # (N,)
        spread = _spread(off[is_usual])
        is_usual = np.abs(off - np.median(off)) <= 3 * spread
    reach = settings.rate_mads * max(spread, MIN_SPREAD)
    return _where(keys, np.abs(off - np.median(off)) > reach)


def _lengths(text: str) -> tuple[float, ...]:
    """What makes a text long: one, letters, syllables, words, stops."""
    small = text.casefold()
    is_vowel = [character in _VOWELS for character in small]
    syllables = sum(
        now and not before for before, now in zip([False, *is_vowel], is_vowel, strict=False)
    )
    stops = sum(character in _STOPS for character in small)
    return 1.0, float(num_letters(small)), float(syllables), float(len(small.split())), float(stops)


def _speech_s(scores: Scores) -> float:
    return max(0.01, scores.duration_s - scores.leading_silence_s - scores.trailing_silence_s)


def _levels(items: Mapping[str, tuple[str, Scores]], settings: CheckSettings) -> list[str]:
    """Louder or quieter than the voice is."""
    levels = {key: s.speech_db for key, (_, s) in items.items() if s.speech_db is not None}
    if settings.level_mads <= 0 or len(levels) < MIN_ITEMS:
        return []
    values = np.array(list(levels.values()))
    reach = max(MIN_LEVEL_DB, settings.level_mads * _spread(values))
    return _where(levels, np.abs(values - np.median(values)) > reach)


def _voices(items: Mapping[str, tuple[str, Scores]], settings: CheckSettings) -> list[str]:
    """Of another pitch or timbre."""
    if settings.voice_mads <= 0:
        return []
    pitches = {key: s.pitch_hz for key, (_, s) in items.items() if s.pitch_hz}
    timbres = {key: s.timbre for key, (_, s) in items.items() if s.timbre}
    found: list[str] = []
    if len(pitches) >= MIN_ITEMS:
        octaves = np.log2(np.array(list(pitches.values())))
        off = np.abs(octaves - np.median(octaves)) * 12  # (N,) semitones
        reach = max(MIN_SEMITONES, settings.voice_mads * _spread(octaves) * 12)
        found += _where(pitches, off > reach)
    if len(timbres) >= MIN_ITEMS:
        off = _distances(np.array(list(timbres.values())))
        found += _where(timbres, off - np.median(off) > settings.voice_mads * _spread(off))
    return found


def _repetitions(items: Mapping[str, tuple[str, Scores]], settings: CheckSettings) -> list[str]:
    """More like itself than this voice is: even voices say different words more alike."""
    alike = {key: s.repetition for key, (_, s) in items.items() if s.repetition is not None}
    if settings.max_repetition_over <= 0 or len(alike) < MIN_ITEMS:
        return []
    values = np.array(list(alike.values()))
    found = _where(alike, values - np.median(values) > settings.max_repetition_over)
    return [key for key in found if not repeats_itself(items[key][0])]


def _distances(timbres: Floats) -> Floats:
    """How far each is from the median of all, (N, M) -> (N,): RMS over the bands, each in MADs."""
    off = timbres - np.median(timbres, axis=0)
    spread = np.maximum(MIN_TIMBRE_DB, MAD_SCALE * np.median(np.abs(off), axis=0))
    return np.asarray(np.sqrt(np.mean(np.square(off / spread), axis=1)))


def _where(keys: Iterable[str], is_off: NDArray[np.bool_]) -> list[str]:
    return [key for key, is_one in zip(keys, is_off, strict=True) if is_one]


def _spread(values: Sequence[float] | Floats) -> float:
    """The MAD, scaled to a standard deviation."""
    return MAD_SCALE * float(np.median(np.abs(np.asarray(values) - np.median(values))))
