"""Preformatted text: code, or a poem or a letter that only keeps its lines."""

import re

from pocket_batch.sources.markup import Element, local_name, semantic_types, text_of

CODE_CLASSES = frozenset(
    ("programlisting", "sourcecode", "codeblock", "code-block", "codehilite", "codelisting")
)
PRE_CLASSES = CODE_CLASSES | {"code", "screen", "prettyprint", "highlight", "listing", "console"}
VERSE_CLASSES = frozenset({"poem", "poetry", "verse", "stanza", "letter", "lyrics"})
CODE_TAGS = frozenset({"code", "kbd", "samp", "var"})
# "x = f[y]" has three; a poem has none
SYMBOL = re.compile(r"[{}\[\]<>=$|\\#_/*@&~^`]")
# "The sea, the sea!" -> matches; "sudo make install" does not
PROSE = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ’]*\b|[,!?“”„«»’—]")
MIN_SYMBOL_SHARE = 0.01


def is_code(pre: Element) -> bool:
    """Whether a `pre` element is code: by its markup, else by the characters in it."""
    for around in (pre, *pre.iterancestors()):
        words = {*around.get("class", "").lower().split(), *semantic_types(around)}
        if words & VERSE_CLASSES or any(word.startswith("z3998:") for word in words):
            return False
    classes = set(pre.get("class", "").lower().split())
    if classes & PRE_CLASSES or any(local_name(inner) in CODE_TAGS for inner in pre):
        return True
    text = text_of(pre)
    num_symbols = sum(1 for _ in SYMBOL.finditer(text))
    return num_symbols > MIN_SYMBOL_SHARE * len(text) or PROSE.search(text) is None
