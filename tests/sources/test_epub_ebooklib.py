"""Another reader as witness: the same words come out of books without anything to leave out."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from pocket_batch.sources.base import read_book

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import ebooklib
    from ebooklib import epub

VALID = [
    "idpf-israelsailing-he.epub",
    "pg-alice-epub3.epub",
    "pg-pride-and-prejudice-epub2.epub",
    "se-importance-of-being-earnest.epub",
]


def letters(text: str) -> str:
    """Keep letters and digits: list numbers aside, readers differ only in the rest."""
    return "".join(character for character in text if character.isalpha())


def ebooklib_texts(path: Path) -> dict[str, str]:
    """Return the letters of each document of the spine, by name, as EbookLib gives them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book: Any = epub.read_epub(str(path), {"ignore_ncx": True})
    documents = {item.get_id(): item for item in book.get_items_of_type(ebooklib.ITEM_DOCUMENT)}
    texts = {}
    for idref, _ in book.spine:
        if idref in documents:
            body = html.fromstring(documents[idref].get_content()).find("body")
            texts[documents[idref].get_name()] = "" if body is None else body.text_content()
    return {name: letters(text) for name, text in texts.items()}


def our_texts(path: Path) -> dict[str, str]:
    """Return the letters of each document, spoken or not, as this reader gives them."""
    book = read_book(path)
    texts: dict[str, str] = {}
    for chapter in book.chapters:
        for block in chapter.blocks:
            name = block.where.rpartition(":")[0].rpartition("/")[2]
            texts[name] = texts.get(name, "") + block.text
    for item in book.dropped:
        name = item.where.rpartition(":")[0].rpartition("/")[2]
        texts[name] = texts.get(name, "") + item.text
    return texts


def test_a_book_written_by_ebooklib_gives_the_same_words(tmp_path: Path) -> None:
    book: Any = epub.EpubBook()
    book.set_identifier("id1")
    book.set_title("Witness")
    book.set_language("en")
    book.add_author("Ann Author")
    chapters = []
    for number in range(3):
        chapter = epub.EpubHtml(title=f"Chapter {number}", file_name=f"c{number}.xhtml")
        chapter.content = (
            f"<h1>Chapter {number}</h1><p>Some <em>words</em> here.</p><ul><li>and</li>"
            "<li>there</li></ul><table><tr><td>in</td><td>cells</td></tr></table>"
        )
        book.add_item(chapter)
        chapters.append(chapter)
    book.toc = tuple(chapters)
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    book.spine = chapters
    path = tmp_path / "witness.epub"
    epub.write_epub(str(path), book)
    ours = read_book(path)
    assert [chapter.title for chapter in ours.chapters] == [f"Chapter {n}" for n in range(3)]
    assert (ours.title, ours.authors, ours.language) == ("Witness", ("Ann Author",), "en")
    theirs = ebooklib_texts(path)
    assert {name: letters(text) for name, text in our_texts(path).items()} == theirs


@pytest.mark.parametrize("name", VALID)
def test_valid_books_of_the_corpus_give_the_same_words(corpus: Path, name: str) -> None:
    path = corpus / "epub" / name
    theirs = ebooklib_texts(path)
    ours = our_texts(path)
    for document, text in theirs.items():
        found = letters(ours.get(document.rpartition("/")[2], ""))
        # What is left out is listed after what is spoken, so only the amounts are the same.
        assert sorted(found) == sorted(text), document
