"""What cannot lie about as files: bombs, links, damaged archives, giants; bounded and clear."""

import runpy
import stat
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Book
from pocket_batch.errors import InputError
from pocket_batch.sources.archive import MAX_ENTRIES
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]


def texts(book: Book) -> list[str]:
    """Return the texts of all blocks."""
    return [block.text for chapter in book.chapters for block in chapter.blocks]


def warned(book: Book) -> str:
    """Return all warnings as one text."""
    return " ".join(book.warnings)


def test_many_members_that_unpack_to_too_much_together_are_refused(make_epub: MakeEpub) -> None:
    blanks = "<p>x</p>" + " " * 3_900_000
    path = make_epub({f"{number}.xhtml": blanks for number in range(20)})
    with pytest.raises(InputError, match="refused as unsafe"):
        read_book(path)


def test_a_bomb_that_no_document_needs_is_not_unpacked(make_epub: MakeEpub) -> None:
    path = make_epub({"a.xhtml": "<p>a</p>"}, members={"OEBPS/b.bin": bytes(70_000_000)})
    assert texts(read_book(path)) == ["a"]


def test_an_archive_of_too_many_members_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.epub"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(MAX_ENTRIES + 1):
            archive.writestr(str(number), b"")
    with pytest.raises(InputError, match="members"):
        read_book(path)


def test_a_link_to_another_file_is_not_followed(make_epub: MakeEpub) -> None:
    path = make_epub({"a.xhtml": "<p>a</p>"})
    link = zipfile.ZipInfo("OEBPS/a.xhtml.lnk")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/hostname")
    book = read_book(path)
    assert texts(book) == ["a"]
    assert "a link to another file, 'OEBPS/a.xhtml.lnk'; ignored" in warned(book)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_last_of_several_members_of_one_name_counts(make_epub: MakeEpub) -> None:
    path = make_epub({"a.xhtml": "<p>first</p>"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("OEBPS/a.xhtml", "<html><body><p>last</p></body></html>")
    book = read_book(path)
    assert texts(book) == ["last"]
    assert "OEBPS/a.xhtml twice" in warned(book)


def test_names_from_the_root_of_a_disk_are_read_where_there_are_no_others(
    tmp_path: Path, make_epub: MakeEpub
) -> None:
    path = tmp_path / "rooted.epub"
    with (
        zipfile.ZipFile(make_epub({"a.xhtml": "<p>a</p>"})) as plain,
        zipfile.ZipFile(path, "w") as rooted,
    ):
        for info in plain.infolist():
            rooted.writestr("/" + info.filename, plain.read(info))
    assert texts(read_book(path)) == ["a"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_without_its_end_is_read_as_far_as_it_goes(
    tmp_path: Path, make_epub: MakeEpub, prose: str, compression: int
) -> None:
    path = tmp_path / "cut.epub"
    with (
        zipfile.ZipFile(make_epub({"a.xhtml": "<p>a</p>", "b.xhtml": prose * 400})) as plain,
        zipfile.ZipFile(path, "w", compression) as archive,
    ):
        for info in sorted(plain.infolist(), key=lambda info: info.filename.endswith("b.xhtml")):
            archive.writestr(info.filename, plain.read(info))
    data = path.read_bytes()
    start = data.find(b"b.xhtml", data.rfind(b"PK\3\4"))
    end = data.find(b"PK\1\2")
    path.write_bytes(data[: (start + end) // 2])
    book = read_book(path)
    assert texts(book)[0] == "a"
    assert texts(book)[1].startswith("The harbour was quiet")
    assert book.has_gaps
    assert "cut short" in warned(book)
    assert "its text ends where the damage begins" in warned(book)


def test_a_damaged_document_is_read_up_to_the_damage(make_epub: MakeEpub, prose: str) -> None:
    body = "".join(f"<p>{number} {number * 7_654_321 % 99_991}</p>" for number in range(4_000))
    path = make_epub({"a.xhtml": body, "b.xhtml": f"<p>{prose}</p>"})
    data = bytearray(path.read_bytes())
    place = data.find(b"OEBPS/a.xhtml") + 12_000
    data[place : place + 40] = b"\xff" * 40
    path.write_bytes(bytes(data))
    book = read_book(path)
    assert book.has_gaps
    assert texts(book)[0].startswith("0 ")
    assert texts(book)[-1] == prose.strip()


def test_data_that_is_no_text_is_a_gap_and_never_spoken(make_epub: MakeEpub) -> None:
    noise = bytes((number * 7 + 13) % 256 for number in range(5_000))
    book = read_book(make_epub({"a.xhtml": "<p>a</p>", "b.xhtml": noise}))
    assert texts(book) == ["a"]
    assert book.has_gaps
    with pytest.raises(InputError, match="encrypted or damaged data"):
        read_book(make_epub({"b.xhtml": noise}))


def test_a_document_of_three_megabytes_takes_less_than_three_seconds(
    make_epub: MakeEpub, prose: str
) -> None:
    path = make_epub({"a.xhtml": "".join(f"<p>{n} {prose}</p>" for n in range(21_000))})
    start = time.process_time()
    book = read_book(path)
    assert time.process_time() - start < 3
    assert len(texts(book)) == 21_000


def test_hostile_markup_takes_no_longer_than_its_size(make_epub: MakeEpub) -> None:
    for hostile in (
        *("<!DOCTYPE" * 50_000, "<!DOCTYPE a [" + "<!ENTITY b SYSTEM " * 50_000, "<a " * 90_000),
        *('<a "' * 90_000, "&a" * 90_000, "<!--" * 90_000, "<![CDATA[" * 90_000, "<?x " * 90_000),
    ):
        path = make_epub({"a.xhtml": "<p>a</p>", "b.xhtml": f"<html>{hostile}"})
        start = time.process_time()
        assert texts(read_book(path))[0] == "a"
        assert time.process_time() - start < 3


@pytest.mark.slow
def test_a_diary_of_a_million_words_and_thousands_of_notes_takes_seconds(tmp_path: Path) -> None:
    table = runpy.run_path(str(Path(__file__).parent / "corpus_table.py"))
    path = table["write_pepys"](tmp_path / "pepys.epub")
    start = time.process_time()
    book = read_book(path)
    assert time.process_time() - start < 30
    assert len(book.chapters) == 120
    assert sum(len(text.split()) for text in texts(book)) > 1_350_000
    assert sum(item.text.count("Note ") for item in book.dropped) == 3_960
