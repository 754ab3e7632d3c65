"""Documents of EPUB 2 (XHTML 1.1), or repaired ones, as those of EPUB 3 (XHTML5).

What XHTML5 lacks is said in CSS, so that a page looks as before.
"""

import re

from lxml import etree

from pocket_batch.sources.markup import EPUB_NAMESPACE, Element, local_name, text_of

XHTML = "http://www.w3.org/1999/xhtml"
SVG = "http://www.w3.org/2000/svg"
MATHML = "http://www.w3.org/1998/Math/MathML"
XML = "http://www.w3.org/XML/1998/namespace"
_NAMESPACES = {"svg": SVG, "math": MATHML}
_PREFIXES = {"epub": EPUB_NAMESPACE, "xml": XML, "xlink": "http://www.w3.org/1999/xlink"}

_ELEMENTS = {
    "center": ("div", "text-align: center"),
    "big": ("span", "font-size: larger"),
    "tt": ("span", "font-family: monospace"),
    "font": ("span", ""),
    "basefont": ("span", ""),
    "strike": ("s", ""),
    "acronym": ("abbr", ""),
    "dir": ("ul", ""),
    "nobr": ("span", "white-space: nowrap"),
}
_DROPPED = frozenset(
    "alink axis background border cellpadding cellspacing char charoff charset clear color compact "
    "face frame frameborder hspace language link longdesc marginheight marginwidth noshade nowrap "
    "profile rev rules scrolling size summary text version vlink vspace".split()
)
_SIZED = frozenset("img svg object iframe video canvas input embed".split())  # keep their size
_KEEP_SIZE = frozenset({"input", "select"})  # `size`
_STYLES = {"align": "text-align", "valign": "vertical-align", "bgcolor": "background-color"}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(%|px)?\s*")
_NAME = re.compile(r"[^\W\d][\w.-]*")


def as_xhtml5(root: Element) -> Element:
    """The root of a document as XHTML5; the tree is changed.

    Elements without a namespace, as the HTML parser gives them, get theirs.
    """
    root = _with_namespaces(root)
    ids = {e.get("id") for e in root.iter() if local_name(e)}
    for element in list(root.iter(f"{{{XHTML}}}*")):
        _modernise(element, ids)
    return root


def serialise(root: Element) -> bytes:
    """A document as a file of an EPUB 3."""
    for part in root.iter(f"{{{XHTML}}}*"):
        if not len(part) and part.text is None and part.tag not in _VOID:
            part.text = ""  # `<a id="x"></a>`; readers that take it for HTML need the end tag
    text = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n{text}\n'.encode()


_VOID = frozenset(
    f"{{{XHTML}}}{name}"
    for name in "area base br col embed hr img input link meta param source track wbr".split()
)


def add_style_sheet(root: Element, href: str, title: str) -> None:
    """Link a style sheet in the head, and make sure that there is a head with a title."""
    head = next((e for e in root if local_name(e) == "head"), None)
    if head is None:
        head = root.makeelement(f"{{{XHTML}}}head")
        root.insert(0, head)
    titles = [e for e in head if local_name(e) == "title"]
    named = titles[0] if titles else etree.SubElement(head, f"{{{XHTML}}}title")
    if not text_of(named):
        named.text = title
    if href:
        attributes = {"rel": "stylesheet", "type": "text/css", "href": href}
        link = head.makeelement(f"{{{XHTML}}}link", attributes)
        sheets = [i for i, e in enumerate(head) if local_name(e) in ("link", "style")]
        head.insert(sheets[0] if sheets else len(head), link)  # the book's own rules win


def properties_of(root: Element) -> list[str]:
    """What the manifest of an EPUB 3 must tell about a document."""
    names = {local_name(e) for e in root.iter()}
    found = {"svg": "svg" in names, "mathml": "math" in names}
    found["scripted"] = bool(names & {"script", "form"})
    return [name for name, is_there in found.items() if is_there]


def _with_namespaces(root: Element) -> Element:
    if root.tag != f"{{{XHTML}}}html" or any(
        isinstance(e.tag, str) and ("}" not in e.tag or ":" in e.tag.rpartition("}")[2])
        for e in root.iter()
    ):
        made = etree.Element(f"{{{XHTML}}}html", nsmap={None: XHTML, "epub": EPUB_NAMESPACE})
        _copy_attributes(root, made)
        made.text = root.text
        for child in list(root) if local_name(root) == "html" else [root]:
            made.append(child)
        for element in made.iterdescendants():
            if isinstance(element.tag, str):
                _name(element)
        return made
    return root


