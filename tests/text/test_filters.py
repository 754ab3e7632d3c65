"""Texts that are left out before they are spoken, and those that must not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.dataset_settings import CorpusSettings
from pocket_batch.text.filters import TextFilter

FINE = {
    "en": "It's 5 o'clock.", "de": "Schöne Grüße", "ja": "アーーーー こんにちは世界",
    "ko": "한국어 漢字",
    "zh-Hant": "漢字 ㄅㄆ 〇", "sr-Latn": "Dobar dan", "sr": "Добар дан", "hi": "नमस्ते दुनिया",
    "uz": "Oʻzbek tili", "el": "Ελλάδα", "gu": "ગુજરાતી", "kn": "ಕನ್ನಡ", "ml": "മലയാളം", "pa": "ਪੰਜਾਬੀ",
    "mn": "Монгол", "tg": "Тоҷикӣ", "km": "ខ្មែរ", "my": "မြန်မာ", "lo": "ລາວ", "si": "සිංහල",
    "yi": "ייִדיש", "ps": "پښتو", "dv": "ދިވެހި", "iu": "ᐃᓄᒃᑎᑐᑦ", "chr": "ᏣᎳᎩ", "vi": "Tiếng Việt",
}  # fmt: skip


def code(text: str, language: str = "en", **wanted: object) -> str:
    found = TextFilter(CorpusSettings(**wanted), language).reason(text)  # type: ignore[arg-type]
    return found[0] if found else ""


@pytest.mark.parametrize("language", FINE)
def test_every_language_may_have_its_letters(language: str) -> None:
    assert code(FINE[language], language) == ""


@pytest.mark.parametrize("text", ["", "   ", "…", "😀", "?!" * 50, "\u200b"])
def test_a_text_without_letters_is_empty(text: str) -> None:
    """Case 6."""
    assert code(text) == "empty_text"


@pytest.mark.parametrize(
    ("text", "language"),
    [("Привет мир", "en"), ("漢字", "de"), ("Hello there", "ru"), ("Добар дан", "sr-Latn")],
)
def test_letters_of_another_script_are_foreign(text: str, language: str) -> None:
    assert code(text, language) == "foreign_letters"
    assert code(text, language, max_foreign=1.0) == ""


@pytest.mark.parametrize("sign", "\x07\x00\ud800\u202e\ufffd\ue000\uffff\U0010ffff")
def test_signs_that_nobody_can_read_are_told(sign: str) -> None:
    assert code(f"a{sign}b") == "control_character"


@pytest.mark.parametrize("sign", "\n\t\u2028\xa0\x85\u200b\u200d\u00ad\u200f")
def test_white_space_and_joiners_are_fine(sign: str) -> None:
    assert code(f"a{sign}b") == ""


@pytest.mark.parametrize(
    "text",
    [
        "ha ha ha ha ha ha ha", "ha, ha! ha? Ha ha. HA", "hahahaha", "a" * 20, "wait" + "!" * 50,
        "the cat the cat the cat the cat", "So I said no, so I said no. So I said no!",
        "Well lalalalalalalalalalala and then he went home again", "index ............... 5",
    ],
)  # fmt: skip
def test_loops_are_repetition(text: str) -> None:
    assert code(text) == "repetition"


@pytest.mark.parametrize(
    "text",
    [
        "Hahahaha, that was the funniest thing.", "Ha ha ha!", "No, no, no, he said, not today.",
        "1000000000000000 and 1 000 000 000", "Row, row, row your boat gently down the stream.",
        "The more he had, the more he wanted, and the more he lost.", "Mississippi",
        "Wait... what?!",
    ],
)  # fmt: skip
def test_people_may_say_a_thing_more_than_once(text: str) -> None:
    assert code(text) == ""


def test_long_texts_are_cut_or_left_out() -> None:
    """Case 40."""
    text = "".join(f"word{number} " for number in range(2000))
    assert code(text, max_letters=500) == ""
    assert code(text, max_letters=500, split_long=False) == "too_long"
    assert code("Hi.", min_letters=3) == "too_short"


@given(st.text(), st.sampled_from(["en", "ja", "sr-Latn", "xx", ""]))
def test_any_text_gets_an_answer(text: str, language: str) -> None:
    assert isinstance(code(text, language), str)
