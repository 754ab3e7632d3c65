"""Which links are marks of notes, and which texts are notes; both are left out by default."""

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
    "note",
    [
        '<p id="n1"><a href="#r1">1</a> A note.</p>',
        '<p><a id="n1" href="#r1">[1]</a> A note.</p>',
        '<p id="n1">1. A note. <a href="#r1">↩</a></p>',
        '<div class="notes"><p><a id="n1"></a><a href="#r1">1</a> A note.</p></div>',
        '<ol><li id="n1"><p>A note. <a href="#r1">back</a></p></li></ol>',
    ],
)
@pytest.mark.parametrize(
    "mark",
    [
        '<a href="#n1" id="r1"><sup>1</sup></a>',
        '<sup id="r1"><a href="#n1">1</a></sup>',
        '<a id="r1"></a><a href="#n1">[1]</a>',
    ],
)
def test_a_number_and_a_text_that_link_to_each_other_are_a_note(
    make_epub: MakeEpub, prose: str, mark: str, note: str
) -> None:
    book = read_book(make_epub({"c.xhtml": f"<p>He rang{mark} twice.</p><p>{prose}</p>{note}"}))
    assert spoken(book).startswith("He rang twice.\n")
    assert "A note" not in spoken(book)
    assert "A note" in dropped(book)["note (by its links)"]


def test_notes_in_a_document_of_their_own_are_found(make_epub: MakeEpub, prose: str) -> None:
    book = read_book(
        make_epub(
            {
                "c.xhtml": '<p>He rang<a id="r" href="n.xhtml#n">1</a> twice.</p>'
                f"<p>{prose * 5}</p>",
                "n.xhtml": '<h2>Notes</h2><p id="n"><a href="c.xhtml#r">1</a> A long note.</p>',
            }
        )
    )
    assert len(book.chapters) == 1
    assert "Notes" not in spoken(book)


def test_chapters_that_lead_back_to_their_contents_are_no_notes(
    make_epub: MakeEpub, prose: str
) -> None:
    contents = "".join(f'<p>Part <a id="t{n}" href="#c{n}">{n}</a></p>' for n in (1, 2))
    body = "".join(f'<h2 id="c{n}"><a href="#t{n}">{n}</a></h2><p>{prose}</p>' for n in (1, 2))
    assert read_book(make_epub({"c.xhtml": contents + body})).dropped == ()


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        ('<sup><a href="#n1">1</a></sup>', '<aside epub:type="footnote" id="n1">N.</aside>'),
        ('<a href="#n1">[1]</a>', '<div role="doc-endnotes"><p id="n1">N.</p></div>'),
        ('<a href="#n1">*</a>', '<ol class="footnotes"><li id="n1">N.</li></ol>'),
        ('<a href="#n1">1</a>', '<section epub:type="rearnotes"><p id="n1">N.</p></section>'),
        ('<a class="noteref" href="#n1">1</a>', '<p id="n1">N.</p>'),
        ('<sup epub:type="noteref"><a href="#n1">1</a></sup>', '<p id="n1">N.</p>'),
        ('<a role="doc-noteref link" href="#n1">1</a>', '<p role="doc-footnote" id="n1">N.</p>'),
        ('<a epub:type="biblioref" href="#n1">[7]</a>', '<p epub:type="footnote" id="n1">N.</p>'),
    ],
)
def test_a_mark_needs_no_way_back_when_it_or_its_note_is_declared(
    make_epub: MakeEpub, prose: str, mark: str, note: str
) -> None:
    book = read_book(make_epub({"c.xhtml": f"<p>He rang{mark} twice.</p><p>{prose}</p>{note}"}))
    assert spoken(book) == f"He rang twice.\n{prose.strip()}"


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        ('<sup><a href="n.xhtml#n1">1</a></sup>', '<p id="n1">1. A note.</p>'),
        ('<a href="n.xhtml#n1">[12]</a>', '<p><a id="n1">[12]</a> A note.</p>'),
        ('<a href="n.xhtml#n1">*</a>', '<p id="n1"><b>*</b> A note.</p>'),
    ],
)
def test_a_raised_mark_and_a_text_that_begins_with_it_are_a_note(
    make_epub: MakeEpub, prose: str, mark: str, note: str
) -> None:
    documents = {"c.xhtml": f"<p>He rang{mark} twice.</p><p>{prose}</p>", "n.xhtml": note}
    assert spoken(read_book(make_epub(documents))) == f"He rang twice.\n{prose.strip()}"
    documents["n.xhtml"] = note.replace("<p", "<h1").replace("</p", "</h1")
    assert "A note" in spoken(read_book(make_epub(documents)))


def test_several_marks_of_one_note_are_all_dropped(make_epub: MakeEpub, prose: str) -> None:
    marks = [f'rang<a href="#n1" id="r{n}"><sup>1</sup></a>' for n in range(3)]
    note = '<p id="n1"><a href="#r0">1</a> A note.</p>'
    book = read_book(make_epub({"c.xhtml": f"<p>{' and '.join(marks)}</p><p>{prose}</p>{note}"}))
    assert spoken(book).startswith("rang and rang and rang\n")


def test_a_reference_to_a_note_in_words_is_spoken(make_epub: MakeEpub, prose: str) -> None:
    body = (
        '<p>He rang<a href="#n1" id="r1">1</a> twice, see note <a href="#n1">1</a> below.</p>'
        f'<p>{prose}</p><p id="n1"><a href="#r1">1</a> A note.</p>'
    )
    book = read_book(make_epub({"c.xhtml": body}))
    assert spoken(book).startswith("He rang twice, see note 1 below.\n")


def test_a_number_at_the_end_of_a_note_that_leads_back_is_no_mark(
    make_epub: MakeEpub, prose: str
) -> None:
    body = (
        f'<p>He rang<a href="#n1" id="r1">1</a> twice.</p><p>{prose}</p>'
        '<p id="n1">A note. <a href="#r1">1</a></p>'
    )
    book = read_book(make_epub({"c.xhtml": body}))
    assert spoken(book) == f"He rang twice.\n{prose.strip()}"
    assert dropped(book)["note (by its links)"] == "A note. 1"


def test_an_arrow_back_is_never_spoken_even_if_it_leads_nowhere(make_epub: MakeEpub) -> None:
    body = f'<p>{"The lamp was lit. " * 30}</p><p>Built in 1887. <a href="gone.xhtml#b">↩</a></p>'
    book = read_book(make_epub({"c.xhtml": body}))
    assert book.chapters[0].blocks[-1].text == "Built in 1887."
    assert [dropped.text for dropped in book.dropped] == ["↩"]
