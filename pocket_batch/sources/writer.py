"""Character data and what stands in it -> pieces; knows nothing of elements."""

import unicodedata

from pocket_batch.data import BlockKind
from pocket_batch.sources.breaks import (
    ANCHOR,
    HARD_BREAK,
    NOTE_AT,
    ORNAMENT,
    split_lines,
    without_points,
)
from pocket_batch.sources.markup import fold
from pocket_batch.sources.numbering import Numbering
from pocket_batch.sources.pieces import NoteMark, Piece, Pieces, Place
from pocket_batch.sources.reasons import MOVED_NOTE, Omission
from pocket_batch.sources.tables import CELL, joined_cells


class PieceWriter:
    """Collects the text of a block and puts it into pieces at the block's end.

    The walk over the document sets the public attributes to what holds where it stands: `rank` is
    that of the heading, 0 outside of one.
    """

    def __init__(self, name: str) -> None:
        self.result = Pieces()
        self.numbering = Numbering()
        self.omissions: list[Omission] = []
        self.notes: tuple[Place, ...] = ()
        self.language = ""
        self.rank = 0
        self.line = 1
        self._name = name
        self._buffer: list[str] = []
        self._anchors: list[str] = []
        self._marks: list[tuple[Place, str]] = []
        self._languages: set[str] = set()
        self._paused: Piece | None = None  # it goes on if more text comes before the block ends

    def add(self, text: str | None, *, is_preformatted: bool = False) -> None:
        """Take up character data."""
        if text:
            self._buffer.append(text.replace("\n", HARD_BREAK) if is_preformatted else text)
            if not text.isspace():
                self._languages.add(self.language)

    def add_anchor(self, anchor: str) -> None:
        """Remember the place of an anchor."""
        self._anchors.append(anchor)
        self._buffer.append(ANCHOR)

    def add_mark(self, target: Place, text: str) -> None:
        """Remember the place of a note mark."""
        self._marks.append((target, text))
        self._buffer.append(NOTE_AT)

    def take_out(self, text: str, omission: Omission, line: int | None) -> None:
        """List text that stands in the middle of a block and is not spoken."""
        if text:
            where = f"{self._name}:{line or self.line}"
            piece = Piece("paragraph", text, where, omissions=(omission,), is_inline=True)
            self.result.items.append(piece)

    def put_note(self, text: str, notes: tuple[Place, ...], line: int | None) -> None:
        """Write a note that stands in the middle of a block; it is spoken in another place."""
        if text:
            where = f"{self._name}:{line or self.line}"
            piece = Piece("paragraph", text, where, omissions=(MOVED_NOTE,), notes=notes)
            self.result.items.append(piece)

    def flush(self) -> None:
        """Put the text so far into pieces."""
        raw = "".join(self._buffer)
        self._buffer.clear()
        for line in split_lines(raw, is_heading=self.rank > 0, is_row=CELL in raw):
            self._put_line(line)
        self._languages.clear()
        for anchor in self._anchors:  # none is left unless the text was all white space
            self.result.anchors.setdefault(anchor, len(self.result.items))
        self._anchors.clear()
        self._marks.clear()

    def end_block(self) -> None:
        """Put the text so far into pieces; what comes is another paragraph."""
        self.flush()
        if self._paused is not None:
            self._paused.continues = False
            self._paused = None

    def pause(self, pause_ms: int) -> None:
        """End a piece with a pause in the middle of a paragraph."""
        num_before = len(self.result.items)
        self.flush()
        for index in range(len(self.result.items) - 1, -1, -1):
            piece = self.result.items[index]
            if piece.is_inline:
                continue
            piece.pause_after_ms = max(pause_ms, piece.pause_after_ms or 0)
            if index >= num_before:
                piece.continues = True
                self._paused = piece
            return

    def put(self, kind: BlockKind, text: str, *, marks: tuple[NoteMark, ...] = ()) -> None:
        """Write one piece."""
        is_note = MOVED_NOTE in self.omissions
        languages = self._languages
        piece = Piece(
            kind,
            unicodedata.normalize("NFC", text),
            f"{self._name}:{self.line}",
            rank=self.rank if kind == "heading" else 0,
            omissions=tuple(self.omissions),
            language=next(iter(languages)) if len(languages) == 1 else self.language,
            marks=marks,
            notes=self.notes if is_note else (),
        )
        self._paused = None
        self.result.items.append(piece)

    def _put_line(self, line: str) -> None:
        if ANCHOR in line:
            self._place_anchors(line)
        text = joined_cells(without_points(line))
        if not text:
            self._mark_piece_before(line)
        elif ORNAMENT.fullmatch(text):
            self.put("scene_break", "")
        elif self.rank:
            self.put("heading", text, marks=self._placed_marks(line))
        else:
            label = self.numbering.take_label(text)
            if MOVED_NOTE in self.omissions:
                label = ""  # the number of a note is its mark
            marks = self._placed_marks(line, len(label))
            self.put("paragraph", label + text, marks=marks)

    def _place_anchors(self, line: str) -> None:
        parts = [bool(fold(without_points(part))) for part in line.split(ANCHOR)]
        first = parts.index(True) if any(parts) else len(parts)
        last = len(parts) - parts[::-1].index(True) if any(parts) else 0
        for index in range(1, len(parts)):
            # An anchor after the last word of a paragraph marks what follows the paragraph.
            is_past = first < index >= last and not self.rank
            place = len(self.result.items) + is_past
            self.result.anchors.setdefault(self._anchors.pop(0), place)

    def _placed_marks(self, line: str, shift: int = 0) -> tuple[NoteMark, ...]:
        marks = []
        length = shift
        is_apart = False
        for index, part in enumerate(line.split(NOTE_AT) if NOTE_AT in line else ()):
            if index > 0:
                marks.append(NoteMark(length, *self._marks.pop(0)))
            text = joined_cells(without_points(part))
            is_apart = is_apart or part[:1].isspace()
            if text:
                length += len(text) + (is_apart and length > shift)
            is_apart = part[-1:].isspace() or (is_apart and not text)
        return tuple(marks)

    def _mark_piece_before(self, line: str) -> None:
        # <p>Text.</p><p><a epub:type="noteref">1</a></p>
        before = next((p for p in reversed(self.result.items) if not p.is_inline), None)
        for _ in range(line.count(NOTE_AT)):
            target, text = self._marks.pop(0)
            if before is not None:
                before.marks += (NoteMark(len(before.text), target, text),)
