"""Opening words in capitals, as printers set them, back in the case of a sentence."""

import re

from pocket_batch.text.placeholders import WORD
from pocket_batch.text.tables_en import ACRONYMS

_WORD = rf"(?:{WORD}|[A-Z][A-Z'.-]*)"
# `IT WAS THE MIDDLE of the night` -> `It was the middle of the night`
_RUN = rf"[\"'(\[]*{_WORD}(?:[,;:.!?]?[ —]+[\"']?(?:{_WORD}|&))+(?![a-z])"
_OPENING = re.compile(f"^{_RUN}")
_ANY_RUN = re.compile(rf"(?<![\w'.-]){_RUN}")
# `DR`, but not `I A`
_LONG_CAPITALS = re.compile(r"[A-Z]{2}")
# `it was. "the end` -> the places of `i` and `t`
_SENTENCE_START = re.compile(r"(?:^[\"'(\[]*|[.!?][ —]+[\"']?)[a-z]")
# `MR. DARCY'S` -> `MR`, `DARCY'S`
_TOKEN = re.compile(rf"{WORD}|[A-Z][A-Z']*")
# `XIV`
_NUMERAL = re.compile(r"[IVXLC]{1,7}")
# `BBC` has none
_VOWEL = re.compile(r"[AEIOUY]")
_CONSONANT_WORDS = {"MR": "Mr", "MRS": "Mrs", "DR": "Dr", "ST": "St", "MS": "Ms"}


def lower_capital_opening(text: str) -> str:
    """Lower a run of two or more capital words at the start of a paragraph or heading.

    Acronyms and Roman numerals keep their capitals; so does a name that the paragraph spells with
    a capital later on.
    """
    if len(text) < 4 or not (text[1].isupper() or text[2].isupper() or text[1] == " "):
        return text
    match = _OPENING.match(text)
    if match is None or not _LONG_CAPITALS.search(match[0]):
        return text
    rest = text[match.end() :]
    return _lower_run(match[0], set(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", rest))) + rest


def lower_capital_runs(heading: str) -> str:
    """Lower every run of two or more capital words: `Chapter I. THE RIVER BANK` of a heading."""
    return _ANY_RUN.sub(
        lambda run: _lower_run(run[0], set()) if _LONG_CAPITALS.search(run[0]) else run[0], heading
    )


def _lower_run(run: str, names: set[str]) -> str:
    run = _TOKEN.sub(lambda word: _lower(word, names), run)
    return _SENTENCE_START.sub(lambda start: start[0].upper(), run)


def _lower(match: re.Match[str], names: set[str]) -> str:
    word = match[0]
    if not word.isupper():
        return word  # a word of a lexicon
    if word in _CONSONANT_WORDS:
        return _CONSONANT_WORDS[word]
    if word in ACRONYMS or word == "I" or word.startswith("I'"):
        return word if not word.startswith("I'") else "I" + word[1:].lower()
    if "&" in match.string[max(0, match.start() - 1) : match.end() + 1]:
        return word  # `AT&T`
    dotted = match.string[match.end() : match.end() + 1] == "."
    if len(word) == 1:
        return word if dotted or word != "A" else "a"
    if _NUMERAL.fullmatch(word) or (not _VOWEL.search(word) and "'" not in word):
        return word
    capitalized = word.capitalize()
    return capitalized if capitalized in names else word.lower()
