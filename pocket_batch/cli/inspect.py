"""Show what is in a book: title, authors, language, chapters with words and estimated minutes,
and what is left out of the reading and why.
"""

import argparse
from pathlib import Path

from pocket_batch.data import Book, Chapter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("book", metavar="BOOK", type=Path, help="an .epub, .txt or .md file")
    parser.add_argument("--dropped", action="store_true", help="show the text that is left out")
    parser.add_argument("--json", action="store_true", help="the same as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the book."""
    import json

    from pocket_batch.sources.base import read_book

    book = read_book(args.book)
    if args.json:
        print(json.dumps(_facts(book), ensure_ascii=False, indent=1))
    else:
        _show(book, args.dropped)
    return 0


def _facts(book: Book) -> dict[str, object]:
    """The book without its text."""
    names = "title authors language date publisher series series_part description subjects"
    names += " identifiers warnings has_gaps"
    return {name: getattr(book, name) for name in names.split()} | {
        "cover": book.cover.media_type if book.cover else None,
        "chapters": [
            {"number": c.number, "title": c.title, "level": c.level, "num_words": words}
            for c, words in _words(book)
        ],
        "dropped": [{"where": d.where, "reason": d.reason, "text": d.text} for d in book.dropped],
    }


def _words(book: Book) -> list[tuple[Chapter, int]]:
    """Each chapter with its number of words."""
    return [(c, sum(len(block.text.split()) for block in c.blocks)) for c in book.chapters]


def _show(book: Book, with_dropped: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from pocket_batch.jobs.plan import PROSE_LETTERS_PER_S
    from pocket_batch.jobs.words import duration, plural

    console = Console(highlight=False)
    console.print(book.title, style="bold", markup=False)
    series = " ".join(part for part in (book.series, book.series_part) if part)
    rows = {
        "Authors": ", ".join(book.authors), "Language": book.language or "not declared",
        "Published": " ".join(part for part in (book.date, book.publisher) if part),
        "Series": series, "Cover": book.cover.media_type if book.cover else "none",
    }  # fmt: skip
    for name, value in rows.items():
        if value:
            console.print(f"{name + ':':<11}{value}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right")
    table.add_column("Chapter", overflow="fold")
    table.add_column("Words", justify="right")
    table.add_column("About", justify="right")
    for chapter, num_words in _words(book):
        letters = sum(len(block.text) for block in chapter.blocks)
        title = "  " * (chapter.level - 1) + chapter.title
        table.add_row(
            str(chapter.number), title, f"{num_words:,}", duration(letters / PROSE_LETTERS_PER_S)
        )
    console.print()
    console.print(table, markup=False)
    letters = sum(len(block.text) for chapter in book.chapters for block in chapter.blocks)
    total = sum(num_words for _, num_words in _words(book))
    console.print(
        f"\n{plural(len(book.chapters), 'chapter')}, {plural(total, 'word')}, "
        f"about {duration(letters / PROSE_LETTERS_PER_S)} of audio."
    )
    for warning in book.warnings:
        console.print(f"Warning: {warning}", style="yellow", markup=False)
    _show_dropped(book, with_dropped)


def _show_dropped(book: Book, with_text: bool) -> None:
    from rich.console import Console

    from pocket_batch.jobs.messages import dropped_words
    from pocket_batch.jobs.words import plural

    console = Console(highlight=False)
    if not book.dropped:
        console.print("Nothing is left out.")
        return
    console.print("Left out:")
    for reason, count in dropped_words(book).most_common():
        console.print(f"  {reason}: {plural(count, 'word')}", markup=False)
    if not with_text:
        console.print("--dropped shows the text.")
        return
    for dropped in book.dropped:
        console.print(f"\n[{dropped.reason}] {dropped.where}", style="bold", markup=False)
        console.print(dropped.text, markup=False)
