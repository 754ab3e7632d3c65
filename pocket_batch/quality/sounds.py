"""How words sound, and how far what was heard sounds from what was said."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import accumulate, islice, pairwise, product

MAX_READINGS = 24  # of a stretch of words, when several of them can be read in several ways
MAX_SPELLED = 3  # letters of a word that may be meant letter by letter: `UC`
MAX_ONE_WORD = 24  # letters of a stretch that may be meant as one word: `y all`
MAX_VARIED = 8  # words of a stretch that may be read in several ways; more are read in one
MIN_WORD = 3  # phones that a word has at least, when it is missed
MAX_SHARE = 0.65  # of the phones of a stretch, when a word of it is missing
LETTERS = {
    **dict(zip("abcdefghijklm", "A bi si di i ɛf ʤi Aʧ I ʤA kA ɛl ɛm".split(), strict=True)),
    **dict(
        zip("nopqrstuvwxyz", "ɛn O pi kju ɑɹ ɛs ti ju vi dʌbəlju ɛks wI zi".split(), strict=True)
    ),
}
_SAME_PHONES = str.maketrans({"ᵊ": "ə", "ɐ": "ə", "ᵻ": "ɪ", "ɾ": "t", "ɜ": "ə", "ɚ": "ə", "ʔ": "t"})
_NO_PHONES = "ˈˌː "
_VOWELS = "əʌɪɛæɑɔuʊiAIOWYQeoa"
# Phones that one is easily heard for the other; each pair costs `NEAR`.
_NEAR = """ə:ʌ ɪ ɛ æ ɑ ɔ u ʊ i O|ʌ:ɑ ɔ ʊ æ O|ɪ:i ɛ|ɛ:æ A|ɑ:ɔ æ|u:ʊ|O:ɔ|i:A|I:ɑ|W:æ O|
b:p v|d:t ð|ɡ:k|v:f w|z:s ʒ|ʒ:ʃ ʤ|ʤ:ʧ d|ð:θ v|θ:f t s|ʃ:s ʧ|ʧ:t|m:n|n:ŋ|ɹ:w l|w:l"""
NEAR, VOWELS, OTHER = 0.35, 0.7, 1.0  # the cost of one phone for another
WEAK, GONE = 0.5, 1.0  # of a phone that was not heard, or was heard beside; `h` and schwa are weak


@dataclass(frozen=True, slots=True)
class SoundMatch:
    """How a stretch that was said sounds beside one that was heard.

    `similarity`: 1 if they sound the same, 0 if nothing does. `num_said`, `num_heard`: phones.
    `lost`: of each word said, the share that nothing was heard of; `added`: of each word heard, the
    share that nothing was said of. `has_end`: their last phones are nearly the same.
    """

    similarity: float
    num_said: int
    num_heard: int
    lost: tuple[float, ...]
    added: tuple[float, ...]
    has_end: bool

    @property
    def is_shorter(self) -> bool:
        """Whether less was heard than said, by a word."""
        return _is_less(self.num_heard, self.num_said)

    @property
    def is_longer(self) -> bool:
        """Whether more was heard than said, by a word."""
        return _is_less(self.num_said, self.num_heard)


def _is_less(few: int, many: int) -> bool:
    return many - few >= MIN_WORD and few <= MAX_SHARE * many


def compare(said: Sequence[str], heard: Sequence[str], language: str) -> SoundMatch:
    """Compare the sound of two stretches of words, wherever a listener put the spaces.

    Args:
        said, heard: as `comparable` writes them: letters, lower case; at least one each.
        language: its primary subtag; other languages than English are compared by letters.
    """
    return _compare(tuple(said), tuple(heard), language == "en")


@lru_cache(maxsize=5_000)
def _compare(said: tuple[str, ...], heard: tuple[str, ...], is_english: bool) -> SoundMatch:
    options = product(_readings(said, is_english), _readings(heard, is_english))
    matches = (_match(ours, theirs) for ours, theirs in islice(options, MAX_READINGS))
    return max(matches, key=lambda match: match.similarity)


def _readings(words: tuple[str, ...], is_english: bool) -> list[tuple[str, ...]]:
    """The phones of each word, in every way that the words may be read; the likeliest first."""
    if not is_english:
        return [tuple(_plain(word) for word in words)]
    first = tuple(pronunciations(word)[0] for word in words)
    if len(words) > MAX_VARIED:
        return [first]
    found = {first: 0}
    whole = "".join(words)
    if len(words) > 1 and len(whole) <= MAX_ONE_WORD:
        found[_cut(pronunciations(whole)[0], words)] = 0
    for reading in islice(product(*map(pronunciations, words)), MAX_READINGS // 4):
        found[reading] = 0
    return list(found)


def _cut(phones: str, words: Sequence[str]) -> tuple[str, ...]:
    """The phones of one word, shared out over its parts by their letters."""
    ends = list(accumulate(map(len, words), initial=0))
    places = [round(end * len(phones) / ends[-1]) for end in ends]
    return tuple(phones[begin:end] for begin, end in pairwise(places))


@lru_cache(maxsize=20_000)
def pronunciations(word: str) -> tuple[str, ...]:
    """The phones of an English word, one letter each, in every way that it may be read."""
    plain = _plain(word)
    found = {}
    for form in _forms(plain):
        for read in _readers():
            phones = read(form)
            if phones:
                found[_phones(phones)] = 0
                break
    if len(plain) <= MAX_SPELLED and plain.isascii() and plain.isalpha():
        found["".join(LETTERS[letter] for letter in plain)] = 0
    return tuple(found) or (plain,)


def _forms(word: str) -> Iterator[str]:
    """A word as it may be written: `youll` -> `you'll`; it is compared without apostrophes."""
    from pocket_batch.quality.same_words import contractions

    yield from contractions().get(word, ())
    yield word


@lru_cache(maxsize=1)
def _readers() -> tuple[Callable[[str], str | None], ...]:
    """A dictionary, and a guess by the letters; without the package, the letters are the sound."""
    if find_spec("hibari") is None:
        return (lambda word: word,)
    from hibari.g2p import G2P

    g2p = G2P()
    lexicon, guess = g2p.lexicon, g2p.oov

    def look_up(word: str) -> str | None:
        phones: str | None = lexicon.get_word(word, "DT", None, _NoContext)[0]
        return phones

    return look_up, guess


class _NoContext:
    """What follows the word, for a dictionary that reads some words by it."""

    future_vowel = None
    future_to = False


def _phones(phones: str) -> str:
    return "".join(c for c in phones.translate(_SAME_PHONES) if c not in _NO_PHONES)


def _plain(word: str) -> str:
    """`café` -> `cafe`."""
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _match(said: Sequence[str], heard: Sequence[str]) -> SoundMatch:
    ours, theirs = "".join(said), "".join(heard)
    cost, is_lost, is_added = _edits(ours, theirs)
    longest = max(len(ours), len(theirs), 1)
    return SoundMatch(
        1 - cost / longest,
        len(ours),
        len(theirs),
        _shares(said, is_lost),
        _shares(heard, is_added),
        _swap(ours[-1:], theirs[-1:]) <= NEAR,
    )


def _shares(words: Sequence[str], marks: Sequence[bool]) -> tuple[float, ...]:
    """Of each word, the share of its phones that are marked."""
    ends = accumulate(map(len, words), initial=0)
    return tuple(sum(marks[i:j]) / max(1, j - i) for i, j in pairwise(ends))


def _edits(said: str, heard: str) -> tuple[float, list[bool], list[bool]]:
    """The cheapest way from phones to phones: its cost, and which have nothing beside them."""
    rows = [list(accumulate((_gap(phone) for phone in heard), initial=0.0))]
    for phone in said:
        above = rows[-1]
        row = [above[0] + _gap(phone)]
        for j, other in enumerate(heard):
            beside = above[j] + _swap(phone, other)
            row.append(min(beside, above[j + 1] + _gap(phone), row[j] + _gap(other)))
        rows.append(row)
    is_lost, is_added = [False] * len(said), [False] * len(heard)
    i, j = len(said), len(heard)
    while i or j:
        if i and j and rows[i][j] == rows[i - 1][j - 1] + _swap(said[i - 1], heard[j - 1]):
            i, j = i - 1, j - 1
        elif i and rows[i][j] == rows[i - 1][j] + _gap(said[i - 1]):
            i -= 1
            is_lost[i] = True
        else:
            j -= 1
            is_added[j] = True
    return rows[-1][-1], is_lost, is_added


def _gap(phone: str) -> float:
    return WEAK if phone in "əh" else GONE


@lru_cache(maxsize=10_000)
def _swap(phone: str, other: str) -> float:
    if phone == other:
        return 0.0
    if frozenset((phone, other)) in _near():
        return NEAR
    return VOWELS if phone in _VOWELS and other in _VOWELS else OTHER


@lru_cache(maxsize=1)
def _near() -> frozenset[frozenset[str]]:
    groups = (group.strip().split(":") for group in _NEAR.split("|"))
    return frozenset(frozenset((one, other)) for one, others in groups for other in others.split())
