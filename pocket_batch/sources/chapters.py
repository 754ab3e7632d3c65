"""The text of a book in a row -> chapters, by the table of contents or by headings."""

from collections.abc import Sequence
from dataclasses import dataclass

from pocket_batch.data import Block, Chapter
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import AS_USUAL
from pocket_batch.sources.cuts import Cut, find_cuts
from pocket_batch.sources.flow import Flow, num_characters, room_for_guesses
from pocket_batch.sources.omit import by_title
from pocket_batch.sources.pieces import Piece
from pocket_batch.sources.reasons import NOTE, Omission
from pocket_batch.sources.toc import TocEntry


@dataclass(slots=True)
class Part:
    """A stretch of the flow that becomes a chapter if anything in it is spoken."""

    cut: Cut
    pieces: list[Piece]

    @property
    def spoken(self) -> list[Piece]:
        """The pieces that are not left out."""
        return [piece for piece in self.pieces if piece.omission is None]

    @property
    def has_text(self) -> bool:
        """Whether anything is spoken but headings."""
        return any(piece.kind == "paragraph" for piece in self.spoken)

    @property
    def first_rank(self) -> int:
        """The rank of the first spoken heading, 0 without one."""
        return next((piece.rank for piece in self.spoken if piece.rank), 0)

    @property
    def title(self) -> str:
        """The label in the table of contents, else the first spoken heading."""
        headings = (piece.text for piece in self.spoken if piece.kind == "heading")
        return self.cut.title or next(headings, "")


def cut_into_parts(
    flow: Flow, tables: Sequence[Sequence[TocEntry]], book_title: str, warnings: list[str]
) -> list[Part]:
    """Cut the flow at the entries of the first table of contents that fits the book.

    A table of which most entries lead nowhere is worse than none; then documents and headings
    decide. Text before the first cut is a part of its own.
    """
    return _parts(flow, find_cuts(flow, tables, book_title, warnings), book_title)


def join_small_parts(parts: list[Part]) -> list[Part]:
    """Join parts without text to the one before, when they stand below it in its document.

    A part that is only a heading stays (it may announce "Part One"), unless its rank is below
    that of the part before: a subtitle that the table of contents lists.
    """
    joined: list[Part] = []
    for index, part in enumerate(parts):
        is_announced = index + 1 < len(parts) and parts[index + 1].cut.level > part.cut.level
        before = joined[-1] if joined else None
        if before is None or part.has_text or part.cut.document != before.cut.document:
            joined.append(part)
        elif not part.spoken or (part.first_rank > before.first_rank > 0 and not is_announced):
            before.pieces.extend(part.pieces)
        else:
            joined.append(part)
    return joined


def omit_by_title(parts: list[Part], flow: Flow, settings: ReadSettings = AS_USUAL) -> None:
    """Leave out small parts titled "Contents" or "Index", and headings of notes left out."""
    total = num_characters(flow.pieces)
    room = room_for_guesses(flow)
    for part in parts:
        omission = None if settings.keep_matter else by_title(part.title)
        size = num_characters(part.pieces)
        if omission is not None and size <= min(room, omission.max_share * total):
            room -= size
            _omit(part, omission)
        elif not part.has_text and _is_emptied_of_notes(part, size):
            _omit(part, NOTE)


def build_chapters(parts: list[Part]) -> tuple[Chapter, ...]:
    """Number the parts that have something to say, each with a title.

    The title is the label in the table of contents, else the first heading, else the title of
    the document unless other documents share it, else "Chapter N"; for text before the first
    entry it is that of the book.
    """
    chapters: list[Chapter] = []
    for part in parts:
        blocks = _blocks(part.spoken)
        if any(block.text for block in blocks):
            number = len(chapters) + 1
            title = part.title or part.cut.fallback or f"Chapter {number}"
            chapters.append(Chapter(number, title, blocks, part.cut.level))
    return tuple(chapters)


def _parts(flow: Flow, cuts: list[Cut], book_title: str) -> list[Part]:
    if not cuts or cuts[0].place > 0:
        first = next(iter(flow.starts), "")
        cuts = [Cut(0, "", 1, first, book_title), *cuts]
    ends = [*(cut.place for cut in cuts[1:]), len(flow.pieces)]
    return [Part(cut, flow.pieces[cut.place : end]) for cut, end in zip(cuts, ends, strict=True)]


def _is_emptied_of_notes(part: Part, size: int) -> bool:
    left_out = [p for p in part.pieces if p.omission is not None and not p.is_inline]
    is_notes = all(p.omission and p.omission.reason.startswith(NOTE.reason) for p in left_out)
    return bool(left_out) and is_notes and sum(len(p.text) for p in left_out) > size


def _omit(part: Part, omission: Omission) -> None:
    for piece in part.spoken:
        piece.omissions = (omission,)


def _blocks(spoken: list[Piece]) -> tuple[Block, ...]:
    """Pieces -> blocks; scene breaks stay only between two paragraphs."""
    blocks: list[Block] = []
    for piece in spoken:
        if piece.kind != "paragraph":
            while blocks and blocks[-1].kind == "scene_break":
                blocks.pop()
        if piece.kind == "scene_break" and (not blocks or blocks[-1].kind != "paragraph"):
            continue
        blocks.append(
            Block(
                piece.kind,
                piece.text,
                piece.where,
                piece.language,
                pause_after_ms=piece.pause_after_ms,
                continues=piece.continues,
            )
        )
    while blocks and blocks[-1].kind == "scene_break":
        blocks.pop()
    return tuple(blocks)
