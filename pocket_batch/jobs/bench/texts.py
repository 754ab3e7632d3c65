"""What is spoken in a measurement: made-up texts as long as those of books, or texts of books."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pocket_batch.jobs.bench.lengths import (
    frames_of_letters,
    frames_of_tokens,
    tokens_of_book,
    tokens_of_letters,
)

WORDS = (
    "the tide had gone out before anyone was awake and a small boat lay on its side in the mud "
    "with her name half hidden under weed he knew it at once though he could not say why it made "
    "him think of nothing but bread or of some window that was always open when she sang"
).split()


@dataclass(frozen=True, slots=True)
class Line:
    """A text with the length that it is given: both sides make exactly `num_frames` of it."""

    text: str
    num_tokens: int
    num_frames: int


def made_up_lines(
    num: int, count_tokens: Callable[[str], int], frame_rate: float, seed: int = 1
) -> list[Line]:
    """Texts of as many tokens as the segments of books have, in a random order."""
    rng = random.Random(seed)
    lines = []
    for wanted in tokens_of_book(num):
        text = text_of(wanted, count_tokens, rng)
        # Frames by what was wanted: a tokenizer that splits every word cannot make one of one.
        lines.append(Line(text, count_tokens(text), frames_of_tokens(wanted, frame_rate)))
    rng.shuffle(lines)
    return lines


def text_of(num_tokens: int, count_tokens: Callable[[str], int], rng: random.Random) -> str:
    """Common words, as many as have at most so many tokens, and one at least."""
    words = [rng.choice(WORDS)]
    misses = 0
    while misses < 3:  # a shorter word may still fit
        longer = [*words, rng.choice(WORDS)]
        num = count_tokens(" ".join(longer))
        if num <= num_tokens:
            words = longer
        misses = misses + 1 if num > num_tokens else 0
        if num == num_tokens:
            break
    return " ".join(words).capitalize() + "."


def lines_of(
    texts: list[str], num: int, count_tokens: Callable[[str], int], frame_rate: float
) -> list[Line]:
    """So many of the texts of a book, evenly spaced; those of a short one several times."""
    return [
        Line(text, count_tokens(text), frames_of_letters(len(text), frame_rate))
        for text in picked(texts, num)
    ]


def lines_like(
    texts: list[str], num: int, count_tokens: Callable[[str], int], frame_rate: float
) -> list[Line]:
    """Made-up texts as long as those that `lines_of` would give, for a made-up model: to its
    tokenizer a word is a token, which makes the texts of a book too short."""
    rng = random.Random(1)
    lines = []
    for text in picked(texts, num):
        made_up = text_of(tokens_of_letters(text), count_tokens, rng)
        num_frames = frames_of_letters(len(text), frame_rate)
        lines.append(Line(made_up, count_tokens(made_up), num_frames))
    return lines


def picked(texts: list[str], num: int) -> list[str]:
    """So many texts, from the first to the last in even steps, or round and round."""
    if num > len(texts):
        return [texts[n % len(texts)] for n in range(num)]
    return [texts[int((n + 0.5) * len(texts) / num)] for n in range(num)]


def capped(lines: Iterable[Line], max_frames: Callable[[int], int]) -> list[Line]:
    """Lines none of which is longer than what the model makes of so many tokens at most."""
    return [
        Line(line.text, line.num_tokens, min(line.num_frames, max_frames(line.num_tokens)))
        for line in lines
    ]


def subset(lines: list[Line], num_frames: int) -> list[Line]:
    """A few lines of all lengths alike, of about so many frames together, and one at least."""
    by_length = sorted(lines, key=lambda line: line.num_frames)
    mean = sum(line.num_frames for line in lines) / len(lines)
    num = min(len(lines), max(1, round(num_frames / mean)))
    return [by_length[int((n + 0.5) * len(lines) / num)] for n in range(num)]
