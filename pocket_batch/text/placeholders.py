"""Characters that stand for words of a lexicon, and the words that hide them from the rules.

A lexicon marks what it respells with one character of U+E100..U+EFFF each, before normalisation.
The rules know words, not such characters, so here each becomes a capitalised word that no rule
takes for anything else, and comes back as it was.
"""

import re

# the characters that a lexicon may use
PLACEHOLDER = re.compile("[\ue100-\uefff]")
_LETTERS = "bcdfghjkmnpqrstw"  # one for each four bits
# the word for U+E1A7 -> `Qajcpkz`
WORD = rf"Qaj[{_LETTERS}]{{3}}z"
# A rule may have changed its case, or have spelled it: `Q a j c p k z`.
_WORD = re.compile(rf"q ?a ?j ?{f'([{_LETTERS}]) ?' * 3}z", re.IGNORECASE)


def shield(text: str) -> str:
    """Write each placeholder as a capitalised word: the same for the same character."""
    if text.isascii():
        return text
    return PLACEHOLDER.sub(_to_word, text)


def unshield(text: str) -> str:
    """Undo `shield`."""
    return _WORD.sub(_to_placeholder, text)


def _to_word(match: re.Match[str]) -> str:
    code = ord(match[0])
    return "Qaj" + "".join(_LETTERS[code >> shift & 15] for shift in (8, 4, 0)) + "z"


def _to_placeholder(match: re.Match[str]) -> str:
    code = 0xE
    for letter in match.groups():
        code = code << 4 | _LETTERS.index(letter.lower())
    character = chr(code)
    return character if character >= "\ue100" else match[0]
