"""Plain text -> Book: paragraphs between blank lines, chapters at lines such as "Chapter 3"."""

import re
from pathlib import Path

from pocket_batch.data import Book
from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import sha256_of_file
from pocket_batch.sources.book_language import language_tag
from pocket_batch.sources.chapters import build_chapters, cut_into_parts, omit_by_title
from pocket_batch.sources.encoding import decode, wide_encoding
from pocket_batch.sources.flow import Flow, list_dropped, settle_omissions
from pocket_batch.sources.gutenberg import START
from pocket_batch.sources.lines import FIELD, is_header, pieces_of_text
from pocket_batch.sources.pieces import Pieces
from pocket_batch.sources.toc import TocEntry

MAX_BYTES = 256 * 2**20
MAX_CONTROL_SHARE = 0.01  # of the characters; form feeds are rare in text, the others absent
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
SIGNATURES = {b"%PDF": "a PDF", b"PK\3\4": "a ZIP archive", b"{\\rtf": "an RTF document"}
# Windows, old Mac, NEL, line and paragraph separators, and line ends that were converted twice.
LINE_END = re.compile("\r+\n|[\r\x0b\x85\u2028]")


def read_plaintext(path: Path, settings: ReadSettings) -> Book:
    """Read a text file; hard-wrapped lines are joined, Project Gutenberg's additions left out.

    Raises:
        InputError: the file is empty, no text, or says nothing.
    """
    text, warnings = read_characters(path)
    fields = _fields(text)
    title = fields.get("title", path.stem)
    pieces = Pieces(pieces_of_text(text, path.name, settings.keep_matter))
    table = _table_of_headings(pieces, path.name)
    flow = Flow()
    flow.append(path.name, pieces)
    settle_omissions(flow, warnings)
    parts = cut_into_parts(flow, [table] if table else (), title, warnings)
    omit_by_title(parts, flow, settings)
    chapters = build_chapters(parts)
    if not chapters:
        raise InputError(f"{path}: text was expected, but nothing in it can be read aloud.")
    return Book(
        id=sha256_of_file(path),
        title=title,
        chapters=chapters,
        authors=(fields["author"],) if "author" in fields else (),
        language=language_tag(fields.get("language", "")),
        dropped=list_dropped(flow),
        warnings=tuple(warnings),
    )


def read_characters(path: Path) -> tuple[str, list[str]]:
    """The characters of a text file with `\\n` line ends, and warnings about its encoding.

    Raises:
        InputError: the file is empty, too large, or not text.
    """
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path}: a text of at most {MAX_BYTES >> 20} MB was expected. Split it.")
    data = path.read_bytes()
    if not data.strip():
        raise InputError(f"{path}: text was expected, but the file is empty.")
    for signature, kind in SIGNATURES.items():
        if data.startswith(signature):
            raise InputError(f"{path}: text was expected, but this is {kind}. Export it as text.")
    text, flaw = decode(data, wide_encoding(data))
    if len(CONTROL.findall(text)) > MAX_CONTROL_SHARE * len(text):
        raise InputError(f"{path}: text was expected, but this is binary data. Check the file.")
    text = LINE_END.sub("\n", text).replace("\f", "\n\n").replace("\u2029", "\n\n")
    return CONTROL.sub("", text), [f"{path.name} {flaw}."] if flaw else []


def _table_of_headings(pieces: Pieces, name: str) -> list[TocEntry]:
    """Every heading begins a chapter; chapters lie below parts where there are any."""
    headings = [(i, p) for i, p in enumerate(pieces.items) if p.rank and p.omission is None]
    top = min((piece.rank for _, piece in headings), default=1)
    table = []
    for index, piece in headings:
        anchor = f"piece-{index}"
        pieces.anchors[anchor] = index
        table.append(TocEntry(piece.text, name, anchor, piece.rank - top + 1))
    return table


def _fields(text: str) -> dict[str, str]:
    """The "Title: ..." lines before Project Gutenberg's start line, or at the top of the file."""
    start = START.search(text)
    if start is not None:
        header = text[: start.start()]
    else:
        header = text.strip().partition("\n\n")[0] if is_header(text) else ""
    return {name.lower(): value.strip() for name, value in reversed(FIELD.findall(header))}
