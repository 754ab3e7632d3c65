"""Laws of segments, for any text, voices, pauses and limits."""

import time

from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.data import Block, Chapter, Pauses, Segment
from pocket_batch.text.cuts import cut_long
from pocket_batch.text.segment import segment_chapter

PAUSES = Pauses(
    sentence_ms=400, paragraph_ms=700, scene_break_ms=1500, heading_ms=1000, chapter_ms=2500
)
LEAST_MS = {"paragraph": PAUSES.paragraph_ms, "heading": PAUSES.heading_ms}


def count_words(text: str) -> int:
    """Stand in for an engine's tokens."""
    return len(text.split())


def count_letters(text: str) -> int:
    """Stand in for a tokenizer that is finer than words."""
    return -(-len(text) // 3)


WORDS = st.sampled_from(
    "a I Tom Mr. went — (so) (he and) “Yes!” “No” no. Why? b; c, … p.m. 1. 2. 'Tis 好。 d，".split()
)
TEXTS = st.lists(WORDS, max_size=40).map(" ".join) | st.text("aB1.!?…,;:—()\"“”' \n", max_size=60)
BLOCKS = st.builds(
    Block,
    st.sampled_from(["heading", "paragraph", "paragraph", "scene_break"]),
    TEXTS,
    voice=st.sampled_from(["", "", "ben"]),
    language=st.sampled_from(["", "", "de", "ru"]),
    pause_after_ms=st.sampled_from([None, None, None, 0, 300, 9000]),
    continues=st.booleans(),
).map(lambda b: Block("scene_break", "") if b.kind == "scene_break" else b)
CHAPTERS = st.lists(BLOCKS, max_size=6)


def segments_of(
    blocks: list[Block], max_tokens: int, min_words: int, join_paragraphs: bool = True
) -> list[Segment]:
    chapter = Chapter(3, "Three", tuple(blocks))
    cut = segment_chapter(
        chapter, "amy", PAUSES, "en", max_tokens, count_letters, min_words, join_paragraphs
    )
    return list(cut)


def letters_of(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def is_spoken(text: str) -> bool:
    return bool(letters_of(text))


@given(CHAPTERS, st.integers(1, 20), st.integers(0, 6), st.booleans())
def test_every_character_that_is_heard_is_in_one_segment_in_order_with_its_voice(
    blocks: list[Block], max_tokens: int, min_words: int, join_paragraphs: bool
) -> None:
    segments = segments_of(blocks, max_tokens, min_words, join_paragraphs)
    written = [(b.voice or "amy", c) for b in blocks for c in letters_of(b.text)]
    assert [(s.voice, c) for s in segments for c in letters_of(s.text)] == written
    assert [s.id for s in segments] == sorted({s.id for s in segments})


@given(TEXTS, st.integers(12, 20), st.integers(0, 6))
def test_the_segments_of_a_paragraph_joined_are_its_text(
    text: str, max_tokens: int, min_words: int
) -> None:
    """Signs too: only what stands alone without a letter, such as `…`, is not there."""
    segments = segments_of([Block("paragraph", text)], max_tokens, min_words)
    joined = "".join("".join(s.text for s in segments).split())
    left = "".join(text.split())
    for character in joined:  # a subsequence that leaves out no letter
        found = left.find(character)
        assert found >= 0
        assert not is_spoken(left[:found])
        left = left[found + 1 :]
    assert not is_spoken(left)


@given(st.lists(st.sampled_from("Tom went so. No! and, he (left) “Yes.” me;".split()), max_size=50))
def test_the_segments_of_a_paragraph_of_words_joined_by_spaces_are_its_text(
    words: list[str],
) -> None:
    text = " ".join(words)
    assert " ".join(s.text for s in segments_of([Block("paragraph", text)], 8, 4)) == text


@given(CHAPTERS, st.integers(1, 20), st.integers(0, 6))
def test_no_segment_is_more_than_the_engine_speaks_at_once(
    blocks: list[Block], max_tokens: int, min_words: int
) -> None:
    segments = segments_of(blocks, max_tokens, min_words)
    assert all(0 < count_letters(segment.text) <= max_tokens for segment in segments)


@given(CHAPTERS, st.integers(3, 20))
def test_no_pause_is_lost_where_paragraphs_stay_apart(blocks: list[Block], max_tokens: int) -> None:
    """After the last heard character of a block stands its pause, or a longer one."""
    segments = segments_of(blocks, max_tokens, 4, join_paragraphs=False)
    pauses = pauses_by_character(segments)
    num_heard = 0
    for block in blocks:
        num_heard += len(letters_of(block.text))
        if num_heard and not (block.continues and block.kind != "scene_break"):
            asked_ms = block.pause_after_ms
            if asked_ms is None:
                asked_ms = LEAST_MS.get(block.kind, PAUSES.scene_break_ms)
            assert pauses.get(num_heard, -1) >= min(asked_ms, PAUSES.chapter_ms)


@given(CHAPTERS, st.integers(3, 20), st.integers(0, 6))
def test_joining_paragraphs_loses_only_pauses_beside_what_is_too_short(
    blocks: list[Block], max_tokens: int, min_words: int
) -> None:
    apart = segments_of(blocks, max_tokens, min_words, join_paragraphs=False)
    joined = segments_of(blocks, max_tokens, min_words)
    before, after = pauses_by_character(apart), pauses_by_character(joined)
    assert all(before[place] == pause_ms for place, pause_ms in after.items())
    num_short = sum(1 for segment in apart if num_heard_words(segment.text) < min_words)
    assert len(before) - len(after) <= num_short


def num_heard_words(text: str) -> int:
    return sum(1 for word in text.split() if is_spoken(word))


def pauses_by_character(segments: list[Segment]) -> dict[int, int]:
    """The pause after each segment, by the number of heard characters before it."""
    pauses: dict[int, int] = {}
    num_heard = 0
    for segment in segments:
        num_heard += len(letters_of(segment.text))
        pauses[num_heard] = segment.pause_after_ms
    return pauses


@given(CHAPTERS, st.integers(3, 20))
def test_segments_that_are_cut_again_stay_as_they_are(blocks: list[Block], max_tokens: int) -> None:
    """One paragraph each, without joining: what a script holds is spoken as it stands."""
    for segment in segments_of(blocks, max_tokens, 4):
        again = segments_of([Block("paragraph", segment.text)], max_tokens, 0)
        assert letters_of("".join(s.text for s in again)) == letters_of(segment.text)


@given(st.lists(st.text(alphabet="ab,;—( ", min_size=1), min_size=1), st.integers(2, 9))
def test_cutting_changes_nothing_but_the_spaces_at_the_cuts(
    parts: list[str], max_tokens: int
) -> None:
    text = " ".join("".join(parts).split())
    assert " ".join(cut_long(text, max_tokens, count_words)) == text


def test_a_paragraph_of_156_000_characters_takes_less_than_a_second() -> None:
    sentence = "He walked on — past the mill, (so they said) and the river; then home again. “No.” "
    for text in (sentence * 1900, sentence.replace(".", ",") * 1900, "a" * 156_000):
        started = time.process_time()
        segments = segments_of([Block("paragraph", text)], 50, 4)
        assert time.process_time() - started < 3  # 0.3 measured; machines of a CI are slow
        assert len(segments) > 900
