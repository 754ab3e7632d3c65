"""Small books as folders: `in` is the unpacked EPUB, `golden/book.txt` what is made of it."""

import zipfile
from pathlib import Path

import pytest

from pocket_batch.data import Block, Book
from pocket_batch.errors import InputError
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
    lines += [f"word: {w.written} -> {w.spoken or w.ipa} ({w.language})" for w in book.lexicon]
    for chapter in book.chapters:
        lines += ["", f"== {chapter.number} (level {chapter.level}) {chapter.title}"]
        lines += map(as_line, chapter.blocks)
    lines += ["", "== dropped"]
    for item in book.dropped:
        lines.append(f"{item.where} ({item.reason}): {item.text}".replace("\n", "\n  "))
    return "\n".join(lines) + "\n"


def as_line(block: Block) -> str:
    """Write a block on one line, with what is unusual about it."""
    language = f" [{block.language}]" if block.language else ""
    pause = f" [{block.pause_after_ms} ms]" if block.pause_after_ms is not None else ""
    goes_on = " [goes on]" if block.continues else ""
    return f"{block.kind} {block.where}{language}: {block.text}{pause}{goes_on}"


def zipped(folder: Path, path: Path) -> Path:
    """Pack a folder; its `mimetype`, or the right one, comes first and as it is."""
    own = folder / "mimetype"
    with zipfile.ZipFile(path, "w") as archive:
        mimetype = own.read_bytes() if own.exists() else b"application/epub+zip"
        archive.writestr("mimetype", mimetype)
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file != own:
                archive.write(file, file.relative_to(folder).as_posix())
    return path


@pytest.mark.parametrize("case", sorted(path.name for path in GOLDEN.iterdir()))
def test_a_book_gives_what_its_golden_file_says(
    case: str, tmp_path: Path, save_golden: bool
) -> None:
    path = zipped(GOLDEN / case / "in", tmp_path / f"{case}.epub")
    try:
        found = as_text(read_book(path))
    except InputError as error:
        found = f"refused: {error}\n"
    golden = GOLDEN / case / "golden" / "book.txt"
    if save_golden:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")
