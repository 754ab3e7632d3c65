"""Names and rare words of a book, and the English dictionary that knows the others."""

from functools import cache

import pytest

from pocket_batch.data import Block
from pocket_batch.text import dictionary as dictionaries
from pocket_batch.text.words import MIN_WORDS_FOR_RARE, UnknownWord, unknown_words

dictionary = cache(dictionaries.dictionary)


def found(*texts: str, language: str = "en") -> list[UnknownWord]:
    blocks = [Block("paragraph", text, f"a.txt:{n}") for n, text in enumerate(texts, 1)]
    return unknown_words(blocks, language, dictionary(language))


def test_what_the_embedded_voice_would_guess_is_listed_by_frequency_with_its_first_place() -> None:
    words = found(
        "The house was old. Then Zorvath came, and Zorvath's dog.",
        "“Zorvath!” cried Quellin, frobnicating. Mrs. Tropwen couldn't, they'd've known.",
    )
    assert [(word.written, word.count, word.where) for word in words] == [
        ("Zorvath", 3, "a.txt:1"),
        ("Quellin", 1, "a.txt:2"),
        ("frobnicating", 1, "a.txt:2"),
        ("Tropwen", 1, "a.txt:2"),
    ]
    assert [word.is_name for word in words] == [True, True, False, True]


def test_capitals_and_possessives_are_one_word_and_numerals_are_none() -> None:
    words = found("ZORVATH XIV", "to Zorvath, by Zorvath’s and Zorvath'll of XIV LIII")
    assert [(word.written, word.count) for word in words] == [("Zorvath", 4)]


def test_parts_of_words_with_digits_are_no_words() -> None:
    words = found("On the 1st and 22nd the Zorvath played a PQZ3, a 5zq and an x2zq's _quellin_.")
    assert [word.written for word in words] == ["Zorvath", "quellin"]


def test_a_word_that_is_written_both_ways_is_no_name() -> None:
    (word,) = found("A frobnicle is a frobnicle. Frobnicle it, said a Frobnicle of a frobnicle.")
    assert (word.written, word.count, word.is_name) == ("frobnicle", 5, False)


@pytest.mark.parametrize("word", "walked Alice unhelpfully café severest NASA wickedest".split())
def test_the_dictionary_knows_words_with_their_endings_accents_and_capitals(word: str) -> None:
    is_known = dictionary("en-GB")
    assert is_known is not None
    assert is_known(word)


@pytest.mark.parametrize("word", "Zorvath zorvath ZORVATH".split())
def test_the_dictionary_does_not_know_what_the_voice_would_guess_or_spell(word: str) -> None:
    is_known = dictionary("en")
    assert is_known is not None
    assert not is_known(word)


def test_without_a_dictionary_names_are_words_with_a_capital_inside_sentences() -> None:
    text = "Hier Aldric est venu. Il dit qu'Aldric dort. Le soir tombe, le Soir aussi, le soir."
    assert [word.written for word in found(text, language="fr")] == ["Aldric"]


def test_german_nouns_with_articles_are_no_names() -> None:
    text = "Da kam Hermine in das Haus, und das Haus sah Hermine und den Garten."
    assert [word.written for word in found(text, language="de")] == ["Hermine"]


def test_a_long_book_without_a_dictionary_has_its_rare_words_listed() -> None:
    text = "la casa era grande " * (MIN_WORDS_FOR_RARE // 4) + " y el zurriburri estaba"
    assert "zurriburri" in [word.written for word in found(text, language="es")]


def test_scripts_without_capitals_and_blocks_in_other_languages_are_left_out() -> None:
    assert found("東京は大きい町です。", language="ja") == []
    block = Block("paragraph", "wo Zorvath", language="de-AT")
    assert unknown_words([block], "en", dictionary("en")) == []
