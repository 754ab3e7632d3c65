"""What was heard in place of a stretch of text: the same by its sound, other words, or nothing.

A listener that does not know a word writes others that sound like it, in more words or in fewer:
`barrowful` -> `bear of full`. A word that was not spoken leaves its neighbours as they are, and
nothing is heard in its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pocket_batch.quality.number_words import is_number_word
from pocket_batch.quality.same_words import SAME, difference
from pocket_batch.quality.sounds import compare
from pocket_batch.quality.word_places import Word

IN_ORDER = ("repeated", "swapped")  # they say more than that the sound differs
MIN_SAME = 0.75  # similarity of what sounds the same to a listener
MIN_ALIKE = 0.6  # of one word for another, which may be a name
MIN_GONE = 0.75  # of a word's sound that nothing was heard of, when it is missing
MAX_BRIDGE = 3  # letters between two stretches that may be one
MAX_STAMMER = 2  # letters that are said before the word: `n no`


@dataclass(frozen=True, slots=True)
class Step:
    """Words of the text and what was heard of them; either may be empty.

    `kind`: same, missing, inserted, repeated, swapped, unlike, or smoothed, which a listener leaves
    out by itself. `num_edits` count in the share of wrong words.
    """

    said: tuple[Word, ...]
    heard: tuple[Word, ...]
    kind: str
    num_edits: int = 1


def by_sound(steps: Sequence[Step], language: str) -> list[Step]:
    """Steps in which what is heard in other words is not called missing or inserted.

    Args:
        steps: word by word, in order.
        language: a primary subtag.
    """
    result: list[Step] = []
    for stretch in _bridged(_stretches(steps, language), language):
        result += _judged(stretch, language)
    return _smoothed(result)


def _stretches(steps: Sequence[Step], language: str) -> list[list[Step]]:
    """Steps in groups: those that are wrong or only alike, side by side, and those between."""
    return [list(g) for _, g in groupby(steps, lambda step: _is_loose(step, language))]


def _is_loose(step: Step, language: str) -> bool:
    """Whether a step is wrong, or a word that is only like the other."""
    if step.kind != "same" or len(step.said) != 1 or len(step.heard) != 1:
        return step.kind != "same"
    return difference(step.said[0].text, step.heard[0].text, language) > SAME


def _is_wrong(stretch: Sequence[Step]) -> bool:
    return any(step.kind != "same" for step in stretch)


def _bridged(stretches: list[list[Step]], language: str) -> list[list[Step]]:
    """Two wrong stretches with a little word between are one, if they explain each other.

    `I'm I` -> `I my`: the little word was taken for another one.
    """
    result: list[list[Step]] = []
    for stretch in stretches:
        if len(result) > 1 and _explain(result[-2], result[-1], stretch, language):
            result[-2:] = [[*result[-2], *result[-1], *stretch]]
        else:
            result.append(stretch)
    return result


def _is_bridge(stretch: Sequence[Step]) -> bool:
    return len(stretch) == 1 and len(_text(stretch[0].said)) <= MAX_BRIDGE


def _explain(before: list[Step], bridge: list[Step], after: list[Step], language: str) -> bool:
    if not _is_bridge(bridge):
        return False
    sides = [(bool(_said(stretch)), bool(_heard(stretch))) for stretch in (before, after)]
    if not (_is_wrong(before) and _is_wrong(after)) or sides == [(True, True)] * 2:
        return False
    if sides[0] == sides[1][::-1]:
        return True
    both = [*before, *bridge, *after]
    return _similarity(_said(both), _heard(both), language) >= MIN_SAME


def _judged(stretch: list[Step], language: str) -> list[Step]:
    """One stretch by its sound."""
    said, heard = _said(stretch), _heard(stretch)
    if not (said and heard):
        return stretch
    num_wrong = sum(step.kind != "same" for step in stretch)
    if language == "en" and all(is_number_word(word.text) for word in (*said, *heard)):
        return stretch  # compared by what they stand for
    if not num_wrong:
        return [_alike(step, language) if _is_loose(step, language) else step for step in stretch]
    is_same = _similarity(said, heard, language) >= MIN_SAME
    if not is_same and any(step.kind in IN_ORDER for step in stretch):
        return stretch
    return _told_apart(stretch, num_wrong, language)


def _told_apart(stretch: list[Step], num_wrong: int, language: str) -> list[Step]:
    """What was heard of a stretch in other words, what is missing of it, and what is too much."""
    said, heard = _said(stretch), _heard(stretch)
    lost, added = _without_sound(said, heard, language)
    said = tuple(word for word in said if word not in lost)
    heard = tuple(word for word in heard if word not in added)
    if not (said and heard):
        return stretch
    num_left = max(1, num_wrong - len(lost) - len(added))
    is_same = _similarity(said, heard, language) >= MIN_SAME
    core = Step(said, heard, "same" if is_same else "unlike", 0 if is_same else num_left)
    steps = [
        core,
        *(Step((word,), (), "missing") for word in lost),
        *(Step((), (word,), "inserted") for word in added),
    ]
    return sorted(steps, key=lambda step: _side(step, core))


def _alike(step: Step, language: str) -> Step:
    """A word that is spelt like the other is another one if it does not sound like it."""
    is_other = _similarity(step.said, step.heard, language) < MIN_ALIKE
    return replace(step, kind="unlike") if is_other else step


def _side(step: Step, core: Step) -> int:
    """Whether a step comes before what was heard in other words, or after it."""
    if step.said and step.heard:
        return 0
    ours, theirs = (step.said, core.said) if step.said else (step.heard, core.heard)
    return -1 if ours[0].place < theirs[0].place else 1


def _without_sound(
    said: tuple[Word, ...], heard: tuple[Word, ...], language: str
) -> tuple[list[Word], list[Word]]:
    """The words of a stretch that nothing was heard of, and those that nothing was said of.

    Where much less was heard than said, a word is missing, whatever became of the others.
    """
    match = compare(_texts(said), _texts(heard), language)
    lost = [w for w, share in zip(said, match.lost, strict=True) if share >= MIN_GONE]
    added = [w for w, share in zip(heard, match.added, strict=True) if share >= MIN_GONE]
    if not lost + added and match.is_shorter and len(said) > 1:
        lost = [max(zip(match.lost, said, strict=True), key=lambda pair: pair[0])[1]]
    if not lost + added and match.is_longer and len(heard) > 1:
        added = [max(zip(match.added, heard, strict=True), key=lambda pair: pair[0])[1]]
    return lost, added


def _similarity(said: Sequence[Word], heard: Sequence[Word], language: str) -> float:
    if not (said and heard):
        return 0.0
    return compare(_texts(said), _texts(heard), language).similarity


def _smoothed(steps: list[Step]) -> list[Step]:
    """A word that stands there twice, or a stammer, is often written once by a listener."""
    result = list(steps)
    for index, step in enumerate(steps):
        if step.kind != "missing":
            continue
        (word,) = _texts(step.said)
        before = _texts(_same(steps, index - 1))[-1:]
        after = _texts(_same(steps, index + 1))[:1]
        is_stammer = len(word) <= MAX_STAMMER and any(other.startswith(word) for other in after)
        if word in (*before, *after) or is_stammer:
            result[index] = replace(step, kind="smoothed")
    return result


def _same(steps: Sequence[Step], index: int) -> tuple[Word, ...]:
    """What was said in that step, if it was heard."""
    is_there = 0 <= index < len(steps) and steps[index].kind == "same"
    return steps[index].said if is_there else ()


def _said(stretch: Sequence[Step]) -> tuple[Word, ...]:
    return tuple(word for step in stretch for word in step.said)


def _heard(stretch: Sequence[Step]) -> tuple[Word, ...]:
    return tuple(word for step in stretch for word in step.heard)


def _texts(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words]


def _text(words: Sequence[Word]) -> str:
    return "".join(word.text for word in words)
