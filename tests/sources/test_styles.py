"""Text that style sheets hide."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Book
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]


def dropped(book: Book) -> dict[str, str]:
    """Return what is left out, by reason."""
    return {item.reason: item.text for item in book.dropped}


@pytest.mark.parametrize(
    ("sheet", "is_hidden"),
    [
        (".x { display: none }", True),
        ("p.x{color:red;visibility:hidden}", True),
        ("#i, .y { display: none !important }", True),
        ("p { display: block } .x { display: none }", True),
        ("/* .x { display: block } */ .x { display: none }", True),
        ("@import url(a.css); @font-face { src: url(a) } .x { display: none }", True),
        (".x { display: none } .x { display: block }", False),
        (".x { display: none } body p.x { display: block }", False),
        (".x { display: none } @media screen { p.x { display: block } }", False),
        ("@media print { .x { display: none } }", False),
        ("div .x { display: none }", False),
        (".x:hover { display: none }", False),
        (".x { display: none } p:not(.z) { display: block !important }", False),
        ("* { display: none }", False),
        (".other { display: none }", False),
    ],
)
def test_style_sheets_hide_only_what_they_surely_hide(
    make_epub: MakeEpub, page: Callable[..., str], prose: str, sheet: str, is_hidden: bool
) -> None:
    body = f'<p class="x" id="i">Text.</p><p>{prose}</p>'
    inside = page(body).replace("</title>", f"</title><style>{sheet}</style>")
    linked = page(body).replace("</title>", '</title><link rel="stylesheet" href="s.css"/>')
    for document in (inside, linked):
        book = read_book(make_epub({"c.xhtml": document}, members={"OEBPS/s.css": sheet}))
        assert dropped(book) == ({"hidden text (by a style sheet)": "Text."} if is_hidden else {})


def test_a_style_sheet_never_hides_a_large_part_of_a_book(
    make_epub: MakeEpub, page: Callable[..., str], prose: str
) -> None:
    document = page(f'<p class="x">{prose}</p><p>{prose}</p>').replace(
        "</title>", "</title><style>.x { display: none }</style>"
    )
    book = read_book(make_epub({"c.xhtml": document}))
    assert (book.dropped, len(book.warnings)) == ((), 1)
