"""Expressions that several rules of text share."""

import re
from collections.abc import Iterable

# `— a` and `3.` have something to say, `* * *` and `…` do not
HAS_WORD = re.compile(r"[^\W_]")
# after the stop of `6d.` or `p.m.`: ` Then`, but not ` then`
SENTENCE_NEXT = re.compile(r"[\"')\]]*(?:$|\s+[\"'(]*[A-Z])")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def any_of(words: Iterable[str]) -> str:
    """A regex of any of these words, longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def like(model: str, words: str) -> str:
    """Give `words` a capital when `model` has one."""
    return words[0].upper() + words[1:] if model[0].isupper() else words


def roman_value(numeral: str) -> int:
    """Read a Roman numeral in either case: `XIV` -> 14."""
    values = [_ROMAN_VALUES[letter] for letter in numeral.upper()]
    following = [*values[1:], 0]
    return sum(-v if v < after else v for v, after in zip(values, following, strict=True))
