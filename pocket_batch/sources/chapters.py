"""The text of a book in a row -> chapters, by the table of contents or by headings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pocket_batch.data import Block, Chapter
from pocket_batch.sources.flow import Flow, num_characters
from pocket_batch.sources.omit import COVER_TITLES, NOTE, Omission, by_title
from pocket_batch.sources.pieces import Piece
from pocket_batch.sources.toc import TocEntry

MAX_CUT_RANK = 3  # headings below h3 do not begin chapters
MAX_PART_PAGE = 300  # characters between the heading of a part and that of its first chapter


@dataclass(frozen=True, slots=True)
class Cut:
    """A place in the flow where a chapter begins; `fallback` is its title if nothing else is."""

    place: int
    title: str
    level: int
    document: str
    fallback: str = ""


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
    for table in tables:
        if _fits(flow, table):
            _warn_about_targets(flow, table, warnings)
            return _parts(flow, _cuts_of_table(flow, table, book_title), book_title)
    if tables:
        warnings.append("The table of contents does not fit the book; its headings are used.")
    return _parts(flow, _cuts_of_headings(flow, book_title), book_title)


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


def omit_by_title(parts: list[Part], flow: Flow) -> None:
    """Leave out small parts titled "Contents" or "Index", and headings of notes left out."""
    total = num_characters(flow.pieces)
    for part in parts:
        omission = by_title(part.title)
        size = num_characters(part.pieces)
        if omission is not None and size <= omission.max_share * total:
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


def _place(flow: Flow, entry: TocEntry) -> int | None:
    if entry.name not in flow.starts:
        return None
    start = flow.starts[entry.name]
    return flow.anchors.get((entry.name, entry.fragment), start) if entry.fragment else start


def _fits(flow: Flow, table: Sequence[TocEntry]) -> bool:
    places = [place for entry in table if (place := _place(flow, entry)) is not None]
    names = {piece.where.rpartition(":")[0] for piece in flow.pieces if piece.omission is None}
    if len(set(places)) == 1 and len(names) > 2:
        return False  # one entry, "Start", for a whole book
    return bool(places) and 2 * len(places) >= len(table)


def _warn_about_targets(flow: Flow, table: Sequence[TocEntry], warnings: list[str]) -> None:
    lost = [entry for entry in table if entry.name not in flow.starts]
    if lost:
        warnings.append(
            f"{len(lost)} of {len(table)} entries of the table of contents lead out of the "
            f"reading order, the first is {lost[0].title!r}; ignored."
        )
    astray = [
        entry
        for entry in table
        if entry.name in flow.starts
        and entry.fragment
        and (entry.name, entry.fragment) not in flow.anchors
    ]
    if astray:
        warnings.append(
            f"{len(astray)} of {len(table)} entries of the table of contents name anchors that do "
            f"not exist, the first is {astray[0].name}#{astray[0].fragment}; "
            "the start of the document is used."
        )


def _cuts_of_table(flow: Flow, table: Sequence[TocEntry], book_title: str) -> list[Cut]:
    cuts: dict[int, Cut] = {}
    ends = flow.ends
    for entry in table:
        place = _place(flow, entry)
        if place is None:
            continue
        place = _before_its_heading(flow, place, entry)
        before = cuts.get(place)
        # The first title wins, unless its document holds nothing (a picture) and this one does.
        is_first = before is None or not before.title
        if is_first or (before and ends[before.document] <= place < ends[entry.name]):
            is_cover = entry.title.casefold() in COVER_TITLES and ends[entry.name] <= place
            title, fallback = ("", book_title) if is_cover else (entry.title, "")
            cuts[place] = Cut(place, title, entry.level, entry.name, fallback)
    return [cuts[place] for place in sorted(cuts)]


def _before_its_heading(flow: Flow, place: int, entry: TocEntry) -> int:
    # <h2>One</h2><a id="one"/><p>...: an anchor after its heading means the heading.
    start = flow.starts[entry.name]
    before = flow.pieces[place - 1] if place > start else None
    if before is not None and before.kind == "heading" and before.omission is None:
        is_heading_next = place < len(flow.pieces) and flow.pieces[place].kind == "heading"
        if not is_heading_next and before.text.casefold() == entry.title.casefold():
            return place - 1
    return place


def _cuts_of_headings(flow: Flow, book_title: str) -> list[Cut]:
    shared = Counter(flow.titles.values())
    cuts: dict[int, Cut] = {}
    names = list(flow.starts)
    for name, end in flow.ends.items():
        start = flow.starts[name]
        top, lower = _chapter_ranks(flow.pieces[start:end])
        title = flow.titles[name]
        is_own = title not in ("", book_title) and shared[title] == 1
        is_front = start == 0 and (top > 0 or len(names) == 1)
        fallback = title if is_own else book_title if is_front else ""
        cuts[start] = Cut(start, "", 1, name, fallback)
        for place in range(start, end):
            piece = flow.pieces[place]
            if piece.omission is None and 0 < piece.rank <= lower:
                level = 1 if piece.rank <= top else 2
                cuts[place] = Cut(place, piece.text, level, name)
    return [cuts[place] for place in sorted(cuts)]


def _chapter_ranks(pieces: list[Piece]) -> tuple[int, int]:
    """The heading ranks that begin chapters in a document: the highest that repeats, or two.

    Two where every heading of the first kind stands alone like "Part One", straight before one of
    the second kind.

    Returns:
        The rank of the upper and of the lower kind; twice the same for one, zeros for none.
    """
    spoken = [piece for piece in pieces if piece.omission is None]
    counts = Counter(piece.rank for piece in spoken if 0 < piece.rank <= MAX_CUT_RANK)
    top = min((rank for rank, n in counts.items() if n > 1), default=0)
    lower = min((rank for rank in counts if rank > top), default=0)
    if not top or not lower:
        return top, top
    num_part_pages = 0
    size = MAX_PART_PAGE + 1
    for piece in spoken:
        if piece.rank == top:
            size = 0
        elif piece.rank == lower:
            num_part_pages += size <= MAX_PART_PAGE
            size = MAX_PART_PAGE + 1
        else:
            size += len(piece.text)
    return top, lower if num_part_pages == counts[top] else top


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
        blocks.append(Block(piece.kind, piece.text, piece.where))
    while blocks and blocks[-1].kind == "scene_break":
        blocks.pop()
    return tuple(blocks)
