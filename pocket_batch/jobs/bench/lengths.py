"""How long the utterances of books are, in tokens and in frames, measured on real books.

Source: `tests/cli/bench_lengths.py`, which prints these figures: five English books (Alice
in Wonderland, Pride and Prejudice, Children's Literature, The Importance of Being Earnest, the
Debian Developer's Reference; 277,705 words), normalised and cut into 16,814 segments as for an
audiobook, tokens counted by a unigram tokenizer of 4,000 pieces trained on the same books, which is
the size of the released ones. Seconds are those of 151 of these segments, spoken by the embedded
voice at 172 words a minute, fitted by least squares.
"""

import math

# The shortest segment, then every percentile of the tokens of a segment; the mean is 23.
TOKENS = tuple(
    map(
        int,
        "1 5 6 6 7 7 7 8 8 8 9 9 9 10 10 10 11 11 11 11 12 12 12 13 13 13 14 14 14 14 15 15 15 16 "
        "16 16 17 17 17 18 18 18 19 19 20 20 20 21 21 22 22 22 23 23 23 24 24 24 25 25 26 26 26 27 "
        "27 28 28 28 29 29 30 30 30 31 31 32 32 33 33 34 34 35 35 36 36 37 38 38 39 40 40 41 42 43 "
        "44 45 46 47 48 49 50".split(),
    )
)
S_PER_TOKEN, S_PER_TEXT = 0.2233, 0.517
S_PER_LETTER, S_PER_LETTERS = 0.0572, 0.543
LETTERS_PER_TOKEN = 3.99


def tokens_of_book(num: int) -> list[int]:
    """Tokens of `num` segments, shortest first, spread over all lengths as in a book."""
    return [TOKENS[int((n + 0.5) / num * len(TOKENS))] for n in range(num)]


def tokens_of_letters(text: str) -> int:
    """About how many tokens a text has for a tokenizer as large as the released ones."""
    return math.ceil(len(text) / LETTERS_PER_TOKEN)


def frames_of_tokens(num_tokens: int, frame_rate: float) -> int:
    """Frames of a text of so many tokens of a tokenizer as large as the released ones."""
    return math.ceil((S_PER_TEXT + S_PER_TOKEN * num_tokens) * frame_rate)


def frames_of_letters(num_letters: int, frame_rate: float) -> int:
    """Frames of a text of so many characters, whatever the tokenizer makes of it."""
    return math.ceil((S_PER_LETTERS + S_PER_LETTER * num_letters) * frame_rate)
