"""Texts that must not be in two splits, and how they are divided."""

import subprocess
import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.dataset_settings import SplitSettings
from pocket_batch.text.groups import split_of, text_group

WORDS = st.lists(st.text(st.characters(categories=["L", "Nd"]), min_size=1), min_size=1).map(
    " ".join
)


@pytest.mark.parametrize(
    "text",
    [
        "It's here",
        "“It’s  HERE!”",
        "Ｉt'ｓ　here…",
        "its\there",
        "it\u00ads he\u200dre",
        "Its here 😀",
    ],
)
def test_case_width_and_punctuation_make_no_other_text(text: str) -> None:
    assert text_group(text) == "its here"


@pytest.mark.parametrize(
    "texts",
    [
        ("It costs $5.", "It costs 5%.", "It costs 5.", "It costs €5."),
        ("C++", "C#", "C", "C*"),
        ("It is 5°.", "It is -5°.", "It is 5."),
        ("you & me", "you @ me", "you me", "you/me"),
        ("…", "😀", "?!", "—"),
    ],
)
def test_texts_that_are_said_in_other_words_are_apart(texts: tuple[str, ...]) -> None:
    assert len({text_group(text) for text in texts}) == len(texts)


@given(st.text())
def test_a_group_is_its_own_group_and_of_one_form(text: str) -> None:
    group = text_group(text)
    assert text_group(unicodedata.normalize("NFD", text)) == group
    assert text_group(f"  {text}\n") == group
    assert group == " ".join(group.split())


@given(WORDS)
def test_marks_around_words_change_nothing(text: str) -> None:
    assert text_group(f"“{text.replace(' ', ',  ')}!”") == text_group(text)


@given(st.text(st.characters(codec="ascii")))
def test_capitals_change_nothing(text: str) -> None:
    assert text_group(text.upper()) == text_group(text.lower()) == text_group(text)


def test_shares_of_splits_are_as_asked_for() -> None:
    """Case 6."""
    settings = SplitSettings(0.1, 0.2)
    found = Counter(split_of(f"text {number}", settings) for number in range(20_000))
    shares = sorted((found["validation"], found["test"], found["train"]))
    assert [round(share / 20_000, 1) for share in shares] == [0.1, 0.2, 0.7]
    assert {split_of("a", SplitSettings(0, 0)), split_of("a", SplitSettings(1, 0))} != {"test"}


def test_a_split_is_of_the_text_alone() -> None:
    """Case 6: whatever comes before, in whichever process."""
    settings = SplitSettings(0.3, 0.3)
    texts = [f"text {number}" for number in range(50)]
    here = [split_of(text, settings) for text in texts]
    assert [split_of(text, settings) for text in reversed(texts)] == here[::-1]
    code = (
        "from pocket_batch.text.groups import split_of as s\n"
        "from pocket_batch.dataset_settings import SplitSettings as S\n"
        "print(*[s(f'text {n}', S(.3, .3)) for n in range(50)])"
    )
    run = [sys.executable, "-c", code]
    for seed in ("0", "1"):
        done = subprocess.run(run, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        assert done.stdout.decode().split() == here
