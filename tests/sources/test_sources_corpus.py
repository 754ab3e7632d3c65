"""Real books beside the repository: what comes of each; skipped where the corpus is not."""

import contextlib
from pathlib import Path

import pytest

from pocket_batch.errors import InputError, PocketBatchError
from pocket_batch.sources.base import read_book

REFUSED = {
    "empty-zip.epub": "holds none",
    "versone-missing-toc.epub": "spine should list",
    "epubcheck-encrypted-binary-content.epub": "is encrypted",
    "epubcheck-truncated-zip.epub": "cut short",
    "idpf-page-blanche-bitmaps-in-spine-fr.epub": "edition with text",
    "h35_drm.epub": "is encrypted",
    "h41_bomb.epub": "refused as unsafe",
}
NUM_CHAPTERS = {
    "pg-alice-epub3.epub": 13,
    "pg-pride-and-prejudice-epub2.epub": 63,
    "se-importance-of-being-earnest.epub": 6,
    "idpf-wasteland-otf-obf.epub": 6,
    "idpf-israelsailing-he.epub": 11,
    "idpf-childrens-literature.epub": 21,
    "deb-calibre-quick-start-it.epub": 21,
    "h01_spine_order.epub": 3,
    "h02_fragments.epub": 3,
    "h03_linear_no.epub": 1,
    "h26_ncx_only.epub": 2,
    "h27_no_toc.epub": 2,
    "h29_frontmatter.epub": 2,
    "h37_text_before_anchor.epub": 3,
    "h38_deep_anchor.epub": 2,
    "h45_nav_in_spine.epub": 1,
}


def test_every_book_is_read_or_refused_with_a_reason(corpus: Path) -> None:
    paths = sorted(corpus.glob("[eh]*/*.epub"))
    assert len(paths) > 60
    for path in paths:
        if path.name in REFUSED:
            with pytest.raises(InputError, match=REFUSED[path.name]):
                read_book(path)
            continue
        book = read_book(path)
        assert len(book.chapters) == NUM_CHAPTERS.get(path.name, len(book.chapters)), path.name
        for number, chapter in enumerate(book.chapters, start=1):
            assert chapter.number == number
            assert chapter.title == " ".join(chapter.title.split()) != ""
            assert any(block.text for block in chapter.blocks), (path.name, chapter.title)
            assert all(block.text == " ".join(block.text.split()) for block in chapter.blocks)
            assert all(
                (block.text == "") == (block.kind == "scene_break") for block in chapter.blocks
            )
            assert all(block.where for block in chapter.blocks)


def test_alice_has_a_short_front_and_twelve_chapters_without_licence(corpus: Path) -> None:
    book = read_book(corpus / "epub" / "pg-alice-epub3.epub")
    front, *chapters = book.chapters
    assert [block.text for block in front.blocks] == [
        "Alice’s Adventures in Wonderland",
        "by Lewis Carroll",
        "THE MILLENNIUM FULCRUM EDITION 3.0",
    ]
    assert len(chapters) == 12
    assert chapters[0].title == "CHAPTER I. Down the Rabbit-Hole"
    assert chapters[0].blocks[1].text.startswith("Alice was beginning to get very tired")
    assert not any("Gutenberg" in b.text for c in book.chapters for b in c.blocks)


def test_the_text_of_pride_and_prejudice_has_61_chapters(corpus: Path) -> None:
    book = read_book(corpus / "text" / "pg1342_pride_and_prejudice.txt")
    titles = [chapter.title for chapter in book.chapters]
    assert titles == ["Pride and Prejudice", *(f"Chapter {n}" for n in range(1, 62))]
    assert (book.authors, book.language) == (("Jane Austen",), "en")


def test_notes_and_line_numbers_of_a_poem_are_not_spoken(corpus: Path) -> None:
    book = read_book(corpus / "epub" / "idpf-wasteland-otf-obf.epub")
    texts = [block.text for chapter in book.chapters for block in chapter.blocks]
    assert "Out of this stony rubbish? Son of man," in texts
    assert {item.reason for item in book.dropped} == {"note", "note mark", "line number"}


@pytest.mark.parametrize(
    "name",
    ["epub/w3c-unclosed-p.epub", "epub-micro/w3c-footnote.epub", "hazards/h02_fragments.epub"],
)
def test_damaged_copies_raise_only_expected_errors(corpus: Path, tmp_path: Path, name: str) -> None:
    data = (corpus / name).read_bytes()
    path = tmp_path / "damaged.epub"
    for number in range(0, len(data), 11):
        damaged = bytearray(data)
        damaged[number] ^= 0x55
        for content in (bytes(damaged), data[:number], data[number:]):
            path.write_bytes(content)
            with contextlib.suppress(PocketBatchError):  # any other error fails the test
                read_book(path)
