"""What is not spoken, that it is listed with its reason, and that no rule takes a whole book."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Book
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]


def spoken(book: Book) -> str:
    """Return all that is read aloud, block by block."""
    return "\n".join(block.text for chapter in book.chapters for block in chapter.blocks)


def dropped(book: Book) -> dict[str, str]:
    """Return what is left out, by reason."""
    return {item.reason: item.text for item in book.dropped}


@pytest.mark.parametrize(
    ("body", "reason", "text"),
    [
        ("<p hidden='hidden'>X</p>", "hidden text", "X"),
        ("<p style='display: none'>X</p>", "hidden text", "X"),
        ("<p>a<span aria-hidden='true'>X</span>b</p>", "hidden text", "X"),
        ("<aside epub:type='footnote'>X</aside>", "note", "X"),
        ("<div role='doc-endnotes'><h2>Notes</h2><p>X</p></div>", "note", "Notes\nX"),
        ("<section epub:type='rearnotes'><p>X</p></section>", "note", "X"),
        ("<section epub:type='index'><p>X, 5</p></section>", "index", "X, 5"),
        ("<div epub:type='copyright-page'>X</div>", "copyright page", "X"),
        ("<nav epub:type='landmarks'><a href='c.xhtml'>X</a></nav>", "navigation", "X"),
        ("<div class='related' role='navigation'>next</div>", "links to other pages", "next"),
        ("<p>a<span epub:type='pagebreak' title='41'>41</span>b</p>", "page number", "41"),
        ("<p>a<span class='pagenum'>[Pg xii]</span>b</p>", "page number", "[Pg xii]"),
        ("<p>a<span class='lnum'>10</span></p>", "line number", "10"),
        ("<svg><title>T</title><text>X</text></svg>", "text in a drawing", "X"),
        ("<p><ruby>東<rt>tō</rt></ruby></p>", "ruby reading", "tō"),
        ("<p>a<audio src='a'>X</audio>b</p>", "text for readers without sound or pictures", "X"),
        ("<p>a<select><option>X</option></select>b</p>", "form field", "X"),
        ("<section epub:type='bibliography'><p>X</p></section>", "bibliography", "X"),
        (
            "<p>a<a role='doc-biblioref' href='#b'>[3]</a>b</p>",
            "reference to a bibliography",
            "[3]",
        ),
        ("<level1><p>a<pagenum>7</pagenum>b</p></level1>", "page number", "7"),
        ("<div role='doc-pagefooter'>X</div>", "running header or footer", "X"),
        ("<p>a<a role='doc-backlink' href='#r'>X</a>b</p>", "link back from a note", "X"),
        ("<ul epub:type='loi'><li>X</li></ul>", "table of contents", "X"),
        ("<div class='pg-boilerplate'>X</div>", "Project Gutenberg header or licence", "X"),
        ("<p>a<a epub:type='noteref' href='#n'><sup>12</sup></a> b</p>", "note mark", "12"),
    ],
)
def test_markup_that_is_not_text_is_left_out_and_listed(
    make_epub: MakeEpub, prose: str, body: str, reason: str, text: str
) -> None:
    book = read_book(make_epub({"c.xhtml": f"<p>{prose * 5}</p>{body}"}))
    assert dropped(book) == {reason: text}
    assert book.dropped[0].where.startswith("OEBPS/c.xhtml:")
    assert "X" not in spoken(book)


def test_a_dropped_mark_leaves_the_words_around_it_whole(make_epub: MakeEpub, prose: str) -> None:
    book = read_book(
        make_epub(
            {
                "c.xhtml": "<p>The bell rang twice"
                '<a epub:type="noteref" href="#n"><sup>12</sup></a> before noon. She crossed the '
                '<span epub:type="pagebreak" title="41">41</span>bridge</p>'
                f'<p>{prose * 2}</p><aside epub:type="footnote" id="n">A note.</aside>'
            }
        )
    )
    assert "The bell rang twice before noon. She crossed the bridge\n" in spoken(book)


@pytest.mark.parametrize(
    "body",
    [
        "<p><span epub:type='pagebreak'>'But</span> he said</p>",
        "<p>the <a epub:type='noteref' href='#n'>Emperor's</a> warrior</p>",
        "<p>as <a epub:type='biblioref' href='#b'>Smith (2001)</a> says</p>",
        "<p>the MP3 of the B52 by U2</p>",
        "<div class='transcriber'>Transcriber's note: spelling kept.</div>",
        "<p class='footnote-like'>Not a note.</p>",
        "<section epub:type='dedication'>For Ann</section>",
        "<p><span aria-label='The'><span aria-hidden='true'>T</span>he</span> end</p>",
        "<section epub:type='titlepage'>The Book</section>",
    ],
)
def test_real_words_are_kept_whatever_marks_them(
    make_epub: MakeEpub, prose: str, body: str
) -> None:
    book = read_book(make_epub({"c.xhtml": f"<p>{prose}</p>{body}"}))
    assert book.dropped == ()


def test_a_list_of_links_into_the_book_goes_with_its_heading(
    make_epub: MakeEpub, prose: str
) -> None:
    rows = "".join(
        f'<tr><td><a href="#c{n}">CHAPTER {n}.</a></td><td>Its title</td></tr>' for n in range(4)
    )
    body = "".join(f'<h2 id="c{n}">CHAPTER {n}.</h2><p>{prose * 6}</p>' for n in range(4))
    book = read_book(
        make_epub({"c.xhtml": f"<h1>Book</h1><h2>Contents</h2><table>{rows}</table>{body}"})
    )
    assert dropped(book)["table of contents (by its links)"].startswith("Contents\nCHAPTER 0.")
    assert book.chapters[0].blocks[0].text == "Book"
    assert "Contents" not in spoken(book)


def test_no_guess_takes_more_than_its_share(make_epub: MakeEpub) -> None:
    links = "".join(f'<li><a href="#x{n}">A line that is a link {n}</a></li>' for n in range(50))
    book = read_book(make_epub({"c.xhtml": f"<p>Short book.</p><ul>{links}</ul>"}))
    assert "A line that is a link 49" in spoken(book)
    assert book.dropped == ()
    assert "too much to be true" in book.warnings[0]


@pytest.mark.parametrize("kind", ["toc", "index", "copyright-page", "footnotes"])
def test_even_a_declared_type_never_silences_a_book(make_epub: MakeEpub, kind: str) -> None:
    book = read_book(make_epub({"c.xhtml": f'<section epub:type="{kind}"><p>All.</p></section>'}))
    assert spoken(book) == "All."
    assert book.warnings


def test_documents_outside_the_reading_order_are_listed(make_epub: MakeEpub, prose: str) -> None:
    book = read_book(
        make_epub(
            {"a.xhtml": f"<p>{prose * 2}</p>", "ad.xhtml": "<p>Buy!</p>"},
            spine='<itemref idref="a.xhtml"/><itemref idref="ad.xhtml" linear="no"/>',
        )
    )
    assert dropped(book) == {"outside the reading order (linear=no)": "Buy!"}


def test_the_nav_document_in_the_spine_is_not_read(make_epub: MakeEpub, prose: str) -> None:
    book = read_book(
        make_epub(
            {"a.xhtml": f"<h1>One</h1><p>{prose}</p>"},
            toc=[("One", "a.xhtml")],
            spine='<itemref idref="nav"/><itemref idref="a.xhtml"/>',
        )
    )
    assert [chapter.title for chapter in book.chapters] == ["One"]
    assert "navigation" in dropped(book)


@pytest.mark.parametrize("title", ["Contents", "Index", "Copyright"])
def test_a_small_chapter_may_be_left_out_by_its_title_alone(
    make_epub: MakeEpub, prose: str, title: str
) -> None:
    documents = {"a.xhtml": f"<h1>{title}</h1><p>Small.</p>", "b.xhtml": f"<p>{prose * 10}</p>"}
    book = read_book(make_epub(documents))
    assert len(book.chapters) == 1
    book = read_book(make_epub(documents | {"b.xhtml": "<p>As small as that.</p>"}))
    assert len(book.chapters) == 2


def test_old_gutenberg_headers_without_markup_are_known(make_epub: MakeEpub, prose: str) -> None:
    book = read_book(
        make_epub(
            {
                "a.xhtml": "<p>The Project Gutenberg EBook of X</p><pre>*** START OF THIS PROJECT "
                f"GUTENBERG EBOOK X ***</pre><p>{prose}</p>"
                "<p>End of the Project Gutenberg EBook</p><p>Licence.</p>",
            }
        )
    )
    assert spoken(book) == prose.strip()


@pytest.mark.parametrize("kind", ["copyright-page", "index", "notes"])
def test_the_guide_names_whole_documents_that_are_not_read(
    make_epub: MakeEpub, prose: str, kind: str
) -> None:
    book = read_book(
        make_epub(
            {"x.xhtml": "<p>Small.</p>", "b.xhtml": f"<p>{prose * 3}</p>"},
            guide=f'<guide><reference type="{kind}" title="" href="x.xhtml"/></guide>',
        )
    )
    assert list(dropped(book).values()) == ["Small."]
    assert next(iter(dropped(book))).endswith("(by the guide)")


def test_all_guesses_together_take_a_few_percent_only(make_epub: MakeEpub, prose: str) -> None:
    named = {
        f"{number}.xhtml": f"<h1>{title}</h1><p>{prose}</p>"
        for number, title in enumerate(("Contents", "Index", "Copyright"))
    }
    book = read_book(make_epub(named | {"b.xhtml": f"<h1>One</h1><p>{prose * 40}</p>"}))
    assert [item.reason for item in book.dropped] == [
        "table of contents (by its title)",
        "index (by its title)",
    ]
    assert [chapter.title for chapter in book.chapters] == ["Copyright", "One"]
