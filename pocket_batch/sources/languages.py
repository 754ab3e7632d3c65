"""The language of a part of a document, where it is not that of the book."""

import re

from pocket_batch.sources.markup import Element

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
# en-GB -> matches; "x-klingon" and "English" do not
TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
NO_LANGUAGE = frozenset({"und", "mul", "zxx", "mis"})


def primary(language: str) -> str:
    """ "en-GB" -> "en"."""
    return language.partition("-")[0].lower()


def differing_language(element: Element, book_language: str) -> str | None:
    """The language that an element declares: empty for that of the book, None without any.

    Regions count as the same language: "en-GB" in a book of "en-US" is the book's.
    """
    found = element.get(XML_LANG) or element.get("xml:lang") or element.get("lang")
    language = str(found or "").strip().replace("_", "-")
    if not TAG.fullmatch(language) or primary(language) in NO_LANGUAGE:
        return None
    return "" if primary(language) == primary(book_language) else language
