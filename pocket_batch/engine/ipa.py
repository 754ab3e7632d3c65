"""Pronunciations inside a text, `[word](/ˈwɜːd/)`, in the letters that hibari takes.

They are those of misaki: one letter for each diphthong and affricate, and the stress right before
its vowel. Letters that it does not have are left out, as hibari does itself.
"""

import re
import unicodedata

_INLINE = re.compile(r"(?<=\]\(/)[^/()]*(?=/\))")  # `[word](/ˈwɜːd/)` -> `ˈwɜːd`

# Source: the vocabulary of hibari-tts and the phoneme tables of misaki's English.
_BOTH = {
    "tʃ": "ʧ", "dʒ": "ʤ", "eɪ": "A", "aɪ": "I", "ɔɪ": "Y", "aʊ": "W",
    "g": "ɡ", "r": "ɹ", "ɫ": "l", "ʍ": "w", "ɬ": "l", "e": "ɛ", "ɘ": "ə",
}  # fmt: skip
_AMERICAN = {
    "oʊ": "O", "əʊ": "O", "ɜːɹ": "ɜɹ", "ɜːr": "ɜɹ", "ɜː": "ɜɹ", "ɝː": "ɜɹ", "ɝ": "ɜɹ", "ɚ": "əɹ",
    "ɒ": "ɑ", "a": "æ", "ː": "",
}  # fmt: skip
_BRITISH = {"oʊ": "Q", "əʊ": "Q", "ɝ": "ɜː", "ɚ": "ə", "æ": "a"}
_STRESS = re.compile(r"([ˈˌ])([^ˈˌAIOQWYaiuæɑɐɒɔəɛɜɪʊʌᵻoy]*)(?=[AIOQWYaiuæɑɐɒɔəɛɜɪʊʌᵻoy])")
_TIES = str.maketrans(
    {**dict.fromkeys("\u0361\u035c\u032f."), "'": "ˈ", ",": "ˌ", ":": "ː"}  # ties and dots go
)


def with_letters_of_hibari(text: str, british: bool) -> str:
    """A text whose pronunciations are in hibari's letters instead of IPA."""
    if "](/" not in text:
        return text
    return _INLINE.sub(lambda ipa: letters_of_hibari(ipa[0], british), text)


def letters_of_hibari(ipa: str, british: bool) -> str:
    """One pronunciation.

    >>> letters_of_hibari("hɚˈmaɪəni", british=False)
    'həɹmˈIəni'
    """
    table = _BOTH | (_BRITISH if british else _AMERICAN)
    pattern = "|".join(sorted(map(re.escape, table), key=len, reverse=True))
    ipa = unicodedata.normalize("NFC", ipa).translate(_TIES)
    letters = re.sub(pattern, lambda sound: table[sound[0]], ipa)
    return _STRESS.sub(r"\2\1", letters)
