"""How far what was heard is from what was to be said."""

import pytest

from pocket_batch.quality.word_errors import is_loop, word_errors

pytest.importorskip("jiwer")


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("It's 5 o'clock, he said.", "its five o'clock he said"),
        ("The colour of the theatre.", "the color of the theater"),
        ("They realised it was twenty-three.", "They realized it was 23."),
        ("A bookshop.", "a book shop"),
    ],
)
def test_ways_of_writing_the_same_words_are_equal(said: str, heard: str) -> None:
    assert word_errors(said, heard, "en-US").num_edits == 0


def test_a_wrong_word_is_one_edit() -> None:
    errors = word_errors("the sheet is dark blue", "the sheep is dark blue", "en-US")
    assert (errors.num_edits, errors.num_words, errors.wer) == (1, 5, 0.2)
    assert 0 < errors.cer < errors.wer


@pytest.mark.parametrize(("said", "heard", "wer"), [("", "", 0), ("", "oh", 1), ("oh no", "", 1)])
def test_empty_texts_are_compared(said: str, heard: str, wer: float) -> None:
    assert word_errors(said, heard, "en-US").wer == wer


def test_a_word_again_and_again_is_a_loop() -> None:
    assert is_loop("and so " + "the " * 8)
    assert not is_loop("no, no, no, she said")
