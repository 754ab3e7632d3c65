"""Numbers in English words, read as a listener writes them: `fifteen hundred` -> `1500`."""

from collections.abc import Sequence

_SMALL = {
    word: value
    for value, words in enumerate(
        "zero|one first|two second|three third|four fourth|five fifth|six sixth|seven seventh|"
        "eight eighth|nine ninth|ten tenth|eleven eleventh|twelve twelfth|thirteen thirteenth|"
        "fourteen fourteenth|fifteen fifteenth|sixteen sixteenth|seventeen seventeenth|"
        "eighteen eighteenth|nineteen nineteenth".split("|")
    )
    for word in words.split()
}
_TENS = {
    word: 10 * value
    for value, words in enumerate(
        "||twenty twentieth|thirty thirtieth|forty fortieth|fifty fiftieth|sixty sixtieth|"
        "seventy seventieth|eighty eightieth|ninety ninetieth".split("|")
    )
    for word in words.split()
}
_POWERS = {"thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_LINKS = {"and", "a", "oh", "o"}


def is_number_word(word: str) -> bool:
    """Whether a word can be part of a number."""
    known = (*_SMALL, *_TENS, *_POWERS, "hundred")
    return word.isdigit() or word in _LINKS or word in known or _singular(word) in known


def digits(words: Sequence[str]) -> str:
    """The digits that a run of number words stands for, whichever way it is read.

    `nineteen eighty nine`, `one thousand nine hundred and eighty nine` -> `1989`; `two three` and
    `twenty three` -> `23`. Empty when there is no number.
    """
    groups: list[int] = []
    total = group = 0
    is_open = False
    smallest = 10  # what may still be added to the group: below this
    for word in (_singular(word) for word in words):
        if word in ("oh", "o"):
            word = "zero"
        value = _value(word)
        if value is not None:
            room = 100 if value >= 10 else 10
            if is_open and (value == 0 or value >= smallest or group % room):
                groups.append(total + group)
                total = group = 0
            group += value
            smallest = 10 if value >= 20 and value % 10 == 0 else 0
            is_open = True
        elif word == "hundred":
            group, smallest, is_open = max(1, group) * 100, 100, True
        elif word in _POWERS:
            total, group, is_open = total + max(1, group) * _POWERS[word], 0, True
            smallest = 1_000
    return "".join(map(str, [*groups, total + group])) if is_open else ""


def _singular(word: str) -> str:
    """`eighties` -> `eighty`, `hundredths` -> `hundred`."""
    if word.endswith("ies") and word.removesuffix("ies") + "y" in _TENS:
        return word.removesuffix("ies") + "y"
    for ending in ("ths", "th", "s"):
        stem = word.removesuffix(ending)
        if stem != word and (stem in _POWERS or stem == "hundred" or stem in _TENS):
            return stem
    return word


def _value(word: str) -> int | None:
    if word.isdigit():
        return int(word)
    return _SMALL.get(word, _TENS.get(word))
