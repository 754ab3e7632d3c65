"""Raised and lowered digits and formulas as text, so that 10<sup>2</sup> is never read as 102."""

import re

from lxml import etree

from pocket_batch.sources.markup import Element, fold, local_name

SUPERSCRIPT = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
SUBSCRIPT = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
SIGNED_DIGITS = re.compile(r"[+\-−]?[0-9]+")
SILENT = frozenset({"math", "annotation", "annotation-xml"})


def shifted_digits(text: str, *, is_raised: bool) -> str:
    """Superscript or subscript digits: "2" -> "²" or "₂"; empty for any other text, like "st"."""
    if not SIGNED_DIGITS.fullmatch(text):
        return ""
    return text.translate(SUPERSCRIPT if is_raised else SUBSCRIPT)


def spoken_math(math: Element) -> str:
    """The symbols of a formula with spaces between; powers as superscript digits."""
    words: list[str] = []
    for element in math.iter(etree.Element):
        tag, text = local_name(element), fold(element.text or "")
        if not text or tag in SILENT:
            continue
        parent = element.getparent()
        is_power = local_name(parent) == "msup" and parent.index(element) == 1
        raised = shifted_digits(text, is_raised=True) if is_power else ""
        if raised and words:
            words[-1] += raised
        else:
            words.append(text)
    return f" {' '.join(words)} " if words else ""
