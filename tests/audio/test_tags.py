"""Tags come back from each format as they were written."""

import io
from dataclasses import replace
from pathlib import Path

import mutagen
import numpy as np
import pytest
from mutagen.mp3 import MP3
from mutagen.mp4 import MP4
from PIL import Image

from pocket_batch.audio.ffmpeg import encode, find_ffmpeg, pcm_input
from pocket_batch.audio.metadata import ChapterSpan
from pocket_batch.audio.probe import probe
from pocket_batch.audio.tags import WRITERS, Tags, book_tags, read_tags, write_tags
from pocket_batch.data import Book, Cover
from pocket_batch.errors import OutputError

RATE_HZ = 24_000
PICTURE = io.BytesIO()
Image.new("RGB", (64, 64), "navy").save(PICTURE, "PNG")

BOOK = Book(
    id="0",
    title="Ein Büch = “1”; #2",
    chapters=(),
    authors=("Jane Roe", "李 白"),
    language="en-GB",
    date="1871-04-05T00:00:00+00:00",
    publisher="Verlag & Söhne",
    series="The Series",
    series_part="1.5",
    description="First line.\r\nSecond line. " + "More. " * 100,
    subjects=("Fiction", "Gothic -- England"),
    identifiers=("uuid:1", "urn:isbn:978-0-306-40615-7", "asin:B00ABCDEF1"),
    cover=Cover(PICTURE.getvalue(), "image/png"),
)


def empty_file(folder: Path, file_format: str, num_samples: int = 2 * RATE_HZ) -> Path:
    path = folder / f"tone.{file_format}"
    container = ["-f", "ipod"] if file_format == "m4b" else []
    command = [find_ffmpeg(), "-v", "error", *pcm_input(RATE_HZ), *container, str(path)]
    encode([np.zeros(num_samples, np.int16)], command, path)
    return path


@pytest.mark.parametrize("file_format", WRITERS)
def test_all_tags_come_back(tmp_path: Path, file_format: str) -> None:
    tags, warnings = book_tags(BOOK, "Anna (synthetic)")
    tags = replace(tags, track=3, num_tracks=12)
    path = empty_file(tmp_path, file_format)
    write_tags(path, file_format, tags, (), RATE_HZ)
    assert warnings == ()
    assert read_tags(path, file_format) == tags
    assert probe(path).has_cover


@pytest.mark.parametrize("file_format", WRITERS)
def test_a_book_without_anything_but_a_title_gets_only_that(
    tmp_path: Path, file_format: str
) -> None:
    tags, _ = book_tags(Book("0", "Only", ()), "")
    path = empty_file(tmp_path, file_format)
    write_tags(path, file_format, tags, (), RATE_HZ)
    assert read_tags(path, file_format) == Tags("Only", "Only")
    assert not probe(path).has_cover


def test_the_book_is_read_into_tags() -> None:
    tags, _ = book_tags(BOOK, "Anna")
    assert (tags.author, tags.narrator, tags.date) == ("Jane Roe, 李 白", "Anna", "1871-04-05")
    assert (tags.isbn, tags.asin) == ("9780306406157", "B00ABCDEF1")
    assert tags.genre == "Fiction; Gothic -- England"
    assert tags.description.startswith("First line.\nSecond")


@pytest.mark.parametrize(
    ("identifier", "isbn"),
    [
        ("0-306-40615-2", "0306406152"),
        ("isbn:080442957x", "080442957X"),
        ("9780306406157", "9780306406157"),
        ("9780306406158", ""),
        ("1234567890", ""),
    ],
)
def test_only_a_number_whose_check_digit_is_right_is_an_isbn(identifier: str, isbn: str) -> None:
    assert book_tags(replace(BOOK, identifiers=(identifier,)), "")[0].isbn == isbn


def test_names_with_commas_are_joined_with_semicolons() -> None:
    tags, _ = book_tags(replace(BOOK, authors=("King, Jr.", "Roe")), "")
    assert tags.author == "King, Jr.; Roe"


def test_an_unreadable_cover_is_left_out_and_said() -> None:
    tags, warnings = book_tags(replace(BOOK, cover=Cover(b"<svg/>", "image/svg+xml")), "")
    assert tags.cover is None
    assert "image/svg+xml" in warnings[0]


def test_m4b_has_the_atoms_that_players_look_for(tmp_path: Path) -> None:
    path = empty_file(tmp_path, "m4b")
    write_tags(path, "m4b", book_tags(BOOK, "Anna")[0])
    file = MP4(path)
    assert file["stik"] == [2]
    assert file["\xa9wrt"] == ["Anna"]
    assert file["\xa9ART"] == file["aART"] == ["Jane Roe, 李 白"]
    assert len(file["desc"][0]) == 255
    assert file["ldes"] == file["\xa9cmt"]
    assert bytes(file["----:com.apple.iTunes:SERIES-PART"][0]) == b"1.5"


@pytest.mark.parametrize("num_chapters", [3, 255, 256, 300])
def test_id3_chapters_are_in_order_and_in_a_table_of_contents(
    tmp_path: Path, num_chapters: int
) -> None:
    path = empty_file(tmp_path, "mp3", 30 * RATE_HZ)
    spans = [
        ChapterSpan("x" * (1 + i * 7 % 5), i * RATE_HZ // 10, (i + 1) * RATE_HZ // 10)
        for i in range(num_chapters)
    ]
    write_tags(path, "mp3", Tags("T", "T"), spans, RATE_HZ)
    assert [chapter.title for chapter in probe(path).chapters] == [span.title for span in spans]
    tags = MP3(path).tags
    tables = {table.element_id: table for table in tags.getall("CTOC")}
    assert all(len(table.child_element_ids) <= 255 for table in tables.values())
    reached = []
    for child in tables["toc"].child_element_ids:
        reached += tables[child].child_element_ids if child in tables else [child]
    assert reached == sorted(chapter.element_id for chapter in tags.getall("CHAP"))


def test_vorbis_chapters_have_times_and_names(tmp_path: Path) -> None:
    path = empty_file(tmp_path, "flac")
    spans = [ChapterSpan("One", 0, RATE_HZ), ChapterSpan("Two", RATE_HZ + 36, 2 * RATE_HZ)]
    write_tags(path, "flac", Tags("T", "T"), spans, RATE_HZ)
    file = mutagen.File(path)
    assert file["CHAPTER002"] == ["00:00:01.002"]
    assert file["CHAPTER002NAME"] == ["Two"]


def test_a_file_of_another_kind_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "false.m4b"
    path.write_bytes(b"not an MP4")
    with pytest.raises(OutputError, match="tags could not be"):
        write_tags(path, "m4b", Tags("T", "T"))
