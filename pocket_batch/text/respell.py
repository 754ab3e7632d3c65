"""Where the entries of a lexicon match: a table of words, and regular expressions."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pocket_batch.data import Respelling
from pocket_batch.errors import UsageError

MAX_PIECE = 1_000  # characters that a regular expression sees at once
MAX_WIDE_REPEATS = 2  # such as `.*`, in one regular expression
ELIDING = ("fr", "it", "ca", "oc", "pms", "lij")  # where `l'amico` is two words

# Inside words, unseen and unheard: soft hyphen, zero-width characters, word joiner, BOM.
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200d\u2060\ufeff]")
_ALIKE = str.maketrans({**dict.fromkeys("’‘ʼ＇", "'"), **dict.fromkeys("‐‑", "-")})
_SPACE = re.compile(r"\s")  # a space that breaks no line -> a plain one
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")  # `Dr. O'Neil` -> `Dr` `.` `O` `'` `Neil`
_WORD = re.compile(r"[^\W_]+")  # `Dr. O'Neil` -> `Dr` `O` `Neil`
# `Ann's`, `Ann'll`: what an apostrophe may join to a word without making it another one
_SUFFIX = re.compile(r"'(?:s|d|ll|ve|re|m)(?![^\W_])", re.IGNORECASE)
_SHOUTED = re.compile(r"(?<![^\W\d_])[A-ZÀ-ÖØ-Þ]{2,}(?![^\W\d_])")  # `THE`, but not `I`
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
_ESCAPES = re.compile(r"\\.|\(\?P[<=]\w+[>)]", re.DOTALL)  # capitals there mean no letter


@dataclass(frozen=True, slots=True)
class Found:
    """An entry that matches from `start` to `end` of a text, and what is said there."""

    start: int
    end: int
    spoken: str
    entry: Respelling


@dataclass(frozen=True, slots=True)
class _Word:
    """A word or phrase as it is looked for: in small letters unless its case matters.

    `capitals` is how a word with one capital looks in a heading that is all in capitals.
    """

    key: str
    matches_case: bool
    capitals: str
    entry: Respelling


def prepared(text: str) -> str:
    """A text without characters that hide a word from being found; they are not heard."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


class WordEntries:
    """Words and phrases by their first word: a text is searched word by word, each looked up."""

    def __init__(self, entries: Iterable[Respelling], language: str) -> None:
        self._elides = language in ELIDING
        self._by_first: dict[str, list[_Word]] = {}
        for entry in entries:
            written = " ".join(alike(prepared(entry.written)).split())
            matches_case = _matches_case(entry, written)
            first = _TOKEN.search(_lower(written))
            if first is not None:
                key = written if matches_case else _lower(written)
                capitals = written.upper() if entry.match_case is None else ""
                word = _Word(key, matches_case, capitals * (capitals != written), entry)
                self._by_first.setdefault(first[0], []).append(word)
        for words in self._by_first.values():  # sorting keeps the order of equal ones
            words.sort(key=lambda word: (-len(word.key), not word.matches_case))
        only_words = all(first[0].isalnum() for first in self._by_first)
        self._token = _WORD if only_words else _TOKEN

    def find(self, text: str) -> Iterator[Found]:
        """The longest match at each place, in order; later ones may overlap earlier ones."""
        if not self._by_first:
            return
        exact = alike(text)
        lower = _lower(exact)
        for token in self._token.finditer(lower):
            words = self._by_first.get(token[0])
            if words is None:
                continue
            start = token.start()
            for word in words:
                end = start + len(word.key)
                if word.matches_case:
                    matches = exact.startswith(word.key, start) or (
                        exact[start:end] == word.capitals and _among_capitals(exact, start, end)
                    )
                else:
                    matches = lower.startswith(word.key, start)
                if matches and self._is_whole(exact, start, end):
                    yield Found(start, end, word.entry.spoken, word.entry)
                    break

    def _is_whole(self, text: str, start: int, end: int) -> bool:
        """Whether no part of a longer word is cut off on either side."""
        before, after = text[max(0, start - 2) : start], text[end : end + 4]
        first, last = text[start], text[end - 1]
        if _is_letter(first) or first == "'":
            if before and _is_letter(before[-1]):
                return False
            if before[-1:] == "'" and before[:-1].isalnum() and not self._elides:
                return False
            if first.isdigit() and before[-1:] in (".", ",", ":") and before[:-1].isdigit():
                return False  # `5` in `1.5`
        if _is_letter(last) or last == "'":
            if after and _is_letter(after[0]):
                return False
            if after[:1] == "'" and after[1:2].isalnum():
                return self._elides or _SUFFIX.match(text, end) is not None
            if last.isdigit() and after[:1] in (".", ",", ":") and after[1:2].isdigit():
                return False
        return True


