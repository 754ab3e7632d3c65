"""Texts all in capitals, as some corpora have them, get the case and the stop of a sentence."""

import re

from pocket_batch.bcp47 import primary

# Always with a capital in English: what no dictionary of names is needed for.
_ENGLISH = """
I January February March April June July August September October November December Monday
Tuesday Wednesday Thursday Friday Saturday Sunday Christmas Easter Mr Mrs Ms Dr God Jesus Christ
America American Americans England English Englishman Britain British France French Frenchman
Germany German Germans Italy Italian Spain Spanish Russia Russian China Chinese Japan Japanese
India Indian Indians Ireland Irish Scotland Scottish Greece Greek Greeks Rome Roman Romans Europe
European Africa African Asia London Paris York Christian Christians Jewish Catholic Protestant
"""
_CAPITALS = {word.casefold(): word for word in _ENGLISH.split() if word not in ("March", "May")}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_ENDS = '.!?…"”’)»:;'


def recase(text: str, language: str) -> str:
    """`THE CAT SAT` -> `The cat sat.`; a text with a small letter in it stays as it is.

    Names cannot be told from other words, and are small, but for a few in English.
    """
    text = text.strip()
    if not text or text != text.upper() or text == text.lower():
        return text
    small = text.lower()
    if primary(language) == "en":
        small = _WORD.sub(_english, small)
    first = _WORD.search(small)
    if first:
        start = first.start()
        small = small[:start] + small[start].upper() + small[start + 1 :]
    return small if small[-1] in _ENDS else f"{small}."


def _english(match: re.Match[str]) -> str:
    """`i'm` -> `I'm`, `monday` -> `Monday`."""
    stem, mark, rest = match[0].partition("'")
    if not mark:
        stem, mark, rest = match[0].partition("’")
    return _CAPITALS.get(stem, stem) + mark + rest
