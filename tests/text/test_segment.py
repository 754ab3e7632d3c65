"""A chapter becomes segments: every word once, in order, within the engine's limit."""

import pytest

from pocket_batch.data import Block, Chapter, Pauses, Segment
from pocket_batch.text.cuts import cut_long
from pocket_batch.text.segment import join_short, segment_chapter

PAUSES = Pauses(
    sentence_ms=400, paragraph_ms=700, scene_break_ms=1500, heading_ms=1000, chapter_ms=2500
)
CUT_MS = 100


def count_words(text: str) -> int:
    """Stand in for an engine's tokens."""
    return len(text.split())


def paragraph(text: str) -> Block:
    return Block("paragraph", text)


def segments_of(
    *blocks: Block, max_tokens: int = 12, min_words: int = 4, join_paragraphs: bool = True
) -> list[Segment]:
    chapter = Chapter(3, "Three", blocks)
    cut = segment_chapter(
        chapter, "amy", PAUSES, "en", max_tokens, count_words, min_words, join_paragraphs
    )
    return list(cut)


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


def test_a_paragraph_that_is_too_short_joins_the_next_and_has_its_pause() -> None:
    assert spoken(
        paragraph("Was he there at last?"),
        paragraph("“No.”"),
        paragraph("She went out into the rain. He did not follow her."),
        paragraph("The lamps were lit."),
    ) == [
        ("Was he there at last?", PAUSES.paragraph_ms),
        ("“No.” She went out into the rain.", PAUSES.sentence_ms),
        ("He did not follow her.", PAUSES.paragraph_ms),
        ("The lamps were lit.", PAUSES.chapter_ms),
    ]


def test_paragraphs_that_are_all_too_short_join_until_they_are_long_enough() -> None:
    said = spoken(*map(paragraph, ["“No.”", "“Why?”", "“I know.”", "“You do?”", "“Yes.”"]))
    assert said == [("“No.” “Why?” “I know.” “You do?” “Yes.”", PAUSES.chapter_ms)]


def test_a_short_paragraph_with_nothing_after_it_to_join_joins_the_one_before() -> None:
    said = spoken(
        paragraph("She went out into the rain."), paragraph("Alone."), Block("heading", "Two.")
    )
    assert said == [
        ("She went out into the rain. Alone.", PAUSES.paragraph_ms),
        ("Two.", PAUSES.chapter_ms),
    ]


def test_paragraphs_stay_apart_where_that_is_asked_for() -> None:
    blocks = [paragraph("“No.”"), paragraph("She went out into the rain.")]
    assert [s.text for s in segments_of(*blocks, join_paragraphs=False)] == [
        block.text for block in blocks
    ]


@pytest.mark.parametrize(
    "between",
    [
        [paragraph("No."), Block("scene_break", "")],
        [Block("paragraph", "No.", pause_after_ms=300)],
        [paragraph("No."), Block("paragraph", "", pause_after_ms=300)],
        [Block("paragraph", "No.", voice="ben")],
        [Block("paragraph", "No.", language="fr")],
        [Block("heading", "No.")],
    ],
)
def test_a_short_paragraph_joins_none_across_a_break_a_pause_or_another_voice(
    between: list[Block],
) -> None:
    after = paragraph("She went out into the rain.")
    texts = [s.text for s in segments_of(Block("heading", "One."), *between, after)]
    assert texts == ["One.", "No.", after.text]


def test_each_block_may_have_a_voice_of_its_own() -> None:
    segments = segments_of(
        Block("paragraph", "“I will not come with you,”", voice="ben", continues=True),
        Block("paragraph", "said the old man at the door.", continues=True),
        Block("paragraph", "“Not today, not ever.”", voice="ben"),
        paragraph("He shut the door again."),
    )
    assert [(s.voice, s.pause_after_ms) for s in segments] == [
        ("ben", PAUSES.sentence_ms),
        ("amy", PAUSES.sentence_ms),
        ("ben", PAUSES.paragraph_ms),
        ("amy", PAUSES.chapter_ms),
    ]


def test_a_paragraph_split_for_a_voice_that_is_the_narrators_is_whole_again() -> None:
    segments = segments_of(
        Block("paragraph", "“No,”", voice="amy", continues=True), paragraph("he said. He left.")
    )
    assert [s.text for s in segments] == ["“No,” he said. He left."]


def test_a_pause_that_the_source_asks_for_wins() -> None:
    assert spoken(
        Block("paragraph", "She went out and he", pause_after_ms=80, continues=True),
        Block("paragraph", "never saw her any more.", pause_after_ms=0),
        Block("heading", "The second part of it.", pause_after_ms=3000),
        paragraph("The lamps were lit early."),
        Block("paragraph", "", pause_after_ms=5000),
    ) == [
        ("She went out and he", 80),
        ("never saw her any more.", 0),
        ("The second part of it.", 3000),
        ("The lamps were lit early.", 5000),
    ]


def test_the_language_of_a_block_says_where_its_sentences_end() -> None:
    text = "Er kam am 3. Mai hier an. Dann ging er wieder fort."
    segments = segments_of(Block("paragraph", text, language="de"), max_tokens=20)
    assert [s.text for s in segments] == ["Er kam am 3. Mai hier an.", "Dann ging er wieder fort."]


def test_each_sentence_of_a_speech_has_its_pause() -> None:
    assert spoken(
        paragraph("“I will not come. Do not wait for me. I am very tired,” he said.")
    ) == [
        ("“I will not come.", PAUSES.sentence_ms),
        ("Do not wait for me.", PAUSES.sentence_ms),
        ("I am very tired,” he said.", PAUSES.chapter_ms),
    ]


def test_chinese_is_cut_at_its_own_stops_and_commas_and_gets_no_spaces() -> None:
    text = "他走了很远的路，终于到了河边。她在那里等着他，已经等了三天。好。我们走吧。"
    chapter = Chapter(1, "", (paragraph(text),))
    segments = list(segment_chapter(chapter, "amy", PAUSES, "zh", 12, len))
    assert [s.text for s in segments] == [
        "他走了很远的路，",
        "终于到了河边。",
        "她在那里等着他，",
        "已经等了三天。",
        "好。我们走吧。",
    ]


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
        ("the king of the old mill went", ["the king", "of the old mill went"]),
        ("Halt, you! now, all of us go", ["Halt, you!", "now, all of us go"]),
        ("he saw Mr. Hill, Mr. Lee, me", ["he saw Mr. Hill,", "Mr. Lee, me"]),
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


def test_conjunctions_are_those_of_the_language() -> None:
    text = "la casa y el perro y gato"
    assert cut_long(text, 5, count_words, "es") == ["la casa", "y el perro y gato"]
    assert cut_long("von dem Haus und dem Hof", 4, count_words, "de") == [
        "von dem Haus",
        "und dem Hof",
    ]
