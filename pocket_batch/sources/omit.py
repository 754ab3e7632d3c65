"""Which elements of a document are not spoken, and why.

Markup that says what it is (`epub:type`, `role`, `hidden`) counts for more than a guess from
links or class names, and each reason may take only its share of a book: a rule that would take
more than that is wrong about this book, and its text is spoken after all. Title pages,
dedications, epigraphs, forewords, prefaces, acknowledgments and glossaries are part of the book.
"""

import re
from collections.abc import Sequence

from lxml import etree

from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import AS_USUAL
from pocket_batch.sources.code import CODE_CLASSES, is_code
from pocket_batch.sources.contents import contents_by_links
from pocket_batch.sources.elements import MATHML
from pocket_batch.sources.formula import is_formula_image
from pocket_batch.sources.markup import Element, local_name, semantic_types, text_of
from pocket_batch.sources.reasons import (
    BACK_LINK,
    BY_ROLE,
    BY_TAG,
    BY_TITLE,
    BY_TYPE,
    CITATION,
    CODE,
    CONTENTS,
    CONTENTS_NAV,
    FORMULA,
    GUESSED_NOTE,
    GUTENBERG,
    HIDDEN,
    LINE_NUMBER,
    LINKED_CONTENTS,
    NOTE,
    NOTE_MARK,
    NOTES_TITLES,
    PAGE_NUMBER,
    STYLED_AWAY,
    TABLE,
    Omission,
    chosen,
)
from pocket_batch.sources.styles import HIDES, hidden_by_styles
from pocket_batch.sources.tables import is_data_table

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
MAX_NUMBER = 20  # characters of a page number with what stands around it
# "↩" or "⏎" or "↑" with a variation selector -> matches
BACK_ARROW = re.compile("[↩↵⏎↑⤴⮌↰][\ufe0e\ufe0f]?")
MAX_BACK_LINK = 40  # characters, as in "Return to the text"


def plan_omissions(
    root: Element,
    links: list[Element],
    settings: ReadSettings = AS_USUAL,
    styles: Sequence[str] = (),
) -> dict[Element, Omission]:
    """Elements of one document that are left out, with the reason.

    Args:
        root: the document.
        links: its `a` elements that lead to documents of the same book.
        settings: what is spoken although it would be left out otherwise.
        styles: the texts of the style sheets that it links to.
    """
    choice = chosen(settings)
    plan: dict[Element, Omission] = {}
    for element in root.iter(etree.Element):
        tag = local_name(element)
        if tag in MATHML:
            continue  # thousands of parts of formulas, which say nothing
        found = _by_attributes(element, tag) if element.attrib else None
        found = found or _by_tag(element, tag)
        omission = choice.get(found, found) if found is not None else None
        if omission is not None:
            plan[element] = omission
    for element in hidden_by_styles(root, styles):
        plan.setdefault(element, STYLED_AWAY)
    if not settings.keep_matter:
        for element in contents_by_links(links):
            plan.setdefault(element, LINKED_CONTENTS)
    return plan


def is_note_mark(element: Element) -> bool:
    """Whether a link says by type, role or class that it leads to a note."""
    words = {*semantic_types(element), *_roles(element)}
    classes = set(element.get("class", "").lower().split())
    return bool(words & {"noteref", "annoref", "doc-noteref"} or classes & NOTE_MARK_CLASSES)


def declares_note(element: Element) -> bool:
    """Whether an element is a note, or holds notes, by its type, role or class."""
    found = _by_attributes(element, local_name(element))
    return found is NOTE or found is GUESSED_NOTE


def by_title(title: str) -> Omission | None:
    """The guess that a title such as "Contents" or "Index" makes about its chapter."""
    return BY_TITLE.get(title.strip(" .:").casefold())


def is_notes_title(title: str) -> bool:
    """Whether a line is a heading such as "FOOTNOTES:"."""
    return title.strip(" .:[]").casefold() in NOTES_TITLES


def _by_tag(element: Element, tag: str) -> Omission | None:
    omission = BY_TAG.get(tag)
    if omission is TABLE and not is_data_table(element):
        return None
    return None if omission is CODE and not is_code(element) else omission


def _by_attributes(element: Element, tag: str) -> Omission | None:
    types, roles = semantic_types(element), _roles(element)
    if "pagebreak" in types or "doc-pagebreak" in roles:
        return PAGE_NUMBER if _is_page_number(element) else None
    for omission in (*map(BY_TYPE.get, types), *map(BY_ROLE.get, roles)):
        if omission is NOTE_MARK:
            return NOTE_MARK if _is_bare_mark(element) else None
        if omission is CITATION:  # "[12]", but never "Smith (2001)"
            return None if WORD.search(text_of(element)) else CITATION
        if omission is BACK_LINK:
            return BACK_LINK if len(text_of(element)) <= MAX_BACK_LINK else None
        if omission is CONTENTS and tag == "nav":
            return CONTENTS_NAV
        if omission is not None:
            return omission
    if element.get("hidden") is not None or _is_hidden_from_speech(element):
        return HIDDEN
    if HIDES.search(element.get("style", "")):
        return HIDDEN
    if element.get("data-latex") is not None or (tag == "img" and is_formula_image(element)):
        return FORMULA
    return _by_names(element, tag)


def _roles(element: Element) -> list[str]:
    return str(element.get("role", "")).lower().split()


def _is_hidden_from_speech(element: Element) -> bool:
    # <span aria-label="The"><span aria-hidden="true">T</span>...: hidden, but said by the label.
    parent = element.getparent()
    is_labelled = parent is not None and parent.get("aria-label") is not None
    return element.get("aria-hidden") == "true" and not is_labelled


def _by_names(element: Element, tag: str) -> Omission | None:
    classes = set(element.get("class", "").lower().split())
    if element.get("id", "") in GUTENBERG_MARKS or classes & GUTENBERG_MARKS:
        return GUTENBERG
    if tag == "a" and element.get("href") and BACK_ARROW.fullmatch(text_of(element)):
        return BACK_LINK
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
    return CODE if tag in ("div", "p", "figure") and classes & CODE_CLASSES else None


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
