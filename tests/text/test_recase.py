"""Texts in capitals become sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.text.recase import recase


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("THE CAT SAT", "The cat sat."),
        ("HELLO. HOW ARE YOU? I AM FINE", "Hello. How are you? I am fine."),
        ("“GO!” HE SAID… “NOW”", "“Go!” He said… “Now”"),
        ("I'M HERE AND I SAID MONDAY", "I'm here and I said Monday."),
        ("HE SAID 'I'LL GO'", "He said 'I'll go'"),
        ("SHE SAID ‘I’LL GO’", "She said ‘I’ll go’"),
        (
            "THE U.S. AND J. K. ROWLING AT 5 P.M. TODAY",
            "The U.S. and J. K. Rowling at 5 p.m. today.",
        ),
        ("IN MARCH THEY MARCH ON MAY 5", "In March they march on May 5."),
        ("YOU MAY GO IN MAY", "You may go in May."),
        ("SPANIARDS AND THE PORTUGUESE IN AUGUST", "Spaniards and the Portuguese in August."),
        ("ITALIANS", "Italians."),
        ("WAIT —", "Wait —"),
        ("OKAY!", "Okay!"),
        ("THE GODS OF THE GREEKS", "The gods of the Greeks."),
        ("MIXED Case", "MIXED Case"),
        ("123", "123"),
        ("", ""),
    ],
)
def test_english_in_capitals_becomes_sentences(text: str, expected: str) -> None:
    assert recase(text, "en-GB") == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "DIE ÄPFEL. UND IN MARCH", "Die äpfel. Und in march."),
        ("fr", "ÇA VA", "Ça va."),
        ("tr", "İSTANBUL IRMAK. İYİ", "İstanbul ırmak. İyi."),
        ("es", "¿QUÉ? ¡NO!", "¿Qué? ¡No!"),
        ("ja", "漢字", "漢字"),
    ],
)
def test_other_languages_have_no_names(language: str, text: str, expected: str) -> None:
    assert recase(text, language) == expected


@given(st.text(st.characters(codec="ascii")))
def test_no_letter_is_lost_and_it_is_done_once(text: str) -> None:
    found = recase(text, "en")
    assert found.removesuffix(".").casefold() == text.strip().removesuffix(".").casefold()
    if any(letter.islower() for letter in found):
        assert recase(found, "en") == found
