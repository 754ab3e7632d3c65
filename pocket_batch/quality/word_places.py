"""The words of a text as they are compared, and where in the text they stand.

A place is a position on the axis of `text.split()`: the second half of the fourth item is 3.5 to 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

from pocket_batch.quality.word_errors import comparable, folded

Span = tuple[float, float]  # places, or seconds


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is compared, and its place."""

    text: str
    place: Span


def words_of(tokens: Sequence[str], language: str) -> list[Word]:
    """The words of a text that was split at white space.

    Numbers and abbreviations are written out with what stands around them in view; their words
    share the place of what they came from.
    """
    plain = [word for index, token in enumerate(tokens) for word in _plain(token, index, language)]
    written = comparable(" ".join(tokens), language).split()
    before = [word.text for word in plain]
    if before == written:
        return plain
    words: list[Word] = []
    for tag, i, j, k, m in SequenceMatcher(None, before, written, False).get_opcodes():
        if tag == "equal":
            words += plain[i:j]
        elif k < m:
            begin = plain[i].place[0] if i < len(plain) else float(len(tokens))
            end = plain[j - 1].place[1] if i < j else begin
            words += _spread(written[k:m], (begin, end))
    return words


def time_of(place: Span, times: Sequence[Span]) -> Span:
    """The seconds of a place, given those of each item of the axis."""
    return _second(place[0], times, is_end=False), _second(place[1], times, is_end=True)


def _second(place: float, times: Sequence[Span], is_end: bool) -> float:
    index = min(int(place), len(times) - 1)
    if is_end and index == place and index > 0:
        return times[index - 1][1]  # the end of an item is not the beginning of the next
    begin, end = times[index]
    return begin + (end - begin) * min(1.0, place - index)


def _plain(token: str, index: int, language: str) -> list[Word]:
    return _spread(folded(token, language).split(), (float(index), float(index + 1)))


def _spread(words: Sequence[str], place: Span) -> list[Word]:
    """Words side by side in a place, by their letters."""
    bounds = [0, *accumulate(len(word) for word in words)]
    scale = (place[1] - place[0]) / max(1, bounds[-1])
    return [
        Word(word, (place[0] + begin * scale, place[0] + end * scale))
        for word, begin, end in zip(words, bounds, bounds[1:], strict=False)
    ]
