"""The manifest and content keys."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.data import Book, Chapter, Dropped
from pocket_batch.errors import InputError, OutputError
from pocket_batch.manifest import Manifest, content_key, request_seed, write_atomic

ITEMS = [Dropped("a.xhtml:1", "note", "eins"), Dropped("b.xhtml:2", "index", "zwei\nDrei „vier“")]

BOOK = Book("id", "Title", (Chapter(1, "„One“", ()), Chapter(2, "Two", ())), authors=("A", "B"))


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest[Dropped]:
    return Manifest(tmp_path / "dropped.jsonl", Dropped)


def test_what_is_appended_is_read_back(manifest: Manifest[Dropped]) -> None:
    with manifest:
        for item in ITEMS:
            manifest.append(item)
    assert list(manifest.read()) == ITEMS


def test_a_line_holds_all_fields_of_what_is_appended(tmp_path: Path) -> None:
    with Manifest(tmp_path / "books.jsonl", Book) as books:
        books.append(BOOK)
    assert json.loads(books.path.read_text()) == json.loads(json.dumps(asdict(BOOK)))


def test_a_manifest_without_a_file_is_empty(manifest: Manifest[Dropped]) -> None:
    assert list(manifest.read()) == []


def test_a_manifest_cut_at_any_byte_keeps_its_whole_lines(manifest: Manifest[Dropped]) -> None:
    manifest.replace(ITEMS)
    whole = manifest.path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(len(whole) + 1):
        manifest.path.write_bytes(whole[:cut])
        expected = ITEMS[: (cut >= first) + (cut >= len(whole))]
        assert list(manifest.read()) == expected
        with manifest:
            manifest.append(ITEMS[0])
        assert list(manifest.read()) == [*expected, ITEMS[0]]


def test_a_line_that_is_not_ours_is_an_error_that_names_it(manifest: Manifest[Dropped]) -> None:
    manifest.path.write_text('{"where": "a", "reason": "b", "text": "c"}\n[1]\n')
    with pytest.raises(InputError, match=r"dropped\.jsonl:2"):
        list(manifest.read())


def test_keys_of_a_newer_version_are_ignored(manifest: Manifest[Dropped]) -> None:
    manifest.path.write_text('{"where": "a", "reason": "b", "text": "c", "colour": "red"}\n')
    assert list(manifest.read()) == [Dropped("a", "b", "c")]


def test_a_full_disk_is_an_output_error(manifest: Manifest[Dropped]) -> None:
    with manifest:
        os.dup2(os.open("/dev/full", os.O_WRONLY), manifest._file.fileno())
        with pytest.raises(OutputError, match="no space is left"):
            manifest.append(ITEMS[0])


def test_an_atomic_write_leaves_nothing_half_written(tmp_path: Path) -> None:
    target = tmp_path / "file"
    (tmp_path / "file.part").symlink_to("/dev/full")
    with pytest.raises(OutputError):
        write_atomic(target, b"x" * 100)
    assert list(tmp_path.iterdir()) == []


@given(st.dictionaries(st.sampled_from("abc"), st.text() | st.integers(), min_size=1))
def test_a_content_key_depends_on_every_part_and_on_nothing_else(parts: dict[str, str]) -> None:
    assert content_key(**parts) == content_key(**json.loads(json.dumps(parts)))
    for name in parts:
        assert content_key(**{**parts, name: f"{parts[name]}!"}) != content_key(**parts)


def test_a_seed_depends_on_text_voice_attempt_and_the_seed_of_the_job() -> None:
    seeds = {
        request_seed(job, text, voice, attempt)
        for job in (0, 1)
        for text in ("a", "b")
        for voice in ("x", "y")
        for attempt in (0, 1)
    }
    assert len(seeds) == 16
    assert all(0 <= seed < 2**63 for seed in seeds)
