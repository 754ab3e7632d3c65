"""Which words are missing, added, repeated or swapped, and when each word is heard."""

import time

import pytest

from pocket_batch.quality.alignment import Alignment, HeardWord, align
from pocket_batch.quality.number_words import digits

pytest.importorskip("rapidfuzz")
pytest.importorskip("jellyfish")
SAID = "The birch canoe slid on the smooth planks."


def heard(text: str) -> list[HeardWord]:
    """One word each half second."""
    return [HeardWord(word, 0.5 * i, 0.5 * i + 0.4) for i, word in enumerate(text.split())]


def aligned(said: str, got: str, language: str = "en-US") -> Alignment:
    return align(said, heard(got), language)


@pytest.mark.parametrize(
    ("said", "got"),
    [
        (SAID, "the birch canoe slid on the smooth planks"),
        ("The grey bookshop at the centre.", "The gray book shop at the center."),
        ("He paid fifteen hundred dollars in nineteen eighty-nine.", "He paid $1,500 in 1989."),
        ("One hundred and five men, two three four.", "105 men, 2, 3, 4."),
        ("Doctor Smith of Saint Ives.", "Dr. Smith of St. Ives."),
        ("It's their knight, and I would not wait.", "It is there night and I'd not weight"),
        ("You do not know; she will.", "you don't no she'll"),
        ("He travelled past the plough and the gaol.", "he traveled passed the plow and the jail"),
        ("Mister Bingley and Katherine met Lidia.", "Mr. Bingly and Catherine met Lydia."),
        ("The twenty-third of May.", "The 23rd of May."),
        ("Glue — quickly — the sheet.", "Glue quickly the sheet"),
        ("He paid one thousand, two hundred.", "He paid 1 ,200."),
        ("John three sixteen and Genesis one.", "John 3 .16 and Genesis 1."),
        ("In the mid-eighties, nine forty-five AM.", "in the mid -80s, 9 .45 am"),
        ("They said it's fine, 'twas fine.", "they said it 's fine, 'twas fine"),
        ("The schoolroom of a bookshop.", "the school -room of a book -shop"),
    ],
)
def test_the_same_words_however_they_are_written_are_no_edit(said: str, got: str) -> None:
    found = aligned(said, got)
    assert (found.num_edits, found.wer) == (0, 0.0), found


@pytest.mark.parametrize(
    ("said", "got"),
    [
        ('So she called, "Mouse dear!', "So she called, mousdir."),
        ("Edwin and Morcar, the earls of Mercia.", "Edwin and more car, the Earl's of Mercia"),
        ("And even Stigand found it.", "And even Stig End found it."),
        ("All the party were placed along the course.", "all the party replaced along the course"),
        (
            "Miles down (for, you see, Alice had learnt it).",
            "miles down. For UC, Alice had learned it",
        ),
        ("Besides, she's she, and I'm I, and so on.", "besides, she's she and I my and so on"),
    ],
)
def test_what_sounds_the_same_is_no_edit(said: str, got: str) -> None:
    found = aligned(said, got)
    assert (found.num_edits, found.unlike) == (0, ()), found


@pytest.mark.parametrize(
    ("said", "got", "num_edits"),
    [
        ("A barrowful of what?", "A bear of full of what?", 3),
        ("With the name W. Rabbit upon it.", "with the name of a rabbit upon it", 2),
        ("Trial: for really this morning.", "Try it for really this morning.", 2),
        ("So she said, où est ma chatte?", "So she said, we stay my shot.", 4),
        ("A mouse, O mouse, she said.", "a mouse, a mouse, she said", 1),
    ],
)
def test_other_words_in_the_place_of_a_stretch_are_neither_missing_nor_inserted(
    said: str, got: str, num_edits: int
) -> None:
    found = aligned(said, got)
    assert found.unlike
    assert not found.missing + found.inserted + found.repeated + found.swapped
    assert 1 <= found.num_edits <= num_edits


@pytest.mark.parametrize(
    ("said", "got", "missing"),
    [
        ("No sentiment of shame gave a damp to her.", "no sentiment of shave a damp to her", 1),
        (
            "They were not welcomed home very cordially by her.",
            "they were not welcomed home barely by her",
            1,
        ),
        ("Her daughters were eagerly called to her.", "her daughters really called to her", 1),
        (
            "The moment of her release from him was ecstasy.",
            "the moment of her release and was ecstasy",
            1,
        ),
    ],
)
def test_a_word_is_missing_where_less_is_heard_whatever_became_of_its_neighbour(
    said: str, got: str, missing: int
) -> None:
    assert len(aligned(said, got).missing) == missing


@pytest.mark.parametrize(
    ("said", "got"),
    [
        ("If, if I'd only been there.", "if I'd only been there"),
        ("I d-don't know what you mean.", "I don't know what you mean"),
        ("She was very, very tired.", "she was very tired"),
    ],
)
def test_a_stutter_that_a_listener_smooths_counts_and_is_not_missing(said: str, got: str) -> None:
    found = aligned(said, got)
    assert (found.num_edits, found.missing) == (1, ())


