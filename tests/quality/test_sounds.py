"""How far words sound from each other."""

import pytest

from pocket_batch.quality.sounds import compare, pronunciations

pytest.importorskip("hibari")


def similarity(said: str, heard: str, language: str = "en") -> float:
    return compare(said.split(), heard.split(), language).similarity


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("mouse dear", "mousdir"),
        ("youll", "yule"),
        ("you see", "uc"),
        ("double you", "w"),
        ("morcar", "more car"),
        ("café", "cafe"),
    ],
)
def test_the_same_sound_is_near_one_however_it_is_written(said: str, heard: str) -> None:
    assert similarity(said, heard) > 0.85


@pytest.mark.parametrize(
    ("said", "heard"), [("canoe", "planks"), ("was", "tie"), ("birch canoe", "slid on")]
)
def test_other_words_are_far(said: str, heard: str) -> None:
    assert similarity(said, heard) < 0.5


def test_it_does_not_matter_which_side_was_said() -> None:
    for one, other in (("barrowful", "bear of full"), ("eaglet", "e glip"), ("trial", "try it")):
        assert similarity(one, other) == pytest.approx(similarity(other, one))


def test_a_word_that_nothing_was_heard_of_is_lost() -> None:
    match = compare(["dark", "blue", "ground"], ["dork", "grand"], "en")
    assert match.lost == (0, 1, 0)
    assert match.added == (0, 0)


def test_a_stretch_is_shorter_by_a_word_and_not_by_a_sound() -> None:
    assert compare(["shame", "gave"], ["shave"], "en").is_shorter
    assert compare(["shave"], ["shame", "gave"], "en").is_longer
    assert not compare(["were", "placed"], ["replaced"], "en").is_shorter


def test_other_languages_sound_as_they_are_spelt() -> None:
    assert similarity("gärten heute", "gartenheute", "de") == 1
    assert similarity("garten", "morgen", "de") < 0.75


@pytest.mark.parametrize("word", ["ƛ", "a", "ˈx", "θέλω", "2nd", "sfgsfd", "_"])
def test_any_word_has_a_sound(word: str) -> None:
    assert all(pronunciations(word))
