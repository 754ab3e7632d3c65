"""XHTML -> pieces of text in reading order: headings, paragraphs, scene breaks.

Every visible character comes out exactly once, in a piece that is spoken or in one that carries
the reason why it is not. The walk is a loop over the tree, so depth costs no stack.
"""

from lxml import etree

from pocket_batch.settings import ReadSettings
from pocket_batch.sources.announce import word_for
from pocket_batch.sources.base import AS_USUAL
from pocket_batch.sources.elements import BLOCKS, HEADINGS
from pocket_batch.sources.formula import formula_source
from pocket_batch.sources.inline import InlineReader
from pocket_batch.sources.languages import differing_language
from pocket_batch.sources.markup import Element, local_name, semantic_types, text_of
from pocket_batch.sources.notes import NO_NOTES, DocumentNotes
from pocket_batch.sources.pictures import described
from pocket_batch.sources.pieces import Pieces
from pocket_batch.sources.reasons import MOVED_NOTE, NOTE_MARK, Omission
from pocket_batch.sources.ssml import pause_ms, pronunciation
from pocket_batch.sources.tables import CELL, CELLS, column_names, is_data_row, num_columns
from pocket_batch.sources.visible import drawing_labels, is_invisible, visible_text
from pocket_batch.sources.writer import PieceWriter


def read_blocks(
    root: Element,
    name: str,
    plan: dict[Element, Omission] | None = None,
    wanted: frozenset[str] = frozenset(),
    omission: Omission | None = None,
    *,
    settings: ReadSettings = AS_USUAL,
    language: str = "",
    notes: DocumentNotes = NO_NOTES,
) -> Pieces:
    """Walk a document and return its text.

    Args:
        root: the document.
        name: its name, for `where`.
        plan: elements that are not spoken.
        wanted: the ids whose places are needed.
        omission: why nothing of the document is spoken, if so.
        settings: how ruby and pictures are read; the rest of them is in the plan.
        language: that of the book, a BCP 47 tag.
        notes: where notes are to be spoken, the links to them and their ids.
    """
    walk = _Walk(name, plan or {}, wanted, omission, settings, language, notes)
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
    walk.out.end_block()
    return walk.out.result


