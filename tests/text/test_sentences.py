"""A paragraph is cut into sentences as a reader would pause."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.text.sentences import split_sentences

PROSE = [
    ['"Yes!" said Tom.', '"No?"', '"Why?"'],
    ['"Yes!" Tom said.', "He left."],
    ['"What?" the old man asked.', '"Nothing."'],
    ["“Won’t you?” he said.", "“No.”"],
    ["'Why?' he asked.", "'Tis the dogs' house."],
    ['"Come here.', "Come to me at once.", 'Now!" he shouted.'],
    ["Oh! mamma, how are you?", "I am well."],
    ["He waited… and waited… and left.", "Then he came."],
    ["Wait…", "What?"],
    ["“I thought…”", "She turned away from him."],
    ["“I thought…” she said.", "Then she left."],
    ["He met J. R. R. Tolkien at noon.", "Then he left."],
    ["John F. Kennedy met Dr. Hill and Mrs. St. John.", "They talked."],
    ["Then came—Mr. Bingley, his two sisters, and a friend.", "All sat."],
    ["It weighed 98.6 pounds, i.e. 3.5 more.", "It fell."],
    ["It began at 4 p.m. on the 1st.", "It ended at 5 p.m.", "He left."],
    ["It began at eleven AM.", "He left."],
    ["1. The first chapter begins.", "It ends."],
    ["IV. The river bank.", "It ends."],
    ["He lived in the U.S. Army camp.", "He left."],
    ["It was I.", "He left."],
    ["(He had left.)", "Then he came back."],
    ["No one knew.", "“But why?” she cried; “tell me!”"],
]


@pytest.mark.parametrize("sentences", PROSE, ids=lambda sentences: sentences[0])
def test_english_prose_is_cut_where_a_reader_stops(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences), "en") == sentences


@given(st.text(alphabet="aB c.!?…\"'“”‘’()—-,;1I\n\u00a0", max_size=120))
def test_no_character_is_lost_or_moved(text: str) -> None:
    sentences = split_sentences(text, "en")
    assert all(sentences)
    assert " ".join(sentences) == " ".join(text.split())


@given(st.text(max_size=80), st.sampled_from(["en", "en-GB", "de", "xx", "", "zh", "el"]))
def test_no_language_or_script_loses_a_character(text: str, language: str) -> None:
    assert " ".join(split_sentences(text, language)) == " ".join(text.split())


def test_a_published_test_set_is_cut_as_it_asks(corpus: Path) -> None:
    """English of the set that needs no clean-up first; two of its cases are lists in a line."""
    lines = (corpus / "text" / "pysbd_golden.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [
        case for case in map(json.loads, lines) if case["list"] == "GOLDEN_EN_RULES_TEST_CASES"
    ]
    right = sum(
        split_sentences(case["text"], "en") == [" ".join(s.split()) for s in case["sentences"]]
        for case in cases
    )
    assert right >= len(cases) - 2


def test_no_sentence_of_a_novel_begins_with_a_small_letter(corpus: Path) -> None:
    text = (corpus / "text" / "pg1342_pride_and_prejudice.txt").read_text(encoding="utf-8-sig")
    sentences = [
        sentence
        for paragraph in re.split(r"\n\s*\n", text)
        for sentence in split_sentences(paragraph, "en")[1:]
    ]
    assert len(sentences) > 3000
    assert not [s for s in sentences if re.match(r"[\"'“‘(]*[a-z]", s)]
