"""Which stretch of a written text was spoken in which utterance.

Spoken form differs from what is written ("1865" is "eighteen sixty-five"), and what is written may
hold text that nobody speaks. The words that both share are found first; what lies between them
follows from its neighbours.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

Range = tuple[int, int]

# Scripts without spaces are compared by the character: "日本" -> 日, 本; "don't" is one word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u00ad\u200b-\u200d\u2060"
_WORD = re.compile(
    rf"[{_UNSPACED}][{_MARKS}]*|(?:(?![{_UNSPACED}])[^\W_][{_MARKS}]*)+"
    rf"(?:['’](?:(?![{_UNSPACED}])[^\W_][{_MARKS}]*)+)*"
)
_SENTENCE_END = re.compile(r"[.!?…。！？;:]|\n")
_OPENING = frozenset("([{«‹“‘„‚¿¡「『（〈《【—–")
# French sets spaces: "Là ? « Oui »" -> " ?", "« ", " »"
_CLOSES_APART = re.compile(r"(?:[\s\u202f][?!;:»…]+(?!\w))+")
_OPENS_APART = re.compile(r"(?<!\S)[«—–][\s\u202f]\Z")
_ANCHOR_WORDS = (8, 4, 2, 1)  # lengths of the unique stretches that are looked for
_MAX_UNLIKE = 60  # words in a row that nothing is alike in: they are of another text
_MAX_CELLS = 60_000  # of a comparison word by word


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: its place, and its letters without case and marks."""

    begin: int
    end: int
    key: str


def words_of(text: str) -> list[Word]:
    """The words of a text; in scripts without spaces each character is one."""
    found = (Word(m.start(), m.end(), _key(m[0])) for m in _WORD.finditer(text))
    return [word for word in found if word.key]


def _key(word: str) -> str:
    if word.isascii():
        return word.replace("'", "").lower()
    plain = unicodedata.normalize("NFKD", word).casefold()
    letters = "".join(c for c in plain if c.isalnum())
    return letters or unicodedata.normalize("NFKC", word)


