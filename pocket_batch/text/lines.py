"""Line breaks inside a text that no reader has joined: which of them end a part."""

import re

# The breaks of wrapped prose come where the next word would not fit; one that comes this much
# sooner was made on purpose.
_EARLY = 0.7
_NARROW = 40  # characters; prose is wrapped wider


def separate_parts(text: str) -> list[str]:
    """Split a text at empty lines and at the line breaks that were made on purpose.

    Those come long before the line is full, or before a line indented by a tab; the line after
    them begins with a capital, a digit or a mark. Three or more short lines without a stop or
    comma at their ends are a list. Other breaks wrap prose and join.

    Returns:
        The parts in order, white space folded, none empty.
    """
    parts: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line for line in paragraph.split("\n") if line.strip()]
        is_list = len(lines) > 2 and all(map(_is_item, lines))
        width = max((len(line.strip()) for line in lines), default=0)
        held: list[str] = []
        for line in lines:
            if held and (is_list or _is_on_purpose(held[-1], line, width)):
                parts.append(" ".join(held))
                held = []
            held.append(" ".join(line.split()))
        if held:
            parts.append(" ".join(held))
    return parts


def _is_item(line: str) -> bool:
    """Tell a short line that nothing punctuates."""
    line = line.strip()
    return 1 < len(line) < _NARROW and line[-1] not in ".,;:!?…-—–\"'”’)"


def _is_on_purpose(before: str, line: str, width: int) -> bool:
    """Tell a break that ends something from one that wraps a line of prose."""
    words = line.split()
    if words[0][0].islower() and len(words[0].rstrip(".)")) > 1:
        return False
    return line.startswith("\t") or len(before) + 1 + len(words[0]) < _EARLY * width