def _name(element: Element) -> None:
    """Give an element its namespace: that of the drawing or formula it stands in, else XHTML."""
    name = local_name(element)
    parent = etree.QName(element.getparent().tag).namespace
    inner = local_name(element.getparent())
    own = _NAMESPACES.get(name)
    if own is None and parent in (SVG, MATHML) and inner not in ("foreignobject", "annotation-xml"):
        own = parent
    if "}" not in element.tag or own is not None:
        original = element.tag.rpartition("}")[2].rpartition(":")[2]
        if not _NAME.fullmatch(original):  # <someone@example.org> in a text
            own, original = None, "span"
        element.tag = f"{{{own or XHTML}}}{original}"
    attributes = dict(element.attrib)
    element.attrib.clear()
    _set_attributes(element, attributes)


def _copy_attributes(source: Element, target: Element) -> None:
    _set_attributes(target, dict(source.attrib))


def _set_attributes(element: Element, attributes: dict[str, str]) -> None:
    for key, value in attributes.items():
        prefix, _, name = key.rpartition(":")
        if "}" in key:
            element.set(key, value)
        elif prefix in _PREFIXES:
            element.set(f"{{{_PREFIXES[prefix]}}}{name}", value)
        elif not prefix and _NAME.fullmatch(key) and key != "xmlns":
            element.set(key, value)


def _modernise(element: Element, ids: set[str | None]) -> None:
    tag = local_name(element)
    styles = []
    if tag in _ELEMENTS:
        name, style = _ELEMENTS[tag]
        styles += [style] * bool(style) + _font(element, tag)
        element.tag = f"{{{XHTML}}}{name}"
    if tag == "a" and element.get("name"):
        _name_as_id(element, ids)
    if tag == "meta" and (element.get("http-equiv") or element.get("scheme")):
        element.getparent().remove(element)
        return
    if tag == "col" or tag not in _SIZED:
        for side in ("width", "height"):
            if length := _LENGTH.fullmatch(element.attrib.pop(side, "") or ""):
                styles.append(f"{side}: {length[1]}{length[2] or 'px'}")
    elif tag in ("img", "object", "iframe", "video"):
        styles += _sizes(element)
    for key, prop in _STYLES.items():
        if (value := element.attrib.pop(key, "")) and re.fullmatch(r"[#\w-]+", value):
            styles.append(f"{prop}: {value}" if tag not in ("img", "table") else _floated(value))
    for key in [k for k in element.attrib if k in _DROPPED]:
        if not (key == "size" and tag in _KEEP_SIZE):
            del element.attrib[key]
    _drop_by_element(element, tag)
    styles = [style for style in styles if style]
    if styles:
        own = (element.get("style") or "").strip().rstrip(";")
        element.set("style", "; ".join([*styles, own] if own else styles))


def _floated(value: str) -> str:
    if value.lower() == "center":
        return "margin-left: auto; margin-right: auto"
    return f"float: {value.lower()}" if value.lower() in ("left", "right") else ""


def _font(element: Element, tag: str) -> list[str]:
    if tag != "font":
        return []
    color = element.get("color", "")
    return [f"color: {color}"] if re.fullmatch(r"#?\w+", color) else []


def _sizes(element: Element) -> list[str]:
    """`width="50%"` of a picture -> a style; whole numbers stay."""
    styles = []
    for side in ("width", "height"):
        value = element.get(side)
        if value is not None and not value.strip().isdigit():
            del element.attrib[side]
            if length := _LENGTH.fullmatch(value):
                styles.append(f"{side}: {length[1]}{length[2] or 'px'}")
    return styles


def _name_as_id(element: Element, ids: set[str | None]) -> None:
    name = element.attrib.pop("name")
    if not element.get("id") and name not in ids:
        element.set("id", name)
        ids.add(name)


def _drop_by_element(element: Element, tag: str) -> None:
    """Attributes that only some elements lost."""
    if tag in ("ul", "li", "br", "hr"):
        element.attrib.pop("type", None)
    if tag in ("td", "table", "tr"):
        for key in ("scope", "abbr"):
            element.attrib.pop(key, None)
    if tag in ("a", "link"):
        for key in ("shape", "coords"):
            element.attrib.pop(key, None)
    if tag == "img":
        element.attrib.pop("name", None)
        if element.get("alt") is None:
            element.set("alt", "")
    element.attrib.pop(f"{{{XML}}}space", None)