def match(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of indices of equal items in both, in order.

    Stretches that are unique in both are anchors; between them the same is done again with shorter
    ones, then item by item. Time grows with the length, not with its square.
    """
    pairs: list[tuple[int, int]] = []
    waiting = [(0, len(one), 0, len(other))]
    while waiting:
        a, b, c, d = waiting.pop()
        while a < b and c < d and one[a] == other[c]:
            pairs.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and one[b - 1] == other[d - 1]:
            b, d = b - 1, d - 1
            pairs.append((b, d))
        if a == b or c == d:
            continue
        if (b - a) * (d - c) <= _MAX_CELLS:
            matcher = SequenceMatcher(None, one[a:b], other[c:d], autojunk=False)
            for block in matcher.get_matching_blocks():
                pairs += [(a + block.a + i, c + block.b + i) for i in range(block.size)]
            continue
        waiting += _between(_anchors(one, other, (a, b, c, d)), (a, b, c, d))
    return sorted(pairs)


Square = tuple[int, int, int, int]  # items a up to b of one, c up to d of the other


def _anchors(one: Sequence[str], other: Sequence[str], square: Square) -> list[tuple[int, int]]:
    """Where the longest kind of unique stretch begins in both; increasing in both."""
    a, b, c, d = square
    for length in _ANCHOR_WORDS:
        left, right = _unique(one, a, b, length), _unique(other, c, d, length)
        shared = sorted((i, right[key]) for key, i in left.items() if key in right)
        if shared:
            return _increasing(shared)
    return []


def _unique(items: Sequence[str], begin: int, end: int, length: int) -> dict[tuple[str, ...], int]:
    keys = [tuple(items[i : i + length]) for i in range(begin, end - length + 1)]
    counts = Counter(keys)
    return {key: begin + i for i, key in enumerate(keys) if counts[key] == 1}


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs that increases in both members."""
    tails: list[int] = []
    last: list[int] = []  # the pair at the end of the best run of each length
    before: list[int] = []
    for index, (_, value) in enumerate(pairs):
        place = bisect_left(tails, value)
        before.append(last[place - 1] if place else -1)
        if place == len(tails):
            tails.append(value)
            last.append(index)
        else:
            tails[place], last[place] = value, index
    run = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _between(anchors: Sequence[tuple[int, int]], square: Square) -> Iterator[Square]:
    """The squares that anchors cut a square into; each begins at an anchor but the first."""
    a, b, c, d = square
    if not anchors:
        return  # nothing in common that could be told apart
    for i, j in anchors:
        if (i, j) != (a, c):
            yield a, i, c, j
        a, c = i, j
    yield a, b, c, d


def owners(
    written: str, words: Sequence[Word], spoken: Sequence[str], max_extra: int | None = None
) -> list[int]:
    """For each word of a written text the index of the utterance that speaks it, -1 for none.

    Args:
        written: the text.
        words: those of it.
        spoken: the texts of the utterances in order, in spoken form.
        max_extra: a longer run of words that nothing spoken stands for is not spoken; None if all
            of the text is.

    Returns:
        Indices that never decrease, but for -1.
    """
    said = [(word.key, number) for number, text in enumerate(spoken) for word in words_of(text)]
    pairs = match([word.key for word in words], [key for key, _ in said])
    found = [-1] * len(words)
    ends = [(-1, -1), *pairs, (len(words), len(said))]
    for (i, j), (next_i, next_j) in pairwise(ends):
        if i >= 0:
            found[i] = said[j][1]
        gap = [number for _, number in said[j + 1 : next_j]]
        num_unmatched = len(gap)
        is_inside = j >= 0 and next_j < len(said) and said[j][1] == said[next_j][1]
        if is_inside and not gap:
            gap = [said[j][1]]
        is_extra = max_extra is not None and next_i - i - 1 > max_extra + 4 * num_unmatched
        is_other = min(num_unmatched, next_i - i - 1) > _MAX_UNLIKE
        if gap and not is_extra and not is_other:
            found[i + 1 : next_i] = _shared_out(written, words[max(i, 0) : next_i], i >= 0, gap)
    return found


def _shared_out(written: str, words: Sequence[Word], has_left: bool, gap: list[int]) -> list[int]:
    """Give unmatched written words to the utterances of the unmatched spoken ones, in order.

    Args:
        words: the unmatched ones, after the one before them when there is one.
        gap: the utterance of each unmatched spoken word.
    """
    num = len(words) - has_left
    if not num or gap[0] == gap[-1]:
        return [gap[0]] * num
    shares = [gap[(2 * k + 1) * len(gap) // (2 * num)] for k in range(num)]
    ends = [
        k
        for k in range(num + 1)
        if 0 < k + has_left < len(words)
        and _SENTENCE_END.search(written, words[k + has_left - 1].end, words[k + has_left].begin)
    ]
    if not ends:
        return shares
    numbers = sorted(set(gap))
    found: list[int] = []
    for number in numbers[:-1]:
        wanted = sum(share <= number for share in shares)
        end = min(ends, key=lambda k: abs(k - wanted))
        found += [number] * (end - len(found))
    return found + [numbers[-1]] * (num - len(found))


def ranges(written: str, words: Sequence[Word], owner: Sequence[int]) -> list[tuple[int, Range]]:
    """The stretches of a text that belong together: utterance and place, marks around included.

    Args:
        owner: see `owners`.

    Returns:
        In the order of the text; an utterance has several when another's words lie between.
    """
    found: list[tuple[int, Range]] = []
    limit = 0
    index = 0
    while index < len(words):
        end = index
        while end + 1 < len(words) and owner[end + 1] == owner[index]:
            end += 1
        after = words[end + 1].begin if end + 1 < len(words) else len(written)
        if owner[index] >= 0:
            begin = _before(written, words[index].begin, limit)
            limit = _after(written, words[end].end, after)
            found.append((owner[index], (begin, limit)))
        else:
            limit = words[end].end
        index = end + 1
    return found


def _before(text: str, begin: int, limit: int) -> int:
    """The start of the marks that stand right before a word."""
    while begin > limit and not text[begin - 1].isspace():
        begin -= 1
    apart = _OPENS_APART.search(text, max(limit, begin - 2), begin)
    return apart.start() if apart else begin


def _after(text: str, end: int, limit: int) -> int:
    """The end of the marks that stand right after a word; an opening one is the next word's."""
    while end < limit and not text[end].isspace():
        rest = text[end:limit]
        if text[end] in _OPENING and not any(c.isspace() for c in rest):
            break
        end += 1
    apart = _CLOSES_APART.match(text, end, limit)
    return apart.end() if apart else end
