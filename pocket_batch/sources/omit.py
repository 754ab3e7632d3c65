"""Which elements of a document are not spoken, and why.

Markup that says what it is (`epub:type`, `role`, `hidden`) counts for more than a guess from
links or class names, and each reason may take only its share of a book: a rule that would take
more than that is wrong about this book, and its text is spoken after all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lxml import etree

from pocket_batch.sources.markup import Element, local_name, semantic_types, text_of


@dataclass(frozen=True, slots=True)
class Omission:
    """A reason to leave text out, and the largest share of a book's characters it may take."""

    reason: str
    max_share: float = 0.5


NAVIGATION = Omission("navigation", 1.0)  # certain: a `nav` element, or named by the manifest
NOT_LINEAR = Omission("outside the reading order (linear=no)")
HIDDEN = Omission("hidden text")
NOTE = Omission("note")
NOTE_MARK = Omission("note mark")
PAGE_NUMBER = Omission("page number")
LINE_NUMBER = Omission("line number")
RUBY = Omission("ruby reading")
DRAWING = Omission("text in a drawing")
ALTERNATIVE = Omission("alternative rendering")
GUTENBERG = Omission("Project Gutenberg header or licence", 1.0)  # its marks are its own
HEADER = Omission("header with title and author", 1.0)
CONTENTS = Omission("table of contents")
COPYRIGHT = Omission("copyright page")
INDEX = Omission("index")
PAGE_LINKS = Omission("links to other pages")
HALF_TITLE = Omission("half title")

# Guesses: links, class names and titles can mislead, so each may take a few percent only.
LINKED_CONTENTS = Omission("table of contents (by its links)", 0.05)
GUESSED_NOTE = Omission("note (by its links)", 0.25)
NAMED_CONTENTS = Omission("table of contents (by its title)", 0.03)
NAMED_COPYRIGHT = Omission("copyright page (by its title)", 0.03)
NAMED_INDEX = Omission("index (by its title)", 0.03)
LISTED_IN_TEXT = Omission("table of contents (by its lines)", 0.3)  # every line comes again
LISTED_COPYRIGHT = Omission("copyright page (by the guide)", 0.05)
LISTED_INDEX = Omission("index (by the guide)", 0.05)

# Source: EPUB 3 Structural Semantics Vocabulary 1.1, and DPUB-ARIA 1.1 for the roles.
BY_TYPE = {
    **dict.fromkeys(
        ("toc", "toc-brief", "landmarks", "page-list", "loa", "loi", "lot", "lov"), CONTENTS
    ),
    **dict.fromkeys(("copyright-page", "imprint", "colophon"), COPYRIGHT),
    **dict.fromkeys(("footnote", "footnotes", "endnote", "endnotes"), NOTE),
    **dict.fromkeys(("rearnote", "rearnotes"), NOTE),
    **dict.fromkeys(("noteref", "annoref"), NOTE_MARK),
    "index": INDEX,
    "halftitlepage": HALF_TITLE,
}
BY_ROLE = {
    **dict.fromkeys(("doc-toc", "doc-pagelist"), CONTENTS),
    **dict.fromkeys(("doc-footnote", "doc-endnote", "doc-endnotes"), NOTE),
    "doc-noteref": NOTE_MARK,
    "navigation": PAGE_LINKS,
    "doc-index": INDEX,
    "doc-colophon": COPYRIGHT,
}
BY_GUIDE = {
    "copyright-page": LISTED_COPYRIGHT,
    "index": LISTED_INDEX,
}
BY_TITLE = {
    **dict.fromkeys(
        (
            *("contents", "table of contents", "list of illustrations", "illustrations"),
            *("inhalt", "inhaltsverzeichnis", "table des matières", "sommaire", "indice"),
            *("índice", "inhoud", "inhoudsopgave", "sumário", "contenido", "spis treści"),
        ),
        NAMED_CONTENTS,
    ),
    **dict.fromkeys(("copyright", "copyright page", "impressum", "imprint"), NAMED_COPYRIGHT),
    "index": NAMED_INDEX,
}
COVER_TITLES = frozenset({"cover", "cover page", "umschlag", "couverture", "copertina", "portada"})
BY_TAG = {
    "nav": PAGE_LINKS,
    "rt": RUBY,
    "rp": RUBY,
    "rtc": RUBY,
    "svg": DRAWING,
    "case": ALTERNATIVE,
}

NOTE_MARK_CLASSES = frozenset(
    ("noteref", "footnote-ref", "footnoteref", "footnote-reference", "endnote-ref", "fnanchor")
)
NOTE_CLASSES = frozenset({"footnote", "footnotes", "footnote-list", "endnote", "endnotes"})
PAGE_NUMBER_CLASSES = frozenset(
    ("pagenum", "pageno", "pagenumber", "page-number", "pagebreak", "x-ebookmaker-pageno")
)
LINE_NUMBER_CLASSES = frozenset({"ocn", "linenum", "line-number", "lineno", "lnum", "ln"})
GUTENBERG_MARKS = frozenset({"pg-boilerplate", "pg-header", "pg-footer", "pgheader", "pgfooter"})

# [Pg 12] or {xiv} or p. 7 -> matches
NUMBER = re.compile(r"[\W_]*(?:page|pg|p)?[\W_]*(?:\d+|[ivxlcdm]+)[\W_]*", re.IGNORECASE)
# "see note" -> matches; "12", "(b)", "*" do not
WORD = re.compile(r"[^\W\d_]{2,}")
# display: none -> matches
INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ol", "ul", "table", "dl"})
ENTRIES = frozenset({"li", "tr", "dt"})
CONTAINERS = LISTS | {"p", "div", "nav", "section", "blockquote"}
MIN_CONTENTS_LINKS = 3
MAX_CONTENTS_DEPTH = 12  # levels between a link and the table of contents around it
MAX_NUMBER = 20  # characters of a page number with what stands around it
MAX_CONTENTS_ENTRY = 120  # characters of one line of a table of contents


