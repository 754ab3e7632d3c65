"""Texts that are not worth speaking, told before they cost anything."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from pocket_batch.bcp47 import primary
from pocket_batch.dataset_settings import CorpusSettings

MIN_WORDS = 6  # fewer of them may well be the same word
# The scripts of languages, as the names of their letters begin; other languages may use any.
_LATIN = """
af ca cs cy da de en eo es et eu fi fil fo fr ga gl ha hr hu id ig is it la lb lt lv mi mt nb nl nn
no oc pl pt ro rw sk sl so sq sv sw tl tr vi xh yo zu
""".split()
_SCRIPTS = dict.fromkeys(_LATIN, "LATIN") | {
    "ru": "CYRILLIC", "uk": "CYRILLIC", "bg": "CYRILLIC", "be": "CYRILLIC", "mk": "CYRILLIC",
    "tg": "CYRILLIC", "ky": "CYRILLIC", "tt": "CYRILLIC", "mn": "CYRILLIC MONGOLIAN",
    "sr": "CYRILLIC LATIN", "kk": "CYRILLIC LATIN", "el": "GREEK", "he": "HEBREW", "yi": "HEBREW",
    "ar": "ARABIC", "fa": "ARABIC", "ur": "ARABIC", "ps": "ARABIC", "hi": "DEVANAGARI",
    "mr": "DEVANAGARI", "ne": "DEVANAGARI", "bn": "BENGALI", "as": "BENGALI", "ta": "TAMIL",
    "te": "TELUGU", "gu": "GUJARATI", "kn": "KANNADA", "ml": "MALAYALAM", "pa": "GURMUKHI ARABIC",
    "or": "ORIYA", "si": "SINHALA", "th": "THAI", "lo": "LAO", "km": "KHMER", "my": "MYANMAR",
    "bo": "TIBETAN", "ka": "GEORGIAN", "hy": "ARMENIAN", "am": "ETHIOPIC", "ti": "ETHIOPIC",
    "ko": "HANGUL CJK", "zh": "CJK BOPOMOFO", "yue": "CJK", "ja": "HIRAGANA KATAKANA CJK",
}  # fmt: skip
# What a tag such as `sr-Latn` may say.
_SUBTAGS = {
    "latn": "LATIN", "cyrl": "CYRILLIC", "arab": "ARABIC", "grek": "GREEK", "hebr": "HEBREW",
    "deva": "DEVANAGARI", "beng": "BENGALI", "guru": "GURMUKHI", "hans": "CJK", "hant": "CJK",
    "jpan": "HIRAGANA KATAKANA CJK", "kore": "HANGUL CJK", "mong": "MONGOLIAN", "thai": "THAI",
}  # fmt: skip
_OVERRIDES = "\u202d\u202e"  # turn the order of letters round
_RUN = re.compile(r"([^\d\s])\1{10,}")
_SYLLABLES = re.compile(r"([^\W\d_]{2,8}?)\1{3,}")
_PHRASE = re.compile(r"(?<!\S)(\S+(?: \S+){0,7}?)(?: \1){2,}(?!\S)")
_WORDS = re.compile(r"\w+(?:['’]\w+)*")
MANY_TIMES = 8  # a syllable so often in a row is a loop, however long the rest is


class TextFilter:
    """Tells why a text is left out, by the settings of a corpus."""

    def __init__(self, settings: CorpusSettings, language: str) -> None:
        """`language` is a BCP 47 tag; a language that is not known may have any script."""
        self._settings = settings
        self._scripts = _scripts_of(language)

    def reason(self, text: str) -> tuple[str, str] | None:
        """A code and what was found; None for a text that is fine."""
        num = sum(map(str.isalnum, text))
        if num == 0:
            return "empty_text", text.strip()
        if num < self._settings.min_letters:
            return "too_short", str(num)
        if any(map(_is_bad, set(text))):
            bad = next(filter(_is_bad, text))
            return "control_character", f"U+{ord(bad):04X}"
        if self._scripts and (foreign := self._foreign(text)) > self._settings.max_foreign:
            return "foreign_letters", f"{foreign:.2f}"
        if not self._settings.split_long and 0 < self._settings.max_letters < len(text):
            return "too_long", str(len(text))
        return self._repetition(text)

    def _foreign(self, text: str) -> float:
        """The share of letters that are of other scripts."""
        if text.isascii() and "LATIN" in self._scripts:
            return 0.0
        letters = [character for character in text if character.isalpha()]
        return sum(not self._is_own(c) for c in letters) / max(1, len(letters))

    def _is_own(self, letter: str) -> bool:
        if letter.isascii():
            return "LATIN" in self._scripts
        script = _script(letter)
        return not script or script.startswith(self._scripts)

    def _repetition(self, text: str) -> tuple[str, str] | None:
        """Runs of one character, and words, syllables or phrases that are most of a text."""
        if run := _RUN.search(text):
            return "repetition", run[1] * 3
        most = self._settings.max_repetition
        words = _WORDS.findall(text.casefold())
        joined = " ".join(words)
        for match in _SYLLABLES.finditer(joined):
            is_loop = len(match[0]) >= MANY_TIMES * len(match[1])
            is_most = len(match[0]) > most * len(joined)
            if len(set(match[1])) > 1 and most < 1 and (is_loop or is_most):
                return "repetition", match[0][:20]
        if len(words) < MIN_WORDS:
            return None
        word, count = Counter(words).most_common(1)[0]
        if count / len(words) > most:
            return "repetition", f"{word[:20]} {count}/{len(words)}"
        return self._phrases(joined) if len(set(words)) < 0.8 * len(words) else None

    def _phrases(self, joined: str) -> tuple[str, str] | None:
        for match in _PHRASE.finditer(joined):
            if len(match[0]) > self._settings.max_repetition * len(joined):
                return "repetition", match[1][:20]
        return None


def _scripts_of(language: str) -> tuple[str, ...]:
    """How the names of a language's letters begin; nothing if any letter may be its own."""
    for subtag in language.lower().replace("_", "-").split("-")[1:]:
        if len(subtag) == 4 and subtag.isalpha():
            return tuple(_SUBTAGS.get(subtag, "").split())
    return tuple(_SCRIPTS.get(primary(language), "").split())


@lru_cache(maxsize=8192)
def _is_bad(character: str) -> bool:
    """Whether it is nothing that can be read: a control, a half, a hole, a private sign."""
    if character.isspace():
        return False
    if character in _OVERRIDES or character == "\ufffd":
        return True
    is_hole = 0xFDD0 <= ord(character) <= 0xFDEF or ord(character) & 0xFFFE == 0xFFFE
    return is_hole or unicodedata.category(character) in ("Cc", "Cs", "Co")


@lru_cache(maxsize=8192)
def _script(letter: str) -> str:
    """The name of a letter, which begins with its script; empty for those that belong to any."""
    if unicodedata.category(letter) == "Lm" or letter in "ªº":
        return ""
    return unicodedata.name(letter, "?").removeprefix("FULLWIDTH ").removeprefix("HALFWIDTH ")
