"""Markup that no XML parser takes -> markup that an HTML parser reads without losing text."""

import re

MAX_DEPTH = 500  # of what is rebuilt; the parser gives up at 2,048, no real book reaches 100
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# Elements that flow with the words around them; any other ends a line where its tag is taken out.
INLINE = frozenset(
    "a abbr b bdi bdo big cite code em font i q s small span strong sub sup u".split()
)

# <a id="x"/> -> <a id="x"></a>: in HTML a slash does not close an element
SELF_CLOSED = re.compile(r"<([A-Za-z][\w:.-]*)((?:[^<>\"'/]|/(?!>)|\"[^\"<]*\"|'[^'<]*')*+)/>")
# <![CDATA[3 < 4]]> -> 3 < 4, which HTML would take for a comment
CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
# </body></html><p>More -> <p>More, which would be lost
CLOSED_EARLY = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)
# <div class="a"> or </div> or a comment -> matches
TAG = re.compile(
    r"<!--.*?-->|<(/?)([A-Za-z][\w:.-]*)((?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+)>", re.DOTALL
)


def as_html(text: str) -> str:
    """Write XHTML the way HTML needs it: nothing closes itself, nothing stands after the end."""
    text = CDATA.sub(_escaped, text)
    text = CLOSED_EARLY.sub("", text)
    return SELF_CLOSED.sub(_open_and_close, text)


def flattened(text: str) -> str:
    """Take out the tags below `MAX_DEPTH`, so that a parser with a limit reads all the text."""
    kept: list[tuple[str, bool]] = []
    num_open = 0

    def tag(match: re.Match[str]) -> str:
        nonlocal num_open
        name = (match.group(2) or "").lower()
        if not name or name in VOID or match.group(3).endswith("/"):
            return match.group(0)
        if not match.group(1):
            is_kept = num_open < MAX_DEPTH
            kept.append((name, is_kept))
            num_open += is_kept
        elif not kept or kept[-1][0] != name:
            return match.group(0) if num_open < MAX_DEPTH else ""  # closes nothing that is open
        else:
            is_kept = kept.pop()[1]
            num_open -= is_kept
        return match.group(0) if is_kept else "" if name in INLINE else "<br>"

    return TAG.sub(tag, text)


def _open_and_close(match: re.Match[str]) -> str:
    name, rest = match.group(1), match.group(2)
    return match.group(0) if name.lower() in VOID else f"<{name}{rest}></{name}>"


def _escaped(match: re.Match[str]) -> str:
    return match.group(1).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
