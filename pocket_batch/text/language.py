"""A guess at the language of a text that does not declare one: by its script and small words.

Only good enough to keep an English voice from reading hours of another language; long texts of
the languages below are told apart, anything else gives an empty answer.
"""

import re
import unicodedata
from collections import Counter

MIN_WORDS = 20
SAMPLE_CHARACTERS = 20_000
MIN_WORDS_TO_DISAGREE = 300
PLACES_TO_DISAGREE = 4
MAX_SHARE_OF_WRONG = 0.04  # of small words of a language that a text is not in
MIN_SHARE = 0.08  # of small words among all: prose has 0.2 to 0.4, other languages below 0.05

# The most frequent words, without those that two of these languages share.
_SMALL_WORDS = {
    "en": "the and of that was with for his you her had not but they this from have she which",
    "de": "und der die nicht ich sich mit ist auf ein eine dem den von zu war wie auch",
    "fr": "les des et une dans qui est pas pour que elle sur cette ses leur aux nous vous ce je",
    "es": "el los las por para como pero más su lo del y al ella cuando muy sus puede también",
    "it": "che di delle nella dei questo non gli della per sono come più nel alla era anche suo ma",
    "pt": "não uma os as ele ela seu sua muito foi ao dos pela quando também em",
    "nl": "het een van dat niet zijn maar voor ook naar wij haar hij bij deze werd nog aan",
}
_LANGUAGE_OF = {word: code for code, words in _SMALL_WORDS.items() for word in words.split()}

# The first word of a letter's Unicode name is its script.
_SCRIPTS = {
    "CYRILLIC": "ru", "GREEK": "el", "HEBREW": "he", "ARABIC": "ar", "CJK": "zh", "HIRAGANA": "ja",
    "KATAKANA": "ja", "HANGUL": "ko", "DEVANAGARI": "hi", "THAI": "th",
}  # fmt: skip


def guess_language(text: str) -> str:
    """A two-letter code, or an empty string when the text is too short or too strange to tell."""
    sample = text[:SAMPLE_CHARACTERS].lower()
    letters = [character for character in sample if character.isalpha()]
    scripts = Counter(unicodedata.name(c, "?").split()[0] for c in letters)
    other = sum(count for script, count in scripts.items() if script != "LATIN")
    if letters and other > len(letters) / 2:
        found = next((s for s, _ in scripts.most_common() if s in _SCRIPTS), "")
        return "ja" if scripts["HIRAGANA"] else _SCRIPTS.get(found, "")
    words, small = _small_words(sample)
    if len(words) < MIN_WORDS or not small:
        return ""
    language, count = small.most_common(1)[0]
    return language if count >= MIN_SHARE * len(words) else ""


def contradicts(text: str, declared: str) -> str:
    """The language that a text is surely in, if it is surely not in the declared one; else empty.

    It is looked at in several places, which must agree: an original may stand before its
    translation, and a long preface be in another language.

    Args:
        text: the whole book.
        declared: a two-letter code. Only languages with small words here are told apart so surely:
            another one may be a neighbour of the one that is guessed.
    """
    if declared not in _SMALL_WORDS:
        return ""
    last = max(0, len(text) - SAMPLE_CHARACTERS)
    places = sorted({last * place // PLACES_TO_DISAGREE for place in range(PLACES_TO_DISAGREE)})
    found = ""
    for start in places:
        guess = _contradiction(text[start : start + SAMPLE_CHARACTERS], declared)
        if not guess or (found and guess != found):
            return ""
        found = guess
    return found


def _contradiction(sample: str, declared: str) -> str:
    """The language of one sample, if it is surely not in the declared one."""
    words, small = _small_words(sample.lower())
    if len(words) < MIN_WORDS_TO_DISAGREE or small[declared] > MAX_SHARE_OF_WRONG * len(words):
        return ""
    guess = guess_language(sample)
    return guess if guess != declared else ""


def _small_words(text: str) -> tuple[list[str], Counter[str]]:
    """All words, and how many small ones each language has among them."""
    words = re.findall(r"[^\W\d_]+", text)
    return words, Counter(_LANGUAGE_OF[word] for word in words if word in _LANGUAGE_OF)
