"""Items of a list that stands in one line: `1. Eggs 2. Milk`, `(a) … (b) …`, `• … • …`."""

import re
from dataclasses import dataclass

_BULLET = re.compile(r"(?<!\S)[•⁃‣▪●◦∙](?= ?\w)")
# `2.`, `2)`, `2.)`, `(2)`, `b.`, `(iv)` before a space
_MARKER = re.compile(
    r"(?<!\S)(?P<open>\(?)(?P<value>\d{1,3}|[a-z]|[A-Z]|[ivxl]{2,6})(?P<close>\.\)|[.)])(?= \S)"
)
_ROMAN = ("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx").split()
_SENTENCE_ENDS = ".!?…:;)"


@dataclass(frozen=True, slots=True)
class _Marker:
    """A marker: its place, the one after it, and what it counts in each reading (`i` has two)."""

    start: int
    end: int
    values: tuple[tuple[str, int], ...]


def item_places(text: str, has_ordinal_stops: bool = False) -> tuple[list[int], set[int]]:
    """Find the items of enumerations in a paragraph with folded white space.

    A marker counts where the one before it in order was found, or begins the paragraph or a
    sentence and counts one; so a number at the end of a sentence is none. An initial, and a
    number where that may be an ordinal (`am 2. Mai`), counts at the beginning of a sentence only.

    Args:
        text: one paragraph.
        has_ordinal_stops: a number with a full stop is an ordinal in this language.

    Returns:
        Places where an item begins, to be cut before; and places right after the markers, which
        end no sentence although a full stop stands there.
    """
    ambiguous = ("A.", "1.") if has_ordinal_stops else ("A.",)
    places = [match.start() for match in _BULLET.finditer(text)]
    ends: set[int] = set()
    expected: dict[str, tuple[int, _Marker]] = {}  # by kind: the next value, the marker before
    for match in _MARKER.finditer(text):
        marker = _read(match)
        for kind, value in marker.values:
            wanted, before = expected.get(kind, (0, None))
            if before is not None and value == wanted:
                if _begins_item(text, marker, kind in ambiguous):
                    places.append(marker.start)
                    if value == _first_value(before, kind) + 1 and _ends_sentence(text, before):
                        places.append(before.start)
                    ends |= {before.end, marker.end}
                expected[kind] = (value + 1, marker)
            elif not marker.start or (value == 1 and _ends_sentence(text, marker)):
                expected[kind] = (value + 1, marker)
    return sorted(set(places) - {0}), ends


def _read(match: re.Match[str]) -> _Marker:
    """Give a marker its number, for each kind of counting that it may belong to."""
    value = match["value"]
    brackets = match["open"] + match["close"]
    values: list[tuple[str, int]] = []
    if value.isdigit():
        values.append((f"1{brackets}", int(value)))
    elif len(value) == 1:
        first = "a" if value.islower() else "A"
        values.append((f"{first}{brackets}", ord(value) - ord(first) + 1))
    if value in _ROMAN:
        values.append((f"i{brackets}", _ROMAN.index(value) + 1))
    return _Marker(match.start(), match.end(), tuple(values))


def _first_value(marker: _Marker, kind: str) -> int:
    return dict(marker.values)[kind]


def _ends_sentence(text: str, marker: _Marker) -> bool:
    """Tell whether a sentence ends before a marker."""
    return marker.start >= 2 and text[marker.start - 2] in _SENTENCE_ENDS


def _begins_item(text: str, marker: _Marker, is_ambiguous: bool) -> bool:
    """Tell an item from one of a list inside a sentence: `a) eggs, b) milk, and c) honey`."""
    if is_ambiguous:
        return _ends_sentence(text, marker)
    before = text[max(0, marker.start - 6) : marker.start].rstrip()
    return not before.endswith((",", ";", " and", " or", " und", " oder", " et", " ou", " y", " e"))
