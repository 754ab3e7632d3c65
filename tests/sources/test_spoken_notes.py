"""Notes that are spoken: after the sentence of their mark, or at the end of its chapter."""

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


TYPED = (
    '<p>He rang twice<a epub:type="noteref" href="#n1"><sup>1</sup></a> at noon. She left.</p>'
    '<p>It rained.<a role="doc-noteref" href="#n2">2</a> “Go!” he said.</p>'
)
NOTES = {
    "asides": '<aside epub:type="footnote" id="n1"><p>A bell.</p></aside>'
    '<aside role="doc-footnote" id="n2"><p>For days.</p><p>And nights.</p></aside>',
    "list": '<section epub:type="endnotes"><h2>Notes</h2><ol><li id="n1"><p>A bell. '
    '<a href="#r1" role="doc-backlink">↩</a></p></li><li id="n2"><p>For days.</p>'
    "<p>And nights.</p></li></ol></section>",
    "paragraphs": '<div role="doc-endnotes"><p id="n1">1. A bell.</p>'
    '<p id="n2">2 For days.</p><p>And nights.</p></div>',
    "definitions": '<dl epub:type="footnotes"><dt id="n1">1</dt><dd>A bell.</dd>'
    '<dt id="n2">2</dt><dd>For days.</dd><dd>And nights.</dd></dl>',
    "hidden": '<div hidden="hidden"><aside epub:type="footnote" id="n1">A bell.</aside>'
    '<aside epub:type="footnote" id="n2"><p>For days.</p><p>And nights.</p></aside></div>',
}


@pytest.mark.parametrize("kind", NOTES)
def test_notes_are_dropped_by_default_and_listed(read_body: Read, kind: str) -> None:
    book = read_body(TYPED + NOTES[kind])
    assert texts(book) == ["He rang twice at noon. She left.", "It rained. “Go!” he said."]
    listed = " ".join(item.text for item in book.dropped)
    assert all(words in listed for words in ("1", "2", "A bell.", "For days.", "And nights."))


@pytest.mark.parametrize("kind", set(NOTES) - {"definitions"})
def test_a_note_is_read_after_the_sentence_that_holds_its_mark(read_body: Read, kind: str) -> None:
    book = read_body(TYPED + NOTES[kind], notes="inline")
    assert texts(book) == [
        *("He rang twice at noon.", "A bell.", "She left."),
        *("It rained.", "For days.", "And nights.", "“Go!” he said."),
    ]
    assert "1" in dropped(book)["note mark"]
    assert not any("bell" in item.text for item in book.dropped)


@pytest.mark.parametrize("kind", set(NOTES) - {"definitions"})
def test_notes_are_read_in_order_at_the_end_of_the_chapter(read_body: Read, kind: str) -> None:
    book = read_body(TYPED + NOTES[kind], notes="chapter-end")
    assert texts(book) == [
        *("He rang twice at noon. She left.", "It rained. “Go!” he said."),
        *("Notes", "A bell.", "For days.", "And nights."),
    ]
    assert blocks(book)[-4].kind == "heading"


# Mark, and note with what stands around it, as converters and publishers write them.
CUSTOMS = {
    "Gutenberg": (
        '<a id="FNanchor_1"></a><a href="#Footnote_1" class="fnanchor">[1]</a>',
        '<h3>FOOTNOTES:</h3><hr/><div class="footnote"><p><a id="Footnote_1"></a>'
        '<a href="#FNanchor_1"><span class="label">[1]</span></a> A note.</p></div>',
    ),
    "Pandoc": (
        '<a href="#fn1" class="footnote-ref" id="fnref1" epub:type="noteref">1</a>',
        '<aside id="footnotes" class="footnotes" epub:type="footnotes"><hr/><ol><li id="fn1">'
        '<p>A note.<a href="#fnref1" class="footnote-back" role="doc-backlink">↩</a></p></li></ol>'
        "</aside>",
    ),
    "Standard Ebooks": (
        '<a href="#note-1" id="noteref-1" epub:type="noteref">1</a>',
        '<section role="doc-endnotes" epub:type="endnotes"><h2 epub:type="title">Endnotes</h2><ol>'
        '<li id="note-1" epub:type="endnote"><p>A note. <a href="#noteref-1" role="doc-backlink" '
        'epub:type="backlink">↩</a></p></li></ol></section>',
    ),
    "InDesign": (
        '<span><a class="_idFootnoteLink" href="#footnote-1" id="footnote-1-backlink">1</a></span>',
        '<div class="_idFootnotes"><div id="footnote-1" class="_idFootnote" epub:type="footnote">'
        '<p><a class="_idFootnoteAnchor" href="#footnote-1-backlink">1</a> A note.</p></div></div>',
    ),
    "calibre": (
        '<sup class="calibre3"><a id="a1" href="#b1">1</a></sup>',
        '<p class="calibre1"><a id="b1" href="#a1">1</a>. A note.</p>',
    ),
    "DocBook": (
        '<a href="#ftn.id1" class="footnote" id="id1"><sup class="footnote">[1]</sup></a>',
        '<div class="footnotes"><br/><hr/><div id="ftn.id1" class="footnote"><p><a href="#id1" '
        'class="para"><sup class="para">[1] </sup></a>A note.</p></div></div>',
    ),
    "Sphinx": (
        '<a class="footnote-reference" href="#id2" id="id1" role="doc-noteref"><span>[</span>1'
        "<span>]</span></a>",
        '<aside class="footnote brackets" id="id2" role="doc-footnote"><span class="label">[<a '
        'role="doc-backlink" href="#id1">1</a>]</span><p>A note.</p></aside>',
    ),
    "a table": (
        '<a id="r1" href="#n1">1</a>',
        '<table><tr><td><a id="n1" href="#r1">1</a></td><td>A note.</td></tr></table>',
    ),
    "no way back": ('<a href="#n1"><sup>1</sup></a>', '<div id="n1"><p>1 A note.</p></div>'),
}


