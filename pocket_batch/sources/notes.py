"""Notes of books that do not mark them: a number that leads to a text that leads back.

A mark is a short link after a word. Its note is the block around the target, if a link in that
block leads back to the mark. Both directions must hold, and headings never count, so a table of
contents whose chapters lead back to it is not taken for notes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lxml import etree

from pocket_batch.sources.archive import Archive
from pocket_batch.sources.blocks import BLOCKS
from pocket_batch.sources.markup import Element, local_name, text_of
from pocket_batch.sources.omit import (
    GUESSED_NOTE,
    HEADINGS,
    NOTE_CLASSES,
    NOTE_MARK,
    Omission,
    is_note_mark,
)

# 12 or [12] or (a) or * or †† -> matches
MARK = re.compile(r"[\[({]?\s*(?:\d{1,4}|[a-zA-Z]|[ivxl]{1,6}|[*†‡§¶]{1,4})\s*[\])}]?\.?")
MAX_ID_DISTANCE = 4  # levels between a link and the element that carries its id

Place = tuple[str, str]  # document, id


@dataclass(frozen=True, slots=True)
class Link:
    """One link to an id inside the book: where it stands, and what it looks or claims to be."""

    name: str
    number: int
    ids: frozenset[str]
    target: Place
    is_mark: bool
    is_declared_mark: bool


@dataclass(slots=True)
class NoteIndex:
    """The note marks of a book (document, number of its link) and the ids of its notes."""

    marks: set[tuple[str, int]] = field(default_factory=set)
    targets: set[Place] = field(default_factory=set)


def links_into_book(root: Element, name: str, archive: Archive) -> list[tuple[Element, Place]]:
    """The `a` elements of a document that lead to a document of the book, with their targets."""
    found = []
    for element in root.iter(etree.Element):
        if local_name(element) == "a" and element.get("href"):
            target, fragment = archive.resolve(name, element.get("href"))
            if target:
                found.append((element, (target, fragment)))
    return found


def survey_links(found: list[tuple[Element, Place]], name: str) -> list[Link]:
    """What the search for notes needs of the links of one document."""
    return [
        Link(name, number, _ids_around(element), place, _is_mark(element), is_note_mark(element))
        for number, (element, place) in enumerate(found)
        if place[1]
    ]


def index_notes(links: Iterable[Link]) -> NoteIndex:
    """Find marks and notes: links that look like marks and whose targets lead back to them."""
    links = list(links)
    back: dict[Place, set[Place]] = {}  # target of a link -> places the link itself stands in
    for link in links:
        back.setdefault(link.target, set()).update((link.name, anchor) for anchor in link.ids)
    index = NoteIndex()
    for link in links:
        if link.is_declared_mark:
            index.targets.add(link.target)
        if not link.is_mark:
            continue
        returns: set[Place] = set()
        for anchor in link.ids:
            returns |= back.get((link.name, anchor), set())
        if link.target in returns:
            index.marks.add((link.name, link.number))
            index.targets.add(link.target)
    return index


def plan_notes(
    root: Element, name: str, found: list[tuple[Element, Place]], index: NoteIndex
) -> dict[Element, Omission]:
    """The marks and notes of one document, as omissions."""
    plan: dict[Element, Omission] = {
        element: NOTE_MARK
        for number, (element, _) in enumerate(found)
        if (name, number) in index.marks
    }
    targets = {anchor for document, anchor in index.targets if document == name}
    if not targets:
        return plan
    for element in root.iter(etree.Element):
        if element.get("id") in targets or element.get("name") in targets:
            body = _note_body(element)
            if body is not None and not any(mark in plan for mark in body.iter()):
                plan[body] = GUESSED_NOTE
    return plan


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
    if before is not None:  # <a id="r1"></a><a href="#n1">1</a>
        ids.add(before.get("id"))
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
