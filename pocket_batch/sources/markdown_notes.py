"""Footnotes in Markdown, which CommonMark does not know: `word[^1]` and `[^1]: the note`.

They become the marks and notes of a document, so they are read or left out like those of a book.
"""

import re

from lxml import etree

from pocket_batch.sources.markup import Element, local_name

# [^1]: A note. -> matches
DEFINITION = re.compile(r"^ {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*")
# word[^1] -> [^1]
REFERENCE = re.compile(r"\[\^([^\]\s]{1,40})\]")
# ```python -> matches
FENCE = re.compile(r"^ {0,3}(?:```|~~~)")


def separate_notes(body: str) -> tuple[str, list[int]]:
    """Put each note into a paragraph of its own.

    Returns:
        The text, and for each of its lines the line of `body` that it comes from, from 1.
    """
    lines: list[str] = []
    numbers: list[int] = []
    is_code = False
    for number, line in enumerate(body.split("\n"), start=1):
        is_code ^= FENCE.match(line) is not None
        match = None if is_code else DEFINITION.match(line)
        if match is not None:
            lines.append("")
            numbers.append(number)
            # The backslash keeps CommonMark from taking it for the address of a link.
            line = f"\\[^{match.group(1)}]: {line[match.end() :]}"
        lines.append(line)
        numbers.append(number)
    return "\n".join(lines), numbers


def mark_notes(root: Element) -> None:
    """Give notes and the references to them the roles that they have in a book."""
    notes: set[str] = set()
    for paragraph in root.iter("{*}p", "p"):
        match = DEFINITION.match(paragraph.text or "")
        if match is not None:
            notes.add(match.group(1))
            paragraph.set("role", "doc-footnote")
            paragraph.set("id", f"note-{match.group(1)}")
            paragraph.text = paragraph.text[match.end() :]
    for element in list(root.iter(etree.Element)) if notes else ():
        _mark_references(element, notes)


def _mark_references(element: Element, notes: set[str]) -> None:
    if local_name(element) not in ("code", "pre"):
        element.text, marks = _split(element.text or "", notes)
        for mark in reversed(marks):
            element.insert(0, mark)
    parent = element.getparent()
    if parent is not None and element.tail:
        element.tail, marks = _split(element.tail, notes)
        place = parent.index(element) + 1
        for mark in reversed(marks):
            parent.insert(place, mark)


def _split(text: str, notes: set[str]) -> tuple[str, list[Element]]:
    """A text up to the first reference, and a link for each with the text behind it."""
    matches = [match for match in REFERENCE.finditer(text) if match.group(1) in notes]
    if not matches:
        return text, []
    ends = [*(match.start() for match in matches[1:]), len(text)]
    marks = []
    for match, end in zip(matches, ends, strict=True):
        mark = etree.Element("a", role="doc-noteref", href=f"#note-{match.group(1)}")
        mark.text, mark.tail = match.group(1), text[match.end() : end]
        marks.append(mark)
    return text[: matches[0].start()], marks
