from pathlib import Path

import pytest

from pocket_batch.errors import InputError
from pocket_batch.jobs.dataset.index import RowIndex
from pocket_batch.jobs.dataset.plan import key_range, shards_of


def test_an_id_for_two_texts_is_an_error_that_names_both_places(tmp_path: Path) -> None:
    """Case 29."""
    with RowIndex(tmp_path / "index") as index:
        index.check_id("a", "one", "x.csv:1")
        index.check_id("a", "one", "x.csv:2")
        with pytest.raises(InputError, match=r"x\.csv:1 and at x\.csv:3"):
            index.check_id("a", "two", "x.csv:3")


def test_a_text_is_counted_with_the_place_where_it_was_first(tmp_path: Path) -> None:
    with RowIndex(tmp_path / "index") as index:
        assert [index.seen("a", place) for place in "123"] == [(0, ""), (1, "1"), (2, "1")]


@pytest.mark.parametrize("num_rows", [1, 500, 513, 100_000])
def test_the_shards_of_a_voice_cover_each_key_once(num_rows: int) -> None:
    ranges = [key_range(shard) for shard in shards_of(num_rows, 512)]
    for key in ("0" * 64, "f" * 64, "8" + "0" * 63, "7" + "f" * 63):
        assert sum(first <= key <= last for first, last in ranges) == 1
