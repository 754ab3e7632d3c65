"""Container, package, metadata, cover: what is read, repaired, and refused."""

import contextlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.errors import InputError, PocketBatchError
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]
ENCRYPTION = (
    '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
    '<e:EncryptionMethod Algorithm="{algorithm}"/><e:CipherData>'
    '<e:CipherReference URI="{uri}"/></e:CipherData></e:EncryptedData></encryption>'
)


def test_metadata_is_collected_from_all_its_forms(make_epub: MakeEpub) -> None:
    metadata = (
        '<dc:title id="sub">A Subtitle</dc:title><dc:title id="t">The  Title</dc:title>'
        '<meta refines="#t" property="title-type">main</meta>'
        '<meta refines="#sub" property="title-type">subtitle</meta>'
        '<dc:creator id="c1">Tom Translator</dc:creator>'
        '<meta refines="#c1" property="role" scheme="marc:relators">trl</meta>'
        '<dc:creator opf:role="aut">Ann Author</dc:creator><dc:creator>Bea</dc:creator>'
        "<dc:language>pt_BR</dc:language><dc:publisher>Press</dc:publisher>"
        '<dc:date opf:event="conversion">2026-01-01</dc:date>'
        '<dc:date opf:event="publication">1998-06-01T00:00:00Z</dc:date>'
        "<dc:subject>Sea</dc:subject><dc:subject>Sea</dc:subject><dc:subject>Clocks</dc:subject>"
        "<dc:identifier>urn:isbn:1</dc:identifier><dc:identifier>x</dc:identifier>"
        "<dc:description>&lt;p&gt;One &lt;b&gt;bold&lt;/b&gt;&lt;/p&gt;&lt;p&gt;Two&lt;/p&gt;"
        "</dc:description>"
        '<meta property="belongs-to-collection" id="s">Clock Books</meta>'
        '<meta refines="#s" property="collection-type">series</meta>'
        '<meta refines="#s" property="group-position">2</meta>'
    )
    book = read_book(make_epub({"a.xhtml": "<p>a</p>"}, metadata=metadata))
    assert book.title == "The Title"
    assert book.authors == ("Ann Author", "Bea")
    assert (book.language, book.date, book.publisher) == ("pt-BR", "1998-06-01", "Press")
    assert (book.series, book.series_part) == ("Clock Books", "2")
    assert (book.subjects, book.identifiers) == (("Sea", "Clocks"), ("urn:isbn:1", "x"))
    assert book.description == "One bold Two"


def test_series_in_meta_names_are_understood(make_epub: MakeEpub) -> None:
    metadata = (
        '<meta name="calibre:series" content="S"/><meta name="calibre:series_index" content="3.0"/>'
        "<dc:date>0101-01-01T00:00:00+00:00</dc:date><dc:language>und</dc:language>"
    )
    book = read_book(make_epub({"a.xhtml": "<p>a</p>"}, metadata=metadata))
    assert (book.series, book.series_part) == ("S", "3")
    assert (book.title, book.date, book.language, book.authors) == ("book", "", "", ())


@pytest.mark.parametrize(
    ("metadata", "properties", "guide"),
    [
        ("", 'properties="cover-image"', ""),
        ('<meta name="cover" content="pic"/>', "", ""),
        ('<meta name="cover" content="pic.jpg"/>', "", ""),
        ("", "", '<guide><reference type="cover" href="cover.xhtml"/></guide>'),
    ],
)
def test_the_cover_is_found_by_property_name_or_guide(
    make_epub: MakeEpub, metadata: str, properties: str, guide: str
) -> None:
    path = make_epub(
        {"cover.xhtml": "<img src='pic.jpg'/>", "a.xhtml": "<p>a</p>"},
        metadata=metadata,
        manifest=f'<item id="pic" href="pic.jpg" media-type="image/jpeg" {properties}/>',
        guide=guide,
        members={"OEBPS/pic.jpg": b"JPEG"},
    )
    cover = read_book(path).cover
    assert cover is not None
    assert (cover.data, cover.media_type) == (b"JPEG", "image/jpeg")


def test_a_missing_file_of_the_manifest_is_harmless(make_epub: MakeEpub) -> None:
    css = '<item id="css" href="gone.css" media-type="text/css"/>'
    book = read_book(make_epub({"a.xhtml": "<p>a</p>"}, manifest=css))
    assert not book.has_gaps


def test_a_missing_document_of_the_spine_is_a_gap(make_epub: MakeEpub) -> None:
    book = read_book(
        make_epub(
            {"a.xhtml": "<p>a</p>"},
            manifest='<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>',
            spine='<itemref idref="a.xhtml"/><itemref idref="gone"/><itemref idref="ghost"/>',
        )
    )
    assert book.has_gaps
    assert any("gone.xhtml" in warning and "a gap" in warning for warning in book.warnings)
    assert any("`ghost`" in warning for warning in book.warnings)


def test_a_spine_item_that_is_no_text_uses_its_fallback(make_epub: MakeEpub) -> None:
    book = read_book(
        make_epub(
            {"a.xhtml": "<p>a</p>"},
            manifest='<item id="m" href="m.mp3" media-type="audio/mpeg" fallback="a.xhtml"/>'
            '<item id="x" href="x.mp3" media-type="audio/mpeg" fallback="y"/>'
            '<item id="y" href="y.mp3" media-type="audio/mpeg" fallback="x"/>',
            spine='<itemref idref="m"/><itemref idref="x"/>',
        )
    )
    assert book.chapters[0].blocks[0].text == "a"
    assert any("not text" in warning for warning in book.warnings)


