"""XHTML -> pieces of text in reading order: headings, paragraphs, scene breaks.

Every visible character comes out exactly once, in a piece that is spoken or in one that carries
the reason why it is not. The walk is a loop over the tree, so depth costs no stack.
"""

import re
import unicodedata

from lxml import etree

from pocket_batch.data import BlockKind
from pocket_batch.sources.formula import shifted_digits, spoken_math
from pocket_batch.sources.markup import Element, fold, local_name, semantic_types
from pocket_batch.sources.numbering import Numbering
from pocket_batch.sources.omit import HEADINGS, Omission
from pocket_batch.sources.pieces import Piece, Pieces

BLOCKS = HEADINGS | frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd"),
        *("details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer"),
        *("form", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol"),
        *("p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead"),
        *("tr", "ul"),
    )
)
INVISIBLE = frozenset(
    (
        *("head", "script", "style", "template", "iframe", "object", "audio", "video", "canvas"),
        *("datalist", "select", "textarea", "annotation", "annotation-xml", "metadata", "desc"),
    )
)
# Marks in the text of a block, of characters that XML cannot hold; resolved at its end.
ANCHOR, HARD_BREAK, LINE_BREAK, CELL = "\x1c", "\x1d", "\x1e", "\x1f"
# "line<br/> <br/>line" -> a break as hard as that between paragraphs
BLANK_LINE = re.compile(f"{LINE_BREAK}[\\s{ANCHOR}]*{LINE_BREAK}[\\s{LINE_BREAK}{ANCHOR}]*")
# "* * *" or "⁂" or "—" or "..." -> matches
ORNAMENT = re.compile(r"[\s*·•.…⁂❦❧☙~_=#+◆◇■□●○✦✧★☆※\u2013\u2014-]+")
# "CHAPTER IV<br/>The Gate" -> "CHAPTER IV. The Gate": a number and a title are two things
NUMBER_LINE = re.compile(rf"(\b(?:\d+|[IVXLC]+))\s*{LINE_BREAK}\s*(?=[^\W\d_a-z])")
MAX_SPOKEN_ROW = 1_000  # characters; a longer table row lays out text, it is no data


def read_blocks(
    root: Element,
    name: str,
    plan: dict[Element, Omission] | None = None,
    wanted: frozenset[str] = frozenset(),
    omission: Omission | None = None,
) -> Pieces:
    """Walk a document and return its text.

    Args:
        root: the document.
        name: its name, for `where`.
        plan: elements that are not spoken.
        wanted: the ids whose places are needed.
        omission: why nothing of the document is spoken, if so.
    """
    walk = _Walk(name, plan or {}, wanted, omission)
    for event, element in (tree := etree.iterwalk(root, ("start", "end", "comment", "pi"))):
        if event == "start":
            if walk.start(element):
                walk.add(element.text)
            else:
                walk.skip(element)
                tree.skip_subtree()
        else:
            if event == "end":
                walk.end(element)
            if element is not root:
                walk.add(element.tail)
    walk.flush()
    return walk.result


