"""Texts all in capitals, as some corpora have them, get the case and the stop of a sentence."""

import re

from pocket_batch.bcp47 import primary

# Always with a capital in English: what no dictionary of names is needed for.
_ENGLISH = """
I January February April June July August September October November December Monday Tuesday
Wednesday Thursday Friday Saturday Sunday Christmas Easter Mr Mrs Ms Dr God Jesus Christ Bible
Africa African America American Arab Arabic Asia Australia Australian Austria Austrian Belgian
Belgium Boston Brazil Brazilian Britain British Buddhist Caesar California Canada Canadian
Catholic Chicago Chinese Christian Christianity Danish Denmark Dutch Egypt Egyptian England
English Englishman Englishmen Europe European Finland Finnish France French Frenchman Frenchmen
German Germany Greece Greek Hebrew Hindu Hungarian Hungary India Indian Ireland Irish Irishman
Islam Israel Italian Italy Japan Japanese Jew Jewish Korea Korean London Mexican Mexico Moscow
Muslim Napoleon Norway Norwegian Paris Persia Persian Poland Portugal Portuguese Protestant
Prussia Prussian Roman Rome Russia Russian Satan Scotland Scottish Shakespeare Spain Spaniard
Spanish Swede Sweden Swedish Swiss Switzerland Texas Turk Turkish Venice Vienna Virginia Wales
Washington Welsh York
"""
_CAPITALS = {word.casefold(): word for word in _ENGLISH.split()}
# Months that are other words as well.
_MONTH = re.compile(
    r"\b(in|of|last|next|since|until|till|early|late) (march|may)\b"
    r"|\b(march|may)(?= (?:the )?(?:\d|first\b|second\b|third\b|\w+(?:th|teenth)\b))"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_ACRONYM = re.compile(r"\b(?:[^\W\d_]\.)+(?![^\W\d_])")
_SMALL_ACRONYMS = ("a.m.", "p.m.", "e.g.", "i.e.")
_SENTENCE = re.compile(r"[.!?…]+[\"'”’)\]]*\s+[\"'“‘(\[¿¡]*([^\W\d_])")


def recase(text: str, language: str) -> str:
    """`THE CAT SAT` -> `The cat sat.`; a text with a small letter in it stays as it is.

    Names cannot be told from other words, and are small, but for a few in English; letters with
    stops, as in `U.S.`, stay capitals.
    """
    text = text.strip()
    if not text or text != text.upper() or text == text.lower():
        return text
    code = primary(language)
    small = text.translate(_TURKISH).lower() if code in ("tr", "az") else text.lower()
    if code == "en":
        small = _MONTH.sub(lambda match: _month(match[0]), _WORD.sub(_english, small))
    small = _sentences(_ACRONYM.sub(_acronym, small), code)
    return f"{small}." if small[-1].isalnum() else small


_TURKISH = str.maketrans({"İ": "i", "I": "ı"})


def _sentences(text: str, code: str) -> str:
    """With a capital at the start of each sentence."""
    acronyms = {m.end() for m in _ACRONYM.finditer(text) if m[0].count(".") > 1}
    starts = [m.start(1) for m in _SENTENCE.finditer(text) if m.start() + 1 not in acronyms]
    first = _WORD.search(text)
    letters = list(text)
    for start in [first.start(), *starts] if first else starts:
        letter = letters[start]
        letters[start] = "İ" if letter == "i" and code in ("tr", "az") else letter.upper()
    return "".join(letters)


def _acronym(match: re.Match[str]) -> str:
    return match[0] if match[0] in _SMALL_ACRONYMS else match[0].upper()


def _month(found: str) -> str:
    """`in march` -> `in March`."""
    before, space, month = found.rpartition(" ")
    return f"{before}{space}{month.capitalize()}"


def _english(match: re.Match[str]) -> str:
    """`i'm` -> `I'm`, `monday` -> `Monday`, `italians` -> `Italians`."""
    stem = re.split("['’]", match[0], maxsplit=1)[0]
    rest = match[0][len(stem) :]
    if stem in _CAPITALS:
        return _CAPITALS[stem] + rest
    is_plural = len(stem) > 4 and stem[:-1] in _CAPITALS and stem.endswith("s")
    return (_CAPITALS[stem[:-1]] + "s" if is_plural else stem) + rest
