"""The texts of notes: those that are declared, and those that begin with a mark."""

import re
from collections.abc import Iterator

from lxml import etree

from pocket_batch.sources.elements import BLOCKS
from pocket_batch.sources.markup import Element, local_name
from pocket_batch.sources.omit import declares_note
from pocket_batch.sources.pieces import Place

# Elements with a word such as "footnote" or "doc-endnotes" in an attribute; looked at closely then.
NOTE_LIKE = etree.XPath(
    "//*[@*[contains(., 'note') or contains(., 'Note') or contains(., 'NOTE')]]"
)
WITH_ID = etree.XPath("//*[@id]")
# "[12] A note" or "12. A note" or "* A note" -> group 1 is 12, 12 or *
LABEL = re.compile(r"[\[(]?(\d{1,4}|[*†‡§¶]{1,4})(?:[\])][.:]?|[.:])?(?:\s|$)")
MAX_LABEL = 12  # characters of a text that may hold its label


def declared_notes(root: Element, name: str) -> set[Place]:
    """The ids of elements that are notes by their type, role or class, or stand inside of one."""
    ids: set[Place] = set()
    covered: set[Element] = set()
    for element in NOTE_LIKE(root):
        if element not in covered and declares_note(element):
            inside = list(element.iter(etree.Element))
            covered.update(inside)
            ids.update((name, i.get(key)) for i in inside for key in ("id", "name") if i.get(key))
    return ids


def labels_of_notes(root: Element, name: str) -> dict[Place, str]:
    """The marks that stand at the begin of the texts with an id: "12" for "[12] A note"."""
    labels: dict[Place, str] = {}
    for element in WITH_ID(root):
        beginning = ""
        for text in _text_from(element):
            beginning += text.lstrip() if not beginning else text
            if len(beginning) > MAX_LABEL:
                break
        if match := LABEL.match(beginning):
            labels[name, element.get("id")] = match.group(1)
    return labels


def _text_from(element: Element) -> Iterator[str]:
    yield from element.itertext(etree.Element)
    if local_name(element) not in BLOCKS:  # <a id="n1"/>12. A note
        yield element.tail or ""
