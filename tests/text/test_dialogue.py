"""Quoted speech is found in each language's marks, given to who says it, and nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.data import Block, Chapter
from pocket_batch.errors import UsageError
from pocket_batch.settings import Casting, LineRule, Role
from pocket_batch.text.dialogue import Dialogue

CAST = {
    "Tom": Role("T"),
    "Anna": Role("A"),
    "White Rabbit": Role("R", ("Rabbit",)),
    "hatter": Role("H"),
}


def blocks_of(language: str, *texts: str, casting: Casting | None = None) -> list[Block]:
    """The blocks of some paragraphs, in the voices T, A, R or, for other lines, D."""
    chapter = Chapter(1, "One", tuple(Block("paragraph", text) for text in texts))
    dialogue = Dialogue(casting or Casting("D", CAST), language, [chapter], breath_ms=100)
    return list(dialogue.chapter(chapter).blocks)


def cut(language: str, *texts: str, casting: Casting | None = None) -> list[str]:
    """The same as text, such as `T:"Yes,"` and `-:he said.`"""
    blocks = blocks_of(language, *texts, casting=casting)
    return [f"{block.voice or '-'}:{block.text}" for block in blocks]


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("en", "“Yes,” said Tom.", ["T:“Yes,”", "-:said Tom."]),
        ("en", '"Yes," said Tom. "No."', ['T:"Yes,"', "-:said Tom.", 'T:"No."']),
        ("en", "“He said ‘no’ to me,” Tom said.", ["T:“He said ‘no’ to me,”", "-:Tom said."]),
        ("en", "(“Yes,” Tom said.) He left.", ["T:(“Yes,”", "-:Tom said.) He left."]),
        ("en", "“I—” Tom said—“never.”", ["T:“I—”", "-:Tom said—", "T:“never.”"]),
        ("de", "„Ich komme“, sagte Tom.", ["T:„Ich komme“,", "-:sagte Tom."]),
        ("de", "»Nein«, rief Anna, »nie!«", ["A:»Nein«,", "-:rief Anna,", "A:»nie!«"]),
        ("de-CH", "«Nein», rief Anna.", ["A:«Nein»,", "-:rief Anna."]),
        ("de", "Er sagte: „Ja“.", ["-:Er sagte:", "D:„Ja“."]),
        ("fr", "« Quand ? » demanda Anna.", ["A:« Quand ? »", "-:demanda Anna."]),
        ("fr", "— Bonjour, dit Tom.", ["-:— Bonjour, dit Tom."]),
        ("es", "«Ya voy», dijo Tom.", ["T:«Ya voy»,", "-:dijo Tom."]),
        ("it", "«Quando?» chiese Anna.", ["A:«Quando?»", "-:chiese Anna."]),
        ("pt", "“Vou”, disse Tom.", ["T:“Vou”,", "-:disse Tom."]),
        ("nl", "„Nee,” riep Anna.", ["A:„Nee,”", "-:riep Anna."]),
    ],
)
def test_speech_is_found_in_the_marks_of_each_language(
    language: str, text: str, wanted: list[str]
) -> None:
    assert cut(language, text) == wanted


@pytest.mark.parametrize("mark", ["’", "'"])
def test_single_marks_are_speech_where_the_book_uses_them_and_apostrophes_are_none(
    mark: str,
) -> None:
    opening = "‘" if mark == "’" else mark
    texts = [
        "‘I don’t know the boys’ room,’ said Tom. ‘It is old.’",
        "‘Give ’em hell!’ Anna cried.",
        "’Tis the boys’ own room.",
    ]
    found = cut("en", *(text.replace("‘", opening).replace("’", mark) for text in texts))
    plain = [part.replace("'", "’") for part in found]
    wanted = ["T:‘I don’t know the boys’ room,’", "-:said Tom.", "T:‘It is old.’"]
    wanted += ["A:‘Give ’em hell!’", "-:Anna cried.", "-:’Tis the boys’ own room."]
    assert plain == [part.replace("‘", opening).replace("'", "’") for part in wanted]


@pytest.mark.parametrize(
    "text",
    [
        "The so-called “expert” left.",
        "He called it “art.”",
        "She saw the words “DRINK ME,” in large letters.",
        "“Experts” say that it is so.",
        "Das sogenannte „Glück“ kam.",
        'A 6" pipe.',
    ],
)
def test_words_in_quotation_marks_that_nobody_speaks_stay_with_the_narrator(text: str) -> None:
    assert cut("en", text) == [f"-:{text}"]


@pytest.mark.parametrize(
    ("text", "voices"),
    [
        ("“Go,” said the White Rabbit.", "R-"),
        ("“Go!” the Rabbit hastily replied.", "R-"),
        ("“Go,” said poor little Anna.", "A-"),
        ("“Go,” he said to Anna.", "D-"),
        ("“Go,” said Tom to Anna.", "T-"),
        ("“Go,” said Tom, “now.”", "T-T"),
        ("“Go,” said Tom. “Now,” said he. “Or never.”", "T-T-T"),
        ("“Go,” said Tom. “Now,” said the old man. “Or never.”", "T-D-D"),
        ("“Go,” said Tom. “Now?” asked Anna.", "T-A-"),
        ("“Go.” She waited. “Now,” said Anna.", "A-A-"),
        ("“Go.” Anna thought it over.", "D-"),
        ("Then Tom said, “Go.”", "-T"),
        ("Anna looked up. Then Tom said, “Go.”", "-T"),
        ("“Go!” thought Anna. Tom came near, and she began, “Sir.”", "A-D"),
        ("“Go,” said Tommy.", "D-"),
        ("“Go,” Mr. Tom replied.", "T-"),
        ("“Go,” said Tom’s brother.", "D-"),
        ("“Go,” said Tom. “Now,” Mr. Brown said. “Or never.”", "T-D-D"),
        ("“Go!” Then Tom said, “Now.”", "T-T"),
        ("He looked at Mr. Brown. Old Tom said to Mrs. Brown, “Go.”", "-T"),
        ("“Go,” the TOM said.", "D-"),
        ("“Go,” the Hatter said.", "H-"),
        ("“Go!” they all cried when they saw Anna. “Why?” said Anna.", "D-A-"),
        ("“Go,” they said to Anna. They both said, “Now.”", "D-D"),
        ("Anna heard him cry for it, and said, “Go.”", "-A"),
        ("Anna thought it over, and then heard the Rabbit say, “Go.”", "-R"),
        ("Anna thought it over, and she heard one of them cry out, “Go!”", "-D"),
    ],
)
def test_a_line_is_of_whom_the_text_names_beside_it_or_named_last_in_the_paragraph(
    text: str, voices: str
) -> None:
    assert "".join(part[0] for part in cut("en", text)) == voices


@pytest.mark.parametrize("role", ["The Queen", "the Queen", "Queen"])
def test_a_role_may_be_named_with_its_article(role: str) -> None:
    casting = Casting("other", {role: Role("queen"), "The King": Role("king")})
    chapter = Chapter(
        1, "", (Block("paragraph", "“Off!” shouted the Queen. “Go,” the King said."),)
    )
    dialogue = Dialogue(casting, "en", [chapter], 175)
    voices = [block.voice for block in dialogue.chapter(chapter).blocks]
    assert voices == ["queen", "", "king", ""]


def test_the_next_paragraph_does_not_inherit_a_speaker() -> None:
    assert cut("en", "“One,” said Tom.", "“Two.”") == ["T:“One,”", "-:said Tom.", "D:“Two.”"]


def test_a_speech_of_several_paragraphs_is_of_one_speaker() -> None:
    texts = ["Tom began, “One", "“Two", "“Three.” He stopped.", "“Four.”"]
    assert [part[0] for part in cut("en", *texts)] == list("-TTT-D")


def test_a_poem_in_quotation_marks_is_spoken_to_its_end() -> None:
    texts = [
        "“How doth the crocodile",
        "Improve his tail,",
        "“And pour the waters",
        "Of Nile!”",
        "Yes.",
    ]
    assert [part[0] for part in cut("en", *texts)] == list("DDDD-")


def test_a_quotation_without_an_end_is_not_guessed_at() -> None:
    long = "It was a long day, and nobody had said so much as a word in all the hours of it."
    assert cut("en", "“One. He left.", long, "“Two.”")[:2] == ["-:“One. He left.", f"-:{long}"]
    assert cut("en", "“One, he said. “Two.”") == ["-:“One, he said.", "D:“Two.”"]


def test_a_paragraph_that_was_cut_by_a_pause_goes_on_inside_its_quotation() -> None:
    first = Block("paragraph", "“One", continues=True, pause_after_ms=800)
    chapter = Chapter(1, "", (first, Block("paragraph", "two,” said Tom.")))
    found = Dialogue(Casting("D", CAST), "en", [chapter], 100).chapter(chapter).blocks
    assert [(b.voice, b.text) for b in found] == [("T", "“One"), ("T", "two,”"), ("", "said Tom.")]
    assert found[0].pause_after_ms == 800


def test_lines_go_by_pattern_first_then_by_role_then_to_the_dialogue_voice() -> None:
    casting = Casting("D", CAST, (LineRule("^Off with", "Q"), LineRule("^Off", "X")))
    assert cut("en", "“Off with it!” said Tom.", casting=casting)[0] == "Q:“Off with it!”"
    assert cut("en", "“Off you go!” said Tom.", casting=casting)[0] == "X:“Off you go!”"
    assert cut("en", "“Take off!” said Tom.", casting=casting)[0] == "T:“Take off!”"


def test_without_a_dialogue_voice_only_the_lines_of_roles_leave_the_narrator() -> None:
    only_tom = Casting(cast={"Tom": Role("T")})
    assert cut("en", "“Yes.” “No,” said Anna.", casting=only_tom) == ["-:“Yes.” “No,” said Anna."]
    assert cut("en", "“Yes,” said Tom.", casting=only_tom) == ["T:“Yes,”", "-:said Tom."]


def test_headings_and_what_has_a_voice_already_stay_as_they_are() -> None:
    blocks = (Block("heading", "“Yes”"), Block("paragraph", "“Yes!”", voice="marked"))
    chapter = Chapter(1, "", blocks)
    assert Dialogue(Casting("D"), "en", [chapter], 100).chapter(chapter) == chapter


def test_pauses_and_continuation_say_that_a_paragraph_goes_on() -> None:
    chapter = Chapter(1, "", (Block("paragraph", "“Go,” said Tom. “Now.”", pause_after_ms=9),))
    found = Dialogue(Casting("D"), "en", [chapter], 100).chapter(chapter).blocks
    assert [(b.continues, b.pause_after_ms) for b in found] == [
        (True, 100),
        (True, None),
        (False, 9),
    ]


def test_a_question_that_the_sentence_goes_on_after_has_the_pause_of_a_breath() -> None:
    found = blocks_of("en", "“Who?” asked Tom. “I?” Then he left.")
    assert [b.pause_after_ms for b in found] == [100, None, None, None]


def test_a_wrong_pattern_and_an_empty_name_are_refused() -> None:
    with pytest.raises(UsageError, match="not a regular expression"):
        cut("en", "“Yes.”", casting=Casting(lines=(LineRule("(", "Q"),)))
    with pytest.raises(UsageError, match="name in the cast is empty"):
        cut("en", "“Yes.”", casting=Casting(cast={"": Role("Q")}))
    with pytest.raises(UsageError, match="has `Tom` twice: for Tom and for Tim"):
        cut("en", "“Yes.”", casting=Casting(cast={"Tom": Role("Q"), "Tim": Role("X", ("Tom",))}))


MARKS = "“”„\"«»‘’‚'‹›"
WORDS = ["Tom", "said", "asked", "the", "Yes", "No", "Anna", "6", "don’t", "’em"]
PARTS = [*WORDS, *MARKS, " ", " ", " ", ", ", ". ", "! ", "? ", "— ", "—", "(", ")", "…", ": "]
TEXT = st.lists(st.sampled_from(PARTS), max_size=40).map("".join).map(str.strip).filter(bool)


@given(
    texts=st.lists(TEXT, min_size=1, max_size=4), language=st.sampled_from(["en", "de", "fr", "nl"])
)
def test_every_character_stays_once_and_in_order(texts: list[str], language: str) -> None:
    found = blocks_of(language, *texts)
    assert "".join("".join(b.text for b in found).split()) == "".join("".join(texts).split())
    assert all(b.text == b.text.strip() != "" for b in found)
    assert [b.continues for b in found].count(False) == len(texts)
    assert all(any(c.isalnum() for c in b.text) for b in found if b.continues)
