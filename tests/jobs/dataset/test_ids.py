import re

import pytest

from pocket_batch.jobs.dataset.ids import MAX_LENGTH, row_id, safe_id

NAMES = [
    "v1.5_0",
    "a/b",
    "../x",
    "a-sub1",
    "ünï",
    "x" * 300,
    "con",
    "train",
    "...",
    "a b",
    "-",
    "a-sub",
]


@pytest.mark.parametrize("name", NAMES)
def test_an_id_is_fit_for_every_format(name: str) -> None:
    made = safe_id(name)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", made)
    assert len(made) <= MAX_LENGTH
    assert not re.search(r"-sub\d*$", made)


def test_ids_that_differ_in_a_mark_alone_stay_two() -> None:
    assert len({safe_id(name) for name in ("a.b", "a b", "a/b", "a_b")}) == 4


def test_a_fit_id_stays_as_it_is() -> None:
    assert safe_id("LJ001-0001") == "LJ001-0001"


def test_rows_of_one_text_have_ids_of_their_own() -> None:
    made = [
        row_id("a", "t", voice, part, take) for voice in "xy" for part in (1, 2) for take in (0, 1)
    ]
    assert len(set(made)) == len(made)
