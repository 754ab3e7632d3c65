"""Subtitles before they are written: texts of readable length, each with its time.

Times are samples, so they are as exact as the audio; a format rounds them once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pocket_batch.outputs.cue_lines import (
    Unit,
    balanced,
    ends_clause,
    ends_sentence,
    fits,
    units_of,
    width,
)
from pocket_batch.text.align import match, words_of

# Source: Netflix, English Timed Text Style Guide (42 characters a line, 2 lines, 7 s, 20 a second)
MAX_CUE_S = 7.0
MIN_CUE_S = 1.0
MAX_LETTERS_PER_S = 20
SHORT = 20  # columns; less than that is over before it is read

_CUE, _SHORT, _NO_CLAUSE, _NO_SENTENCE, _LONG = 100.0, 3.0, 45.0, 8.0, 60.0  # costs

WordTimes = Sequence[tuple[str, float, float]]  # word, begin and end in seconds


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A text and when it is heard, in samples; equal where it is not.

    `words` are the times of its words from `begin`, in seconds, in spoken form, if they are known.
    """

    text: str
    begin: int
    end: int
    words: WordTimes = ()


@dataclass(frozen=True, slots=True)
class TimedUnit:
    """A word (a character, in scripts without spaces) and when it begins, in samples."""

    text: str
    begin: int
    has_space: bool


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown at once: one or two lines. `has_words`: the times of the words are known."""

    begin: int
    end: int
    lines: tuple[tuple[TimedUnit, ...], ...]
    has_words: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The lines as text."""
        return tuple(text_of(line) for line in self.lines)


def text_of(units: Iterable[TimedUnit | Unit]) -> str:
    """Units as they stand in a line."""
    parts = (" " * (unit.has_space and i > 0) + unit.text for i, unit in enumerate(units))
    return "".join(parts)


def make_cues(lines: Sequence[SpokenLine], sampling_rate_hz: int) -> list[Cue]:
    """Cut lines into cues that never overlap, in order.

    A cue that would be too short to be read stays in the pause after it, as far as there is one.
    """
    cues = [cue for line in lines if line.end > line.begin for cue in _cues(line, sampling_rate_hz)]
    limits = [*(cue.begin for cue in cues[1:]), max((line.end for line in lines), default=0)]
    return [
        _lengthened(cue, limit, sampling_rate_hz) for cue, limit in zip(cues, limits, strict=False)
    ]


def _lengthened(cue: Cue, limit: int, rate_hz: int) -> Cue:
    num_letters = sum(len(text) for text in cue.texts)
    wanted_s = max(MIN_CUE_S, num_letters / MAX_LETTERS_PER_S)
    end = max(cue.end, min(limit, cue.begin + round(wanted_s * rate_hz)))
    return replace(cue, end=max(min(end, limit), cue.begin))


def _cues(line: SpokenLine, rate_hz: int) -> Iterator[Cue]:
    units = units_of(line.text)
    if not units:
        return
    begins = _begins(line, units, rate_hz)
    cuts = [*_cuts(units, begins, line.end, rate_hz), len(units)]
    for first, end in pairwise(cuts):
        stop = begins[end] if end < len(units) else line.end
        timed = [
            TimedUnit(unit.text, begin, unit.has_space)
            for unit, begin in zip(units[first:end], begins[first:end], strict=True)
        ]
        split = balanced(units[first:end])
        parts = [tuple(timed[:split]), tuple(timed[split:])]
        yield Cue(begins[first], stop, tuple(filter(None, parts)), bool(line.words))


def _cuts(units: Sequence[Unit], begins: Sequence[int], end: int, rate_hz: int) -> list[int]:
    """Where cues begin: the cheapest way to cut, by dynamic programming."""
    num = len(units)
    best = [0.0] + [float("inf")] * num
    before = [0] * (num + 1)
    for stop in range(1, num + 1):
        for first in range(stop - 1, -1, -1):
            part = units[first:stop]
            if not fits(part) and stop - first > 1:
                break
            stop_at = begins[stop] if stop < num else end
            cost = best[first] + _cost(part, (stop_at - begins[first]) / rate_hz, stop == num)
            if cost < best[stop]:
                best[stop], before[stop] = cost, first
    cuts = []
    stop = num
    while stop > 0:
        stop = before[stop]
        cuts.append(stop)
    return cuts[::-1]


def _cost(part: Sequence[Unit], duration_s: float, is_last: bool) -> float:
    cost = _CUE + _SHORT * max(0, SHORT - width(text_of(part)))
    if not is_last:
        clause = _NO_SENTENCE if ends_clause(part[-1].text) else _NO_CLAUSE
        cost += 0.0 if ends_sentence(part[-1].text) else clause
    return cost + _LONG * max(0.0, duration_s - MAX_CUE_S)


def _begins(line: SpokenLine, units: Sequence[Unit], rate_hz: int) -> list[int]:
    """When each unit begins, in samples: by the times of words, and between them by letters."""
    letters = [0]
    for unit in units:
        letters.append(letters[-1] + len(unit.text))
    known = {0: line.begin, len(units): line.end}
    if line.words:
        known |= _known_begins(line, units, rate_hz)
    places = sorted(known)
    begins: list[int] = []
    for first, end in pairwise(places):
        span, size = known[end] - known[first], letters[end] - letters[first]
        for index in range(first, end):
            begins.append(known[first] + span * (letters[index] - letters[first]) // size)
    return begins


def _known_begins(line: SpokenLine, units: Sequence[Unit], rate_hz: int) -> dict[int, int]:
    """The begins of units that hold the first word of one whose time is known; never decreasing."""
    said = [(word.key, begin_s) for text, begin_s, _ in line.words for word in words_of(text)]
    written = [
        (word.key, index) for index, unit in enumerate(units) for word in words_of(unit.text)
    ]
    pairs = match([key for key, _ in written], [key for key, _ in said])
    found: dict[int, int] = {}
    latest = line.begin
    for i, j in pairs:
        index, begin = written[i][1], line.begin + round(said[j][1] * rate_hz)
        is_first = i == 0 or written[i - 1][1] != index
        if index > 0 and is_first and latest <= begin <= line.end:
            found[index] = latest = begin
    return found
