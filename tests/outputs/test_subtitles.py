"""Subtitles: cues that can be read in time, in files that others read."""

from itertools import pairwise
from pathlib import Path

import pysubs2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocket_batch.outputs.cue_lines import MAX_COLUMNS, width
from pocket_batch.outputs.cues import SpokenLine, make_cues
from pocket_batch.outputs.subtitles import JOINER, SUBTITLES, write_subtitles

RATE_HZ = 24_000
LONG = (
    "Alice was beginning to get very tired of sitting by her sister on the bank, and of having "
    "nothing to do: once or twice she had peeped into the book her sister was reading, but it had "
    "no pictures or conversations in it, “and what is the use of a book,” thought Alice “without "
    "pictures or conversations?”"
)
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたか見当がつかぬ。薄暗いじめじめした所だ。"


def line(text: str, begin_s: float, end_s: float, *words: tuple[str, float, float]) -> SpokenLine:
    return SpokenLine(text, round(begin_s * RATE_HZ), round(end_s * RATE_HZ), words)


def seen(texts: tuple[str, ...]) -> str:
    return "".join("".join(texts).split())


@pytest.mark.parametrize("text", [LONG, JAPANESE, "x" * 300, "A " * 200, "Yes."])
def test_a_long_utterance_becomes_cues_of_two_lines_that_fit(text: str) -> None:
    cues = make_cues([line(text, 0.5, 0.5 + len(text) / 15)], RATE_HZ)
    assert "".join(seen(cue.texts) for cue in cues) == "".join(text.split())
    assert all(len(cue.lines) <= 2 for cue in cues)
    assert all(width(text) <= MAX_COLUMNS for cue in cues for text in cue.texts)


def test_what_is_not_seen_takes_no_room_in_a_line() -> None:
    word = "\u202bcom\u00adpos\u00adi\u00adtion\u2060\u200d\u0301\u202c"
    assert width(word) == len("composition")
    text = " ".join(["com\u00adpos\u00adi\u00adtion"] * 6)
    (cue,) = make_cues([line(text, 0.0, 5.0)], RATE_HZ)
    assert [len(text.split()) for text in cue.texts] == [3, 3]


def test_it_is_cut_where_a_clause_ends() -> None:
    cues = make_cues([line(LONG, 0, 18)], RATE_HZ)
    ends = [cue.texts[-1][-1] for cue in cues]
    assert sum(end in ",:;.?!”" for end in ends) >= len(cues) - 1


def test_begin_and_end_are_those_of_the_speech() -> None:
    cues = make_cues([line("One two three.", 1.25, 2.75), line("Four five.", 3.5, 4.6)], RATE_HZ)
    assert [(c.begin / RATE_HZ, c.end / RATE_HZ) for c in cues] == [(1.25, 2.75), (3.5, 4.6)]


def test_what_is_too_short_to_be_read_stays_in_the_pause_but_never_longer() -> None:
    cues = make_cues([line("No.", 1.0, 1.2), line("Yes.", 1.5, 1.7), line("Oh.", 9, 9.2)], RATE_HZ)
    assert [cue.end / RATE_HZ for cue in cues] == [1.5, 2.5, 9.2]


def test_what_could_not_be_spoken_is_not_shown() -> None:
    assert make_cues([line("Lost.", 1.0, 1.0)], RATE_HZ) == []


texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=120)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(texts, st.integers(0, 400_000), st.integers(0, 40_000)), max_size=6))
def test_cues_never_overlap_in_any_format(items: list[tuple[str, int, int]]) -> None:
    at = 0
    lines = []
    for text, speech, pause in items:
        lines.append(SpokenLine(text, at, at + speech))
        at += speech + pause
    cues = make_cues(lines, RATE_HZ)
    assert all(one.end <= other.begin for one, other in pairwise(cues))
    for kind, render in SUBTITLES.items():
        subs = pysubs2.SSAFile.from_string(render(cues, RATE_HZ, "T"), format_=kind)
        assert all(one.end <= other.start for one, other in pairwise(subs))
        assert all(one.start < one.end for one in subs)


HARD = "Yes <b>bold</b> & {\\an8}so \\N on --> {x} 100% ♪ 12"


@pytest.mark.parametrize("kind", SUBTITLES)
def test_others_read_the_same_times_and_words(kind: str, tmp_path: Path) -> None:
    target = tmp_path / f"book.{kind}"
    lines = [line(LONG, 0.5, 18), line("The End.", 3700.004, 3702)]
    num_cues = write_subtitles(target, kind, lines, RATE_HZ, "A  Book")
    subs = pysubs2.load(str(target), encoding="utf-8")
    assert len(subs) == num_cues
    assert "".join("".join(e.plaintext.split()) for e in subs) == "".join(
        (LONG + "The End.").split()
    )
    assert subs[0].start == 500
    assert abs(subs[-1].start - 3_700_004) <= 5


def test_nothing_in_a_text_is_taken_for_markup() -> None:
    cues = make_cues([line(HARD, 1, 5)], RATE_HZ)
    srt, vtt, ass = (render(cues, RATE_HZ, "") for render in SUBTITLES.values())
    assert "<b>" not in srt
    assert "{\\" not in srt
    assert srt.count("-->") == 1
    assert srt.replace(JOINER, "").count("<b>bold</b>") == 1
    assert "&lt;b&gt;bold&lt;/b&gt; &amp;" in vtt
    assert vtt.count("-->") == 1
    event = ass.splitlines()[-1]
    assert r"\{" in event
    assert "{" not in event.replace(r"\{", "")
    assert r"\N on" not in event.replace(r"\N" + "on", "")


def test_the_times_of_words_are_shown_where_they_are_known() -> None:
    """In spoken form: "5:30" is written, "five thirty" is heard."""
    words = (("At", 0.1, 0.2), ("five", 0.3, 0.5), ("thirty", 0.5, 0.9), ("she", 1.2, 1.4))
    cues = make_cues([line("At 5:30 she ran.", 10, 12, *words, ("ran.", 1.5, 1.9))], RATE_HZ)
    vtt = SUBTITLES["vtt"](cues, RATE_HZ, "")
    assert "<00:00:11.200>she <00:00:11.500>ran." in vtt
    ass = pysubs2.SSAFile.from_string(SUBTITLES["ass"](cues, RATE_HZ, ""), format_="ass")
    assert "{\\kf30}she" in ass[0].text
    total_cs = sum(int(part.partition("}")[0]) for part in ass[0].text.split("{\\kf")[1:])
    assert total_cs == 200
    assert ass[0].plaintext == "At 5:30 she ran."


def test_cues_of_a_long_utterance_begin_with_their_first_word() -> None:
    words = [(w, 0.4 * i, 0.4 * i + 0.3) for i, w in enumerate(LONG.split())]
    cues = make_cues([line(LONG, 5, 5 + 0.4 * len(words), *words)], RATE_HZ)
    begins = {round((5 + b) * RATE_HZ) for _, b, _ in words}
    assert len(cues) > 3
    assert all(cue.begin in begins for cue in cues)


def test_times_of_words_that_make_no_sense_are_passed_over() -> None:
    words = (("ran.", 0.1, 0.2), ("She", 7.0, 9.0), ("", -4.0, -1.0))
    (cue,) = make_cues([line("She ran.", 1, 3, *words)], RATE_HZ)
    begins = [unit.begin for text in cue.lines for unit in text]
    assert begins == sorted(begins)
    assert RATE_HZ <= begins[0] <= begins[-1] <= 3 * RATE_HZ
