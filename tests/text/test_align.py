"""Which stretch of a written text was spoken in which utterance."""

from difflib import SequenceMatcher
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocket_batch.text.align import match, owners, ranges, words_of


def parts(written: str, spoken: list[str], max_extra: int | None = None) -> list[tuple[int, str]]:
    words = words_of(written)
    found = ranges(written, words, owners(written, words, spoken, max_extra))
    return [(number, written[begin:end]) for number, (begin, end) in found]


def test_numbers_and_abbreviations_find_their_utterance() -> None:
    spoken = [
        "In eighteen sixty-five Mister Smith said: “Hello!”",
        "He paid five dollars.",
        "“Doctor Who?” asked three men.",
    ]
    written = "In 1865 Mr. Smith said: “Hello!” He paid $5. “Dr. Who?” asked 3 men."
    assert parts(written, spoken) == [
        (0, "In 1865 Mr. Smith said: “Hello!”"),
        (1, "He paid $5."),
        (2, "“Dr. Who?” asked 3 men."),
    ]


def test_a_sentence_of_nothing_but_digits_lies_between_its_neighbours() -> None:
    spoken = ["It began.", "Eighteen sixty-five.", "It ended."]
    assert parts("It began. 1865. It ended.", spoken) == [
        (0, "It began."),
        (1, "1865."),
        (2, "It ended."),
    ]


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("吾輩は猫だ。名は無い。「どこで」", ["吾輩は猫だ。", "名は無い。", "「どこで」"]),
        ("ไปไหน มาไหน", ["ไปไหน", "มาไหน"]),
        ("Où est-il ? « Là-bas » !", ["Où est-il ?", "« Là-bas » !"]),
        ("שלום עולם. מה שלומך?", ["שלום עולם.", "מה שלומך?"]),
    ],
)  # fmt: skip
def test_other_scripts_are_cut_where_their_sentences_end(written: str, spoken: list[str]) -> None:
    assert parts(written, spoken) == list(enumerate(spoken))


def test_words_that_nobody_speaks_belong_to_nobody() -> None:
    written = "One two three. This table of many words was left out of it. Four five six."
    assert parts(written, ["One two three.", "Four five six."], 3) == [
        (0, "One two three."),
        (1, "Four five six."),
    ]


def test_a_note_mark_inside_a_sentence_stays_in_it() -> None:
    assert parts("One two [12] three.", ["One two three."], 3) == [(0, "One two [12] three.")]


def test_repeated_sentences_are_told_apart_by_their_order() -> None:
    spoken = ["Oh dear!", "I am late.", "Oh dear!", "I am late."]
    assert parts(" ".join(spoken), spoken) == list(enumerate(spoken))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("a b c d e f".split()), max_size=40),
       st.lists(st.sampled_from("a b c d e f".split()), max_size=40))  # fmt: skip
def test_pairs_are_equal_and_in_order(one: list[str], other: list[str]) -> None:
    pairs = match(one, other)
    assert all(one[i] == other[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


def test_a_long_text_is_matched_as_well_as_a_short_one() -> None:
    random = Random(4)
    one = [random.choice("the a of and to in it was he she".split()) for _ in range(6000)]
    other = [word for word in one if random.random() > 0.03]
    pairs = match(one, other)
    assert len(pairs) > 0.97 * len(other)
    assert SequenceMatcher(None, one[:50], other[:50], autojunk=False).ratio() > 0.8
