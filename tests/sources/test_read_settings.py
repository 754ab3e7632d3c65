"""What the settings of the read stage make of the same book."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Block, Book
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]
Read = Callable[..., Book]


def blocks(book: Book) -> list[Block]:
    """Return all blocks of a book."""
    return [block for chapter in book.chapters for block in chapter.blocks]


def texts(book: Book, prose: str = "The harbour") -> list[str]:
    """Return what is between the heading and the prose, and after it."""
    return [b.text for b in blocks(book)[1:] if not b.text.startswith(prose)]


def dropped(book: Book) -> dict[str, str]:
    """Return what is left out, by reason."""
    return {item.reason: item.text for item in book.dropped}


def test_matter_is_kept_when_asked(make_epub: MakeEpub, prose: str) -> None:
    kinds = ("copyright-page", "index", "bibliography", "halftitlepage", "loi")
    body = "".join(f'<section epub:type="{kind}"><p>{kind}</p></section>' for kind in kinds)
    links = "".join(f'<li><a href="#x{n}">Line {n}</a></li>' for n in range(4))
    documents = {
        "index.xhtml": "<h1>Index</h1><p>harbour, 3</p>",
        "c.xhtml": f"<h1>One</h1>{body}<ul>{links}</ul><p>{prose * 20}</p>",
    }
    path = make_epub(documents)
    kept = read_book(path, ReadSettings(keep_matter=True))
    assert kept.dropped == ()
    assert [chapter.title for chapter in kept.chapters] == ["Index", "One"]
    reasons = {item.reason for item in read_book(path).dropped}
    assert len(reasons) == 7


def test_what_stands_outside_the_reading_order_is_kept_when_asked(
    make_epub: MakeEpub, prose: str
) -> None:
    path = make_epub(
        {"a.xhtml": f"<p>{prose * 2}</p>", "ad.xhtml": "<h1>Ad</h1><p>Buy!</p>"},
        spine='<itemref idref="a.xhtml"/><itemref idref="ad.xhtml" linear="no"/>',
    )
    assert blocks(read_book(path, ReadSettings(keep_non_linear=True)))[-1].text == "Buy!"
    assert read_book(path, ReadSettings(keep_non_linear=True)).dropped == ()


@pytest.mark.parametrize(
    ("body", "spoken"),
    [
        ('<p>Look: <img alt="A map"/> there.</p>', ["Look: A map there."]),
        (
            '<figure><img alt="A map"/><figcaption>The bay</figcaption></figure>',
            ["A map", "The bay"],
        ),
        ('<figure><img alt="The bay"/><figcaption>The bay.</figcaption></figure>', ["The bay."]),
        ('<figure aria-label="A map"><img/></figure>', ["A map"]),
        ('<p><img alt="" title="x"/><img role="presentation" alt="y"/>Text</p>', ["Text"]),
    ],
)
def test_descriptions_of_pictures_are_read_when_asked(
    read_body: Read, body: str, spoken: list[str]
) -> None:
    assert texts(read_body(body, alt=True)) == spoken
    book = read_body(body)
    assert "A map" not in " ".join(texts(book))
    assert book.dropped == ()  # a description is not visible text


@pytest.mark.parametrize("alt", [True, False])
def test_a_drawn_first_letter_belongs_to_its_word(read_body: Read, alt: bool) -> None:
    assert texts(read_body('<p><img src="t.png" alt="T"/>hey left.</p>', alt=alt)) == ["They left."]
    spanned = '<p><span class="cap"><img src="t.png" alt="“T"/></span>hey left.</p>'
    assert texts(read_body(spanned, alt=alt)) == ["“They left."]


TABLE = (
    "<table><caption>Catch</caption><thead><tr><th>Day</th><th>Fish</th><th>Price</th></tr></thead>"
    "<tr><td>Monday</td><td>12</td><td>3</td></tr><tr><th>Tuesday</th><td/><td>4</td></tr></table>"
)


def test_cells_are_read_with_the_names_of_their_columns(read_body: Read) -> None:
    assert texts(read_body(TABLE)) == [
        *("Catch", "Day, Fish, Price"),
        *("Day: Monday, Fish: 12, Price: 3", "Tuesday, Price: 4"),
    ]


def test_a_table_is_announced_by_its_caption_or_as_such(read_body: Read) -> None:
    book = read_body(TABLE, tables="announce")
    assert texts(book) == ["Catch"]
    assert "Monday" in dropped(book)["table"]
    assert "Catch" not in dropped(book)["table"]
    assert texts(read_body(TABLE.replace("Catch", ""), tables="announce")) == ["Table."]


def test_a_skipped_table_is_listed_with_its_caption(read_body: Read) -> None:
    book = read_body(TABLE, tables="skip")
    assert texts(book) == []
    assert dropped(book)["table"].startswith("Catch")


@pytest.mark.parametrize(
    "table",
    [
        "<table role='presentation'><tr><td>Text</td></tr></table>",
        "<table><tr><td><h2>Text</h2></td></tr></table>",
        "<table><tr><td epub:type='z3998:persona'>Text</td></tr></table>",
    ],
)
def test_a_page_laid_out_as_a_table_is_text(read_body: Read, table: str) -> None:
    assert "Text" in texts(read_body(table, tables="skip"))


@pytest.mark.parametrize(
    ("body", "name", "word"),
    [
        ("<pre>x = 1</pre>", "code", "Code."),
        ("<pre class='screen'>x = 1</pre>", "code", "Code."),
        ("<pre><code>x = 1</code></pre>", "code", "Code."),
        ("<div class='programlisting'><p>x = 1</p></div>", "code", "Code."),
        ("<p><math><mi>x</mi><mo>=</mo><mn>1</mn></math></p>", "formulas", "formula"),
        ("<p><span data-latex='x'>x = 1</span></p>", "formulas", "formula"),
        ("<p><img class='math' alt='x = 1'/></p>", "formulas", "formula"),
        ("<svg><title>T</title><desc>D</desc><text>x = 1</text></svg>", "drawings", "Drawing"),
        ("<svg><text>x<tspan> = </tspan>1</text></svg>", "drawings", "Drawing"),
    ],
)
def test_special_text_is_read_announced_or_skipped(
    read_body: Read, body: str, name: str, word: str
) -> None:
    assert texts(read_body(body, **{name: "read"})) == ["x = 1"]
    announced = read_body(body, **{name: "announce"})
    assert texts(announced) == [word]
    skipped = read_body(body, **{name: "skip"})
    assert texts(skipped) == []
    for book in (announced, skipped):
        assert [item.text.replace(" ", "") for item in book.dropped] == ["x=1"]


def test_announcements_are_in_the_language_of_the_book(make_epub: MakeEpub, prose: str) -> None:
    metadata = "<dc:title>T</dc:title><dc:language>de-AT</dc:language>"
    path = make_epub({"c.xhtml": f"<pre>x</pre><p>{prose}</p>"}, metadata=metadata)
    assert blocks(read_book(path, ReadSettings(code="announce")))[0].text == "Programmtext."


def test_code_in_a_line_and_verse_are_always_read(read_body: Read) -> None:
    assert texts(read_body("<p>Type <code>ls</code> now.</p>", code="skip")) == ["Type ls now."]
    for verse in ("<pre class='poem'>x = 1\nAnd more</pre>", "<pre>Ah, you;\nmy Beloved!</pre>"):
        assert len(texts(read_body(verse, code="skip"))) == 2


def test_a_drawing_without_text_is_not_announced(read_body: Read) -> None:
    assert texts(read_body("<svg><path d='M0 0'/></svg>", drawings="announce")) == []


RUBY = "<p><ruby>東<rp>(</rp><rt>tō</rt><rp>)</rp>京<rt>kyō</rt>へ<rt></rt></ruby>!</p>"


def test_ruby_is_read_as_written_or_as_it_sounds(read_body: Read) -> None:
    base, reading = read_body(RUBY), read_body(RUBY, ruby="reading")
    assert (texts(base), dropped(base)["ruby reading"]) == (["東京へ!"], "( tō ) kyō")
    assert texts(reading) == ["tōkyōへ!"]
    assert dropped(reading)["text below a ruby reading"] == "東()京"


def test_markdown_follows_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "book.md"
    path.write_text("# One\n\nText.\n\n```\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    book = read_book(path, ReadSettings(code="announce", tables="skip"))
    assert [block.text for block in blocks(book)] == ["One", "Text.", "Code."]