def test_a_document_listed_twice_is_read_once(make_epub: MakeEpub) -> None:
    path = make_epub({"a.xhtml": "<p>a</p>"}, spine='<itemref idref="a.xhtml"/>' * 2)
    assert len(read_book(path).chapters[0].blocks) == 1


@pytest.mark.parametrize("name", ["../../evil.txt", "/etc/evil", "a/../../evil", "C:evil"])
def test_members_with_unsafe_names_are_ignored(make_epub: MakeEpub, name: str) -> None:
    book = read_book(make_epub({"a.xhtml": "<p>a</p>"}, members={name: "evil"}))
    assert "unsafe name" in book.warnings[0]


@pytest.mark.parametrize(
    "algorithm", ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"]
)
def test_obfuscated_fonts_are_no_drm(make_epub: MakeEpub, algorithm: str) -> None:
    encryption = ENCRYPTION.format(algorithm=algorithm, uri="OEBPS/font.otf")
    members = {"META-INF/encryption.xml": encryption}
    assert read_book(make_epub({"a.xhtml": "<p>a</p>"}, members=members)).warnings == ()


def test_encrypted_text_is_refused_as_drm(make_epub: MakeEpub) -> None:
    encryption = ENCRYPTION.format(
        algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc", uri="OEBPS/a.xhtml"
    )
    members = {"META-INF/encryption.xml": encryption, "META-INF/license.lcpl": "{}"}
    path = make_epub({"a.xhtml": b"\x8a\x01\xff"}, members=members)
    with pytest.raises(InputError, match=r"book\.epub: OEBPS/a\.xhtml is encrypted \(DRM: Readium"):
        read_book(path)


@pytest.mark.parametrize("num_bytes", [60_000_000, 70_000_000])
def test_a_zip_bomb_is_refused(make_epub: MakeEpub, num_bytes: int) -> None:
    with pytest.raises(InputError, match="refused as unsafe"):
        read_book(make_epub({"a.xhtml": b" " * num_bytes}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04broken", "damaged or cut short"),
        (b"%PDF-1.7", "this is a PDF"),
        (b"hello", "this is none"),
    ],
)
def test_what_is_no_zip_is_refused_with_what_it_is(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "x.epub"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_book(path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"x": "y"}, "container.xml should name a package"),
        ({"a.opf": "<package><manifest/><spine/></package>"}, "the spine should list"),
        ({"a.opf": "no xml"}, "an XML file was expected"),
    ],
)
def test_archives_without_the_parts_of_a_book_are_refused(
    tmp_path: Path, members: dict[str, str], message: str
) -> None:
    path = tmp_path / "x.epub"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=message):
        read_book(path)


@pytest.mark.parametrize("depth", [1_500, 3_000, 100_000])
def test_deeply_nested_text_is_read(make_epub: MakeEpub, depth: int) -> None:
    deep = "<div>" * depth + "Deep <b>down</b>.<p>Two.</p>" + "</div>" * depth + "<p>After.</p>"
    book = read_book(make_epub({"a.xhtml": deep}))
    assert [b.text for b in book.chapters[0].blocks] == ["Deep down.", "Two.", "After."]
    assert not book.has_gaps
    assert any("nests elements too deep" in warning for warning in book.warnings) == (depth > 2_000)


def test_pictures_alone_are_refused(make_epub: MakeEpub) -> None:
    with pytest.raises(InputError, match="Use an edition with text"):
        read_book(make_epub({"a.xhtml": "<img src='a.jpg'/>"}))


def test_a_book_in_a_folder_of_the_archive_is_found(make_epub: MakeEpub, tmp_path: Path) -> None:
    source = make_epub({"a.xhtml": "<p>a</p>"})
    path = tmp_path / "nested.epub"
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(path, "w") as after:
        for name in before.namelist():
            after.writestr(f"folder/{name}", before.read(name))
    assert read_book(path).chapters[0].blocks[0].text == "a"


def test_a_wrong_checksum_is_a_warning(make_epub: MakeEpub) -> None:
    path = make_epub({"a.xhtml": "<p>a marker</p>"})
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        checksum = archive.getinfo("OEBPS/a.xhtml").CRC.to_bytes(4, "little")
    path.write_bytes(data.replace(checksum, b"\x00\x01\x02\x03"))
    book = read_book(path)
    assert book.chapters[0].blocks[0].text == "a marker"
    assert "does not match its checksum" in " ".join(book.warnings)


def test_damaged_files_raise_only_expected_errors(make_epub: MakeEpub, prose: str) -> None:
    path = make_epub(
        {"a.xhtml": f"<h1 id='a'>One</h1><p>{prose}</p>", "b.xhtml": f"<p>{prose}</p>"},
        toc=[("One", "a.xhtml#a")],
        ncx=[("One", "a.xhtml#a")],
    )
    data = path.read_bytes()
    for number in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[number] ^= 1 + number % 255
        for content in (bytes(damaged), data[:number]):
            path.write_bytes(content)
            with contextlib.suppress(PocketBatchError):  # any other error fails the test
                read_book(path)
