"""XML and XHTML of unknown quality -> element trees, without ever leaving the document.

The document type declaration is taken off before parsing, so the parser never sees an entity
declaration: nothing external is read, and nothing can be expanded again and again.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lxml import etree

from pocket_batch.errors import InputError
from pocket_batch.sources.encoding import declared_in_markup, decode
from pocket_batch.sources.entities import FORBIDDEN, without_entities
from pocket_batch.sources.repair import as_html, flattened

Element = Any  # lxml has no types

EPUB_NAMESPACE = "http://www.idpf.org/2007/ops"
# svg:text -> text; o:p is no paragraph and stays
PREFIX = re.compile(r"^(?:svg|m|mml|math|x?html|h|xh|epub|ops|opf|dc|ncx|ssml):")
MAX_CONTROLS = 8
MAX_CONTROL_SHARE = 0.02  # of the characters; what is encrypted or packed has a tenth


@dataclass(frozen=True, slots=True)
class Markup:
    """A parsed document and the sentences about what was repaired in it."""

    root: Element
    flaws: tuple[str, ...]


def parse_xhtml(data: bytes, where: str) -> Markup:
    """Parse a content document: as XML, or as HTML with a flaw when it is not well-formed.

    Elements nested deeper than the parser goes are taken out around their text.

    Raises:
        InputError: there is no element in it, or it is no text at all.
    """
    clean, flaws, blamed = _characters(data, where)
    try:
        root = _parse(clean, recover=False)
    except etree.XMLSyntaxError as error:
        # Not `error.error_log`: that holds the errors of other documents, too.
        if error.code == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
            flaws.append(f"{where} nests elements too deep; the innermost were read without tags.")
            clean = flattened(clean)
        else:
            place = f"{where}:{error.lineno or 1}"
            flaws.append(f"{place} is not well-formed; the document was repaired as HTML.")
        root = _parse_html(clean, where)
    return Markup(root, (*flaws, *blamed))


def parse_xml(data: bytes, where: str) -> Markup:
    """Parse a file of the package (container, OPF, NCX), repaired when it is not well-formed.

    Raises:
        InputError: nothing can be made of it.
    """
    clean, flaws, blamed = _characters(data, where)
    flaws += blamed
    try:
        return Markup(_parse(clean, recover=False), tuple(flaws))
    except etree.XMLSyntaxError as error:
        flaws.append(f"{where}:{error.lineno or 1} is not well-formed; it was repaired.")
    try:
        root = _parse(clean, recover=True)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise InputError(f"{where}: an XML file was expected, but it holds no element.")
    return Markup(root, tuple(flaws))


def local_name(element: Element) -> str:
    """`{http://www.w3.org/1999/xhtml}p` -> `p`, in lower case; empty for comments and the like."""
    try:
        tag = element.tag
    except UnicodeDecodeError:  # a broken byte in a namespace, which lxml decodes only now
        return ""
    return _local(tag) if isinstance(tag, str) else ""


@lru_cache(maxsize=2_000)  # asked several times for every element of a book
def _local(tag: str) -> str:
    name = tag.rpartition("}")[2].lower()
    return PREFIX.sub("", name) if ":" in name else name  # the prefix was not declared


def attribute(element: Element, name: str) -> str:
    """The value of an attribute by its local name, whatever its prefix; empty when missing."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2].rpartition(":")[2] == name:
            return str(value)
    return ""


def semantic_types(element: Element) -> list[str]:
    """The words of `epub:type`, whether the parser knew the namespace or not."""
    value = element.get(f"{{{EPUB_NAMESPACE}}}type") or element.get("epub:type") or ""
    return str(value).lower().split()


def fold(text: str) -> str:
    """White space of any kind -> single spaces, none at the ends."""
    return " ".join(text.split())


def text_of(element: Element) -> str:
    """All character data inside an element, folded; without comments."""
    return fold("".join(element.itertext(etree.Element)))


def _characters(data: bytes, where: str) -> tuple[str, list[str], list[str]]:
    """The text without entities, and sentences about its encoding and about its entities."""
    text, flaw = decode(data, declared_in_markup(data))
    text = text.strip("\0")  # a file that was cut short may be filled up with zeros
    if len(FORBIDDEN.findall(text)) > max(MAX_CONTROLS, MAX_CONTROL_SHARE * len(text)):
        raise InputError(f"{where}: a document was expected, but it is encrypted or damaged data.")
    clean, blamed = without_entities(text)
    return clean, [f"{where} {flaw}."] * bool(flaw), [f"{where}:{flaw}." for flaw in blamed]


def _parse(text: str, *, recover: bool) -> Element:
    # `huge_tree` lifts the limits on text length and depth (2,048 stays). It also lifts the
    # guard against entity expansion, which is safe because no entity is left in the text.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=True,
        recover=recover,
        collect_ids=False,
    )
    return etree.fromstring(text.encode("utf-8"), parser)


def _parse_html(text: str, where: str) -> Element:
    root, is_deep = _html_tree(as_html(text))
    if is_deep:
        # The parser leaves out everything below its limit without a word.
        root, _ = _html_tree(as_html(flattened(text)))
    if root is None:
        raise InputError(f"{where}: a document was expected, but it holds no element.")
    return root


def _html_tree(text: str) -> tuple[Element | None, bool]:
    """The tree, and whether elements are nested deeper than the parser goes."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError:
        root = None
    return root, any(e.type_name == "ERR_RESOURCE_LIMIT" for e in parser.error_log)
