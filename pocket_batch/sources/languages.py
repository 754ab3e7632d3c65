"""The language of a part of a document, where it is not that of the book."""

from pocket_batch.bcp47 import SAYS_NOTHING, TAG, primary
from pocket_batch.sources.markup import Element

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def differing_language(element: Element, book_language: str) -> str | None:
    """The language that an element declares: empty for that of the book, None without any.

    Regions count as the same language: "en-GB" in a book of "en-US" is the book's.
    """
    found = element.get(XML_LANG) or element.get("xml:lang") or element.get("lang")
    language = str(found or "").strip().replace("_", "-")
    if not TAG.fullmatch(language) or primary(language) in SAYS_NOTHING:
        return None
    return "" if primary(language) == primary(book_language) else language