class _Walk:
    """The state between two tags."""

    def __init__(
        self,
        name: str,
        plan: dict[Element, Omission],
        wanted: frozenset[str],
        omission: Omission | None,
        settings: ReadSettings,
        language: str,
        notes: DocumentNotes,
    ) -> None:
        self.out = PieceWriter(name)
        if omission is not None:
            self.out.omissions.append(omission)
        self._inline = InlineReader(self.out, plan, settings, language)
        self._name = name
        self._plan = plan
        self._wanted = wanted
        self._settings = settings
        self._language = language
        self._notes = notes
        self._note_begins = -1  # how many pieces there were when the last note began
        self._num_inline_notes = 0
        self._note: Element | None = None
        self._headings: list[tuple[Element, int]] = []
        self._tables: list[tuple[Element, list[str]]] = []
        self._languages: list[tuple[Element, str]] = []
        self._captions: list[tuple[Element, list[Omission]]] = []
        self._skipped: Element | None = None
        self._row: Element | None = None
        self._column = 0
        self._num_pre = 0

    def add(self, text: str | None) -> None:
        """Take up character data where the walk stands."""
        self.out.add(text, is_preformatted=self._num_pre > 0)

    def start(self, element: Element) -> bool:
        """Enter an element; False when its inside is not to be walked."""
        tag = local_name(element)
        is_block = tag in BLOCKS
        if is_block:
            self._break(element)
        if element.attrib:
            self._note_attributes(element)
        if is_invisible(element, tag):
            return False
        omission = self._plan.get(element)
        if omission is not None:
            if not is_block or self._row is not None:
                self._take_out(element, tag, omission)
                return False
            self._omit_block(element, omission)
        if is_block:
            self._enter_block(element, tag)
            return True
        return self._enter_inline(element, tag)

    def skip(self, element: Element) -> None:
        """Remember that the inside of `element` was not walked, so nothing ends with it."""
        self._skipped = element

    def end(self, element: Element) -> None:
        """Leave an element."""
        tag = local_name(element)
        if element is self._skipped:
            self._skipped = None
        elif tag in BLOCKS:
            self._leave_block(element, tag)
        elif tag == "q":
            self.out.add("”")
        if self._languages and self._languages[-1][0] is element:
            self._languages.pop()
            self.out.language = self._languages[-1][1] if self._languages else ""

    def _break(self, element: Element) -> None:
        if self._row is None:
            self.out.end_block()
            self.out.line = element.sourceline or self.out.line
        elif self._row is not element:
            self.out.add(" ")

    def _enter_block(self, element: Element, tag: str) -> None:
        if rank := _heading_rank(element, tag):
            self._headings.append((element, rank))
            self.out.rank = rank
            if self.out.notes and self._note not in element.iterancestors():
                self.out.notes = ()  # the notes of a chapter end where the next heading stands
        if tag == "hr" and self._row is None:
            self.out.put("scene_break", "")
        elif tag == "pre":
            self._num_pre += 1
        elif tag == "figure" and self._settings.alt and (text := described(element)):
            self.out.put("paragraph", text)
        elif tag == "table":
            self._tables.append((element, column_names(element)))
        elif tag == "caption" and self._captions and self._captions[-1][0] is element:
            self.out.omissions = self._captions[-1][1][:-1]
        elif tag == "tr" and self._row is None and is_data_row(element):
            self._row, self._column = element, 0
        elif tag in CELLS and self._row is not None:
            self._enter_cell(element, tag)
        self.out.numbering.enter(element, tag)

    def _leave_block(self, element: Element, tag: str) -> None:
        self._break(element)
        if self._row is element:
            self._row = None
            self.out.end_block()
        if self._captions and self._captions[-1][0] is element:
            self.out.omissions = self._captions.pop()[1]
        if element in self._plan:
            self.out.omissions.pop()
            if MOVED_NOTE not in self.out.omissions:
                self.out.notes = ()
        if self._headings and self._headings[-1][0] is element:
            self._headings.pop()
            self.out.rank = self._headings[-1][1] if self._headings else 0
        if tag == "pre":
            self._num_pre -= 1
        elif tag == "table":
            self._tables.pop()
        self.out.numbering.leave(tag)

    def _enter_cell(self, cell: Element, tag: str) -> None:
        self.out.add(CELL)
        names = self._tables[-1][1] if self._tables else []
        if tag == "td" and self._column < len(names) and names[self._column] and text_of(cell):
            self.out.add(f"{names[self._column]}: ")
        self._column += num_columns(cell)

    def _omit_block(self, element: Element, omission: Omission) -> None:
        """Begin to leave out a block; what is announced says so, a table by its caption."""
        is_said = bool(omission.announced_as) and not self.out.omissions
        self.out.omissions.append(omission)
        if not is_said or not visible_text(element):
            return
        caption = next((child for child in element if local_name(child) == "caption"), None)
        if caption is not None and visible_text(caption):
            self._captions.append((caption, self.out.omissions))
            return
        self.out.omissions = []
        self.out.put("paragraph", f"{word_for(omission.announced_as, self._language)}.")
        self.out.omissions = [omission]

    def _enter_inline(self, element: Element, tag: str) -> bool:
        if tag == "break":
            self._pause(pause_ms(element))
        elif self._inline.read(element, tag):
            self._note_anchors_inside(element)
            return False
        return True

    def _pause(self, pause_ms: int) -> None:
        if self._headings or self._row is not None:
            self.out.add(" ")
        elif pause_ms:
            self.out.pause(pause_ms)

    def _note_attributes(self, element: Element) -> None:
        self._note_anchors(element)
        language = differing_language(element, self._language)
        if language is not None:
            self._languages.append((element, language))
            self.out.language = language
        if respelling := pronunciation(element, language or self.out.language or self._language):
            self.out.result.lexicon.append(respelling)

    def _note_anchors_inside(self, element: Element) -> None:
        if self._wanted or self._notes.ids:
            for inner in element.iterdescendants(etree.Element):
                self._note_anchors(inner)

    def _note_anchors(self, element: Element) -> None:
        if not self._wanted and not self._notes.ids:
            return
        name = element.get("name") if local_name(element) == "a" else None
        for anchor in (element.get("id"), name):
            if anchor in self._wanted:
                self.out.add_anchor(anchor)
            if anchor in self._notes.ids and self._is_in_note(element):
                # Several ids may stand at the begin of the same note.
                num_pieces = len(self.out.result.items)
                others = self.out.notes if self._note_begins == num_pieces else ()
                self.out.notes = (*others, (self._name, anchor))
                self._note_begins = num_pieces
                self._note = element

    def _is_in_note(self, element: Element) -> bool:
        return MOVED_NOTE in self.out.omissions or self._plan.get(element) == MOVED_NOTE

    def _take_out(self, element: Element, tag: str, omission: Omission) -> None:
        self._note_anchors_inside(element)
        if tag == "svg":
            text = " ".join(drawing_labels(element))
        else:
            text = visible_text(element) or formula_source(element)
        if omission is MOVED_NOTE:
            self._inline_note(element, text)
            return
        self.out.take_out(text, omission, element.sourceline)
        if text and omission.announced_as:
            self.out.add(f" {word_for(omission.announced_as, self._language)} ")
        if omission is NOTE_MARK and (target := self._notes.target_of(element)):
            self.out.add_mark(target, text)

    def _inline_note(self, element: Element, text: str) -> None:
        # <span epub:type="footnote"> in the middle of a paragraph is its own mark.
        self._num_inline_notes += 1
        place = (self._name, f" {self._num_inline_notes}")  # no id has a space
        self.out.add_mark(place, "")
        self.out.put_note(text, (place, (self._name, element.get("id", ""))), element.sourceline)


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
