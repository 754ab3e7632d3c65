"""How a book is cut: by its table of contents, at anchors, every character exactly once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocket_batch.data import Book
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]


def titles(book: Book) -> list[str]:
    """Return the titles of the chapters."""
    return [chapter.title for chapter in book.chapters]


def first_texts(book: Book) -> list[str]:
    """Return the first block of each chapter."""
    return [chapter.blocks[0].text for chapter in book.chapters]


def test_chapters_follow_the_spine_and_not_the_manifest(make_epub: MakeEpub) -> None:
    path = make_epub(
        {"b.xhtml": "<p>two</p>", "c.xhtml": "<p>three</p>", "a.xhtml": "<p>one</p>"},
        toc=[("Three", "c.xhtml"), ("One", "a.xhtml"), ("Two", "b.xhtml")],
        spine="".join(f'<itemref idref="{name}.xhtml"/>' for name in "abc"),
    )
    book = read_book(path)
    assert titles(book) == ["One", "Two", "Three"]
    assert first_texts(book) == ["one", "two", "three"]
    assert [chapter.number for chapter in book.chapters] == [1, 2, 3]


def test_one_document_is_cut_at_its_anchors(make_epub: MakeEpub) -> None:
    body = (
        "<p>Before.</p><h2 id='a'>One</h2><p>1</p><div><h2><a id='b'></a>Two</h2><p>2</p></div>"
        "<h2><span id='c'>Three</span></h2><p>3</p>"
    )
    toc = [("I", "x.xhtml#a"), ("II", "x.xhtml#b"), ("III", "x.xhtml#c")]
    book = read_book(make_epub({"x.xhtml": body}, toc=toc))
    assert titles(book) == ["A Little Book", "I", "II", "III"]
    assert first_texts(book) == ["Before.", "One", "Two", "Three"]


@pytest.mark.parametrize(
    "body",
    [
        "<h2>One</h2><p>1</p><p>The end<a id='b'/></p><h2>Two</h2><p>2</p>",
        "<h2>One</h2><p>1</p><p>The end</p><h2>Two</h2><a id='b'></a><p>2</p>",
        "<h2>One</h2><p>1</p><p>The end<br/><br/><a id='b'></a></p><h2>Two</h2><p>2</p>",
        "One<br/>1<br/>The end<br/><br/><a name='b'></a>Two<br/>2",
        "<h2>One</h2><p>1</p><p>The end</p><h2>Two<a id='b'></a></h2><p>2</p>",
    ],
)
def test_an_anchor_beside_its_heading_means_the_heading(make_epub: MakeEpub, body: str) -> None:
    toc = [("One", "x.xhtml"), ("Two", "x.xhtml#b")]
    book = read_book(make_epub({"x.xhtml": body}, toc=toc))
    assert first_texts(book) == ["One", "Two"]
    assert book.chapters[0].blocks[-1].text == "The end"


def test_a_split_file_that_the_contents_leave_out_joins_the_chapter_before(
    make_epub: MakeEpub,
) -> None:
    book = read_book(
        make_epub(
            {"x_0.xhtml": "<p>a</p>", "x_1.xhtml": "<p>b</p>", "y.xhtml": "<p>c</p>"},
            ncx=[("One", "x_0.xhtml"), ("Two", "y.xhtml")],
        )
    )
    assert [[b.text for b in chapter.blocks] for chapter in book.chapters] == [["a", "b"], ["c"]]


def test_nav_counts_before_ncx_and_ncx_when_nav_is_empty(make_epub: MakeEpub) -> None:
    documents = {"a.xhtml": "<p>a</p>"}
    both = make_epub(documents, toc=[("Nav", "a.xhtml")], ncx=[("Ncx", "a.xhtml")])
    assert titles(read_book(both)) == ["Nav"]
    empty = make_epub(documents, toc=[], ncx=[("Ncx", "a.xhtml")])
    assert titles(read_book(empty)) == ["Ncx"]


def test_nested_contents_keep_their_level(make_epub: MakeEpub) -> None:
    ncx = (
        "<ncx><navMap><navPoint><navLabel><text>Part</text></navLabel><content src='a.xhtml'/>"
        "<navPoint><navLabel><text>One</text></navLabel><content src='b.xhtml'/></navPoint>"
        "</navPoint></navMap></ncx>"
    )
    path = make_epub(
        {"a.xhtml": "<h1>Part</h1>", "b.xhtml": "<h1>One</h1><p>b</p>"},
        ncx=[],
        members={"OEBPS/toc.ncx": ncx},
    )
    assert [(c.title, c.level) for c in read_book(path).chapters] == [("Part", 1), ("One", 2)]


def test_without_contents_titles_come_from_headings_then_documents(
    make_epub: MakeEpub, page: Callable[..., str]
) -> None:
    book = read_book(
        make_epub(
            {
                "a.xhtml": page("<p>a</p><h2>Heading</h2>", title="Unused"),
                "b.xhtml": page("<p>b</p>", title="Own title"),
                "c.xhtml": page("<p>c</p>", title="Shared"),
                "d.xhtml": page("<p>d</p>", title="Shared"),
            }
        )
    )
    assert titles(book) == ["Heading", "Own title", "Chapter 3", "Chapter 4"]


def test_without_contents_repeated_headings_cut_a_document(make_epub: MakeEpub) -> None:
    body = "<h1>Book</h1><p>by</p><h2>One</h2><p>1</p><h3>x</h3><p>y</p><h2>Two</h2><p>2</p>"
    assert titles(read_book(make_epub({"x.xhtml": body}))) == ["Book", "One", "Two"]
    parts = "".join(
        f"<h1>Part {p}</h1><h2>Chapter {p}.1</h2><p>a</p><h2>Chapter {p}.2</h2><p>b</p>"
        for p in (1, 2)
    )
    book = read_book(make_epub({"x.xhtml": parts}))
    assert [c.level for c in book.chapters] == [1, 2, 2, 1, 2, 2]


def test_a_table_of_contents_that_leads_nowhere_is_not_followed(make_epub: MakeEpub) -> None:
    documents = {f"{n}.xhtml": f"<h1>H{n}</h1><p>{n}</p>" for n in range(3)}
    toc = [("T0", "0.xhtml"), ("x", "gone.xhtml"), ("y", "lost.xhtml")]
    book = read_book(make_epub(documents, toc=toc))
    assert titles(book) == ["H0", "H1", "H2"]
    assert any("does not fit" in warning for warning in book.warnings)


def test_a_missing_anchor_is_the_start_of_its_document(make_epub: MakeEpub) -> None:
    toc = [("One", "a.xhtml#none"), ("Two", "b.xhtml")]
    book = read_book(make_epub({"a.xhtml": "<p>a</p>", "b.xhtml": "<p>b</p>"}, toc=toc))
    assert first_texts(book) == ["a", "b"]
    assert "OEBPS/a.xhtml#none" in book.warnings[0]


@pytest.mark.parametrize(
    "href", ["c%201.xhtml", "c 1.xhtml", ".\\c 1.xhtml", "C%201.XHTML", "./c 1.xhtml"]
)
def test_links_are_followed_in_spite_of_escapes_slashes_and_case(
    make_epub: MakeEpub, href: str
) -> None:
    path = make_epub(
        {"x.xhtml": "<p>x</p>"},
        toc=[("One", href), ("X", "x.xhtml")],
        spine='<itemref idref="c"/><itemref idref="x.xhtml"/>',
        manifest=f'<item id="c" href="{href}" media-type="application/xhtml+xml"/>',
        members={"OEBPS/c 1.xhtml": "<html><body><p>one</p></body></html>"},
    )
    assert first_texts(read_book(path)) == ["one", "x"]


def test_documents_without_text_make_no_chapter(make_epub: MakeEpub) -> None:
    documents = {"cover.xhtml": "<img src='c.jpg' alt='Cover'/>", "a.xhtml": "<p>a</p>"}
    toc = [("Cover", "cover.xhtml"), ("One", "a.xhtml")]
    assert titles(read_book(make_epub(documents, toc=toc))) == ["One"]


def test_a_cover_picture_does_not_name_the_page_after_it(make_epub: MakeEpub) -> None:
    documents = {"c.xhtml": "<img/>", "t.xhtml": "<p>by Ann</p>", "a.xhtml": "<p>a</p>"}
    toc = [("Cover", "c.xhtml"), ("One", "a.xhtml")]
    assert titles(read_book(make_epub(documents, toc=toc))) == ["A Little Book", "One"]
    toc = [("Chapter 1", "c.xhtml"), ("Chapter 2", "a.xhtml")]
    assert titles(read_book(make_epub(documents, toc=toc))) == ["Chapter 1", "Chapter 2"]


def test_the_first_of_several_titles_for_one_place_wins(make_epub: MakeEpub) -> None:
    toc = [("First", "a.xhtml"), ("Second", "a.xhtml")]
    assert titles(read_book(make_epub({"a.xhtml": "<p>a</p>"}, toc=toc))) == ["First"]


def test_a_subtitle_in_the_contents_joins_its_title(make_epub: MakeEpub) -> None:
    body = "<h1 id='a'>Book</h1><h4 id='b'>Edition 3</h4><h2 id='c'>One</h2><p>1</p>"
    toc = [("Book", "x.xhtml#a"), ("Edition 3", "x.xhtml#b"), ("One", "x.xhtml#c")]
    assert titles(read_book(make_epub({"x.xhtml": body}, toc=toc))) == ["Book", "One"]


WORDS = st.text(alphabet="abcdefgh é—’", min_size=1, max_size=12)
TAGS = st.sampled_from(["p", "h2", "div", "span", "em", "li", "td", "br", "a"])


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    """Draw markup with anchors, the characters in it, and the anchors."""
    markup, visible, anchors = [], [], []
    open_tags: list[str] = []
    for number in range(draw(st.integers(1, 25))):
        if open_tags and draw(st.booleans()):
            markup.append(f"</{open_tags.pop()}>")
        tag = draw(TAGS)
        anchor = f"i{number}"
        anchors.append(anchor)
        if tag == "br":
            markup.append(f"<br id='{anchor}'/>")
        else:
            markup.append(f"<{tag} id='{anchor}'>")
            open_tags.append(tag)
        words = draw(WORDS)
        visible.append(words)
        markup.append(words)
    markup.extend(f"</{tag}>" for tag in reversed(open_tags))
    return "".join(markup), "".join(visible), anchors


@settings(max_examples=120, deadline=None)
@given(bodies(), st.data())
def test_cutting_at_anchors_keeps_every_character_exactly_once(
    tmp_path_factory: pytest.TempPathFactory,
    write: Callable[..., Path],
    drawn: tuple[str, str, list[str]],
    data: st.DataObject,
) -> None:
    body, visible, anchors = drawn
    chosen = data.draw(st.lists(st.sampled_from(anchors), unique=True))
    path = tmp_path_factory.mktemp("epub") / "x.epub"
    toc = [(anchor, f"x.xhtml#{anchor}") for anchor in chosen]
    write(path, {"x.xhtml": f"<p>start</p>{body}<p>end</p>"}, toc=toc)
    book = read_book(path)
    spoken = "".join(block.text for chapter in book.chapters for block in chapter.blocks)

    def letters(text: str) -> str:  # dashes alone are scene breaks, commas stand between cells
        return "".join(character for character in text if character.isalpha())

    assert letters(spoken) == f"start{letters(visible)}end"
    assert book.dropped == ()
