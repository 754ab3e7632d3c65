"""The lines of a subtitle: where they may break, how wide they are, and which break reads best."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

MAX_COLUMNS = 42  # Source: Netflix, Timed Text Style Guide; wide characters count twice

_WIDE = frozenset("WF")
_NO_COLUMN = frozenset({"Mn", "Me", "Cf"})  # marks; soft hyphens, marks of direction, joiners
# Scripts that break between any two characters
_ANYWHERE = r"\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OPENING = r"「『（〈《【〔［｛“‘"
_CLOSING = r"、。，．！？：；」』）〉》】〕］｝”’…‥ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々"
# 「猫だ。」 -> 「猫, だ。」; else what has no white space in it
_UNIT = re.compile(rf"[{_OPENING}]*[{_ANYWHERE}][{_CLOSING}]*|[^\s{_ANYWHERE}]+")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]」』）]*$")
_CLAUSE_END = re.compile(r"[,;:—–、，；：][\"'”’»)\]」』）]*$")


@dataclass(frozen=True, slots=True)
class Unit:
    """What a line never breaks inside; `has_space` tells that a space stands before it."""

    text: str
    has_space: bool


def units_of(text: str) -> list[Unit]:
    """Cut a text where its lines may break; what is wider than a line is cut as well."""
    units: list[Unit] = []
    end = 0
    for found in _UNIT.finditer(text):
        has_space = found.start() > end and bool(units)
        for number, part in enumerate(_cut(found[0])):
            units.append(Unit(part, has_space and number == 0))
        end = found.end()
    return units


def _cut(word: str) -> list[str]:
    parts = [""]
    for character in word:
        if width(parts[-1] + character) > MAX_COLUMNS:
            parts.append("")
        parts[-1] += character
    return parts


def width(text: str) -> int:
    """Columns of a text: none for marks above a letter and what is not seen, two for wide ones."""
    if text.isascii():
        return len(text)
    columns = 0
    for character in text:
        if unicodedata.category(character) not in _NO_COLUMN:
            columns += 2 if unicodedata.east_asian_width(character) in _WIDE else 1
    return columns


def ends_sentence(text: str) -> bool:
    """Whether a word is the last of a sentence, by its mark."""
    return bool(_SENTENCE_END.search(text))


def ends_clause(text: str) -> bool:
    """Whether a word is the last of a clause, by its mark."""
    return bool(_CLAUSE_END.search(text))


def fits(units: Sequence[Unit]) -> bool:
    """Whether units fit into two lines."""
    return bool(_breaks(units))


def balanced(units: Sequence[Unit]) -> int:
    """How many units the first of two lines has; all of them where one line is enough."""
    places = _breaks(units)
    if not places or places[-1] == len(units):
        return len(units)
    widths = _ends(units)

    def cost(place: int) -> float:
        text, upper = units[place - 1].text, widths[place - 1]
        lower = widths[-1] - upper - units[place].has_space
        uneven = abs(upper - lower) + 2 * max(0, upper - lower)  # the lower line is the longer one
        return uneven - (12 if ends_sentence(text) else 8 if ends_clause(text) else 0)

    return min(places, key=cost)


def _breaks(units: Sequence[Unit]) -> list[int]:
    """The numbers of units that the first line may have; the last is all where that fits."""
    widths = _ends(units)
    if not widths or widths[-1] <= MAX_COLUMNS:
        return [len(units)]
    return [
        place
        for place in range(1, len(units))
        if widths[place - 1] <= MAX_COLUMNS
        and widths[-1] - widths[place - 1] - units[place].has_space <= MAX_COLUMNS
    ]


def _ends(units: Sequence[Unit]) -> list[int]:
    """The column at which each unit ends in one long line."""
    ends: list[int] = []
    column = 0
    for index, unit in enumerate(units):
        column += width(unit.text) + (unit.has_space and index > 0)
        ends.append(column)
    return ends
