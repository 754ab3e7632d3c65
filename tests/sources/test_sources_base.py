"""The way from a path to a book."""

import hashlib
from pathlib import Path

import pytest

from pocket_batch.errors import InputError
from pocket_batch.sources.base import SOURCES, read_book, sha256_of_file


def test_the_id_of_a_book_is_the_sha256_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"Text.")
    assert read_book(path).id == sha256_of_file(path) == hashlib.sha256(b"Text.").hexdigest()


def test_suffixes_are_known_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "X.TXT"
    path.write_bytes(b"Text.")
    assert read_book(path).title == "X"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone.epub", "no such file"),
        ("", "this is a folder"),
        ("x.mobi", r"the suffix \.mobi"),
        ("x", "no suffix"),
    ],
)
def test_what_is_no_book_is_refused_by_name(tmp_path: Path, name: str, message: str) -> None:
    for existing in ("x.mobi", "x"):
        (tmp_path / existing).touch()
    with pytest.raises(InputError, match=message):
        read_book(tmp_path / name)


def test_the_table_names_only_lower_case_suffixes() -> None:
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in SOURCES)
