"""Named entities -> characters, before any parser sees them.

The document type declaration is taken off as well, so nothing external is read, and nothing can
be expanded again and again.
"""

import re
from html.entities import html5

MAX_EXPANSION = 1_000_000  # characters that the entities of one document may add
MAX_PROLOGUE = 1_000  # comments and instructions before a document type declaration

# <?xml version="1.0"?> -> (nothing)
DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
# White space, a comment or an instruction before the document type declaration.
PROLOGUE = re.compile(r"\s+|<!--.*?-->|<\?.*?\?>", re.DOTALL)
# <!DOCTYPE html [<!ENTITY a "b">]> -> (nothing), the part in brackets is group 1
DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[(.*?)\]\s*)?>", re.DOTALL | re.IGNORECASE)
# <!ENTITY pub "The Press"> -> pub, The Press; <!ENTITY x SYSTEM "file"> -> x, and no value
ENTITY = re.compile(
    r"<!ENTITY\s+([^\W\d][\w.:-]*)\s+(?:\"([^\"]*)\"|'([^']*)'|(?:SYSTEM|PUBLIC)\s[^<>]*)\s*>"
)
# &eacute; -> eacute
REFERENCE = re.compile(r"&([^\W\d][\w.:-]*);")
# &#150; -> 150; &#x1F; -> x1F
NUMBERED = re.compile(r"&#(?:0*(\d{1,7})(?!\d)|[xX]0*([0-9a-fA-F]{1,6})(?![0-9a-fA-F]));?")
# U+0001 -> (nothing): characters that XML 1.0 cannot hold
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})


def without_entities(text: str) -> tuple[str, list[str]]:
    """Take off XML declaration and DOCTYPE (lines kept) and put characters for named entities.

    Entities that the document declares itself count as they are written; those it declares to
    lie outside are left out, and so are names that nobody declares.

    Returns:
        The text, and what is wrong with it: line and the rest of a sentence, `12 names ...`.
    """
    text = FORBIDDEN.sub("", text)
    if match := DECLARATION.match(text):
        text = "\n" * match.group(0).count("\n") + text[match.end() :]
    own: dict[str, str | None] = {}
    start = _end_of_prologue(text)
    if match := DOCTYPE.match(text, start):
        for name, double, single in ENTITY.findall(match.group(1) or ""):
            own.setdefault(name, double or single or None)
        lines = "\n" * match.group(0).count("\n")
        text = text[: match.start()] + lines + text[match.end() :]
    flaws: list[str] = []
    if "&" in text:
        references = _References(text, own)
        text = NUMBERED.sub(_numbered, REFERENCE.sub(references.replace, text))
        flaws = references.flaws
    return text, flaws


class _References:
    """Replaces the references of one document, within what they may add together."""

    def __init__(self, text: str, own: dict[str, str | None]) -> None:
        self._text = text
        self._own = own
        self._room = MAX_EXPANSION
        self._values: dict[str, str] = {}
        self._blamed: dict[str, str] = {}

    @property
    def flaws(self) -> list[str]:
        """What could not be replaced as it was meant, each name once."""
        return list(self._blamed.values())

    def replace(self, match: re.Match[str]) -> str:
        """What stands for one reference."""
        name = match.group(1)
        if name in XML_ENTITIES:
            return match.group(0)
        if name not in self._own:
            known = html5.get(f"{name};")
            if known is None and name.isupper():  # AT&T; or R&D;
                return f"&amp;{name};"
            if known is None:
                self._blame(match, "which nobody declares; it is left out")
                return ""
            return known.replace("&", "&amp;").replace("<", "&lt;")
        if self._own[name] is None:
            self._blame(match, "which lies outside of the document; it is left out")
            return ""
        value = self._values.setdefault(name, self._value(name, ()))
        self._room -= len(value)
        if self._room < 0 or not value:
            self._blame(match, "which stands for more than a document needs; it is left out")
            return ""
        return value

    def _value(self, name: str, parents: tuple[str, ...]) -> str:
        """The text of an entity with those inside it; empty when it has no end or is too long."""
        if name in self._values:
            return self._values[name]
        value = self._own.get(name, html5.get(f"{name};", ""))
        if name in parents or value is None or len(parents) > 20:
            return ""
        text, end = "", 0
        for match in REFERENCE.finditer(value):
            inner = match.group(1)
            text += value[end : match.start()]
            is_basic = inner in XML_ENTITIES
            text += match.group(0) if is_basic else self._value(inner, (*parents, name))
            end = match.end()
            if len(text) > MAX_EXPANSION:
                return ""
        self._values[name] = (text + value[end:]).replace('"', "&quot;")
        return self._values[name]

    def _blame(self, match: re.Match[str], what: str) -> None:
        name = match.group(1)
        if name not in self._blamed and len(self._blamed) < 5:
            line = self._text.count("\n", 0, match.start()) + 1
            self._blamed[name] = f"{line} names &{name:.40};, {what}"


def _end_of_prologue(text: str) -> int:
    place = 0
    for _ in range(MAX_PROLOGUE):
        match = PROLOGUE.match(text, place)
        if match is None:
            break
        place = match.end()
    return place


def _numbered(match: re.Match[str]) -> str:
    """&#150; -> an en dash: numbers of Windows-1252, as browsers read them; &#1; -> nothing."""
    number = int(match.group(1)) if match.group(1) else int(match.group(2), 16)
    if 0x80 <= number <= 0x9F:
        return bytes((number,)).decode("cp1252", "ignore")
    if number > 0x10FFFF or FORBIDDEN.match(chr(number)):
        return ""
    return match.group(0)
