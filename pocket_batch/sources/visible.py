"""The text inside an element that a reader can see, and that of its parts which are special."""

from collections.abc import Iterator

from lxml import etree

from pocket_batch.sources.markup import Element, fold, local_name

INVISIBLE = frozenset(
    (
        *("head", "script", "style", "template", "datalist"),
        *("annotation", "annotation-xml", "metadata", "desc", "mphantom"),
    )
)
LABELS = frozenset({"text", "foreignobject"})


def is_invisible(element: Element, tag: str) -> bool:
    """Whether an element is never shown: its text is neither spoken nor listed."""
    return tag in INVISIBLE or (tag == "title" and element.getparent() is not None)


def visible_text(element: Element) -> str:
    """All text inside an element that is shown, folded."""
    return fold("".join(_texts(element)))


def drawing_labels(svg: Element) -> list[str]:
    """The texts of a drawing, in the order of its markup."""
    labels = []
    for _, node in (tree := etree.iterwalk(svg, ("start",))):
        tag = local_name(node)
        if is_invisible(node, tag) and node is not svg:
            tree.skip_subtree()
        elif tag in LABELS:
            labels.append(visible_text(node))
            tree.skip_subtree()
    return [label for label in labels if label]


def split_ruby(ruby: Element) -> tuple[str, str]:
    """The reading of annotated text, and what it stands for (with other annotations).

    A part of the base without a reading is read itself.
    """
    reading, rest, base, brackets = "", "", ruby.text or "", ""
    is_direct = any(local_name(child) == "rt" and visible_text(child) for child in ruby)
    for child in ruby:
        tag = local_name(child)
        if tag == "rt" or (tag == "rtc" and not is_direct and not reading):
            text = visible_text(child)
            reading += text or base
            rest += (base if text else "") + brackets
            base = brackets = ""
        elif tag in ("rp", "rtc"):
            brackets += visible_text(child)
            if not base:  # the one after a reading
                rest, brackets = rest + brackets, ""
        elif tag:
            base += visible_text(child)
        base += child.tail or ""
    return fold(reading + base), fold(rest + brackets)


def _texts(element: Element) -> Iterator[str]:
    for event, node in (tree := etree.iterwalk(element, ("start", "end", "comment", "pi"))):
        if event == "start":
            if node is not element and is_invisible(node, local_name(node)):
                tree.skip_subtree()
            else:
                yield node.text or ""
        elif node is not element:
            yield node.tail or ""
