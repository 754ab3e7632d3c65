"""IPA in the letters that hibari takes."""

import pytest

from pocket_batch.engine.ipa import letters_of_hibari, with_letters_of_hibari


@pytest.mark.parametrize(
    ("ipa", "american", "british"),
    [
        ("hɚˈmaɪəni", "həɹmˈIəni", "həmˈIəni"),
        ("ʃɪˈvɔːn", "ʃɪvˈɔn", "ʃɪvˈɔːn"),
        ("ˈtʃʌmli", "ʧˈʌmli", "ʧˈʌmli"),
        ("d͡ʒoʊ", "ʤO", "ʤQ"),
        ("'streɪndʒ", "stɹˈAnʤ", "stɹˈAnʤ"),
    ],
)
def test_diphthongs_and_affricates_are_one_letter_and_stress_is_at_its_vowel(
    ipa: str, american: str, british: str
) -> None:
    assert letters_of_hibari(ipa, british=False) == american
    assert letters_of_hibari(ipa, british=True) == british


def test_only_pronunciations_inside_a_text_are_changed() -> None:
    text = "See [Joe](/dʒoʊ/) (a goer) and [1] and/or."
    said = "See [Joe](/ʤO/) (a goer) and [1] and/or."
    assert with_letters_of_hibari(text, british=False) == said
    assert with_letters_of_hibari("no [1] (/x/)", british=False) == "no [1] (/x/)"


def test_hibari_says_the_pronunciation_instead_of_the_word() -> None:
    hibari = pytest.importorskip("hibari")
    text = with_letters_of_hibari("Then [Siobhan](/ʃɪˈvɔːn/) came.", british=False)
    assert "ʃɪvˈɔn" in hibari.Hibari().phonemize(text)[0]
