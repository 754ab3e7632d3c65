"""Marks in a text: what they do to blocks, and what stays text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.data import Block, BlockKind, Chapter
from pocket_batch.text.markup import DEFAULT_PAUSE_MS, MAX_PAUSE_MS, MAX_PROBLEMS, apply_marks


def marked(*texts: str, kind: BlockKind = "paragraph") -> tuple[list[Block], tuple[str, ...]]:
    blocks = tuple(Block(kind, text, f"a.txt:{n}") for n, text in enumerate(texts, 1))
    chapter, problems = apply_marks(Chapter(1, "One", blocks))
    return list(chapter.blocks), problems


def seen(blocks: list[Block]) -> list[tuple[str, str, int | None, bool]]:
    return [(b.text, b.voice, b.pause_after_ms, b.continues) for b in blocks]


def test_a_pause_cuts_a_paragraph_in_two_that_belong_together() -> None:
    blocks, problems = marked("He stopped. [pause 800ms] Then he went on.")
    assert seen(blocks) == [
        ("He stopped.", "", 800, True),
        ("Then he went on.", "", None, False),
    ]
    assert not problems


@pytest.mark.parametrize(
    ("mark", "pause_ms"),
    [
        ("[pause 800ms]", 800), ("[pause 1.5s]", 1500), ("[pause 2 seconds]", 2000),
        ("[pause: 20 ms]", 20), ("[pause .5s]", 500), ("[pause 0ms]", 0),
        ("[pause]", DEFAULT_PAUSE_MS), ("[pause 1s][pause 1s]", 2000),
    ],
)  # fmt: skip
def test_a_pause_has_a_length_in_milliseconds_or_seconds(mark: str, pause_ms: int) -> None:
    blocks, problems = marked(f"One {mark} two.")
    assert seen(blocks) == [("One", "", pause_ms, True), ("two.", "", None, False)]
    assert not problems


def test_a_pause_at_the_end_start_or_alone_is_the_silence_between_paragraphs() -> None:
    blocks, problems = marked("One. [pause 2s]", "Two.", "[pause 3s]", "[pause 1s] Three.")
    assert seen(blocks) == [
        ("One.", "", 2000, False),
        ("Two.", "", 4000, False),
        ("Three.", "", None, False),
    ]
    assert not problems


def test_punctuation_after_a_mark_stays_with_its_words() -> None:
    blocks, _ = marked("“Wait [pause 1s],” he said [pause 1s].")
    assert [block.text for block in blocks] == ["“Wait,”", "he said."]


def test_a_voice_reads_until_it_ends_or_another_one_or_the_chapter_ends() -> None:
    blocks, problems = marked(
        "He: [voice marius] “I am.” [/voice] She:",
        "[voice alba]",
        "“I was.”",
        "[voice “my own”] “We”",
        "“will be.” [voice] End.",
    )
    assert [(b.text, b.voice, b.continues) for b in blocks] == [
        ("He:", "", True),
        ("“I am.”", "marius", True),
        ("She:", "", False),
        ("“I was.”", "alba", False),
        ("“We”", "my own", False),
        ("“will be.”", "my own", True),
        ("End.", "", False),
    ]
    assert not problems
    chapter, _ = apply_marks(Chapter(2, "Two", (Block("paragraph", "Next [1] chapter."),)))
    assert chapter.blocks[0].voice == ""


def test_marks_work_in_headings_and_leave_the_title() -> None:
    heading = Block("heading", "Part One [pause 1s] The River")
    chapter, _ = apply_marks(Chapter(1, "Part One [pause 1s] The River", (heading,)))
    assert chapter.title == "Part One The River"
    assert [(b.kind, b.text, b.pause_after_ms) for b in chapter.blocks] == [
        ("heading", "Part One", 1000),
        ("heading", "The River", None),
    ]


@pytest.mark.parametrize("text", ["as he did [sic]", "so [1]", "[pauses] here", "a [voiceless] b"])
def test_other_brackets_are_text(text: str) -> None:
    blocks, problems = marked(text)
    assert seen(blocks) == [(text, "", None, False)]
    assert not problems


@pytest.mark.parametrize(
    "mark",
    ["[pause lots]", "[pause 5]", "[pause -1s]", "[/pause]", "[Voice over]", "[voice of a crowd]",
     "[Pause]", "[rate of exchange]"],
)  # fmt: skip
def test_what_only_looks_like_a_mark_stays_text_and_is_told_with_its_place(mark: str) -> None:
    blocks, problems = marked("First.", f"Here {mark} there.")
    assert blocks[1].text == f"Here {mark} there."
    assert len(problems) == 1
    assert problems[0].startswith("a.txt:2: ")
    assert mark in problems[0]


def test_a_rate_is_taken_out_and_said_once() -> None:
    blocks, problems = marked("A [rate 0.9] slow [/rate] day, [rate 90%] so.", "[rate slow] It.")
    assert [block.text for block in blocks] == ["A slow day, so.", "It."]
    assert len(problems) == 1
    assert "4 `[rate]` are taken out" in problems[0]


def test_a_pause_is_bounded_and_one_before_the_first_word_is_told() -> None:
    blocks, problems = marked("[pause 2s] Start. [pause 999999s] On.")
    assert [block.pause_after_ms for block in blocks] == [MAX_PAUSE_MS, None]
    assert "before the first word" in problems[0]
    assert "60 seconds" in problems[1]


def test_many_wrong_marks_are_counted_rather_than_listed() -> None:
    _, problems = marked(*["[pause x] text"] * (MAX_PROBLEMS + 5))
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1].startswith("5 more")


def test_breaks_of_the_scene_have_no_voice_and_pass_a_pause_on() -> None:
    blocks = (
        Block("paragraph", "[voice alba] One."),
        Block("scene_break", ""),
        Block("paragraph", "[pause 3s] Two."),
    )
    chapter, _ = apply_marks(Chapter(1, "x", blocks))
    assert [(b.kind, b.voice, b.pause_after_ms) for b in chapter.blocks] == [
        ("paragraph", "alba", 3000),
        ("scene_break", "", None),
        ("paragraph", "alba", None),
    ]


def test_a_chapter_without_marks_is_the_same_chapter() -> None:
    chapter = Chapter(1, "x", (Block("paragraph", "No marks at all."),))
    assert apply_marks(chapter) == (chapter, ())


PIECES = st.sampled_from(
    ["one ", "two. ", "“Three,” ", "[pause 1s] ", "[pause]", "[voice a] ", "[/voice]", "[sic] ",
     "[rate 2]", "! ", "[", "] ", "[pause x] "]
)  # fmt: skip


@given(st.lists(st.lists(PIECES, max_size=8).map("".join), max_size=4))
def test_every_word_that_is_no_mark_is_kept_once_and_in_order(texts: list[str]) -> None:
    blocks, _ = marked(*texts)
    wanted = " ".join(texts)
    for mark in ("[pause 1s]", "[pause]", "[voice a]", "[/voice]", "[rate 2]"):
        wanted = wanted.replace(mark, " ")
    assert "".join("".join(b.text for b in blocks).split()) == "".join(wanted.split())
