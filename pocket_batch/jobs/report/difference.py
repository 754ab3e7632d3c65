"""What was to be said beside what was heard, word by word."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from pocket_batch.quality.word_errors import comparable

MAX_WORDS = 2_000  # an utterance has far fewer; a listener that loops may have more


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive words with their spaces as written; `is_same` when they were said and heard."""

    text: str
    is_same: bool


def differences(text: str, heard: str, language: str) -> tuple[list[Part], list[Part]]:
    """The words of both sides, marked where they differ.

    Words are compared as a listener would: without case, punctuation and ways of spelling, numbers
    written out. Compound words that are written in one word or in two are equal.

    Args:
        text: what was to be said.
        heard: what was heard.
        language: BCP 47 tag.
    """
    said, got = text.split()[:MAX_WORDS], heard.split()[:MAX_WORDS]
    said_tokens, said_of = _tokens(said, language)
    got_tokens, got_of = _tokens(got, language)
    matcher = SequenceMatcher(None, said_tokens, got_tokens, autojunk=False)
    said_wrong, got_wrong = set[int](), set[int]()
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal" or "".join(said_tokens[i:j]) == "".join(got_tokens[k:m]):
            continue
        said_wrong |= set(said_of[i:j])
        got_wrong |= set(got_of[k:m])
    return _parts(said, said_wrong), _parts(got, got_wrong)


def _tokens(words: Sequence[str], language: str) -> tuple[list[str], list[int]]:
    """Comparable words, and of which written word each is."""
    tokens: list[str] = []
    of: list[int] = []
    for index, word in enumerate(words):
        found = _comparable(word, language).split()
        tokens += found
        of += [index] * len(found)
    return tokens, of


@lru_cache(maxsize=20_000)
def _comparable(word: str, language: str) -> str:
    return comparable(word, language)


def _parts(words: Sequence[str], wrong: set[int]) -> list[Part]:
    parts: list[Part] = []
    for index, word in enumerate(words):
        is_same = index not in wrong
        if parts and parts[-1].is_same == is_same:
            parts[-1] = Part(f"{parts[-1].text} {word}", is_same)
        else:
            parts.append(Part(word, is_same))
    return parts