class _Walk:
    """The state between two tags."""

    def __init__(
        self,
        name: str,
        plan: dict[Element, Omission],
        wanted: frozenset[str],
        omission: Omission | None,
    ) -> None:
        self.result = Pieces()
        self._name = name
        self._plan = plan
        self._wanted = wanted
        self._omissions = [omission] if omission is not None else []
        self._buffer: list[str] = []
        self._line = 1
        self._pending_anchors: list[str] = []
        self._headings: list[tuple[Element, int]] = []
        self._skipped: Element | None = None
        self._numbering = Numbering()
        self._row: Element | None = None
        self._num_pre = 0

    def add(self, text: str | None) -> None:
        """Take up character data where the walk stands."""
        if text:
            self._buffer.append(text.replace("\n", HARD_BREAK) if self._num_pre else text)

    def start(self, element: Element) -> bool:
        """Enter an element; False when its inside is not to be walked."""
        tag = local_name(element)
        is_block = tag in BLOCKS
        if is_block:
            self._break(element)
        self._note_anchors(element)
        if tag in INVISIBLE or (tag == "title" and element.getparent() is not None):
            return False
        omission = self._plan.get(element)
        if omission is not None:
            if not is_block or self._row is not None:
                self._take_out(element, omission)
                return False
            self._omissions.append(omission)
        if is_block:
            self._enter_block(element, tag)
            return True
        return self._enter_inline(element, tag)

    def skip(self, element: Element) -> None:
        """Remember that the inside of `element` was not walked, so nothing ends with it."""
        self._skipped = element

    def end(self, element: Element) -> None:
        """Leave an element."""
        if element is self._skipped:
            self._skipped = None
            return
        tag = local_name(element)
        if tag in BLOCKS:
            self._break(element)
            if self._row is element:
                self._row = None
                self.flush()
            if element in self._plan:
                self._omissions.pop()
            if self._headings and self._headings[-1][0] is element:
                self._headings.pop()
            if tag == "pre":
                self._num_pre -= 1
            self._numbering.leave(tag)
        elif tag == "q":
            self._buffer.append("”")

    def flush(self) -> None:
        """End the block at hand and put its text into pieces."""
        raw = "".join(self._buffer)
        self._buffer.clear()
        for line in self._lines(raw):
            self._put(line)
        for anchor in self._pending_anchors:  # none is left unless the text was all white space
            self.result.anchors.setdefault(anchor, len(self.result.items))
        self._pending_anchors.clear()

    def _break(self, element: Element) -> None:
        if self._row is not None and self._row is not element:
            self._buffer.append(" ")
            return
        if self._row is None:
            self.flush()
            self._line = element.sourceline or self._line

    def _enter_block(self, element: Element, tag: str) -> None:
        if rank := _heading_rank(element, tag):
            self._headings.append((element, rank))
        if tag == "hr" and self._row is None:
            self._piece("scene_break", "")
        elif tag == "pre":
            self._num_pre += 1
        elif tag == "tr" and self._row is None and _is_data(element):
            self._row = element
        elif tag in ("td", "th") and self._row is not None:
            self._buffer.append(CELL)
        self._numbering.enter(element, tag)

    def _enter_inline(self, element: Element, tag: str) -> bool:
        if tag == "br":
            self._buffer.append(LINE_BREAK)
        elif tag == "q":
            self._buffer.append("“")
        elif tag == "math":
            self._buffer.append(spoken_math(element))
            return False
        elif tag in ("sup", "sub") and not any(e in self._plan for e in element.iter()):
            text = fold("".join(element.itertext()))
            if shifted := shifted_digits(text, is_raised=tag == "sup"):
                self._buffer.append(shifted)
                return False
        return True

    def _note_anchors(self, element: Element) -> None:
        if not self._wanted or not element.attrib:
            return
        name = element.get("name") if local_name(element) == "a" else None
        for anchor in (element.get("id"), name):
            if anchor in self._wanted:
                self._pending_anchors.append(anchor)
                self._buffer.append(ANCHOR)

    def _take_out(self, element: Element, omission: Omission) -> None:
        for inner in element.iterdescendants(etree.Element):
            self._note_anchors(inner)
        if local_name(element) == "svg":
            words = (e.text or "" for e in element.iter() if local_name(e) in ("text", "tspan"))
        else:
            words = element.itertext(etree.Element)
        text = fold("".join(words))
        if text:
            where = f"{self._name}:{element.sourceline or self._line}"
            piece = Piece("paragraph", text, where, omissions=(omission,), is_inline=True)
            self.result.items.append(piece)

    def _lines(self, raw: str) -> list[str]:
        """Split at breaks; a line that goes on in lower case belongs to the one before."""
        raw = BLANK_LINE.sub(lambda match: HARD_BREAK + ANCHOR * match[0].count(ANCHOR), raw)
        if self._headings:
            raw = NUMBER_LINE.sub(r"\1. ", raw)
        if self._headings or CELL in raw:
            return raw.replace(LINE_BREAK, " ").split(HARD_BREAK)
        lines: list[str] = []
        for part in raw.split(HARD_BREAK):
            lines.append("")
            for line in part.split(LINE_BREAK):
                first = line.replace(ANCHOR, "").lstrip()[:1]
                if not lines[-1] or first.islower() or not first:
                    lines[-1] += f" {line}" if lines[-1] else line
                else:
                    lines.append(line)
        return lines

    def _put(self, line: str) -> None:
        parts = line.split(ANCHOR)
        for index in range(1, len(parts)):
            # An anchor after the last word of a paragraph marks what follows the paragraph.
            has_text_before = bool(fold("".join(parts[:index])))
            has_text_after = bool(fold("".join(parts[index:])))
            is_past = has_text_before and not has_text_after and not self._headings
            place = len(self.result.items) + is_past
            self.result.anchors.setdefault(self._pending_anchors.pop(0), place)
        text = _joined_cells(line.replace(ANCHOR, ""))
        if not text:
            return
        if ORNAMENT.fullmatch(text):
            self._piece("scene_break", "")
        elif self._headings:
            self._piece("heading", text)
        else:
            self._piece("paragraph", self._numbering.take_label(text) + text)

    def _piece(self, kind: BlockKind, text: str) -> None:
        rank = self._headings[-1][1] if self._headings and kind == "heading" else 0
        where = f"{self._name}:{self._line}"
        text = unicodedata.normalize("NFC", text)
        self.result.items.append(Piece(kind, text, where, rank, tuple(self._omissions)))


def _heading_rank(element: Element, tag: str) -> int:
    if tag in HEADINGS:
        return int(tag[1])
    if not element.attrib:
        return 0
    if element.get("role") == "heading":
        level = element.get("aria-level", "2")
        return int(level) if level in ("1", "2", "3", "4", "5", "6") else 2
    if tag in ("p", "div") and {"title", "subtitle", "bridgehead"} & set(semantic_types(element)):
        return 4
    return 0


def _is_data(row: Element) -> bool:
    """Whether a table row is one thing to say, and not the frame of a page laid out in cells."""
    num_paragraphs = 0
    for element in row.iter():
        tag = local_name(element)
        if tag in HEADINGS or tag == "table":
            return False
        num_paragraphs += tag == "p"
    num_cells = sum(local_name(cell) in ("td", "th") for cell in row)
    is_short = sum(map(len, row.itertext())) <= MAX_SPOKEN_ROW or num_cells > 1
    return is_short and num_paragraphs <= num_cells


def _joined_cells(line: str) -> str:
    """ "Monday<cell>12" -> "Monday, 12"; no comma where a cell ends with punctuation."""
    joined = ""
    for cell in filter(None, map(fold, line.split(CELL))):
        glue = "" if not joined else " " if joined[-1] in ".,:;!?…" else ", "
        joined += glue + cell
    return joined
