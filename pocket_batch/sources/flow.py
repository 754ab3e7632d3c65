"""The text of all documents of a book in a row, and what of it is not spoken."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from pocket_batch.bcp47 import primary
from pocket_batch.data import Dropped, Respelling
from pocket_batch.sources.gutenberg import header_and_licence
from pocket_batch.sources.omit import by_title, is_notes_title
from pocket_batch.sources.pieces import Piece, Pieces
from pocket_batch.sources.reasons import (
    GUESSES,
    GUTENBERG,
    MAX_GUESSED_SHARE,
    MOVED_NOTE,
    NAMED_CONTENTS,
    NAVIGATION,
    NOTE,
    Omission,
)

MAX_FOREIGN_SHARE = 0.9  # of the text, in one language that is not the book's


@dataclass(slots=True)
class Flow:
    """The pieces of a book in reading order, with the places of its documents and anchors.

    `language` is that of the book, `lexicon` the pronunciations that its documents give.
    """

    language: str = ""
    lexicon: list[Respelling] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    starts: dict[str, int] = field(default_factory=dict)
    anchors: dict[tuple[str, str], int] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)  # of the documents, as in their heads

    def append(self, name: str, pieces: Pieces, title: str = "") -> None:
        """Add the next document."""
        start = len(self.pieces)
        self.starts[name] = start
        self.titles[name] = title
        for anchor, index in pieces.anchors.items():
            self.anchors[name, anchor] = start + index
        self.pieces.extend(pieces.items)
        self.lexicon.extend(pieces.lexicon)

    @property
    def ends(self) -> dict[str, int]:
        """The place after the last piece of each document."""
        ends = [*list(self.starts.values())[1:], len(self.pieces)]
        return dict(zip(self.starts, ends, strict=True)) if self.starts else {}


def num_characters(pieces: Iterable[Piece]) -> int:
    """The length of the spoken text in some pieces."""
    return sum(len(piece.text) for piece in pieces if piece.omission is None)


def settle_omissions(flow: Flow, warnings: list[str]) -> None:
    """Put text back that a reason took more of than its share, and find what markup cannot tell.

    Without this, one wrong class name or link list could silence a whole book.
    """
    blocks = [piece for piece in flow.pieces if not piece.is_inline]
    total = sum(len(piece.text) for piece in blocks)
    while excessive := _excessive(blocks, total) or _too_much_guessed(blocks, total):
        for omission, size in excessive.items():
            warnings.append(
                f"{100 * size / total:.0f} % of the text looks like {omission.reason}; that is "
                "too much to be true, so it is spoken."
            )
        for piece in blocks:
            piece.omissions = tuple(o for o in piece.omissions if o not in excessive)
    _omit_contents_headings(blocks)
    _omit_notes_headings(blocks)
    _omit_gutenberg(flow)
    _settle_languages(flow, warnings)


def room_for_guesses(flow: Flow) -> float:
    """How many characters may still be left out by guess, so that guesses stay a few percent."""
    blocks = [piece for piece in flow.pieces if not piece.is_inline]
    guessed = sum(len(p.text) for p in blocks if p.omission in GUESSES)
    return MAX_GUESSED_SHARE * sum(len(piece.text) for piece in blocks) - guessed


def _excessive(blocks: list[Piece], total: int) -> dict[Omission, int]:
    sizes: Counter[Omission] = Counter()
    for piece in blocks:
        if piece.omission is not None:
            sizes[piece.omission] += len(piece.text)
    return {omission: size for omission, size in sizes.items() if size > omission.max_share * total}


def _too_much_guessed(blocks: list[Piece], total: int) -> dict[Omission, int]:
    """The guess that takes most, when all together take more than they may."""
    sizes: Counter[Omission] = Counter()
    for piece in blocks:
        if piece.omission in GUESSES:
            sizes[piece.omission] += len(piece.text)
    is_excessive = sum(sizes.values()) > MAX_GUESSED_SHARE * total
    return dict(sizes.most_common(1)) if is_excessive else {}


def _settle_languages(flow: Flow, warnings: list[str]) -> None:
    # Templates and converters declare languages carelessly: one that nearly all documents declare
    # against the package is not that of a part.
    spoken = [p for p in flow.pieces if p.omission is None]
    sizes: Counter[str] = Counter()
    for piece in spoken:
        sizes[piece.language] += len(piece.text)
    found, size = next(iter(sizes.most_common(1)), ("", 0))
    if not flow.language or not found or size <= MAX_FOREIGN_SHARE * sizes.total():
        return
    warnings.append(
        f"The documents declare the language {found}, but the book declares {flow.language}; "
        "that of the book is used."
    )
    for piece in spoken:
        if primary(piece.language) == primary(found):
            piece.language = ""


def _omit_contents_headings(blocks: list[Piece]) -> None:
    # <h2>Contents</h2><table>...: the table is gone, so its heading goes with it.
    for before, piece in pairwise(blocks):
        omission = piece.omission
        is_contents = omission is NAVIGATION or (
            omission is not None and omission.reason.startswith("table of contents")
        )
        if omission is None or not is_contents:
            continue
        if before.omission is None and by_title(before.text) is NAMED_CONTENTS:
            before.omissions = (omission,)


def _omit_notes_headings(blocks: list[Piece]) -> None:
    # <h3>FOOTNOTES:</h3><p id="n1">...: the notes are gone or will be, so their heading goes, too,
    # unless other text stands between it and the next heading.
    below: Omission | None = None
    has_text = False
    for piece in reversed(blocks):
        omission = piece.omission
        is_title = is_notes_title(piece.text)
        if omission is not None:
            if omission.reason.startswith(NOTE.reason):
                below = MOVED_NOTE if omission is MOVED_NOTE else NOTE
        elif piece.kind == "heading" or is_title:
            if is_title and below is not None and not has_text:
                piece.omissions = (below,)
            below, has_text = None, False
        elif piece.text:
            has_text = True


def _omit_gutenberg(flow: Flow) -> None:
    # Older files have the header and the licence as plain text, without class or id.
    start, end = header_and_licence([piece.text for piece in flow.pieces])
    for index, piece in enumerate(flow.pieces):
        if piece.omission is None and not start <= index < end:
            piece.omissions = (GUTENBERG,)


def list_dropped(flow: Flow) -> tuple[Dropped, ...]:
    """Everything that is not spoken: runs of blocks, and per document the marks inside blocks."""
    runs: dict[tuple[str, str, int], list[Piece]] = {}
    run_number = 0
    previous: Omission | None = None
    for piece in flow.pieces:
        document = piece.where.rpartition(":")[0]
        if piece.omission is None or not piece.is_inline:
            run_number += piece.omission != previous
            previous = piece.omission
        if piece.omission is not None and piece.text:
            run = -1 if piece.is_inline else run_number
            runs.setdefault((document, piece.omission.reason, run), []).append(piece)
    dropped = []
    for (_, reason, run), pieces in runs.items():
        text = (" " if run < 0 else "\n").join(piece.text for piece in pieces)
        dropped.append(Dropped(pieces[0].where, reason, text))
    return tuple(dropped)
