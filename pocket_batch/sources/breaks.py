"""The raw text of a block, with marks for what stood in it -> lines of plain text."""

import re

ANCHOR = "\x1c"  # marks of characters that XML cannot hold
HARD_BREAK = "\x1d"
LINE_BREAK = "\x1e"
NOTE_AT = "\x1b"
POINTS = (ANCHOR, NOTE_AT)  # marks that have a place but no width

# "line<br/> <br/>line" -> a break as hard as that between paragraphs
BLANK_LINE = re.compile(f"{LINE_BREAK}[\\s{ANCHOR}{NOTE_AT}]*{LINE_BREAK}[\\s{ANCHOR}{NOTE_AT}]*")
# "CHAPTER IV<br/>The Gate" -> "CHAPTER IV. The Gate": a number and a title are two things
NUMBER_LINE = re.compile(rf"(\b(?:\d+|[IVXLC]+))\s*{LINE_BREAK}\s*(?=[^\W\d_a-z])")
# "* * *" or "⁂" or "—" or "..." -> matches
ORNAMENT = re.compile(r"[\s*·•.…⁂❦❧☙~_=#+◆◇■□●○✦✧★☆※\u2013\u2014-]+")


def split_lines(raw: str, *, is_heading: bool, is_row: bool) -> list[str]:
    """Split a block at its breaks; a line that goes on in lower case belongs to the one before.

    The marks of anchors and notes stay where they are. A heading is not split at single breaks.
    """
    if LINE_BREAK in raw:
        raw = BLANK_LINE.sub(_hard, raw)
    if is_heading:
        raw = NUMBER_LINE.sub(r"\1. ", raw)
    if is_heading or is_row:
        return raw.replace(LINE_BREAK, " ").split(HARD_BREAK)
    lines: list[list[str]] = []  # each as the parts that belong together
    for part in raw.split(HARD_BREAK):
        lines.append([])
        for line in part.split(LINE_BREAK):
            first = without_points(line).lstrip()[:1]
            if not any(lines[-1]) or first.islower() or not first:
                lines[-1].append(line)
            else:
                lines.append([line])
    return [" ".join(parts).lstrip(" ") if len(parts) > 1 else "".join(parts) for parts in lines]


def without_points(text: str) -> str:
    """Take out the marks of anchors and notes."""
    for point in POINTS:
        if point in text:
            text = text.replace(point, "")
    return text


def _hard(match: re.Match[str]) -> str:
    return HARD_BREAK + "".join(char for char in match[0] if char in POINTS)
