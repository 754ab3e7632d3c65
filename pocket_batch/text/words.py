"""Names and rare words of a book, to start a lexicon from."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pocket_batch.bcp47 import primary
from pocket_batch.data import Block
from pocket_batch.text.respell import ELIDING, alike, prepared

MIN_NAME_SHARE = 2 / 3  # of its uses inside sentences that have a capital
MIN_RARE_LETTERS = 6
MIN_WORDS_FOR_RARE = 50_000  # in a short text most words stand once

# No part of `1st` and `MP3` is a word.
_WORD = re.compile(r"(?<![^\W_])[^\W\d_]++(?!\d)(?:'[^\W\d_]++(?!\d))*")
_PART = re.compile(r"(?<![^\W_])[^\W\d_]++(?!\d)")  # `l'amico` is two words
_SUFFIX = re.compile(r"'(?:s|d|ll|ve|re|m)$", re.IGNORECASE)  # `Dinah'll` -> `Dinah`
# Around the next word: `so. `, `said, "`, `(` -> it begins a sentence
_STARTS = re.compile(r"(?:^|[.!?…:;]|[\"“„«‘(\[—–])[\"'“‘«„”’(\[\s¿¡—-]*$")
# `Mrs. `, `J. `, `St. `: a stop that ends no sentence
_NO_END = re.compile(r"(?:\b(?:[A-Z]|[A-Z][a-z]{1,4}|Messrs|Capt|Prof|[Mm]lle)\.\s+)$")
_NUMERAL = re.compile(r"[IVXLCDM]+")
# `couldn't`, `they'd've`: what follows a word that is known
_CONTRACTION = re.compile(r"(?:n't|'(?:s|d|ll|ve|re|m|em|tis|twas))+$")
# Before a noun that is no name, in a language that writes all nouns with a capital.
_GERMAN_ARTICLES = frozenset(
    "der die das den dem des ein eine einen einem einer eines kein keine keinen keiner mein meine "
    "meinen meiner sein seine seinen seiner ihr ihre ihren ihrer unser unsere euer eure dieser "
    "diese dieses diesen diesem jeder jede jedes jeden im am zum zur vom beim ins ans aufs "
    "durchs fürs viel viele alle allen aller manche einige zwei drei vier".split()
)
_CONTEXT = 12  # characters before a word that tell whether it begins a sentence


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word that a voice may have to guess: how it is written, how often, and where first."""

    written: str
    count: int
    where: str
    is_name: bool


@dataclass(slots=True)
class _Uses:
    """How one word is used: its forms, its places in sentences, and where it came first.

    Capitals at the start of a sentence tell nothing, unless the word never goes without.
    """

    where: str
    forms: Counter[str] = field(default_factory=Counter)
    num_capital: int = 0  # inside a sentence
    num_small: int = 0
    num_after_article: int = 0

    @property
    def is_name(self) -> bool:
        inside = self.num_capital + self.num_small
        if not inside:
            return not all(form.isupper() for form in self.forms)
        return self.num_capital > 0 and self.num_capital >= MIN_NAME_SHARE * inside

    @property
    def written(self) -> str:
        """The form for a lexicon: with a capital it will match only so."""
        if self.is_name or all(form.isupper() for form in self.forms):
            names = [form for form in self.forms if form[0].isupper()]
            usual = [form for form in names if not form.isupper()] or names
            return max(usual, key=lambda form: self.forms[form])
        return min(self.forms, key=lambda form: (not form[0].islower(), form)).lower()


def unknown_words(
    blocks: Iterable[Block], language: str, is_known: Callable[[str], bool] | None
) -> list[UnknownWord]:
    """The words that a voice may have to guess, most frequent first.

    Args:
        blocks: written text; those in another language are left out.
        language: BCP 47 tag of the book.
        is_known: whether a word is in a dictionary. Without one, names are the words that have a
            capital inside sentences in at least two thirds of their uses, and rare words those
            that a long book has once, without a relative that begins alike.

    Returns:
        Each word once, however it is inflected by a possessive or capitals.
    """
    code = primary(language)
    uses = _count(blocks, code)
    if is_known is None:
        found = [key for key, word in uses.items() if _is_likely_name(word, code)]
        found += _rare(uses)
    else:
        found = [key for key, word in uses.items() if not _is_known(key, word, is_known)]
    words = [
        UnknownWord(word.written, word.forms.total(), word.where, word.is_name)
        for word in map(uses.__getitem__, found)
        if not _NUMERAL.fullmatch(word.written)
    ]
    return sorted(words, key=lambda word: -word.count)  # equal ones stay in reading order


def _count(blocks: Iterable[Block], code: str) -> dict[str, _Uses]:
    """All words by their small letters, in reading order."""
    pattern = _PART if code in ELIDING else _WORD
    uses: dict[str, _Uses] = {}
    for block in blocks:
        if block.language and primary(block.language) != code:
            continue
        text = alike(prepared(block.text))
        before = ""
        for match in pattern.finditer(text):
            form = _SUFFIX.sub("", match[0])
            key = form.lower()
            if key == form.upper():
                continue  # a script without capitals has no names to be seen
            word = uses.get(key)
            if word is None:
                word = uses[key] = _Uses(block.where)
            word.forms[form] += 1
            if form[0].islower():
                word.num_small += 1
            elif not form.isupper() and not _begins_sentence(text, match.start()):
                word.num_capital += 1
                word.num_after_article += before in _GERMAN_ARTICLES
            before = key
    return {key: word for key, word in uses.items() if len(key) > 1}


def _begins_sentence(text: str, place: int) -> bool:
    before = text[max(0, place - _CONTEXT) : place]
    return bool(_STARTS.search(before)) and not _NO_END.search(before)


def _is_known(key: str, word: _Uses, is_known: Callable[[str], bool]) -> bool:
    """Whether a dictionary has the word in any form in which the book writes it."""
    if is_known(key) or any(is_known(form) for form in word.forms if not form.isupper()):
        return True
    if all(form.isupper() for form in word.forms) and is_known(key.upper()):
        return True
    stem = _CONTRACTION.sub("", key)
    return stem != key and is_known(stem)


def _is_likely_name(word: _Uses, code: str) -> bool:
    if not word.is_name or not word.num_capital:
        return False
    return code != "de" or word.num_after_article * 3 < word.num_capital


def _rare(uses: dict[str, _Uses]) -> list[str]:
    """Words seen once whose beginning no other word of the book shares."""

    def beginning(key: str) -> str:
        return unicodedata.normalize("NFD", key)[: max(4, len(key) - 3)]

    if sum(word.forms.total() for word in uses.values()) < MIN_WORDS_FOR_RARE:
        return []
    beginnings = Counter(map(beginning, uses))
    return [
        key
        for key, word in uses.items()
        if len(key) >= MIN_RARE_LETTERS
        and word.forms.total() == 1
        and not word.is_name
        and beginnings[beginning(key)] == 1
    ]
