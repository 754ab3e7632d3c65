"""Where chapters begin: at the entries of a table of contents, or at headings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pocket_batch.sources.flow import Flow
from pocket_batch.sources.pieces import Piece
from pocket_batch.sources.reasons import COVER_TITLES
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


def find_cuts(
    flow: Flow, tables: Sequence[Sequence[TocEntry]], book_title: str, warnings: list[str]
) -> list[Cut]:
    """The places of the first table of contents that fits the book, else of its headings."""
    places = _Places(flow)
    for table in tables:
        if _fits(flow, table, places):
            _warn_about_targets(flow, table, warnings)
            return _cuts_of_table(flow, table, places, book_title)
    if tables:
        warnings.append("The table of contents does not fit the book; its headings are used.")
    return _cuts_of_headings(flow, book_title)


class _Places:
    """Where in the flow the entries of a table of contents lead."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._headings: dict[tuple[str, str], int] = {}
        for name, end in flow.ends.items():
            for place in range(flow.starts[name], end):
                piece = flow.pieces[place]
                if piece.kind == "heading":
                    self._headings.setdefault((name, piece.text.casefold()), place)

    def of(self, entry: TocEntry) -> int | None:
        """The place of an anchor, else of the heading of that title, else of the document."""
        if entry.name not in self._flow.starts:
            return None
        start = self._flow.starts[entry.name]
        if not entry.fragment:
            return start
        heading = self._headings.get((entry.name, entry.title.casefold()), start)
        return self._flow.anchors.get((entry.name, entry.fragment), heading)


def _fits(flow: Flow, table: Sequence[TocEntry], where: _Places) -> bool:
    found = [(entry, place) for entry in table if (place := where.of(entry)) is not None]
    places = {place for _, place in found}
    targets = {(entry.name, entry.fragment) for entry, _ in found}
    names = {piece.where.rpartition(":")[0] for piece in flow.pieces if piece.omission is None}
    if len(places) == 1 and len(names) > 2:
        return False  # one entry, "Start", for a whole book
    if 2 * len(places) < len(targets):
        return False  # many entries, but their anchors do not exist
    return bool(found) and 2 * len(found) >= len(table)


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
            "a heading of that name or the start of the document is used."
        )


def _cuts_of_table(
    flow: Flow, table: Sequence[TocEntry], places: _Places, book_title: str
) -> list[Cut]:
    cuts: dict[int, Cut] = {}
    ends = flow.ends
    for entry in table:
        place = places.of(entry)
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
