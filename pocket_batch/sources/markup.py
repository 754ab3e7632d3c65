"""XML and XHTML of unknown quality -> element trees, without ever leaving the document.

The document type declaration is taken off before parsing, so the parser never sees an entity
declaration: nothing external is read, and nothing can be expanded again and again.
"""

import re
from dataclasses import dataclass
from html.entities import html5
from typing import Any

from lxml import etree

from pocket_batch.errors import InputError
from pocket_batch.sources.encoding import declared_in_markup, decode

Element = Any  # lxml has no types

EPUB_NAMESPACE = "http://www.idpf.org/2007/ops"
MAX_EXPANSION = 1_000_000  # characters that the entities of one document may add

# <?xml version="1.0"?> -> (nothing)
DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
# <!DOCTYPE html [<!ENTITY a "b">]> -> (nothing), the part in brackets is group 1
DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[(.*?)\]\s*)?>", re.DOTALL | re.IGNORECASE)
# <!ENTITY pub "The Press"> -> pub, The Press; values with markup or references do not match
PLAIN_ENTITY = re.compile(r"<!ENTITY\s+([\w.-]+)\s+(?:\"([^\"<&%]*)\"|'([^'<&%]*)')\s*>")
# &eacute; -> eacute
REFERENCE = re.compile(r"&([A-Za-z_][\w.-]*);")
# U+0001 -> (nothing): characters that XML 1.0 cannot hold
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# <a id="x"/> -> <a id="x"></a>: in HTML a slash does not close an element
SELF_CLOSED = re.compile(r"<([A-Za-z][\w:.-]*)((?:[^<>\"'/]|/(?!>)|\"[^\"<]*\"|'[^'<]*')*+)/>")
XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())


@dataclass(frozen=True, slots=True)
class Markup:
    """A parsed document and the sentences about what was repaired in it."""

    root: Element
    flaws: tuple[str, ...]


def parse_xhtml(data: bytes, where: str) -> Markup:
    """Parse a content document: as XML, or as HTML with a flaw when it is not well-formed.

    Raises:
        InputError: there is no element in it, or it is nested beyond the parser's limit.
    """
    text, flaw = decode(data, declared_in_markup(data))
    flaws = [f"{where} {flaw}."] if flaw else []
    clean = _without_entities(text)
    try:
        root = _parse(clean, where, recover=False)
    except etree.XMLSyntaxError as error:
        place = f"{where}:{error.lineno or 1}"
        flaws.append(f"{place} is not well-formed; the document was repaired as HTML.")
        root = _parse_html(clean, where)
    return Markup(root, tuple(flaws))


def parse_xml(data: bytes, where: str) -> Markup:
    """Parse a file of the package (container, OPF, NCX), repaired when it is not well-formed.

    Raises:
        InputError: nothing can be made of it.
    """
    text, flaw = decode(data, declared_in_markup(data))
    flaws = [f"{where} {flaw}."] if flaw else []
    clean = _without_entities(text)
    try:
        return Markup(_parse(clean, where, recover=False), tuple(flaws))
    except etree.XMLSyntaxError as error:
        flaws.append(f"{where}:{error.lineno or 1} is not well-formed; it was repaired.")
    try:
        root = _parse(clean, where, recover=True)
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
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


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


def _parse(text: str, where: str, *, recover: bool) -> Element:
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
    try:
        return etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        _refuse_depth(error.error_log or parser.error_log, where)
        raise


def _parse_html(text: str, where: str) -> Element:
    opened = SELF_CLOSED.sub(_open_and_close, text)
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    try:
        root = etree.fromstring(opened.encode("utf-8"), parser)
    except etree.XMLSyntaxError:
        root = None
    _refuse_depth(parser.error_log, where)
    if root is None:
        raise InputError(f"{where}: a document was expected, but it holds no element.")
    return root


def _refuse_depth(log: Any, where: str) -> None:
    # The HTML parser would otherwise leave out everything below the limit without a word.
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in log):
        raise InputError(
            f"{where}: elements are nested deeper than 2,048; no real book needs that."
        )


def _open_and_close(match: re.Match[str]) -> str:
    name, rest = match.group(1), match.group(2)
    return match.group(0) if name.lower() in VOID else f"<{name}{rest}></{name}>"


def _without_entities(text: str) -> str:
    """Take off XML declaration and DOCTYPE (lines kept) and put characters for named entities."""
    text = FORBIDDEN.sub("", text)
    text = DECLARATION.sub(lambda match: "\n" * match.group(0).count("\n"), text, count=1)
    own: dict[str, str] = {}
    match = DOCTYPE.search(text)
    if match:
        for name, double, single in PLAIN_ENTITY.findall(match.group(1) or ""):
            own.setdefault(name, double or single)
        lines = "\n" * match.group(0).count("\n")
        text = text[: match.start()] + lines + text[match.end() :]
    return _replace_references(text, own)


def _replace_references(text: str, own: dict[str, str]) -> str:
    room = MAX_EXPANSION

    def value(match: re.Match[str]) -> str:
        nonlocal room
        name = match.group(1)
        if name in XML_ENTITIES:
            return match.group(0)
        found = own.get(name, html5.get(f"{name};", ""))
        room -= len(found)
        escaped = found.replace("&", "&amp;").replace("<", "&lt;")
        return escaped if room >= 0 else ""

    return REFERENCE.sub(value, text) if "&" in text else text
