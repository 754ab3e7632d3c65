"""Books whose package is broken or missing: the reading order that remains."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Book
from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]


def texts(book: Book) -> list[str]:
    """Return the texts of all blocks."""
    return [block.text for chapter in book.chapters for block in chapter.blocks]


def test_a_document_counts_as_linear_when_the_spine_names_it_so_once(make_epub: MakeEpub) -> None:
    spine = '<itemref idref="a.xhtml" linear="no"/><itemref idref="a.xhtml"/>'
    assert texts(read_book(make_epub({"a.xhtml": "<p>a</p>"}, spine=spine))) == ["a"]


def test_what_stands_outside_the_reading_order_is_spoken_when_asked_for(
    make_epub: MakeEpub, prose: str
) -> None:
    path = make_epub(
        {"a.xhtml": f"<p>{prose * 3}</p>", "ad.xhtml": f"<p>{prose}</p>"},
        spine='<itemref idref="a.xhtml"/><itemref idref="ad.xhtml" linear="no"/>',
        manifest='<item id="map" href="map.xhtml" media-type="application/xhtml+xml"/>',
        members={"OEBPS/map.xhtml": f"<html><body><p>Map. {prose}</p></body></html>"},
    )
    book = read_book(path)
    assert len(texts(book)) == 1
    assert [item.where for item in book.dropped] == ["OEBPS/ad.xhtml:1", "OEBPS/map.xhtml:1"]
    assert "left out: 1 with 29 words, the first is OEBPS/map.xhtml." in book.warnings[0]
    kept = read_book(path, ReadSettings(keep_non_linear=True))
    assert [text.split()[0] for text in texts(kept)] == ["The", "The", "Map."]
    assert kept.dropped == ()


def test_a_spine_that_lists_next_to_nothing_does_not_silence_the_book(
    make_epub: MakeEpub, prose: str
) -> None:
    book = read_book(
        make_epub(
            {"cover.xhtml": "<p>Cover</p>", "a.xhtml": f"<p>{prose}</p>"},
            spine='<itemref idref="cover.xhtml"/>',
        )
    )
    assert texts(book) == ["Cover", prose.strip()]
    assert "that is too much to be true" in " ".join(book.warnings)


def test_without_a_package_files_are_read_by_number_or_by_the_contents(
    make_epub: MakeEpub, tmp_path: Path
) -> None:
    pages = {f"{name}.xhtml": f"<p>{name}</p>" for name in ("ch1", "ch10", "ch2", "intro")}
    path = tmp_path / "bare.epub"

    def without_package(source: Path) -> Book:
        with zipfile.ZipFile(source) as whole, zipfile.ZipFile(path, "w") as bare:
            for info in whole.infolist():
                if not info.filename.endswith(".opf"):
                    bare.writestr(info.filename, whole.read(info))
        return read_book(path)

    assert texts(without_package(make_epub(pages))) == ["ch1", "ch2", "ch10", "intro"]
    ncx = [("Intro", "intro.xhtml"), ("One", "ch1.xhtml")]
    book = without_package(make_epub(pages, ncx=ncx))
    assert texts(book) == ["intro", "ch1", "ch2", "ch10"]
    assert [chapter.title for chapter in book.chapters] == ["Intro", "One"]
    assert (book.title, book.language) == ("bare", "")


def test_a_package_in_the_wrong_folder_still_finds_its_documents(tmp_path: Path) -> None:
    path = tmp_path / "x.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "wrong/a.opf",
            '<package><manifest><item id="a" href="text/a.xhtml"/></manifest>'
            '<spine><itemref idref="a"/></spine></package>',
        )
        archive.writestr("OEBPS/text/a.xhtml", "<html><body><p>a</p></body></html>")
    book = read_book(path)
    assert texts(book) == ["a"]
    assert "text/a.xhtml in the spine is not where it should be" in " ".join(book.warnings)


def test_a_spine_may_name_documents_by_their_files(make_epub: MakeEpub) -> None:
    manifest = '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>'
    members = {"OEBPS/b.xhtml": "<html><body><p>b</p></body></html>"}
    path = make_epub({}, manifest=manifest, members=members, spine='<itemref idref="b.xhtml"/>')
    assert texts(read_book(path)) == ["b"]


def test_the_next_rendition_is_read_when_the_first_gives_no_text(make_epub: MakeEpub) -> None:
    container = (
        '<container><rootfile full-path="pictures.opf"/><rootfile full-path="OEBPS/content.opf"/>'
        "</container>"
    )
    pictures = (
        '<package><manifest><item id="p" href="p.xhtml"/></manifest><spine><itemref idref="p"/>'
        "</spine></package>"
    )
    members = {
        "META-INF/container.xml": container,
        "pictures.opf": pictures,
        "p.xhtml": "<html><body><img src='p.png'/></body></html>",
    }
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = make_epub({"a.xhtml": "<p>a</p>"}, members=members)
    book = read_book(path)
    assert texts(book) == ["a"]
    assert "The book has 2 renditions; OEBPS/content.opf is read." in book.warnings


def test_an_archive_without_any_document_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("picture.png", b"PNG")
    with pytest.raises(InputError, match="and no text"):
        read_book(path)


def test_a_contents_page_without_nav_element_counts_as_a_whole(make_epub: MakeEpub) -> None:
    path = make_epub(
        {"a.xhtml": "<p>a</p>", "b.xhtml": "<p>b</p>"},
        manifest='<item id="n" href="n.xhtml" properties="nav"/>',
        members={
            "OEBPS/n.xhtml": "<html><body><ul><li><a href='a.xhtml'>One</a></li>"
            "<li><a href='b.xhtml'>Two</a></li></ul></body></html>"
        },
    )
    assert [chapter.title for chapter in read_book(path).chapters] == ["One", "Two"]


def test_landmarks_alone_are_no_table_of_contents(make_epub: MakeEpub, page: Callable) -> None:
    nav = page("<nav epub:type='landmarks'><ol><li><a href='a.xhtml'>Start</a></li></ol></nav>")
    book = read_book(
        make_epub(
            {"a.xhtml": "<h1>One</h1><p>a</p>", "b.xhtml": "<h1>Two</h1><p>b</p>"},
            toc=[],
            members={"OEBPS/nav.xhtml": nav},
        )
    )
    assert [chapter.title for chapter in book.chapters] == ["One", "Two"]


def test_documents_that_a_torn_package_no_longer_lists_are_not_lost(
    make_epub: MakeEpub, tmp_path: Path, prose: str
) -> None:
    path = tmp_path / "torn.epub"
    pages = {f"{name}.xhtml": f"<p>{name}. {prose}</p>" for name in ("a", "b", "c")}
    with zipfile.ZipFile(make_epub(pages)) as whole, zipfile.ZipFile(path, "w") as torn:
        for info in whole.infolist():
            data = whole.read(info)
            if info.filename.endswith(".opf"):
                data = data[: data.index(b'<item id="b.xhtml"') + 4]
            torn.writestr(info.filename, data)
    book = read_book(path)
    assert [text.partition(".")[0] for text in texts(book)] == ["a", "b", "c"]
    assert "content.opf:1 is not well-formed" in " ".join(book.warnings)


def test_text_that_a_lock_without_key_protects_is_refused_by_its_scheme(
    make_epub: MakeEpub,
) -> None:
    noise = bytes((number * 7 + 13) % 256 for number in range(900))
    path = make_epub({"a.xhtml": noise}, members={"META-INF/license.lcpl": "{}"})
    with pytest.raises(InputError, match=r"a licence \(DRM: Readium LCP\)"):
        read_book(path)
