"""Small books as folders: `in` is the unpacked EPUB, `golden/book.txt` what is made of it."""

import zipfile
from pathlib import Path

import pytest

from pocket_batch.data import Book
from pocket_batch.sources.base import read_book

GOLDEN = Path(__file__).parent / "golden"


def as_text(book: Book) -> str:
    """Write a book so that a person reads the difference of two in a diff."""
    lines = [
        f"title: {book.title}",
        f"authors: {'; '.join(book.authors)}",
        f"language: {book.language}  date: {book.date}",
        f"series: {book.series} {book.series_part}",
        f"gaps: {book.has_gaps}",
        *(f"warning: {warning}" for warning in book.warnings),
    ]
    for chapter in book.chapters:
        lines += ["", f"== {chapter.number} (level {chapter.level}) {chapter.title}"]
        lines += [f"{block.kind} {block.where}: {block.text}" for block in chapter.blocks]
    lines += ["", "== dropped"]
    for item in book.dropped:
        lines.append(f"{item.where} ({item.reason}): {item.text}".replace("\n", "\n  "))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("case", sorted(path.name for path in GOLDEN.iterdir()))
def test_a_book_gives_what_its_golden_file_says(
    case: str, tmp_path: Path, save_golden: bool
) -> None:
    source = GOLDEN / case / "in"
    path = tmp_path / f"{case}.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for file in sorted(source.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(source).as_posix())
    found = as_text(read_book(path))
    golden = GOLDEN / case / "golden" / "book.txt"
    if save_golden:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")
