"""A table over every EPUB of some folders: what this reader makes of it, and EbookLib used plainly.

    python tests/sources/corpus_table.py FOLDER... [--markdown] [--pepys]

Each book is read in a process of its own, so that time and peak memory are those of the book.
`--pepys` adds a book of 1.4 million words and 4,000 notes, made on the spot.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from ebooklib import epub
from lxml import etree, html

from pocket_batch.errors import PocketBatchError
from pocket_batch.sources.base import read_book
from pocket_batch.sources.book_language import count_words

COLUMNS = (
    *("book", "outcome", "chapters", "words spoken", "words dropped", "s", "MB"),
    *("EbookLib: documents", "words", "s", "MB"),
)
TIMEOUT_S = 120
XHTML = "application/xhtml+xml"
# What EbookLib ends with on books that are not as it expects; a result in the table.
FAILURES = (LookupError, TypeError, AttributeError, ValueError, OSError, RuntimeError)
FAILURES += (etree.LxmlError, zipfile.BadZipFile, epub.EpubException)
PROSE = (
    "Up and to the office, where we sat all the morning upon the accounts of the victualler, and "
    "at noon home to dinner with my wife, who is mighty pleased with her new gown. "
)


def main() -> None:
    """Print the table, or (for itself) the facts of one book as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--markdown", action="store_true", help="a table for a Markdown file")
    parser.add_argument("--pepys", action="store_true", help="add a book of 1.4 million words")
    parser.add_argument("--one", choices=("ours", "ebooklib"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        measure = ours if arguments.one == "ours" else ebooklib
        print(json.dumps(measure(arguments.folders[0])))
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = [path for f in arguments.folders for path in sorted(f.glob("*.epub"))]
        if arguments.pepys:
            paths.append(write_pepys(Path(folder) / "pepys-made-on-the-spot.epub"))
        print_table([COLUMNS, *(row(path) for path in paths)], is_markdown=arguments.markdown)


def row(path: Path) -> tuple[str, ...]:
    """The cells of one book."""
    mine, theirs = in_a_process("ours", path), in_a_process("ebooklib", path)
    return (
        path.name.removesuffix(".epub"),
        *(str(mine.get(name, "")) for name in ("outcome", "chapters", "words", "dropped")),
        *(str(mine.get(name, "")) for name in ("seconds", "megabytes")),
        *(str(theirs.get(name, "")) for name in ("outcome", "words", "seconds", "megabytes")),
    )


def in_a_process(reader: str, path: Path) -> dict[str, Any]:
    """The facts that a process of its own finds about a book."""
    command = [sys.executable, __file__, str(path), "--one", reader]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return {"outcome": f"not done in {TIMEOUT_S} s"}
    if done.returncode:
        return {"outcome": f"crashed: {done.stderr.strip().splitlines()[-1][:60]}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ours(path: Path) -> dict[str, Any]:
    """What comes of a book here."""
    start = time.perf_counter()
    try:
        book = read_book(path)
    except PocketBatchError as error:
        reason = str(error).partition(": ")[2]
        return {"outcome": f"refused: {shortened(reason, 80)}"} | costs(start)
    dropped: Counter[str] = Counter()
    for item in book.dropped:
        dropped[item.reason] += count_words(item.text)
    outcome = "gaps" if book.has_gaps else "ok"
    return {
        "outcome": f"{outcome}, {len(book.warnings)} warnings" if book.warnings else outcome,
        "chapters": len(book.chapters),
        "words": sum(count_words(b.text) for chapter in book.chapters for b in chapter.blocks),
        "dropped": "; ".join(f"{reason} {number}" for reason, number in dropped.most_common()),
    } | costs(start)


def ebooklib(path: Path) -> dict[str, Any]:
    """What EbookLib gives: each document of the spine, all the text of its body."""
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    num_words, num_documents = 0, 0
    try:
        book: Any = epub.read_epub(str(path))
        for idref, _ in book.spine:
            body = html.fromstring(book.get_item_with_id(idref).get_content()).find("body")
            num_words += 0 if body is None else count_words(body.text_content())
            num_documents += 1
    except FAILURES as error:
        return {"outcome": shortened(f"{type(error).__name__}: {error}", 50)} | costs(start)
    return {"outcome": num_documents, "words": num_words} | costs(start)


def costs(start: float) -> dict[str, Any]:
    """The seconds since `start`, and the peak memory of this process."""
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": f"{time.perf_counter() - start:.2f}", "megabytes": kilobytes // 1024}


def shortened(text: str, length: int) -> str:
    """At most so many characters, on one line."""
    line = " ".join(text.split()).replace("|", "/")
    return line if len(line) <= length else f"{line[: length - 1]}…"


def print_table(rows: list[tuple[str, ...]], *, is_markdown: bool) -> None:
    """Print as Markdown, or with tabs between the cells."""
    if not is_markdown:
        print("\n".join("\t".join(cells) for cells in rows))
        return
    head, *body = (f"| {' | '.join(cells)} |" for cells in rows)
    print("\n".join((head, "|---" * len(COLUMNS) + "|", *body)))


def write_pepys(path: Path, num_documents: int = 120, num_notes: int = 4_000) -> Path:
    """Write a diary of 1.4 million words: notes marked by `epub:type`, and their bodies apart."""
    start = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
    items, refs, links, bodies = "", "", "", ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="a.opf" media-type="application/oebps-package+xml"/></rootfiles>'
            "</container>",
        )
        number = 0
        for document in range(num_documents):
            text = f"<h2>Month {document}</h2>"
            for paragraph in range(num_notes // num_documents):
                number += 1
                text += (
                    f'<p>Day {paragraph}.<a epub:type="noteref" id="r{number}" '
                    f'href="notes.xhtml#n{number}">{number}</a> {PROSE * 10}</p>'
                )
                bodies += (
                    f'<li id="n{number}" epub:type="endnote"><p>Note {number}, of a person who '
                    f'is named. <a href="d{document}.xhtml#r{number}">↩</a></p></li>'
                )
            archive.writestr(f"d{document}.xhtml", f"{start}<body>{text}</body></html>")
            items += f'<item id="d{document}" media-type="{XHTML}" href="d{document}.xhtml"/>'
            refs += f'<itemref idref="d{document}"/>'
            links += f'<li><a href="d{document}.xhtml">Month {document}</a></li>'
        notes = f'<section epub:type="endnotes"><h2>Notes</h2><ol>{bodies}</ol></section>'
        archive.writestr("notes.xhtml", f"{start}<body>{notes}</body></html>")
        nav = f'<nav epub:type="toc"><ol>{links}</ol></nav>'
        archive.writestr("nav.xhtml", f"{start}<body>{nav}</body></html>")
        archive.writestr(
            "a.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Diary'
            f"</dc:title><dc:language>en</dc:language></metadata><manifest>{items}"
            f'<item id="notes" href="notes.xhtml" media-type="{XHTML}"/><item id="nav" '
            f'href="nav.xhtml" media-type="{XHTML}" properties="nav"/></manifest>'
            f'<spine>{refs}<itemref idref="notes"/></spine></package>',
        )
    return path


if __name__ == "__main__":
    main()