def plan_omissions(root: Element, links: list[Element]) -> dict[Element, Omission]:
    """Elements of one document that are left out, with the reason; descendants are not listed.

    Args:
        root: the document.
        links: its `a` elements that lead to documents of the same book.
    """
    plan: dict[Element, Omission] = {}
    for element in root.iter(etree.Element):
        tag = local_name(element)
        omission = _by_attributes(element, tag) if element.attrib else None
        omission = omission or BY_TAG.get(tag)
        if omission is not None:
            plan[element] = omission
    for element in contents_by_links(links):
        plan.setdefault(element, LINKED_CONTENTS)
    return plan


def is_note_mark(element: Element) -> bool:
    """Whether a link says by type, role or class that it leads to a note."""
    words = {*semantic_types(element), element.get("role", "")}
    classes = set(element.get("class", "").lower().split())
    return bool(words & {"noteref", "annoref", "doc-noteref"} or classes & NOTE_MARK_CLASSES)


def by_title(title: str) -> Omission | None:
    """The guess that a title such as "Contents" or "Index" makes about its chapter."""
    return BY_TITLE.get(title.strip(" .:").casefold())


def _by_attributes(element: Element, tag: str) -> Omission | None:
    types = semantic_types(element)
    if "pagebreak" in types or element.get("role") == "doc-pagebreak":
        return PAGE_NUMBER if _is_page_number(element) else None
    for omission in (*map(BY_TYPE.get, types), BY_ROLE.get(element.get("role", ""))):
        if omission is NOTE_MARK:
            return NOTE_MARK if _is_bare_mark(element) else None
        if omission is CONTENTS and tag == "nav":
            return NAVIGATION
        if omission is not None:
            return omission
    if element.get("hidden") is not None or _is_hidden_from_speech(element):
        return HIDDEN
    if INVISIBLE.search(element.get("style", "")):
        return HIDDEN
    return _by_names(element, tag)


def _is_hidden_from_speech(element: Element) -> bool:
    # <span aria-label="The"><span aria-hidden="true">T</span>...: hidden, but said by the label.
    parent = element.getparent()
    is_labelled = parent is not None and parent.get("aria-label") is not None
    return element.get("aria-hidden") == "true" and not is_labelled


def _by_names(element: Element, tag: str) -> Omission | None:
    classes = set(element.get("class", "").lower().split())
    if element.get("id", "") in GUTENBERG_MARKS or classes & GUTENBERG_MARKS:
        return GUTENBERG
    if not classes:
        return None
    if tag == "a" and classes & NOTE_MARK_CLASSES and element.get("href"):
        return NOTE_MARK if _is_bare_mark(element) else None
    if tag in ("aside", "div", "section", "p", "ol") and classes & NOTE_CLASSES:
        return GUESSED_NOTE
    if classes & PAGE_NUMBER_CLASSES and _is_number(text_of(element) or "1"):
        return PAGE_NUMBER
    if classes & LINE_NUMBER_CLASSES and text_of(element).isdecimal():
        return LINE_NUMBER
    return None


def _is_bare_mark(element: Element) -> bool:
    # Some books make a word of the sentence the link to its note: that word is spoken.
    text = text_of(element)
    return not WORD.search(text) or _is_number(text) or any(map(str.isdigit, text))


def _is_page_number(element: Element) -> bool:
    # Some books wrap real words of the page: <span epub:type="pagebreak">'But</span>.
    text = text_of(element)
    labels = (element.get("title"), element.get("aria-label"))
    return not text or text in labels or _is_number(text)


def _is_number(text: str) -> bool:
    return len(text) <= MAX_NUMBER and NUMBER.fullmatch(text) is not None


def contents_by_links(links: list[Element]) -> Iterator[Element]:
    """The outermost elements that are mostly links into the book, at least three of them."""
    counts: dict[Element, int] = {}
    for link in links:
        for parent in islice(link.iterancestors(), MAX_CONTENTS_DEPTH):
            counts[parent] = counts.get(parent, 0) + 1
    linked = set(links)
    chosen: set[Element] = set()
    for element in sorted(
        (e for e, num_links in counts.items() if num_links >= MIN_CONTENTS_LINKS),
        key=lambda e: sum(1 for _ in e.iterancestors()),
    ):
        if any(parent in chosen for parent in element.iterancestors()):
            continue
        if local_name(element) in CONTAINERS and _is_contents(element, linked):
            chosen.add(element)
            yield element


def _is_contents(element: Element, links: set[Element]) -> bool:
    if any(local_name(e) in HEADINGS for e in element.iter()):
        return False  # the heading may be the title of the book; its table is inside
    if local_name(element) in LISTS:
        entries = [e for e in element.iter() if local_name(e) in ENTRIES]
        linked = [e for e in entries if any(link in links for link in e.iter())]
        length = len(text_of(element))
        if len(linked) >= max(MIN_CONTENTS_LINKS, 0.8 * len(entries)):
            return length <= MAX_CONTENTS_ENTRY * len(entries)
    num_linked = sum(len(text_of(e)) for e in element.iter() if e in links)
    return num_linked >= 0.7 * len(text_of(element))
