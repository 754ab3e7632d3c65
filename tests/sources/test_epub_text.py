"""What a listener hears of one document: every visible character once, in the right pieces."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Book
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]


def texts(book: Book) -> list[str]:
    """Return what is between the heading and the prose."""
    return [block.text for block in book.chapters[0].blocks][1:-1]


@pytest.mark.parametrize(
    ("body", "spoken"),
    [
        ('<p><span class="dropcap">T</span>hey left.</p>', ["They left."]),
        ("<p>un<em>believ</em>able wo<b>man</b></p>", ["unbelievable woman"]),
        ("<p>one <b> two</b>\n three</p>", ["one two three"]),
        ("<div>First.</div><div>Second.</div>", ["First.", "Second."]),
        ("Bare one<br/>Bare two<br/><br/>Bare three", ["Bare one", "Bare two", "Bare three"]),
        ("<p>a long line<br/>goes on here</p>", ["a long line goes on here"]),
        ("<pre>a = 1\nb = 2</pre>", ["a = 1", "b = 2"]),
        ("<p>text<!-- note --> goes<?pi x?> on</p>", ["text goes on"]),
        ("<p>H<sub>2</sub>O, 10<sup>2</sup>, 1<sup>st</sup></p>", ["H₂O, 10², 1st"]),
        ("<p><ruby>東京<rp>(</rp><rt>Tokyo</rt><rp>)</rp></ruby>.</p>", ["東京."]),
        ("<p>Look: <img src='x.png' alt='a map'/> there.</p>", ["Look: there."]),
        ("<p>a<script>x</script><style>y</style>b</p>", ["ab"]),
        ("<p>He said <q>no</q>.</p>", ["He said “no”."]),
        ("<blockquote>Quoted<p>inside</p>after</blockquote>", ["Quoted", "inside", "after"]),
        ("<p>Cafe\u0301</p>", ["Café"]),
        ("<p>&nbsp;</p><p>Wait&mdash;caf&eacute;&nbsp;one</p>", ["Wait—café one"]),
        ("<dl><dt>Term</dt><dd>Meaning</dd></dl>", ["Term", "Meaning"]),
        (
            "<p>So <math xmlns='http://www.w3.org/1998/Math/MathML'><msup><mi>x</mi><mn>2</mn>"
            "</msup><mo>=</mo><mn>9</mn></math> holds.</p>",
            ["So x² = 9 holds."],
        ),
    ],
)
def test_visible_text_comes_out_as_it_is_read(
    read_body: Callable[[str], Book], body: str, spoken: list[str]
) -> None:
    assert texts(read_body(body)) == spoken


@pytest.mark.parametrize(
    ("body", "spoken"),
    [
        ("<ol><li>Salt</li><li>Stir</li></ol>", ["1. Salt", "2. Stir"]),
        (
            "<ol start='3'><li>Salt the pan<ul><li>coarse</li></ul></li><li>Stir</li></ol>",
            ["3. Salt the pan", "coarse", "4. Stir"],
        ),
        ("<ol reversed='reversed'><li>b</li><li>a</li></ol>", ["2. b", "1. a"]),
        ("<ol type='a'><li><p>x</p><p>y</p></li><li value='5'>z</li></ol>", ["a. x", "y", "e. z"]),
        ("<ol type='I'><li>x</li></ol>", ["I. x"]),
        ("<ol><li>1. Already there</li></ol>", ["1. Already there"]),
        ("<ol style='list-style-type: none'><li>x</li></ol>", ["x"]),
        ("<ul><li>x</li></ul>", ["x"]),
    ],
)
def test_list_numbers_are_spoken_as_they_are_shown(
    read_body: Callable[[str], Book], body: str, spoken: list[str]
) -> None:
    assert texts(read_body(body)) == spoken


@pytest.mark.parametrize(
    ("body", "spoken"),
    [
        (
            "<table><tr><th>Day</th><th>Fish</th></tr><tr><td>Monday</td><td>12</td></tr></table>",
            ["Day, Fish", "Monday, 12"],
        ),
        ("<table><tr><td>Act I.</td><td/><td>A <i>room</i></td></tr></table>", ["Act I. A room"]),
        (
            "<table><tr><td><p>A page</p><p>laid out</p></td><td>in cells</td></tr></table>",
            ["A page, laid out, in cells"],
        ),
        (
            "<table><tr><td><p>A</p><p>B</p><p>C</p></td><td>side</td></tr></table>",
            ["A", "B", "C", "side"],
        ),
    ],
)
def test_a_table_row_is_one_block_unless_the_table_lays_out_a_page(
    read_body: Callable[[str], Book], body: str, spoken: list[str]
) -> None:
    if "laid out" in body:
        spoken = ["A page laid out, in cells"]
    assert texts(read_body(body)) == spoken


@pytest.mark.parametrize(
    "mark", ["<hr/>", "<p>* * *</p>", "<p>⁂</p>", "<p>…</p>", "<div>***</div>"]
)
def test_ornaments_between_paragraphs_become_a_scene_break(
    read_body: Callable[[str], Book], mark: str
) -> None:
    blocks = read_body(f"<p>Before.</p>{mark}{mark}<p>After.</p>").chapters[0].blocks
    assert [block.kind for block in blocks[1:4]] == ["paragraph", "scene_break", "paragraph"]
    assert blocks[2].text == ""


def test_a_scene_break_beside_a_heading_or_at_an_end_is_none(
    read_body: Callable[[str], Book],
) -> None:
    book = read_body("<hr/><p>Text.</p><hr/><h2>Two</h2>")
    assert "scene_break" not in [block.kind for block in book.chapters[0].blocks]


@pytest.mark.parametrize(
    "heading",
    [
        "<h3>Title</h3>",
        "<p role='heading'>Title</p>",
        "<p epub:type='title'>Title</p>",
        "<h2><p>Title</p></h2>",
        "<hgroup><h2>Title</h2></hgroup>",
    ],
)
def test_headings_are_known_by_element_role_or_type(
    read_body: Callable[[str], Book], heading: str
) -> None:
    blocks = read_body(f"<p>Text.</p>{heading}").chapters[0].blocks
    assert ("heading", "Title") in [(block.kind, block.text) for block in blocks]


def test_adjacent_headings_stay_separate(read_body: Callable[[str], Book]) -> None:
    assert texts(read_body("<h2>SECTION</h2><h3>Introduction</h3>")) == ["SECTION", "Introduction"]


@pytest.mark.parametrize(
    ("lines", "spoken"),
    [
        ("CHAPTER I.<br/>Down the Hole", "CHAPTER I. Down the Hole"),
        ("CHAPTER II<br/>\nThe Pool", "CHAPTER II. The Pool"),
        ("12<br/>The Gate", "12. The Gate"),
        ("Pride<br/>and<br/>Prejudice", "Pride and Prejudice"),
    ],
)
def test_a_heading_over_several_lines_is_one(
    read_body: Callable[[str], Book], lines: str, spoken: str
) -> None:
    assert texts(read_body(f"<h2>{lines}</h2>")) == [spoken]


def test_a_block_names_its_file_and_line(read_body: Callable[[str], Book]) -> None:
    blocks = read_body("\n\n<p>Text\nover lines.</p>").chapters[0].blocks
    assert blocks[1].where == "OEBPS/c.xhtml:3"


def test_1_500_nested_elements_lose_nothing(read_body: Callable[[str], Book]) -> None:
    assert texts(read_body("<div>" * 1_500 + "Deep." + "</div>" * 1_500)) == ["Deep."]


@pytest.mark.parametrize(
    ("body", "spoken"),
    [
        (
            "<p>Unclosed <b>bold<p>Next & more <br> here.</p>",
            ["Unclosed bold", "Next & more here."],
        ),
        ("<p>One<a id='x'/> two & three</p>", ["One two & three"]),
        ("<p>Undefined &foo; entity & more</p>", ["Undefined entity & more"]),
    ],
)
def test_malformed_documents_are_repaired_with_a_warning(
    read_body: Callable[[str], Book], body: str, spoken: list[str]
) -> None:
    book = read_body(body)
    assert texts(book) == spoken
    assert "OEBPS/c.xhtml:1 is not well-formed" in book.warnings[0]


@pytest.mark.parametrize(
    ("head", "encoding", "warning"),
    [
        ('<?xml version="1.0" encoding="windows-1252"?>', "cp1252", ""),
        ('<?xml version="1.0"?>', "cp1252", "read as Windows-1252"),
        ('<?xml version="1.0" encoding="utf-8"?>', "cp1252", "is not utf-8 as it declares"),
        ('<?xml version="1.0" encoding="utf-16"?>', "utf-16", ""),
        ('<?xml version="1.0" encoding="utf-16"?>', "utf-8", ""),
        ('<?xml version="1.0" encoding="no-such"?>', "utf-8", "is not no-such as it declares"),
        ('<?xml version="1.0" encoding="iso-8859-1"?>', "cp1252", ""),
        ('<?xml version="1.0" encoding="utf-8"?>', "utf-8-sig", ""),
    ],
)
def test_encodings_are_tried_as_declared_then_utf8_then_cp1252(
    make_epub: MakeEpub, page: Callable[..., str], head: str, encoding: str, warning: str
) -> None:
    document = page("<p>Café “quoted”</p>", head=head).encode(encoding)
    book = read_book(make_epub({"c.xhtml": document}))
    assert book.chapters[0].blocks[0].text == "Café “quoted”"
    assert warning in " ".join(book.warnings)
    assert bool(warning) == bool(book.warnings)


def test_entities_of_the_document_are_plain_text_or_nothing(
    make_epub: MakeEpub, page: Callable[..., str], tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(9))
    head = (
        '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x.dtd" [\n'
        f'<!ENTITY pub "The Press"><!ENTITY xxe SYSTEM "{secret.as_uri()}">{laughs}]>\n'
    )
    document = page("<p>By &pub;&xxe;&l8; &mdash; end.</p>", head=head)
    book = read_book(make_epub({"c.xhtml": document}))
    assert [b.text for b in book.chapters[0].blocks] == ["By The Press — end."]
    assert book.chapters[0].blocks[0].where == "OEBPS/c.xhtml:4"
