"""Quotations and brackets of a paragraph: where each pair opens and closes."""

import re

# What closes an opener; German „…“ and »…«, and single quotes of both kinds, are among them.
_CLOSERS_OF = {
    "(": ")", "[": "]", "“": "”", "„": "“”", "‘": "’", "‚": "‘’", "‹": "›", "›": "‹", "«": "»",
    "»": "«", "「": "」", "『": "』", "（": "）", '"': '"', "'": "'", "`": "'’",
}  # fmt: skip
_MARKS = re.compile(r"[()\[\]“”„‘’‚‹›«»「」『』（）\"'`]")
_BEFORE_OPENER = " ([“„‘«»‹—–-/'\"¿¡"
_BEFORE_CLOSER = ".,;:!?…—–-"  # of a straight single quote, which is mostly an apostrophe


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """Find the outermost quotations and brackets that both open and close.

    Args:
        text: one paragraph, white space folded.

    Returns:
        Places of the opening and the closing mark, in order, none inside another. An opening
        mark that never closes (speech that goes on in the next paragraph) makes no span.
    """
    open_marks: list[tuple[str, int]] = []
    spans: list[tuple[int, int]] = []
    for match in _MARKS.finditer(text):
        mark, place = match[0], match.start()
        depth = next(
            (d for d in range(len(open_marks)) if mark in _CLOSERS_OF[open_marks[-1 - d][0]]), None
        )
        if depth is not None and not _opens_anew(text, mark, place):
            if mark in "'’" and not _closes_single(text, mark, place):
                continue
            start = open_marks[-1 - depth][1]
            del open_marks[len(open_marks) - 1 - depth :]
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, place))
        elif mark in _CLOSERS_OF and _opens(text, mark, place):
            # A quotation inside one of its own kind: the first was never closed.
            open_marks = [(m, p) for m, p in open_marks if m != mark][-8:]
            open_marks.append((mark, place))
    return spans


def _opens(text: str, mark: str, place: int) -> bool:
    """Tell an opening mark from a closing one, an apostrophe or an inch."""
    if mark in "([“„«「『（":
        return True
    before = text[place - 1] if place else " "
    after = text[place + 1 : place + 2]
    if mark == "«" and after == " ":  # French `« Oui »`, not the end of German `»Ja.« `
        return before == " "
    return before in _BEFORE_OPENER and after not in ("", " ", ".", ",", ";")


def _opens_anew(text: str, mark: str, place: int) -> bool:
    """Tell a straight mark that opens, although one of its kind is still open."""
    if mark not in "\"'":
        return False
    return (not place or text[place - 1] == " ") and text[place + 1 : place + 2].isalnum()


def _closes_single(text: str, mark: str, place: int) -> bool:
    """Tell a closing single quote from an apostrophe."""
    if text[place + 1 : place + 2].isalnum():
        return False
    return mark == "’" or text[place - 1] in _BEFORE_CLOSER
