"""What a book says about how its words are spoken: pauses, aliases, spelling, pronunciations.

Source: W3C Speech Synthesis Markup Language 1.1, and EPUB 3.3, appendix on SSML attributes.
"""

import re

from pocket_batch.bcp47 import primary
from pocket_batch.data import Respelling
from pocket_batch.sources.markup import Element, attribute, fold, local_name, text_of

SSML_NAMESPACE = "http://www.w3.org/2001/10/synthesis"
# 1.5s -> 1.5, s; +250ms -> 250, ms
TIME = re.compile(r"\+?(\d+(?:\.\d+)?|\.\d+)(ms|s)")
# Our choice: the standard leaves the length of each strength to the speaker.
STRENGTHS_MS = {"none": 0, "x-weak": 100, "weak": 250, "medium": 500, "strong": 1_000}
STRONGEST_MS = 1_500
MAX_PAUSE_MS = 20_000  # a longer one would be taken for a broken file
SPELLED = frozenset({"characters", "spell-out", "verbatim", "digits", "telephone"})
MAX_WRITTEN = 100  # characters of what has a pronunciation of its own


def pause_ms(element: Element) -> int:
    """The silence that a `break` element asks for, milliseconds."""
    match = TIME.fullmatch(element.get("time", "").strip().lower())
    if match is not None:
        factor = 1_000 if match.group(2) == "s" else 1
        return min(MAX_PAUSE_MS, round(float(match.group(1)) * factor))
    strength = element.get("strength", "medium").strip().lower()
    return STRONGEST_MS if strength == "x-strong" else STRENGTHS_MS.get(strength, 500)


def said_as(text: str, kind: str, language: str) -> str:
    """The text of a `say-as` element: "NASA" -> "N A S A" when it is to be spelled.

    Kinds that normalisation finds out by itself, such as dates, leave it as it is.
    """
    text = fold(text)
    if kind in SPELLED:
        return " ".join(text.replace(" ", ""))
    is_english = primary(language) in ("", "en")
    if kind == "ordinal" and is_english and text.isascii() and text.isdecimal():
        ending = {1: "st", 2: "nd", 3: "rd"}.get(int(text) % 10, "th")
        return text + ("th" if int(text) % 100 in (11, 12, 13) else ending)
    return text


def pronunciation(element: Element, language: str) -> Respelling | None:
    """The pronunciation that an element gives for its text in `ssml:ph` or as a `phoneme`."""
    sounds = element.get(f"{{{SSML_NAMESPACE}}}ph") or element.get("ssml:ph")
    if not sounds and local_name(element) == "phoneme":
        sounds = element.get("ph")
    written = text_of(element) if sounds else ""
    if not written or len(written) > MAX_WRITTEN or _alphabet(element) not in ("ipa", ""):
        return None
    return Respelling(written, language=primary(language), ipa=fold(sounds))


def _alphabet(element: Element) -> str:
    for around in (element, *element.iterancestors()):
        if alphabet := attribute(around, "alphabet"):
            return alphabet.lower()
    return ""
