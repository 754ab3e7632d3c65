"""What is called wrong by what was heard, and what is left to the listener's ears."""

from dataclasses import replace

import pytest

from pocket_batch.quality.checks import find_problems
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings

pytest.importorskip("rapidfuzz")
pytest.importorskip("jellyfish")
GOOD = Scores(2.5, -6.0, -25.0, 0.0, 0.0, 0.3, 0.4, 0.05, 17.0, 4.4, speech_db=-23.0)


def problems(said: str, heard: str, language: str = "en") -> tuple[str, ...]:
    scores = replace(GOOD, wer=0.5, heard=heard)
    return find_problems(scores, "eos", said, CheckSettings(), language)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("A barrowful of what? thought Alice.", "A bear of full of what? Thought Alice."),
        ("She called softly after it, Mouse dear!", "She called softly after it, mousdir."),
        ("Where is my chatte? It was où est ma chatte.", "Where is my chat? It was Wu Estmochat."),
        ("Fury said to a", "Fury said to her."),
        ("cur, 'Such a trial,", "Curves such a trial."),
        ("You're looking for eggs, I know.", "If you're looking for eggs, I know."),
        ("at one corner of it: No room!", "at one corner of it. There's no room."),
        ("I should have, if, if I'd only been tall.", "I should have if I'd only been tall."),
        ("engraved upon it was W. Rabbit, in brass", "engraved upon it was of a rabbit in brass"),
        ("in nine hundred, one thousand two hundred", "in 900, 1 ,200"),
    ],
)
def test_good_speech_that_a_listener_wrote_otherwise_is_left_alone(said: str, heard: str) -> None:
    assert problems(said, heard) == ()


@pytest.mark.parametrize(
    ("said", "heard", "code"),
    [
        (
            "The moment of her release from him was bliss.",
            "the moment of her release and was bliss",
            "words_missing",
        ),
        (
            "A barrowful of what? thought Alice.",
            "A bear of full bear of full of what, thought Alice.",
            "words_repeated",
        ),
        (
            "Nor did she ever wear out her resentment.",
            "nor did she ever wear out her reason",
            "truncated",
        ),
        ("Her heart did whisper that to her.", "her did tart whisper that to her", "words_swapped"),
        (
            "The birch canoe slid on the planks.",
            "the burst can you did slid on the planks",
            "words_inserted",
        ),
        ("The birch canoe slid on the planks.", "the old man went on the planks", "misheard"),
    ],
)
def test_a_fault_is_told_though_its_neighbours_are_misheard(
    said: str, heard: str, code: str
) -> None:
    assert code in problems(said, heard)


def test_two_little_words_are_no_longer_the_listeners_fault() -> None:
    said = "The birch canoe slid on the smooth planks."
    assert problems(said, "the birch canoe slid on smooth planks") == ()
    assert problems(said, "the birch canoe slid smooth planks") == ("words_missing",)
    assert problems(said, "so the birch canoe if slid on the smooth planks") == ("words_inserted",)


@pytest.mark.parametrize("language", ["de", "fr"])
def test_other_languages_are_judged_by_letters(language: str) -> None:
    said = "Elisabetta Bingleys Garten, heute morgen."
    assert problems(said, "elisa betta bingleis garten heute morgen", language) == ()
    assert "words_missing" in problems(said, "elisabetta garten heute morgen", language)
