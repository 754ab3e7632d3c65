"""What was said beside what was heard: which words are missing, added, repeated or swapped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pocket_batch.bcp47 import primary
from pocket_batch.quality.number_words import digits, is_number_word
from pocket_batch.quality.same_words import UNLIKE, are_joined, difference
from pocket_batch.quality.sounds import compare
from pocket_batch.quality.stretches import Step, by_sound
from pocket_batch.quality.word_places import Span, Word, time_of, words_of

LOST = 0.75  # the cost of a word that is missing or inserted; of an unlike one it is 1
SWAPPED = 0.9
JOINED = 0.05  # so that words are rather equal one by one
MOVES = ((1, 1), (1, 0), (0, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2))  # words said, heard
WRITTEN = ("point", "minus")  # what numbers are written with: `3.16`, `5-6`
SHORTENED = frozenset("s m t d re ve ll all em clock".split())  # after an apostrophe
MAX_PHRASE = 6  # words that may be said twice in a row


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word as the ASR model writes it, with its time from the beginning of the utterance."""

    text: str
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class WordTime:
    """When a word of the text, as it stands there, is heard.

    The time of a word that was not heard lies between its neighbours.
    """

    word: str
    begin_s: float
    end_s: float
    is_heard: bool = True


@dataclass(frozen=True, slots=True)
class Alignment:
    """How what was heard differs from the text.

    `wer` and `cer` are shares of `num_words` and of the letters; words that sound alike are equal.
    `missing` and `swapped` hold words of the text, `inserted` and `repeated` words that were heard,
    `unlike` pairs of a word of the text and what was heard instead. `is_truncated`: the last words
    of the text are missing. `word_times` has one item for each of `text.split()`.
    """

    wer: float
    cer: float
    num_edits: int
    num_words: int
    missing: tuple[str, ...] = ()
    inserted: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    swapped: tuple[str, ...] = ()
    unlike: tuple[tuple[str, str], ...] = ()
    is_truncated: bool = False
    word_times: tuple[WordTime, ...] = ()


def align(text: str, heard: Sequence[HeardWord], language: str) -> Alignment:
    """Compare a text with the words heard of it.

    Args:
        text: in spoken form.
        heard: in order; the times may all be 0 if nobody wants `word_times`.
        language: a BCP 47 tag.
    """
    code = primary(language)
    tokens = text.split()
    heard = whole_words(heard)
    said = words_of(tokens, language)
    got = words_of([word.text for word in heard], language)
    steps = _with_numbers(_steps(said, got, code), code)
    steps = by_sound(_with_repeats(steps, code), code)
    times = [(word.begin_s, word.end_s) for word in heard]
    return _summary(said, steps, code, _word_times(tokens, steps, times))


def whole_words(heard: Sequence[HeardWord]) -> list[HeardWord]:
    """Words as they are read, of the pieces that a listener writes: `1 ,250` -> `1,250`."""
    result: list[HeardWord] = []
    for word in heard:
        if result and _goes_on(result[-1].text, word.text):
            before = result.pop()
            word = HeardWord(before.text + word.text, before.begin_s, word.end_s)
        result.append(word)
    return result


def _goes_on(before: str, text: str) -> bool:
    """Whether a piece goes on with the word before it; `-20` may be a number of its own."""
    if len(text) < 2 or not text[1].isalnum():
        return text == "%"
    rest = text[1:].casefold()
    if text[0] in "'’":
        return rest.rstrip(".,;:?!") in SHORTENED
    if text[0] == "-":
        return rest[0].isalpha() or before[-1:].isdigit()
    return text[0] in ".:/" or (text[0] == "," and rest[0].isdigit())


def _steps(said: Sequence[Word], heard: Sequence[Word], code: str) -> list[Step]:
    """The cheapest way from what was said to what was heard."""
    costs = {(0, 0): 0.0}
    moves: dict[tuple[int, int], tuple[int, int, str]] = {}
    for i in range(len(said) + 1):
        for j in range(len(heard) + 1):
            options = [
                (costs[i - a, j - b] + cost, (a, b, kind))
                for a, b in MOVES
                if a <= i and b <= j
                for cost, kind in (_cost(said[i - a : i], heard[j - b : j], code),)
                if cost < float("inf")
            ]
            if options:
                costs[i, j], moves[i, j] = min(options, key=lambda option: option[0])
    i, j = len(said), len(heard)
    steps: list[Step] = []
    while i or j:
        a, b, kind = moves[i, j]
        steps.append(Step(tuple(said[i - a : i]), tuple(heard[j - b : j]), kind))
        i, j = i - a, j - b
    return steps[::-1]


def _cost(said: Sequence[Word], heard: Sequence[Word], code: str) -> tuple[float, str]:
    if not said or not heard:
        return LOST, "missing" if said else "inserted"
    ours, theirs = [word.text for word in said], [word.text for word in heard]
    if len(said) == len(heard) == 2:
        return (SWAPPED if _are_swapped(ours, theirs, code) else float("inf")), "swapped"
    if len(said) == len(heard) == 1:
        cost = difference(ours[0], theirs[0], code)
        if cost and code == "en" and is_number_word(ours[0]) and is_number_word(theirs[0]):
            cost = UNLIKE  # `fifteen` is not `fifty`, however alike they sound
        return cost, "same" if cost < UNLIKE else "unlike"
    return (JOINED if are_joined(ours, theirs, code) else float("inf")), "same"


def _are_swapped(ours: list[str], theirs: list[str], code: str) -> bool:
    """Two words in the other order, spelt as they sound."""
    pairs = zip(ours, theirs[::-1], strict=True)
    is_other = (
        UNLIKE == difference(ours[0], ours[1], code) == difference(theirs[0], theirs[1], code)
    )
    return is_other and all(difference(word, other, code) < UNLIKE for word, other in pairs)


