"""Written form becomes spoken form."""

from pathlib import Path

import pytest

from pocket_batch.data import Block
from pocket_batch.text.normalize import normalize, normalize_block

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["english"])
def test_each_written_line_is_said_as_in_the_golden_file(name: str, save_golden: bool) -> None:
    path = GOLDEN / f"{name}.tsv"
    pairs = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    said = [f"{written}\t{normalize(written, 'en')}" for written, *_ in pairs]
    if save_golden:
        path.write_text("\n".join(said) + "\n", encoding="utf-8")
    assert said == ["\t".join(pair) for pair in pairs] or save_golden


def test_what_is_said_is_not_changed_when_it_is_normalized_again() -> None:
    lines = (GOLDEN / "english.tsv").read_text(encoding="utf-8").splitlines()
    spoken = [line.split("\t")[1] for line in lines]
    assert [normalize(text, "en") for text in spoken] == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("CHAPTER IV. THE RIVER BANK", "Chapter Four. The river bank."),
        ("IV", "Four."),
        ("I", "One."),
        ("II. The Pool of Tears", "Two. The Pool of Tears."),
        ("CHAPTER I", "Chapter One."),
        ("Chapter 1: Down", "Chapter one: Down."),
        ("Chapter I Down the Rabbit-Hole", "Chapter One. Down the Rabbit-Hole."),
        ("CHAPTER I.—MARLEY’S GHOST", "Chapter One. Marley's ghost."),
        ("“What?”", '"What?"'),
        ("“The Dead”", '"The Dead".'),
        ("Chapter the Last,", "Chapter the Last."),
        ("I Am Born", "I Am Born."),
        ("1984", "Nineteen eighty-four."),
        ("THE BBC", "The BBC."),
    ],
)
def test_a_heading_is_said_with_a_stop_at_its_end(written: str, spoken: str) -> None:
    said = normalize_block(Block("heading", written, "a.xhtml:3"), "en")
    assert said == Block("heading", spoken, "a.xhtml:3")


def test_blocks_with_nothing_to_say_are_dropped_and_scene_breaks_stay() -> None:
    blocks = (
        Block("paragraph", "One."),
        Block("paragraph", "* * *"),
        Block("scene_break", ""),
        Block("paragraph", "\u00ad"),
        Block("heading", "***"),
        Block("paragraph", "No. 2"),
    )
    said = [normalize_block(block, "en") for block in blocks]
    assert [block and block.text for block in said] == ["One.", None, "", None, None, "Number two"]


@pytest.mark.parametrize("language", ["en", "en-US", "en_GB", "eng", "EN"])
def test_english_is_known_by_any_tag_that_files_have_for_it(language: str) -> None:
    assert normalize("Mr. Hill had 5.", language) == "Mister Hill had five."


@pytest.mark.parametrize(
    ("language", "written", "spoken"),
    [
        ("de", "Für 3.500 Mark", "Für dreitausendfünfhundert Mark"),
        ("de", "3,5 Liter", "Drei Komma fünf Liter"),
        ("de-AT", "Im Jahr 1865 – ja.", "Im Jahr achtzehnhundertfünfundsechzig, ja."),
        ("fr", "Le 1er mai, 1\u202f200 francs.", "Le premier mai, mille deux cents francs."),
        ("es", "El 25 de mayo", "El veinticinco de mayo"),
        ("it", "Il 1º maggio", "Il primo maggio"),
        ("pt", "O 2º dia, 1.200", "O segundo dia, mil e duzentos"),
        ("nl", "De 3e man, 25 jaar", "De derde man, vijfentwintig jaar"),
        ("xx", "Kana 5 — ta.", "Kana 5, ta."),
    ],
)  # fmt: skip
def test_other_languages_get_numbers_where_known_and_clean_up_always(
    language: str, written: str, spoken: str
) -> None:
    assert normalize(written, language) == spoken


def test_a_british_book_reads_the_day_of_a_date_first() -> None:
    assert normalize("On 10/06/2005.", "en-GB") == ("On the tenth of June two thousand five.")
    assert normalize("On 10/06/2005.", "en-US") == "On October sixth two thousand five."


def test_a_block_keeps_all_but_its_text() -> None:
    block = Block("quote", "No. 2", "a.xhtml:4", "en-GB", "marius", 800, True)
    assert normalize_block(block, "de") == Block(
        "quote", "Number two", "a.xhtml:4", "en-GB", "marius", 800, True
    )
    assert normalize_block(Block("paragraph", "***"), "en") is None


def test_a_block_is_said_in_its_own_language() -> None:
    blocks = (
        Block("heading", "Chapter 3", language="en"),
        Block("paragraph", "3 Hunde", language="de"),
        Block("paragraph", "3 chiens"),
    )
    said = [normalize_block(block, "fr") for block in blocks]
    assert [block and block.text for block in said] == [
        "Chapter three.",
        "Drei Hunde",
        "Trois chiens",
    ]


def test_a_heading_that_goes_on_in_the_next_block_is_not_closed() -> None:
    said = normalize_block(Block("heading", "CHAPTER IV", continues=True), "en")
    assert said is not None
    assert said.text == "Chapter Four"


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("\ue100", "\ue100"),
        ("IT WAS \ue100 AT the door.", "It was \ue100 at the door."),
        ("He left. 3 \ue1a7 came — \uefff’s.", "He left. Three \ue1a7 came, \uefff's."),
        ("King \ue100 II and Mr. \ue101", "King \ue100 the Second and Mister \ue101"),
        ("\ue1005 \ue100-\ue101 5km", "\ue100 five \ue100-\ue101 five kilometers"),
        ("see \ue123.org", "see \ue123 dot org"),
        ("Elm St. \ue200 left", "Elm Saint \ue200 left"),
    ],
)
def test_a_word_of_a_lexicon_counts_as_a_word_with_a_capital(written: str, spoken: str) -> None:
    assert normalize(written, "en") == spoken


@pytest.mark.parametrize("language", ["en", "de", "xx"])
@pytest.mark.parametrize("ornament", ["#", "* * *", "~", "+ + +", "—", "= =", "/", "<>"])
def test_a_paragraph_of_ornaments_says_nothing(ornament: str, language: str) -> None:
    assert normalize(ornament, language) == ""


def test_a_heading_keeps_the_words_of_a_lexicon() -> None:
    said = normalize_block(Block("heading", "CHAPTER I \ue100 AND THE RIVER"), "en")
    assert said is not None
    assert said.text == "Chapter One. \ue100 and the river."


def test_the_form_of_an_ellipsis_stays_as_the_author_wrote_it() -> None:
    assert normalize("So... no.", "en") == "So... no."
    assert normalize("So . . . no.", "en") == "So… no."


def test_thin_spaces_between_figures_are_those_of_thousands() -> None:
    assert normalize("12\u202f345 men, 1\u00a0900 women", "en") == (
        "Twelve thousand three hundred and forty-five men, one thousand nine hundred women"
    )
