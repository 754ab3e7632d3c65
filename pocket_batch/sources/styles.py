"""Style sheets: the elements that they surely hide.

Only simple selectors outside at-rules hide (`p.note`, `#ad`, `.screen-only`); any rule that might
show the element again, whatever its selector is, keeps it: text that is spoken though it should be
hidden does less harm than text that is lost.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from lxml import etree

from pocket_batch.sources.markup import Element, local_name

MAX_SHEET = 1_000_000  # characters; larger ones hold pictures or are no style sheets
MAX_RULES = 3_000  # a document with more is taken to hide nothing

# The expressions below look at each character once, whatever a sheet leaves open.
# "a /* b */ c" -> "a   c"
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# @import url(x.css); -> matches
STATEMENT = re.compile(r"@[^@{};]*+;")
# @media print { p { color: red } } -> matches, the part in braces is group 1
AT_RULE = re.compile(r"@[^@{};]*+\{((?:[^{}]*+\{[^{}]*+\})*+[^{}]*+)\}")
# p.a, p.b { display: none } -> "p.a, p.b " and " display: none "
RULE = re.compile(r"(?<![^{}])([^{}]*+)\{([^{}]*+)\}")
# p.note#x -> matches; "div p" and "p:hover" do not
COMPOUND = re.compile(r"(\*|[A-Za-z][\w-]*)?((?:[.#][\w-]+)*)")
# p.note#x -> .note, #x
PART = re.compile(r"[.#][\w-]+")
# li:not(.a)[x="1"] -> ":not(.a)", "[x="1"]"
CONDITION = re.compile(r"::?[\w-]+(?:\([^()]*\))?|\[[^\[\]]*\]")
# div > p -> div, p
COMBINATOR = re.compile(r"\s*[>+~]\s*|\s+")
# display: none !important -> display, none, !important
PROPERTY = re.compile(r"(?:^|;)\s*(display|visibility)\s*:\s*([\w-]+)\s*(!\s*important)?", re.I)
# A sheet without a match hides nothing, whatever else it says.
HIDES = re.compile(r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
HIDING = frozenset({"none", "hidden", "collapse"})

Weight = tuple[bool, int, int, int, int]  # important, ids, classes, tags, order


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a selector asks of the element itself, and how much its rule weighs."""

    tag: str
    parts: frozenset[str]
    name: str
    weight: Weight
    hides: bool


def hidden_by_styles(root: Element, sheets: Sequence[str]) -> Iterator[Element]:
    """The elements that the style sheets of a document, or its `style` elements, hide."""
    inside = [e.text or "" for e in root.iter("{*}style")]
    if not any(HIDES.search(sheet) for sheet in (*sheets, *inside)):
        return
    rules = [rule for n, sheet in enumerate((*sheets, *inside)) for rule in _rules(sheet, n)]
    if not any(rule.hides for rule in rules) or len(rules) > MAX_RULES:
        return
    used = frozenset().union(*(rule.parts for rule in rules))
    known: dict[tuple[str, frozenset[str]], bool] = {}
    for element in root.iter(etree.Element):
        tag = local_name(element)
        if tag in ("html", "body", "head") or "display" in element.get("style", ""):
            continue
        names = {f".{name}" for name in element.get("class", "").split()}
        names.add(f"#{element.get('id', '')}")
        key = (tag, used & names)
        if key not in known:
            known[key] = _is_hidden(*key, rules)
        if known[key]:
            yield element


def _is_hidden(tag: str, names: frozenset[str], rules: list[_Rule]) -> bool:
    strongest: dict[str, _Rule] = {}
    for rule in rules:
        if rule.tag in ("*", tag) and rule.parts <= names:
            before = strongest.get(rule.name)
            if before is None or rule.weight >= before.weight:
                strongest[rule.name] = rule
    return any(rule.hides for rule in strongest.values())


def linked_sheets(root: Element) -> list[str]:
    """The addresses of the style sheets that a document links to, as they stand there."""
    return [
        element.get("href")
        for element in root.iter("{*}link")
        if element.get("rel", "").strip().lower() == "stylesheet" and element.get("href")
    ]


@lru_cache(maxsize=16)  # the documents of a book share their sheets
def _rules(sheet: str, number: int) -> tuple[_Rule, ...]:
    is_readable = len(sheet) <= MAX_SHEET
    return tuple(islice(_parse(sheet, number), MAX_RULES + 1)) if is_readable else ()


def _parse(sheet: str, number: int) -> Iterator[_Rule]:
    text = STATEMENT.sub("", COMMENT.sub(" ", sheet))
    conditional: list[str] = AT_RULE.findall(text)
    order = number * MAX_SHEET
    for part, is_sure in ((AT_RULE.sub("", text), True), ("".join(conditional), False)):
        for selectors, body in RULE.findall(part):
            for name, value, important in PROPERTY.findall(body):
                for selector in selectors.split(","):
                    order += 1
                    hides = value.lower() in HIDING
                    rule = _rule(selector.strip(), name.lower(), bool(important), order, hides)
                    # What hides only under conditions is not sure; what may show is enough.
                    if rule is not None and (not hides or (is_sure and _is_simple(selector))):
                        yield rule


def _is_simple(selector: str) -> bool:
    match = COMPOUND.fullmatch(selector.strip())
    return match is not None and bool(match.group(0)) and match.group(0) != "*"


def _rule(selector: str, name: str, is_important: bool, order: int, hides: bool) -> _Rule | None:
    plain = CONDITION.sub("", selector)
    match = COMPOUND.fullmatch(COMBINATOR.split(plain)[-1])
    if match is None:  # not understood: it may show anything
        return None if hides else _Rule("*", frozenset(), name, (True, 0, 0, 0, order), hides)
    num_ids, num_classes = plain.count("#"), selector.count(".") + selector.count("[")
    num_tags = len(re.findall(r"(?:^|[\s>+~])[A-Za-z]", selector))
    weight = (is_important, num_ids, num_classes, num_tags, order)
    parts = frozenset(PART.findall(match.group(2)))
    return _Rule((match.group(1) or "*").lower(), parts, name, weight, hides)
