"""How far what was heard is from what was to be said, in words and in letters."""

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from pocket_batch.text.normalize import normalize

_OUR = re.compile(r"\b(\w{2,})our(s|ed|ing|ful|able|ite|ites|hood)?\b")  # colour -> color
_ISE = re.compile(r"\b(\w{3,})is(e|es|ed|ing|ation|ations)\b")  # realise -> realize
_RE = re.compile(r"\b(cent|theat|met|lit|fib|calib|somb|lust|spect)re(s)?\b")  # centre -> center
_NOT_WORDS = re.compile(r"[^\w\s]|_")
MAX_REPEATS = 6  # the same word so often in a row is a loop of the listener or of the speaker


@dataclass(frozen=True, slots=True)
class WordErrors:
    """`wer` and `cer` are shares, more than 1 when more is inserted than was to be said."""

    wer: float
    cer: float
    num_edits: int
    num_words: int


def word_errors(reference: str, heard: str, language: str) -> WordErrors:
    """Compare two texts as a listener would: without case, punctuation and ways of spelling.

    Both are written out in words first. Compound words that are written in one word or in two are
    equal.
    """
    import jiwer

    said, got = comparable(reference, language), comparable(heard, language)
    if not said:
        return WordErrors(float(bool(got)), float(bool(got)), len(got.split()), 0)
    if said.replace(" ", "") == got.replace(" ", ""):
        return WordErrors(0.0, 0.0, 0, len(said.split()))
    words = jiwer.process_words(said, got)
    edits = words.substitutions + words.deletions + words.insertions
    return WordErrors(round(words.wer, 4), round(jiwer.cer(said, got), 4), edits, len(said.split()))


def comparable(text: str, language: str) -> str:
    """`"It's 5 o'clock," he said.` -> `its five oclock he said`."""
    return folded(normalize(text, language), language)


def folded(text: str, language: str) -> str:
    """Without case, punctuation and ways of spelling: `Grey-haired` -> `grey haired`."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")
    text = _NOT_WORDS.sub(" ", text)
    if language.startswith("en"):
        text = _OUR.sub(r"\1or\2", text)
        text = _ISE.sub(r"\1iz\2", text)
        text = _RE.sub(r"\1er\2", text)
    return " ".join(text.split())


def is_loop(heard: str) -> bool:
    """Whether a word is heard again and again."""
    words = heard.casefold().split()
    num_same = 1
    for before, word in pairwise(words):
        num_same = num_same + 1 if word == before else 1
        if num_same >= MAX_REPEATS:
            return True
    return False
