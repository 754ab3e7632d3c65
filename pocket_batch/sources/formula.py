"""Raised and lowered digits and formulas as text, so that 10<sup>2</sup> is never read as 102."""

import re
from itertools import islice

from lxml import etree

from pocket_batch.sources.announce import word_for
from pocket_batch.sources.markup import Element, fold, local_name, text_of
from pocket_batch.sources.visible import INVISIBLE

SUPERSCRIPT = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
SUBSCRIPT = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
# 2 or -12 -> matches
SIGNED_DIGITS = re.compile(r"[+\-−]?[0-9]+")
TOKENS = frozenset({"mi", "mn", "mo", "ms", "mtext"})
SCRIPTS = {("msup", 1): True, ("msub", 1): False, ("msubsup", 1): False, ("msubsup", 2): True}
ROWS = frozenset({"math", "mrow", "mstyle", "mtd", "msqrt", "mpadded", "mfenced"})
OPERATORS = re.compile("[\u2061-\u2064]")  # function application, invisible times and so on
FORMULA_CLASSES = frozenset({"math", "tex", "latex", "formula", "equation", "inline-math"})

# \frac{a}{b} -> group 1 a, group 2 b
FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
# \sqrt{b} -> group 1 b
ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
# ^{12} or ^2 -> group 1 ^, group 2 12
SCRIPT = re.compile(r"([\^_])(?:\{([+\-−]?\d+)\}|(\d))")
# \left or \mathrm or \begin{matrix} -> matches: nothing to say
SILENT_COMMAND = re.compile(
    r"\\(?:left|right|big|Big|bigg|Bigg|displaystyle|textstyle|quad|qquad|limits|nolimits|,|;|!|:"
    r"|math(?:rm|bf|it|cal|bb|sf|frak)|text(?:rm|bf|it)?|operatorname\*?|begin\{\w+\*?\}"
    r"|end\{\w+\*?\})(?![A-Za-z])"
)
# \alpha -> group 1 alpha
COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
SYMBOLS = {
    **{"times": "×", "cdot": "·", "div": "÷", "pm": "±", "le": "≤", "leq": "≤", "ge": "≥"},
    **{"geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "equiv": "≡", "to": "→", "infty": "∞"},
    **{"rightarrow": "→", "in": "∈", "sum": "∑", "int": "∫", "sqrt": "√", "partial": "∂"},
    **{"ldots": "…", "dots": "…", "cdots": "…"},
}


def shifted_digits(text: str, *, is_raised: bool) -> str:
    """Superscript or subscript digits: "2" -> "²" or "₂"; empty for any other text, like "st"."""
    if not SIGNED_DIGITS.fullmatch(text):
        return ""
    return text.translate(SUPERSCRIPT if is_raised else SUBSCRIPT)


def spoken_math(math: Element, language: str = "") -> str:
    """The symbols of a formula with spaces between; powers and indices as raised digits.

    "over" stands between the parts of a fraction. A formula without symbols is read from the
    source in its `alttext`.
    """
    words: list[str] = []
    for event, element in (tree := etree.iterwalk(math, ("start", "end", "comment", "pi"))):
        if event != "start":
            _add_word(words, element.tail if element is not math else None)
            continue
        tag = local_name(element)
        if tag in INVISIBLE:
            tree.skip_subtree()
            continue
        around, place = _place(element) if element is not math else ("", 0)
        if around == "mfrac" and place == 1:
            _add_word(words, word_for("over", language))
        if tag in ("msqrt", "mroot"):
            _add_word(words, "√")
        is_raised = SCRIPTS.get((around, place))
        text = text_of(element) if tag in TOKENS or is_raised is not None else ""
        shifted = ""
        if is_raised is not None:
            shifted = shifted_digits(text.replace(" ", ""), is_raised=is_raised)
        if words and (shifted or (tag == "mn" and _goes_on(element, around))):
            words[-1] += shifted or text
        elif tag in TOKENS:
            _add_word(words, text)
        else:
            _add_word(words, element.text)
            continue
        tree.skip_subtree()
    text = " ".join(words) or formula_source(math)
    return f" {text} " if text else ""


def is_formula_image(image: Element) -> bool:
    """Whether a picture is said to show a formula."""
    classes = set(image.get("class", "").lower().split())
    return image.get("data-latex") is not None or bool(classes & FORMULA_CLASSES)


def formula_source(element: Element) -> str:
    """What attributes say about a formula, as text that can be spoken; empty without any."""
    source = element.get("data-latex") or element.get("alttext") or element.get("alt") or ""
    return latex_as_text(source)


def latex_as_text(source: str) -> str:
    r"""LaTeX or plain text -> symbols and words: "\frac{a}{2}^{2}" -> "a / 2²"."""
    text = SCRIPT.sub(_script, SILENT_COMMAND.sub(" ", source))
    for _ in range(3):  # fractions in fractions
        text = FRACTION.sub(r" \1 / \2 ", ROOT.sub(r" √ \1 ", text))
    text = COMMAND.sub(lambda match: f" {SYMBOLS.get(match[1], match[1])} ", text)
    return fold(re.sub(r"[{}$&\\~]", " ", text))


def _place(element: Element) -> tuple[str, int]:
    """The element around a part of a formula, and which of its parts this is, if that matters."""
    parent = element.getparent()
    around = local_name(parent)
    if around not in ("msup", "msub", "msubsup", "mfrac"):
        return around, 0
    return around, sum(1 for _ in islice(element.itersiblings(preceding=True), 3))


def _goes_on(number: Element, around: str) -> bool:
    # <mn>1</mn><mn>5</mn>: some converters write each digit as a number of its own
    before = number.getprevious() if around in ROWS else None
    return before is not None and local_name(before) == "mn" and not (before.tail or "").strip()


def _script(match: re.Match[str]) -> str:
    return shifted_digits(match[2] or match[3], is_raised=match[1] == "^")


def _add_word(words: list[str], text: str | None) -> None:
    if text and (word := fold(OPERATORS.sub("", text))):
        words.append(word)
