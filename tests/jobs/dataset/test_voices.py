from collections import Counter

import pytest

from pocket_batch.dataset_settings import VoicesSettings
from pocket_batch.errors import UsageError
from pocket_batch.jobs.dataset.voices import Assignment

TEXTS = [f"text {number}" for number in range(2000)]


def chosen(names: str, settings: VoicesSettings | None = None) -> list[tuple[str, ...]]:
    assignment = Assignment(settings or VoicesSettings(), 0, names)
    return [assignment.voices_for(text, "train") for text in TEXTS]


def test_a_voice_more_takes_texts_and_moves_no_others() -> None:
    pairs = list(zip(chosen("abc"), chosen("abcd"), strict=True))
    assert all(new in (old, ("d",)) for old, new in pairs)
    assert 400 < sum(new == ("d",) for _, new in pairs) < 600


def test_the_order_of_voices_does_not_matter() -> None:
    assert chosen("abc") == chosen("cba")


def test_weights_are_kept() -> None:
    counts = Counter(chosen("ab", VoicesSettings(voices={"a": 3.0, "b": 1.0})))
    assert counts["a",] / len(TEXTS) == pytest.approx(0.75, abs=0.03)


def test_each_text_has_as_many_different_voices_as_asked_for() -> None:
    assert all(len(set(v)) == 2 for v in chosen("abc", VoicesSettings(per_text=2)))


def test_test_voices_have_the_test_texts_to_themselves() -> None:
    assignment = Assignment(VoicesSettings(test=("c",)), 0, "abc")
    assert {assignment.voices_for(text, "test") for text in TEXTS} == {("c",)}
    assert {assignment.voices_for(text, "train") for text in TEXTS} == {("a",), ("b",)}


@pytest.mark.parametrize(
    "settings",
    [VoicesSettings(per_text=3), VoicesSettings(test=("a", "b")), VoicesSettings(test=("x",))],
)
def test_settings_that_leave_no_voice_are_refused(settings: VoicesSettings) -> None:
    with pytest.raises(UsageError):
        Assignment(settings, 0, "ab")
