"""Show what is in a book: title, authors, language, chapters with words and estimated minutes,
what will be spoken, and what is left out and why.

examples:
  pocket-batch inspect book.epub                       the chapters, and how much is left out
  pocket-batch inspect book.epub --text | less         what will be spoken, word for word
  pocket-batch inspect book.epub --dropped             what will not, where it stands and why
  pocket-batch inspect book.epub --unknown >> book.lexicon.yaml   names to say how to say
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pocket_batch.cli.book import add_setting_arguments, parse_chapters, pipeline_of
from pocket_batch.cli.reading import add_reading_arguments, reading_overrides
from pocket_batch.data import Book, Chapter

if TYPE_CHECKING:
    from rich.console import Console

    from pocket_batch.text.words import UnknownWord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "book", metavar="BOOK", type=Path, help="an .epub, .txt, .md or .jsonl (script) file"
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--text", action="store_true", help="the words as they will be spoken")
    shown.add_argument("--dropped", action="store_true", help="the text that is left out")
    shown.add_argument(
        "--unknown",
        action="store_true",
        help="names and rare words, the most frequent first, as the beginning of a lexicon",
    )
    shown.add_argument("--json", action="store_true", help="the same as one JSON object")
    which = parser.add_argument_group("which book")
    which.add_argument("--chapters", metavar="1,3-5", help="only these, by their numbers")
    which.add_argument("--language", metavar="CODE", help="if the book is wrong about its own")
    add_reading_arguments(parser)
    add_setting_arguments(parser.add_argument_group("settings"))


def run(args: argparse.Namespace) -> int:
    """Print the book."""
    import json

    from pocket_batch.data import Choices
    from pocket_batch.jobs.inspection import Inspection
    from pocket_batch.jobs.reading import read_chosen

    pipeline = pipeline_of(args, reading_overrides(args))
    choices = Choices(parse_chapters(args.chapters or ""), args.language or "")
    read = read_chosen(args.book, choices, pipeline.read)
    inspection = Inspection(args.book, read, choices, pipeline)
    book = inspection.written
    spoken = inspection.spoken() if args.text else None
    unknown = inspection.unknown() if args.unknown else None
    if args.json:
        facts = _facts(book) | {"warnings": [*book.warnings, *inspection.warnings]}
        if spoken is not None:
            _add_text(facts, spoken)
        if unknown is not None:
            facts["unknown"] = [_word_facts(word) for word in unknown]
        print(json.dumps(facts, ensure_ascii=False, indent=1))
        return 0
    if spoken is None and unknown is None:
        _show(book, args.dropped, inspection.warnings)
        return 0
    for warning in (*book.warnings, *inspection.warnings):
        print(f"Warning: {warning}", file=sys.stderr)
    if inspection.note:
        print(inspection.note, file=sys.stderr)
    if spoken is not None:
        _print_text(spoken)
    if unknown is not None:
        _print_unknown(args.book, unknown)
    if args.dropped:
        print()
        _show_dropped(_console(), book, with_text=True)
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


def _add_text(facts: dict[str, object], spoken: list[Chapter]) -> None:
    """Put the spoken blocks of each chapter beside its title."""
    from pocket_batch.jobs.inspection import block_facts

    texts = {chapter.number: [block_facts(b) for b in chapter.blocks] for chapter in spoken}
    chapters = facts["chapters"]
    assert isinstance(chapters, list)
    for chapter in chapters:
        chapter["text"] = texts.get(chapter["number"], [])


def _word_facts(word: "UnknownWord") -> dict[str, object]:
    return {
        "word": word.written, "count": word.count, "where": word.where, "is_name": word.is_name,
    }  # fmt: skip


def _words(book: Book) -> list[tuple[Chapter, int]]:
    """Each chapter with its number of words."""
    return [(c, sum(len(block.text.split()) for block in c.blocks)) for c in book.chapters]


def _print_text(spoken: list[Chapter]) -> None:
    """Print each paragraph on a line of its own."""
    from pocket_batch.jobs.inspection import spoken_lines

    for chapter in spoken:
        sys.stdout.write("\n".join((*spoken_lines(chapter), "")))


def _print_unknown(source: Path, words: "list[UnknownWord]") -> None:
    """Print a lexicon without respellings; as long as a word has none, nothing changes."""
    print(
        f"# Words of {source.name} that a voice may have to guess, the most frequent first.\n"
        "# Write after a colon how a word is said, such as `Siobhan: shi-VAWN`, delete the rest,\n"
        f"# and save this as {source.stem}.lexicon.yaml beside the book."
    )
    for word in words:
        times = f"{word.count:,} times" if word.count > 1 else "once"
        where = f", first in {word.where}" if word.where and word.count > 1 else ""
        where = f", in {word.where}" if word.where and word.count == 1 else where
        print(f"{word.written + ':':<23} # {times}{where}")


def _console() -> "Console":
    """On a terminal lines are wrapped at words; in a pipe or a file they stay whole."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 100_000
    return Console(highlight=False, width=width)


def _show(book: Book, with_dropped: bool, warnings: tuple[str, ...]) -> None:
    from rich.table import Table

    from pocket_batch.jobs.plan import PROSE_LETTERS_PER_S
    from pocket_batch.words import duration, plural

    console = _console()
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
    for warning in (*book.warnings, *warnings):
        console.print(f"Warning: {warning}", style="yellow", markup=False)
    _show_dropped(console, book, with_dropped)


def _show_dropped(console: "Console", book: Book, with_text: bool) -> None:
    from pocket_batch.jobs.messages import dropped_words
    from pocket_batch.words import plural

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