def _with_numbers(steps: Sequence[Step], code: str) -> list[Step]:
    """The same numbers in other words are the same: `fifteen hundred`."""
    if code != "en":
        return list(steps)
    result: list[Step] = []
    for is_number, run in _runs(steps):
        said = tuple(chain.from_iterable(step.said for step in run))
        heard = tuple(chain.from_iterable(step.heard for step in run))
        ours, theirs = (digits([word.text for word in words]) for words in (said, heard))
        is_same = is_number and ours and ours == theirs
        is_wrong = any(step.kind != "same" for step in run)
        result += [Step(said, heard, "same")] if is_same and is_wrong else run
    return result


def _runs(steps: Sequence[Step]) -> Iterator[tuple[bool, list[Step]]]:
    """Steps grouped by whether all their words are parts of numbers."""
    run: list[Step] = []
    was_number = False
    for step in steps:
        is_number = all(is_number_word(word.text) for word in step.said) and all(
            is_number_word(word.text) or word.text in WRITTEN for word in step.heard
        )
        if run and is_number != was_number:
            yield was_number, run
            run = []
        run.append(step)
        was_number = is_number
    if run:
        yield was_number, run


def _with_repeats(steps: Sequence[Step], code: str) -> list[Step]:
    """What was inserted and is said right before or after is repeated."""
    heard = [word.text for step in steps for word in step.heard]
    inserted = [step.kind == "inserted" for step in steps for _ in step.heard]
    repeated: set[int] = set()
    for length in range(1, MAX_PHRASE + 1):
        for at in range(len(heard) - 2 * length + 1):
            first, second = range(at, at + length), range(at + length, at + 2 * length)
            pairs = zip(heard[at:], heard[at + length : at + 2 * length], strict=False)
            if any(difference(word, again, code) for word, again in pairs):
                continue
            new = [i for i in (*first, *second) if inserted[i]]
            if len(new) >= length:
                repeated.update(new)
    result, position = [], 0
    for step in steps:
        is_repeat = step.kind == "inserted" and position in repeated
        result.append(Step(step.said, step.heard, "repeated") if is_repeat else step)
        position += len(step.heard)
    return result


def _summary(
    said: Sequence[Word], steps: Sequence[Step], code: str, times: list[WordTime]
) -> Alignment:
    from rapidfuzz.distance import Levenshtein

    def of(kind: str, is_said: bool) -> tuple[str, ...]:
        chosen = [step.said if is_said else step.heard for step in steps if step.kind == kind]
        return tuple(word.text for words in chosen for word in words)

    num_edits = sum(step.num_edits for step in steps if step.kind != "same")
    ours = " ".join(word.text for word in said)
    theirs = " ".join(
        word.text for s in steps for word in (s.said if s.kind == "same" else s.heard)
    )
    return Alignment(
        wer=round(num_edits / max(1, len(said)), 4),
        cer=round(Levenshtein.distance(ours, theirs) / max(1, len(ours)), 4),
        num_edits=num_edits,
        num_words=len(said),
        missing=of("missing", True),
        inserted=of("inserted", False),
        repeated=of("repeated", False),
        swapped=of("swapped", True),
        unlike=tuple(
            (_joined(step.said), _joined(step.heard)) for step in steps if step.kind == "unlike"
        ),
        is_truncated=_is_truncated(steps, code),
        word_times=tuple(times),
    )


def _joined(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


def _is_truncated(steps: Sequence[Step], code: str) -> bool:
    said = [step for step in steps if step.said]
    if not said:
        return False
    last = said[-1]
    if last.kind != "unlike":
        return last.kind == "missing"
    match = compare([w.text for w in last.said], [w.text for w in last.heard], code)
    return match.is_shorter and not match.has_end


def _word_times(
    tokens: Sequence[str], steps: Sequence[Step], times: Sequence[Span]
) -> list[WordTime]:
    """Times of the items of a text, by what was heard of their words."""
    found: dict[int, Span] = {}
    for step in steps:
        if step.said and step.heard:
            _add_times(found, step, times)
    return _filled(tokens, found)


def _add_times(found: dict[int, Span], step: Step, times: Sequence[Span]) -> None:
    """The time of a step, shared out over the items of the text that it covers."""
    begin, _ = time_of(step.heard[0].place, times)
    _, end = time_of(step.heard[-1].place, times)
    first, last = step.said[0].place[0], step.said[-1].place[1]
    scale = (end - begin) / max(1e-9, last - first)
    for index in range(int(first), max(int(first) + 1, -int(-last // 1))):
        from_s = begin + (max(first, index) - first) * scale
        to_s = begin + (min(last, index + 1) - first) * scale
        old = found.get(index, (from_s, to_s))
        found[index] = min(old[0], from_s), max(old[1], to_s)


def _filled(tokens: Sequence[str], found: dict[int, Span]) -> list[WordTime]:
    """One time for each item, in order; those that are unknown lie between their neighbours."""
    result: list[WordTime] = []
    now = min((begin for begin, _ in found.values()), default=0.0)
    index = 0
    while index < len(tokens):
        if index in found:
            begin, end = max(now, found[index][0]), max(now, found[index][1])
            result.append(WordTime(tokens[index], round(begin, 3), round(end, 3)))
            now, index = end, index + 1
            continue
        stop = next((i for i in range(index, len(tokens)) if i in found), len(tokens))
        until = max(now, found[stop][0]) if stop in found else now
        for i in range(index, stop):
            share = (until - now) / (stop - i)
            end = now + share
            result.append(WordTime(tokens[i], round(now, 3), round(end, 3), False))
            now = end
        index = stop
    return result
