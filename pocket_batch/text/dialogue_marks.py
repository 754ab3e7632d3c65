"""Where quoted text begins and ends, by the marks of a book and the letters around them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

MAX_INNER_MARKS = 12  # that are looked at for the end of a quotation
DOUBLE = '“„"«»”'
SINGLE = "‘‚'‹›’"
# What closes each opening mark. A German line ends with the mark that begins an English one.
_CLOSERS = {
    "“": "”", "„": "“”", '"': '"', "«": "»", "»": "«", "”": "”",
    "‘": "’", "‚": "‘’", "'": "'", "‹": "›", "›": "‹",
}  # fmt: skip
_BEFORE_OPENING = re.compile(r"[\s(\[{—–―/\-\"'“‘„‚«»‹›]")
# `'tis` and `'em` leave letters out, and quote nothing
_ELISION = re.compile(r"['’‘](?:tis|twas|twere|em|bout|cause|til|till|neath|n)\b", re.IGNORECASE)
_APOSTROPHES = "’'"
_ENDS_SPEECH = '.,!?…—–;:”"'

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class QuoteStyle:
    """The marks that a book puts around speech: each opening mark. What is inside is nested."""

    openers: str

    def begins(self, text: str) -> bool:
        """Whether a text begins with an opening mark."""
        return bool(text) and text[0] in self.openers

    def has_mark(self, text: str) -> bool:
        """Whether a text has any mark of this kind."""
        return any(mark in text for opener in self.openers for mark in opener + _CLOSERS[opener])

    @property
    def is_clear(self) -> bool:
        """Whether a mark is never an apostrophe."""
        return "’" not in self.openers and "'" not in self.openers


def quote_style(texts: Iterable[str], language: str) -> QuoteStyle:
    """Tell which marks a book uses: the kind, double or single, that opens more often.

    Args:
        texts: its paragraphs as written.
        language: primary BCP 47 tag: only German turns the points of guillemets inward.
    """
    num_double = num_single = points_in = points_out = 0
    for text in texts:
        for place in _marks(text, DOUBLE + SINGLE):
            mark = text[place]
            if not _may_open(text, place):
                continue
            num_double += mark in DOUBLE
            num_single += mark in SINGLE
            points_in += mark in "»›"
            points_out += mark in "«‹"
    inward = language == "de" and points_in > points_out
    is_single = num_single > num_double
    curly = "‘‚'" if is_single else '“„"'
    angled = ("›" if inward else "‹") if is_single else ("»" if inward else "«")
    return QuoteStyle(curly + angled)


def quoted_spans(text: str, style: QuoteStyle, is_open: bool = False) -> tuple[list[Span], bool]:
    """Find the quoted parts of a paragraph, their marks included.

    Args:
        text: as written.
        is_open: the text begins inside a quotation.

    Returns:
        Start and end of each, in order; and whether the last one is still open at the end of the
        text, as when the next paragraph goes on with it.
    """
    spans: list[Span] = []
    start = 0
    if is_open:
        close = first_closing(text, style)
        if close is None:
            return [(0, len(text))], True
        spans.append((0, close + 1))
        start = close + 1
    while (begin := _next_opening(text, start, style)) is not None:
        close = _closing(text, begin, text[begin], style)
        if close is not None:
            spans.append((begin, close + 1))
            start = close + 1
        elif _next_opening(text, begin + 1, style) is None:
            return [*spans, (begin, len(text))], True
        else:
            start = begin + 1  # its end is missing, and nobody knows where it should be
    return spans, False


def first_closing(text: str, style: QuoteStyle) -> int | None:
    """The place of the mark that ends a quotation which began before this text.

    None when there is no mark, or the first one begins another quotation.
    """
    closers = "".join(_CLOSERS[opener] for opener in style.openers)
    if "’" in closers:
        return _closing_apostrophe(text, -1, closers, style)
    for place in islice(_marks(text, closers + style.openers), MAX_INNER_MARKS):
        if text[place] in style.openers and _may_open(text, place):
            return None
        if text[place] in closers:
            return place
    return None


def _marks(text: str, wanted: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """The places of some marks between two places, in order."""
    found = _expression(wanted).finditer(text, start, len(text) if end is None else end)
    return (match.start() for match in found)


@lru_cache(maxsize=32)
def _expression(marks: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(marks)}]")


def _next_opening(text: str, start: int, style: QuoteStyle) -> int | None:
    return next((i for i in _marks(text, style.openers, start) if _may_open(text, i)), None)


def _may_open(text: str, index: int) -> bool:
    """Whether a mark stands where a quotation can begin: `said "No`, and not `6" tall`."""
    if index and not _BEFORE_OPENING.match(text[index - 1]):
        return False
    following = text[index + 1 : index + 3]
    if not following.strip():
        return False
    if text[index] in "«»‹›":
        return index == 0 or text[index - 1] in " \u00a0\u202f—–(["  # French has a space inside
    if text[index] in SINGLE and _ELISION.match(text, index) and following[0].islower():
        return False
    return not following[0].isspace()


def _closing(text: str, begin: int, opener: str, style: QuoteStyle) -> int | None:
    """The place of the mark that closes the one at `begin`, or None."""
    closers = _CLOSERS[opener]
    if any(mark in _APOSTROPHES for mark in closers):
        return _closing_apostrophe(text, begin, closers, style)
    depth = 0
    for place in islice(_marks(text, closers + opener, begin + 1), MAX_INNER_MARKS):
        mark = text[place]
        if mark == opener and mark not in closers and _may_open(text, place):
            depth += 1
        elif mark in closers and not _stands_free(text, place, mark):
            if not depth:
                return place
            depth -= 1
    return None


def _stands_free(text: str, place: int, mark: str) -> bool:
    """Whether a mark opens rather than closes: space before it, and a letter after it."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    return mark in '"“”' and before.isspace() and after.isalnum()


def _closing_apostrophe(text: str, begin: int, closers: str, style: QuoteStyle) -> int | None:
    """The closing single mark, told apart from apostrophes (`don’t`, `the boys’ room`).

    Speech ends with a stop or a comma: the first mark after one closes. Without such a mark it is
    the first at the end of a word. The next opening mark is the limit.
    """
    candidate: int | None = None
    limit = _next_opening(text, begin + 1, style)
    for place in _marks(text, closers, begin + 1, limit):
        before, after = text[place - 1 : place], text[place + 1 : place + 2]
        if after.isalnum() or before.isspace() or not before:
            continue
        if before in _ENDS_SPEECH:
            return place
        candidate = place if candidate is None else candidate
    return candidate
