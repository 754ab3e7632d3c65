"""Notes of books that do not mark them: a number that leads to a text that leads back.

A mark is a short link after a word. Its note is the block around the target, if a link in that
block leads back to the mark. Both directions must hold, and headings never count, so a table of
contents whose chapters lead back to it is not taken for notes. A link to what is declared a note
needs no way back, if it stands like a mark: raised, in brackets, or straight after a word; nor does
one to a text that begins with the same mark.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lxml import etree

from pocket_batch.settings import ReadSettings
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.base import AS_USUAL
from pocket_batch.sources.elements import BLOCKS, HEADINGS
from pocket_batch.sources.markup import Element, local_name, text_of
from pocket_batch.sources.omit import NOTE_CLASSES, is_note_mark
from pocket_batch.sources.pieces import Place
from pocket_batch.sources.reasons import BACK_LINK, GUESSED_NOTE, NOTE_MARK, Omission, chosen

# 12 or [12] or (a) or * or †† -> matches
MARK = re.compile(r"[\[({]?\s*(?:\d{1,4}|[a-zA-Z]|[ivxl]{1,6}|[*†‡§¶]{1,4})\s*[\])}]?\.?")
# "↩" or "^" or "Back" -> matches
BACK = re.compile(
    r"[\W_]+|\W*(?:back|return|zurück|retour|volver|torna|voltar|terug)\b.{0,30}", re.IGNORECASE
)
NO_LABELS: Mapping[Place, str] = MappingProxyType({})
MAX_ID_DISTANCE = 4  # levels between a link and the element that carries its id


@dataclass(frozen=True, slots=True)
class Link:
    """One link to an id inside the book: where it stands, and what it looks or claims to be.

    `is_raised` tells that it stands like a mark even without a way back.
    """

    name: str
    number: int
    ids: frozenset[str]
    target: Place
    is_mark: bool
    is_declared_mark: bool
    is_raised: bool = False
    text: str = ""


@dataclass(slots=True)
class NoteIndex:
    """The note marks of a book (document, number of its link) and the ids of its notes.

    `declared` are the ids inside elements that are notes by their type, role or class, and `places`
    the ids around the marks, to which the notes lead back.
    """

    marks: set[tuple[str, int]] = field(default_factory=set)
    targets: set[Place] = field(default_factory=set)
    declared: set[Place] = field(default_factory=set)
    places: set[Place] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class DocumentNotes:
    """What a walk needs where notes are spoken: the targets of links, and the ids of notes."""

    targets: Mapping[Element, Place] = field(default_factory=dict)
    ids: frozenset[str] = frozenset()

    def target_of(self, mark: Element) -> Place | None:
        """Where a mark leads: by itself, by a link in it, or by one around it."""
        for link in (*mark.iter("{*}a", "a"), mark.getparent()):
            if link in self.targets:
                return self.targets[link]
        return None


NO_NOTES = DocumentNotes()


def links_into_book(root: Element, name: str, archive: Archive) -> list[tuple[Element, Place]]:
    """The `a` elements of a document that lead to a document of the book, with their targets."""
    found = []
    for element in root.iter("{*}a", "{*}A"):
        if element.get("href"):
            target, fragment = archive.resolve(name, element.get("href"))
            if target:
                found.append((element, (target, fragment)))
    return found


def survey_links(found: list[tuple[Element, Place]], name: str) -> list[Link]:
    """What the search for notes needs of the links of one document."""
    links = []
    for number, (element, place) in enumerate(found):
        if place[1]:
            is_mark = _is_mark(element)
            is_raised = is_mark and _is_raised(element)
            # <sup class="noteref"><a href="#n1">1</a></sup>
            is_declared = is_note_mark(element) or is_note_mark(element.getparent())
            ids = _ids_around(element)
            text = text_of(element) if is_mark else ""
            links.append(Link(name, number, ids, place, is_mark, is_declared, is_raised, text))
    return links


def index_notes(
    links: Iterable[Link],
    declared: Iterable[Place] = (),
    labels: Mapping[Place, str] = NO_LABELS,
) -> NoteIndex:
    """Find marks and notes.

    Args:
        links: those of the whole book, in reading order.
        declared: the ids in what is declared to be notes.
        labels: the marks at the begin of texts with an id.
    """
    links = list(links)
    index = NoteIndex(declared=set(declared))
    back: dict[Place, list[Link]] = {}  # target -> the links that lead there
    order = {(link.name, link.number): place for place, link in enumerate(links)}
    for link in links:
        back.setdefault(link.target, []).append(link)
    for link in links:
        if link.is_declared_mark or (link.is_mark and _leads_back(link, back, order)):
            _add(index, link)
    for link in links:
        is_known = link.target in index.declared or link.target in index.targets
        is_known = is_known or labels.get(link.target) == link.text.strip(" []().")
        if link.is_raised and is_known:
            _add(index, link)
    return index


def _add(index: NoteIndex, link: Link) -> None:
    index.targets.add(link.target)
    index.places.update((link.name, anchor) for anchor in link.ids)
    if link.is_mark:
        index.marks.add((link.name, link.number))


def _leads_back(
    mark: Link, back: Mapping[Place, list[Link]], order: Mapping[tuple[str, int], int]
) -> bool:
    """Whether the target of `mark` leads back to it; of two that look like marks, the first is."""
    for anchor in mark.ids:
        for link in back.get((mark.name, anchor), ()):
            is_there = link.name == mark.target[0] and mark.target[1] in link.ids
            is_first = order[mark.name, mark.number] < order[link.name, link.number]
            if is_there and (is_first or not link.is_mark):
                return True
    return False


def plan_notes(
    root: Element,
    name: str,
    found: list[tuple[Element, Place]],
    index: NoteIndex,
    settings: ReadSettings = AS_USUAL,
) -> dict[Element, Omission]:
    """The marks and notes of one document, as omissions."""
    choice = chosen(settings)
    note = choice.get(GUESSED_NOTE) or GUESSED_NOTE
    plan: dict[Element, Omission] = {}
    for number, (element, target) in enumerate(found):
        if (name, number) in index.marks:
            plan[element] = NOTE_MARK
        elif note is not GUESSED_NOTE and target in index.places and _is_way_back(element):
            plan[element] = BACK_LINK
    marks = {element for element, omission in plan.items() if omission is NOTE_MARK}
    targets = {anchor for document, anchor in index.targets if document == name}
    if not targets:
        return plan
    for element in root.iter(etree.Element):
        if element.get("id") in targets or element.get("name") in targets:
            body = _note_body(element)
            if body is not None and not any(mark in marks for mark in body.iter()):
                plan[body] = note
    return plan


def notes_of_document(
    name: str, found: list[tuple[Element, Place]], index: NoteIndex
) -> DocumentNotes:
    """What the walk over a document needs to speak the notes of a book."""
    return DocumentNotes(
        dict(found), frozenset(a for document, a in index.targets if document == name)
    )


def _is_way_back(link: Element) -> bool:
    text = text_of(link)
    return BACK.fullmatch(text) is not None or MARK.fullmatch(text) is not None


def _is_raised(link: Element) -> bool:
    """Whether a link is raised, in brackets, or straight after a word."""
    around = (link, *link.iterdescendants(etree.Element), link.getparent())
    if any(local_name(element) == "sup" for element in around):
        return True
    text = text_of(link)
    if not text[:1].isalnum():
        return True
    before = link.getprevious()
    text_before = (link.getparent().text if before is None else before.tail) or ""
    return bool(text_before) and not text_before[-1].isspace()


def _is_mark(link: Element) -> bool:
    """Whether a link looks like "12" after a word of running text."""
    if not MARK.fullmatch(text_of(link)):
        return False
    block = _block_around(link)
    return block is not None and not _is_in_heading(link) and _has_text_before(link, block)


def _is_in_heading(link: Element) -> bool:
    return any(local_name(element) in HEADINGS for element in link.iterancestors())


def _has_text_before(link: Element, block: Element) -> bool:
    node = link
    while node is not block:
        for sibling in node.itersiblings(preceding=True):
            is_element = isinstance(sibling.tag, str)
            if (sibling.tail or "").strip() or (is_element and text_of(sibling)):
                return True
        node = node.getparent()
        if (node.text or "").strip():
            return True
    return False


def _ids_around(link: Element) -> frozenset[str]:
    if _is_in_heading(link):
        return frozenset()  # a chapter that leads back to the table of contents
    ids = {link.get("id"), link.get("name")}
    ids.update(child.get("id") for child in link.iterdescendants(etree.Element))
    before = link.getprevious()
    is_element = before is not None and isinstance(before.tag, str)
    if is_element and not text_of(before) + (before.tail or "").strip():
        ids.add(before.get("id"))  # <a id="r1"></a><a href="#n1">1</a>
    for distance, parent in enumerate(link.iterancestors()):
        if distance >= MAX_ID_DISTANCE or local_name(parent) == "body":
            break
        ids.add(parent.get("id"))
    return frozenset(str(anchor) for anchor in ids if anchor)


def _block_around(element: Element) -> Element | None:
    while element is not None and local_name(element) not in BLOCKS:
        element = element.getparent()
    return element


def _note_body(element: Element) -> Element | None:
    body = _block_around(element)
    if body is None or local_name(body) in HEADINGS | {"body", "section", "html"}:
        return None
    parent = body.getparent()
    if local_name(body) in ("td", "dt", "th") and parent is not None:
        body = parent
    elif parent is not None and set(parent.get("class", "").lower().split()) & NOTE_CLASSES:
        # <div class="footnote"><p><a id="fn1">..</a></p><p>more</p></div>: all of it, if it is one
        is_one = sum(bool(MARK.fullmatch(text_of(a))) for a in parent.iter("{*}a", "a")) <= 1
        body = parent if is_one else body
    return body
