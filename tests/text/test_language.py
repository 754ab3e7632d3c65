"""The guess at the language of an undeclared text."""

from pathlib import Path

import pytest

from pocket_batch.sources.base import read_book
from pocket_batch.text.language import _SMALL_WORDS, contradicts, guess_language

SAMPLES = {
    "en": "She waited until the sail was small, and then she sat down at her desk and began to "
    "write a letter to the town on the other side of the bay, which had not been told.",
    "de": "Sie wartete, bis das Segel klein war, und dann setzte sie sich an den Tisch und begann, "
    "einen Brief an die Stadt auf der anderen Seite der Bucht zu schreiben, die nicht ahnte.",
    "fr": "Elle attendit que la voile fût petite, puis elle s'assit à la table et commença une "
    "lettre pour les gens de la ville qui est de l'autre côté de la baie, mais pas pour nous.",
    "es": "Esperó hasta que la vela fue pequeña, y cuando ella se sentó a la mesa empezó a "
    "escribir una carta para los del pueblo que está al otro lado de la bahía, pero con calma.",
    "it": "Aspettò che la vela fosse piccola, poi si sedette alla scrivania e cominciò una lettera "
    "per la gente della città che era dall'altra parte della baia, ma non per noi, come anche lui.",
    "ru": "Она подождала, пока парус не стал маленьким, а потом села за стол и начала писать.",
    "ja": "彼女は帆が小さくなるまで待ち、それから机に向かって手紙を書き始めた。",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_a_paragraph_of_prose_tells_its_language(language: str) -> None:
    assert guess_language(SAMPLES[language]) == language


@pytest.mark.parametrize("text", ["", "No.", "1 2 3", "Xyzzy plugh. " * 30])
def test_what_cannot_be_told_is_not_guessed(text: str) -> None:
    assert guess_language(text) == ""


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it"])
def test_a_declaration_is_contradicted_only_by_a_long_text_of_another_language(
    language: str,
) -> None:
    text = SAMPLES[language]
    for declared in ("en", "de", "fr", "es", "it", "pt", "nl"):
        found = contradicts(text * 20, declared)
        assert found in ("", language)
        if declared != language and {declared, language} & {"en", "de"}:  # no neighbours
            assert found == language
        assert contradicts(text, declared) == ""
    assert contradicts(text * 20, "ca") == ""  # a neighbour that is not told apart


def test_a_text_that_is_also_in_the_declared_language_contradicts_nothing() -> None:
    english, french = SAMPLES["en"] * 300, SAMPLES["fr"] * 300
    assert contradicts(french, "en") == "fr"
    assert contradicts(french + english, "en") == ""  # the original, then its translation
    assert contradicts(english + french, "en") == ""
    assert contradicts(f"{SAMPLES['fr']} {SAMPLES['en']} " * 100, "en") == ""  # side by side
    words = "le pain: the bread; la maison: the house; les enfants: the children; qui est: who is. "
    assert contradicts(words * 100, "en") == ""  # a vocabulary
    verse = "Shall I compare thee to a summer's day? Thou art more lovely and more temperate. "
    assert contradicts(verse * 100, "en") == ""
    code = "for el in las: print(el, por=1, para=2) # los, con, como, y, al, lo "
    page = f"Here is the code of this page, and what it does for you. {code}"
    assert contradicts(page * 60, "en") == ""


def test_no_small_word_is_of_two_languages() -> None:
    lists = [set(words.split()) for words in _SMALL_WORDS.values()]
    assert sum(map(len, lists)) == len(set().union(*lists))


def test_english_books_are_english(corpus: Path) -> None:
    for name in ("pg-alice-epub3", "se-importance-of-being-earnest", "deb-developers-reference-en"):
        book = read_book(corpus / "epub" / f"{name}.epub")
        text = " ".join(block.text for chapter in book.chapters for block in chapter.blocks)
        assert guess_language(text) == "en", name
