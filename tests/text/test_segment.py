"""A chapter becomes segments: every word once, in order, within the engine's limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.data import Block, Chapter, Pauses, Segment
from pocket_batch.text.segment import cut_long, join_short, segment_chapter

PAUSES = Pauses(
    sentence_ms=400, paragraph_ms=700, scene_break_ms=1500, heading_ms=1000, chapter_ms=2500
)
CUT_MS = 100


def count_words(text: str) -> int:
    """Stand in for an engine's tokens."""
    return len(text.split())


def paragraph(text: str) -> Block:
    return Block("paragraph", text)


def segments_of(*blocks: Block, max_tokens: int = 12, min_words: int = 4) -> list[Segment]:
    chapter = Chapter(3, "Three", blocks)
    return list(
        segment_chapter(chapter, "amy", PAUSES, "en", max_tokens, count_words, min_words=min_words)
    )


def spoken(*blocks: Block, max_tokens: int = 12) -> list[tuple[str, int]]:
    return [
        (segment.text, segment.pause_after_ms)
        for segment in segments_of(*blocks, max_tokens=max_tokens)
    ]


def test_each_kind_of_text_has_its_own_pause_and_the_chapter_ends_with_the_longest() -> None:
    assert spoken(
        Block("heading", "Chapter Three."),
        paragraph("She went out into the rain. He did not follow her."),
        paragraph("The lamps were lit early."),
        Block("scene_break", ""),
        paragraph("In the morning it was over."),
    ) == [
        ("Chapter Three.", PAUSES.heading_ms),
        ("She went out into the rain.", PAUSES.sentence_ms),
        ("He did not follow her.", PAUSES.paragraph_ms),
        ("The lamps were lit early.", PAUSES.scene_break_ms),
        ("In the morning it was over.", PAUSES.chapter_ms),
    ]


def test_segments_are_named_by_chapter_and_running_number_and_keep_the_voice() -> None:
    segments = segments_of(paragraph("She went out into the rain. He did not follow her."))
    assert [segment.id for segment in segments] == ["003-0001", "003-0002"]
    assert {(segment.chapter, segment.voice) for segment in segments} == {(3, "amy")}


def test_a_short_sentence_is_joined_to_the_next() -> None:
    assert [s.text for s in segments_of(paragraph('"No." He would not hear of it.'))] == [
        '"No." He would not hear of it.'
    ]


def test_a_short_sentence_at_the_end_is_joined_to_the_one_before() -> None:
    assert [s.text for s in segments_of(paragraph("He would not hear of it. No."))] == [
        "He would not hear of it. No."
    ]


def test_short_sentences_that_are_all_there_is_make_one_segment() -> None:
    assert [s.text for s in segments_of(paragraph('"No." "Why?" "So."'))] == ['"No." "Why?" "So."']


def test_a_short_sentence_never_crosses_into_another_paragraph_or_heading() -> None:
    texts = [s.text for s in segments_of(Block("heading", "One."), paragraph("No."))]
    assert texts == ["One.", "No."]


def test_a_short_sentence_stays_alone_where_joining_it_would_be_too_long() -> None:
    def fits(text: str) -> bool:
        return count_words(text) <= 5

    assert join_short(["No.", "One two three four five.", "Yes."], 4, fits) == [
        "No.",
        "One two three four five.",
        "Yes.",
    ]


def test_what_has_no_letter_or_digit_is_not_spoken_and_its_pause_merges() -> None:
    assert spoken(
        paragraph("She went out into the rain."),
        Block("scene_break", ""),
        paragraph("…"),
        paragraph("?!"),
        paragraph("He did not follow her."),
    ) == [
        ("She went out into the rain.", PAUSES.scene_break_ms),
        ("He did not follow her.", PAUSES.chapter_ms),
    ]


def test_a_chapter_without_words_has_no_segments() -> None:
    assert segments_of(Block("scene_break", ""), paragraph("…"), paragraph("")) == []


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("he came, he saw; he went, he slept", ["he came, he saw;", "he went, he slept"]),
        ("he came and saw, then he went away", ["he came and saw,", "then he went away"]),
        ("he came past (the old) mill", ["he came past", "(the old) mill"]),
        ("one two three and four five", ["one two three", "and four five"]),
        ("one two three four five six", ["one two three", "four five six"]),
        ("a, bb cc dd ee ff gg hh", ["a, bb cc dd", "ee ff gg hh"]),
    ],
)
def test_a_long_sentence_is_cut_at_the_best_place_near_its_middle(
    text: str, pieces: list[str]
) -> None:
    assert cut_long(text, 5, count_words) == pieces


def test_a_long_sentence_of_dashes_loses_no_word() -> None:
    text = "He walked on " + "— past the mill " * 30 + "— and home."
    pieces = cut_long(text, 40, count_words)
    assert " ".join(pieces) == text
    assert {len(piece.split()) > 15 for piece in pieces} == {True}
    assert all(piece.startswith(("He", "past", "—", "and")) for piece in pieces)


def test_a_breath_and_no_more_parts_the_pieces_of_a_cut_sentence() -> None:
    said = spoken(paragraph("He came to the river, and there he sat; then it rained all day long."))
    assert [pause for _, pause in said] == [CUT_MS, PAUSES.chapter_ms]


def test_a_heading_that_is_too_long_is_cut_as_well() -> None:
    texts = [s.text for s in segments_of(Block("heading", "In which " * 20 + "all ends."))]
    assert all(count_words(text) <= 12 for text in texts)


def test_a_word_longer_than_the_limit_is_cut_inside() -> None:
    pieces = cut_long("a" * 100, 30, len)
    assert "".join(pieces) == "a" * 100
    assert all(len(piece) <= 30 for piece in pieces)


WORDS = st.sampled_from("a I Tom went — (so) and “Yes!” no. Why? b; c, …".split())
BLOCKS = st.builds(
    Block,
    st.sampled_from(["heading", "paragraph", "scene_break"]),
    st.lists(WORDS, max_size=40).map(" ".join),
)


@given(st.lists(BLOCKS, max_size=6), st.integers(3, 20), st.integers(0, 6))
def test_every_word_is_spoken_once_in_order_and_no_segment_is_too_long(
    blocks: list[Block], max_tokens: int, min_words: int
) -> None:
    segments = segments_of(*blocks, max_tokens=max_tokens, min_words=min_words)

    def words(texts: list[str]) -> list[str]:
        return [word for word in " ".join(texts).split() if any(map(str.isalnum, word))]

    written = [block.text for block in blocks if block.kind != "scene_break"]
    assert words([segment.text for segment in segments]) == words(written)
    assert all(count_words(segment.text) <= max_tokens for segment in segments)
    assert [s.id for s in segments] == sorted({s.id for s in segments})
    if segments:
        assert segments[-1].pause_after_ms == PAUSES.chapter_ms


@given(st.lists(st.text(alphabet="ab,;—( ", min_size=1), min_size=1), st.integers(2, 9))
def test_cutting_changes_nothing_but_the_spaces_at_the_cuts(
    parts: list[str], max_tokens: int
) -> None:
    text = " ".join("".join(parts).split())
    pieces = cut_long(text, max_tokens, count_words)
    assert " ".join(pieces) == text