class RegexEntries:
    """Regular expressions, each tried on the whole text."""

    def __init__(self, entries: Iterable[Respelling]) -> None:
        self._patterns = [(compiled(entry), entry) for entry in entries]
        self.is_empty = not self._patterns

    def find(self, text: str) -> Iterator[Found]:
        """All matches of all expressions; matches of different ones may overlap."""
        if self.is_empty:
            return
        exact = alike(text)
        for pattern, entry in self._patterns:
            for start, end in _pieces(exact):
                for match in pattern.finditer(exact, start, end):
                    if match.end() > match.start():
                        spoken = match.expand(entry.spoken)
                        yield Found(match.start(), match.end(), spoken, entry)


def compiled(entry: Respelling) -> re.Pattern[str]:
    """The regular expression of an entry, checked together with what is said for it.

    Raises:
        UsageError: one of them is not valid, or the expression could run forever.
    """
    matches_case = _matches_case(entry, _ESCAPES.sub("", entry.written))
    try:
        pattern = re.compile(alike(entry.written), 0 if matches_case else re.IGNORECASE)
        pattern.sub(entry.spoken, "")
    except (re.error, IndexError, OverflowError, RecursionError) as error:
        raise UsageError(
            f"The regular expression `{entry.written:.80}` with the respelling "
            f"`{entry.spoken:.80}` is not valid: {error}."
        ) from error
    tree = import_module("re._parser").parse(alike(entry.written))
    if _nests_repeats(tree, inside=False) or _num_wide_repeats(tree) > MAX_WIDE_REPEATS:
        raise UsageError(
            f"The regular expression `{entry.written:.80}` could run forever: it repeats what "
            f"itself repeats or has alternatives, or has more than {MAX_WIDE_REPEATS} of `.*`. "
            "Write it without one of the repeats."
        )
    return pattern


def alike(text: str) -> str:
    """A text of the same length with one kind of apostrophe, hyphen and space."""
    if text.isascii():
        return text
    return _SPACE.sub(" ", text.translate(_ALIKE))


def _lower(text: str) -> str:
    """A text of the same length in small letters."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)  # `İ` grows


def _matches_case(entry: Respelling, letters: str) -> bool:
    if entry.match_case is not None:
        return entry.match_case
    return any(map(str.isupper, letters))


def _among_capitals(text: str, start: int, end: int) -> bool:
    """Whether a neighbour is all in capitals too, so that they tell nothing of this word."""
    before, after = text[max(0, start - 40) : start], text[end : end + 40]
    neighbours = (*before.split(" ")[-2:], *after.split(" ")[:2])
    return any(map(_SHOUTED.search, neighbours)) or (len(text) < 100 and text.isupper())


def _is_letter(character: str) -> bool:
    """A letter, a digit, or a mark that belongs to the letter before it."""
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Places of pieces of at most `MAX_PIECE` characters, cut at spaces where there are any."""
    start = 0
    while start < len(text):
        end = start + MAX_PIECE
        if end < len(text):
            space = text.rfind(" ", start, end)
            end = space + 1 if space > start else end
        yield start, min(end, len(text))
        start = end


def _nests_repeats(tree: Any, inside: bool) -> bool:
    """Whether a repeat holds another one or alternatives: `(a+)+` tries every way to share."""
    for kind, value in tree:
        varies = str(kind) in _REPEATS and value[1] > max(1, value[0])
        if inside and (varies or str(kind) == "BRANCH"):
            return True
        if any(_nests_repeats(part, inside or varies) for part in _parts(value)):
            return True
    return False


def _num_wide_repeats(tree: Any) -> int:
    """How many repeats run over anything, such as `.*` and `[^x]+`."""
    count = 0
    for kind, value in tree:
        parts = list(_parts(value))
        if str(kind) in _REPEATS and value[1] > MAX_PIECE:
            count += any(_is_wide(node) for part in parts for node in part)
        count += sum(_num_wide_repeats(part) for part in parts)
    return count


def _is_wide(node: Any) -> bool:
    kind, value = node
    negated = str(kind) == "IN" and str(value[0][0]) == "NEGATE"
    return negated or str(kind) in ("ANY", "NOT_LITERAL")


def _parts(value: Any) -> Iterator[Any]:
    """The parsed expressions inside a node of the parser of `re`."""
    if type(value).__name__ == "SubPattern":
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _parts(part)
