"""Texts that are not worth speaking, told before they cost anything."""

import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from pocket_batch.bcp47 import primary
from pocket_batch.settings import CorpusSettings

MIN_WORDS = 6  # fewer of them may well be the same word
MAX_RUN = 10  # of one letter
# The script of a language where it is not the Latin one, as the names of its letters begin.
_SCRIPTS = {
    "ru": "CYRILLIC", "uk": "CYRILLIC", "bg": "CYRILLIC", "sr": "CYRILLIC", "be": "CYRILLIC",
    "kk": "CYRILLIC", "mk": "CYRILLIC", "el": "GREEK", "he": "HEBREW", "ar": "ARABIC",
    "fa": "ARABIC", "ur": "ARABIC", "hi": "DEVANAGARI", "mr": "DEVANAGARI", "ne": "DEVANAGARI",
    "bn": "BENGALI", "ta": "TAMIL", "te": "TELUGU", "th": "THAI", "ka": "GEORGIAN",
    "hy": "ARMENIAN", "am": "ETHIOPIC", "ko": "HANGUL", "zh": "CJK", "yue": "CJK",
    "ja": "HIRAGANA KATAKANA CJK",
}  # fmt: skip


class TextFilter:
    """Tells why a text is left out, by the settings of a corpus."""

    def __init__(self, settings: CorpusSettings, language: str) -> None:
        """`language` is a BCP 47 tag; of one that is not known the script is the Latin one."""
        self._settings = settings
        self._scripts = tuple(_SCRIPTS.get(primary(language), "LATIN").split())

    def reason(self, text: str) -> tuple[str, str] | None:
        """A code and what was found; None for a text that is fine."""
        letters = [character for character in text if character.isalpha()]
        num = sum(character.isalnum() for character in text)
        if num == 0:
            return "empty_text", text.strip()
        if num < self._settings.min_letters:
            return "too_short", str(num)
        odd = ("Cc", "Cs")  # controls, and halves of characters
        control = next((c for c in text if unicodedata.category(c) in odd and c not in "\t"), "")
        if control:
            return "control_character", f"U+{ord(control):04X}"
        foreign = sum(not self._is_own(c) for c in letters) / max(1, len(letters))
        if foreign > self._settings.max_foreign:
            return "foreign_letters", f"{foreign:.2f}"
        if not self._settings.split_long and 0 < self._settings.max_letters < len(text):
            return "too_long", str(len(text))
        return self._repetition(text)

    def _is_own(self, letter: str) -> bool:
        if letter.isascii():
            return self._scripts == ("LATIN",)
        return _script(letter).startswith(self._scripts)

    def _repetition(self, text: str) -> tuple[str, str] | None:
        words = text.casefold().split()
        if len(words) >= MIN_WORDS:
            word, count = Counter(words).most_common(1)[0]
            if count / len(words) > self._settings.max_repetition:
                return "repetition", f"{word[:20]} {count}/{len(words)}"
        run = 1
        for before, character in pairwise(text):
            run = run + 1 if character == before and character.isalpha() else 1
            if run > MAX_RUN:
                return "repetition", character * 3
        return None


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """The name of a letter, which begins with its script; modifier letters belong to any."""
    if unicodedata.category(letter) == "Lm":
        return "LATIN"
    return unicodedata.name(letter, "").removeprefix("FULLWIDTH ").removeprefix("HALFWIDTH ")
