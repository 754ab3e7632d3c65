"""A dictionary of English words: the one that the embedded voice reads by.

What it does not have, that voice guesses letter by letter; other voices have seen it seldom.
"""

import re
import unicodedata
from collections.abc import Callable
from importlib.util import find_spec

from pocket_batch.bcp47 import primary

# Endings and beginnings that do not change how the rest is said: `gratified` -> `gratify`
_DERIVED = (
    (re.compile(r"(?<=\w{2})i(?:ed|es|er|est|ly|ness|less|ful)$"), "y"),
    (re.compile(r"(?<=\w{3})(?:e?st|e?r|ly|ness|less|ful|like|ward|wards|ish)$"), ""),
    (re.compile(r"(?<=\w{3})(?:est|er|ish|able)$"), "e"),
    (re.compile(r"(?<=\w{2})([bdgklmnprt])\1(?:est|er|ish|y)$"), r"\1"),
    (re.compile(r"^(?:un|re|in|over|under|out|fore|mis|non)(?=\w{3})"), ""),
)


def dictionary(language: str) -> Callable[[str], bool] | None:
    """Whether a word is known, for English; None for other languages, or without the package.

    A word counts in its own form, with usual endings and beginnings, and without its accents. One
    in capitals counts as an acronym: `NASA` is known.
    """
    if primary(language) != "en" or find_spec("hibari") is None:
        return None
    from hibari.g2p import G2P
    from hibari.g2p.lexicon import Lexicon

    words: Lexicon = G2P(oov=False, british="gb" in language.lower()).lexicon

    def has(word: str) -> bool:
        for form in {word: 0, _plain(word): 0}:
            if form.isupper() and len(form) > 1:  # else it would be spelled, and count as known
                if form in words.golds or form in words.silvers:
                    return True
            elif words.get_word(form, "NN", None, _NoContext)[0] is not None:
                return True
        return False

    def is_known(word: str) -> bool:
        if has(word):
            return True
        return word.islower() and any(
            ending.search(word) and has(ending.sub(rest, word)) for ending, rest in _DERIVED
        )

    return is_known


class _NoContext:
    """What follows the word, for a dictionary that reads some words by it."""

    future_vowel = None
    future_to = False


def _plain(word: str) -> str:
    """`café` -> `cafe`."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