def test_numbers_that_sound_alike_are_other_numbers() -> None:
    assert aligned("He was fifteen then.", "he was fifty then").unlike == (("fifteen", "fifty"),)


def test_a_word_that_is_only_spelt_like_another_is_another() -> None:
    assert aligned("The Dormouse said so.", "the mouse said so").unlike == (("dormouse", "mouse"),)


def test_a_word_that_was_not_heard_is_named() -> None:
    found = aligned(SAID, "the birch slid on the smooth planks")
    assert (found.missing, found.num_edits, found.is_truncated) == (("canoe",), 1, False)
    assert found.wer == 1 / 8


@pytest.mark.parametrize("got", ["the birch canoe slid on the smooth", "the birch canoe slid", ""])
def test_an_end_that_was_not_heard_is_told(got: str) -> None:
    assert aligned(SAID, got).is_truncated


@pytest.mark.parametrize(
    ("got", "repeated"),
    [
        ("the birch birch canoe slid on the smooth planks", {"birch"}),
        ("the birch canoe slid on canoe slid on the smooth planks", {"canoe", "slid", "on"}),
        ("the birch canoe slid on the smooth planks planks", {"planks"}),
    ],
)
def test_what_was_heard_twice_is_named(got: str, repeated: set[str]) -> None:
    found = aligned(SAID, got)
    assert set(found.repeated) == repeated
    assert not found.inserted + found.missing


def test_a_text_that_repeats_itself_is_not_repeated() -> None:
    found = aligned("She was very, very tired.", "she was very very tired")
    assert found.num_edits == 0


def test_words_in_another_order_are_named() -> None:
    found = aligned(SAID, "the canoe birch slid on the smooth planks")
    assert (found.swapped, found.num_edits) == (("birch", "canoe"), 1)


@pytest.mark.parametrize(
    ("said", "got", "swapped"),
    [
        ("Her heart did whisper that.", "her did tart whisper that", {"heart", "did"}),
        (
            "It was then disclosed in the paper.",
            "it was then in disclose the paper",
            {"disclosed", "in"},
        ),
    ],
)
def test_swapped_words_may_be_spelt_as_they_sound(said: str, got: str, swapped: set[str]) -> None:
    assert set(aligned(said, got).swapped) == swapped


def test_words_that_only_look_swapped_are_the_same_by_their_sound() -> None:
    found = aligned("But at last it unfolded its arms.", "but it lasted unfolded its arms")
    assert found.swapped == ()


def test_what_is_not_in_the_text_is_named() -> None:
    found = aligned(SAID, "the birch canoe then slid on the smooth planks")
    assert (found.inserted, found.repeated) == (("then",), ())


def test_another_word_is_a_pair() -> None:
    assert aligned(SAID, "the birch canoe fell on the smooth planks").unlike == (("slid", "fell"),)


@pytest.mark.parametrize("language", ["de", "fr-FR", "it"])
def test_other_languages_are_compared_by_letters(language: str) -> None:
    said = "Elisabetta Bingleys Garten, heute morgen."
    assert aligned(said, "elisabeta bingleys garten heute morgen", language).num_edits == 0
    assert aligned(said, "elisabetta garten heute morgen", language).missing == ("bingleys",)


def test_every_word_of_the_text_has_a_time_in_order() -> None:
    said = "In nineteen eighty-nine the — birch — canoe slid on smooth planks, twice."
    found = aligned(said, "in 1989 the canoe slid upon the smooth planks")
    assert [time.word for time in found.word_times] == said.split()
    edges = [edge for time in found.word_times for edge in (time.begin_s, time.end_s)]
    assert edges == sorted(edges)
    by_word = {time.word: time for time in found.word_times}
    assert (by_word["canoe"].begin_s, by_word["canoe"].end_s) == (1.5, 1.9)
    assert by_word["nineteen"].begin_s == 0.5
    assert by_word["eighty-nine"].end_s == 0.9
    assert not by_word["twice."].is_heard
    assert not by_word["birch"].is_heard


@pytest.mark.parametrize("said", ["", "—", SAID])
@pytest.mark.parametrize("got", ["", "...", "you"])
def test_anything_is_aligned_with_anything(said: str, got: str) -> None:
    found = aligned(said, got)
    assert len(found.word_times) == len(said.split())
    assert found.num_edits >= 0


def test_a_long_utterance_is_aligned_in_a_fraction_of_its_recognition() -> None:
    said = " ".join([SAID, "Glue the sheet to the dark blue background."] * 4)
    started = time.process_time()
    assert aligned(said, said.replace("dark", "")).num_edits == 4
    assert time.process_time() - started < 1.0  # about 0.1 on a free core


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("nineteen eighty nine", "1989"),
        ("one thousand nine hundred and eighty nine", "1989"),
        ("fifteen hundred", "1500"),
        ("two three", "23"),
        ("twenty three", "23"),
        ("nineteen oh five", "1905"),
        ("three hundred thousand and twelve", "300012"),
        ("five million", "5000000"),
        ("and a", ""),
    ],
)
def test_numbers_in_words_are_read_as_digits(words: str, expected: str) -> None:
    assert digits(words.split()) == expected