@pytest.mark.parametrize("custom", CUSTOMS)
def test_notes_are_known_however_they_are_written(read_body: Read, custom: str) -> None:
    mark, note = CUSTOMS[custom]
    body = f"<p>He rang.{mark} Then left.</p>{note}<h1>Two</h1>"
    assert texts(read_body(body)) == ["He rang. Then left.", "Two"]
    assert texts(read_body(body, notes="inline")) == ["He rang.", "A note.", "Then left.", "Two"]
    ended = texts(read_body(body, notes="chapter-end"))
    assert ended == ["He rang. Then left.", "Notes", "A note.", "Two"]


def test_a_list_of_definitions_gives_its_numbers_as_they_stand(read_body: Read) -> None:
    book = read_body(TYPED + NOTES["definitions"], notes="chapter-end")
    assert texts(book)[2:] == ["Notes", "1", "A bell.", "2", "For days.", "And nights."]


def test_notes_of_another_document_go_to_the_chapters_of_their_marks(
    make_epub: MakeEpub, prose: str
) -> None:
    path = make_epub(
        {
            "a.xhtml": f'<h1>A</h1><p>One<a id="ra" href="n.xhtml#na">1</a>.</p><p>{prose * 3}</p>',
            "b.xhtml": f'<h1>B</h1><p>Two<a id="rb" href="n.xhtml#nb">1</a>.</p><p>{prose * 3}</p>',
            "n.xhtml": '<h1>Notes</h1><p id="na"><a href="a.xhtml#ra">1</a> Of A.</p>'
            '<p id="nb"><a href="b.xhtml#rb">1</a> Of B.</p><p id="nc">Of none.</p>',
        }
    )
    book = read_book(path, ReadSettings(notes="chapter-end"))
    ends = [[block.text for block in chapter.blocks][-2:] for chapter in book.chapters]
    assert ends == [["Notes", "Of A."], ["Notes", "Of B."], ["Notes", "Of none."]]
    assert "note mark" in dropped(book)


def test_a_note_with_several_marks_is_read_once(read_body: Read) -> None:
    marks = "".join(f'<p>Text {n}<a epub:type="noteref" href="#n">*</a>.</p>' for n in "abc")
    book = read_body(marks + '<aside epub:type="footnote" id="n">Once.</aside>', notes="inline")
    assert texts(book) == ["Text a.", "Once.", "Text b.", "Text c."]


@pytest.mark.parametrize("notes", ["inline", "chapter-end"])
def test_notes_without_a_mark_are_read_where_they_stand(read_body: Read, notes: str) -> None:
    body = '<p>Before.</p><aside epub:type="footnote" id="n">A note.</aside><p>After.</p>'
    assert texts(read_body(body, notes=notes)) == ["Before.", "A note.", "After."]


def test_notes_in_notes_follow_the_note_that_leads_to_them(read_body: Read) -> None:
    body = (
        '<p>Text<a epub:type="noteref" href="#n1">1</a>.</p>'
        '<aside epub:type="footnote" id="n1">First<a epub:type="noteref" href="#n2">2</a>.</aside>'
        '<aside epub:type="footnote" id="n2">Second<a epub:type="noteref" href="#n1">1</a>.</aside>'
    )
    assert texts(read_body(body, notes="inline")) == ["Text.", "First.", "Second."]


def test_a_note_inside_a_sentence_waits_for_its_end(read_body: Read) -> None:
    body = '<p>He<span epub:type="footnote">A fool.</span> fell. Down.</p>'
    assert texts(read_body(body, notes="inline")) == ["He fell.", "A fool.", "Down."]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Mr.| Smith left. He", ["Mr. Smith left.", "N.", "He"]),
        ("By J. R.| Tolkien. He", ["By J. R. Tolkien.", "N.", "He"]),
        ("It cost 3.5| pounds. He", ["It cost 3.5 pounds.", "N.", "He"]),
        ("“Go!”| he said. He", ["“Go!” he said.", "N.", "He"]),
        ("“Go.|” He went.", ["“Go.”", "N.", "He went."]),
        ("No stop| at all", ["No stop at all", "N."]),
        ("Wait| ... what? He", ["Wait ... what?", "N.", "He"]),
    ],
)
def test_the_end_of_a_sentence_is_found(read_body: Read, text: str, parts: list[str]) -> None:
    mark = '<a epub:type="noteref" href="#n">1</a>'
    body = f'<p>{text.replace("|", mark)}</p><aside epub:type="footnote" id="n">N.</aside>'
    assert texts(read_body(body, notes="inline")) == parts
