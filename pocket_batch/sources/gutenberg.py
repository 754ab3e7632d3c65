"""The header and licence that Project Gutenberg puts around its texts."""

import re
from collections.abc import Sequence

# *** START OF THE PROJECT GUTENBERG EBOOK EMMA *** -> matches
START = re.compile(r"\*\*\*\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
END = re.compile(
    r"(?:\*\*\*\s*END OF (?:THE|THIS) PROJECT GUTENBERG|^End of (?:the )?Project Gutenberg)",
    re.IGNORECASE,
)
# Produced by Anonymous Volunteers -> matches
CREDITS = re.compile(
    r"^(?:Produced by|E-?text prepared by|Transcribed (?:from|by))\b", re.IGNORECASE
)
MAX_CREDITS_DISTANCE = 5  # paragraphs after the start line


def header_and_licence(paragraphs: Sequence[str]) -> tuple[int, int]:
    """Where the book itself begins and ends among the paragraphs of a file.

    Returns:
        Start (inclusive) and end (exclusive); the whole range when there are no such lines.
    """
    start, end = 0, len(paragraphs)
    for index, paragraph in enumerate(paragraphs):
        if START.search(paragraph):
            start = index + 1
            break
    for index in range(start, end):
        if END.search(paragraphs[index]):
            end = index
            break
    if start:
        for index in range(start, min(end, start + MAX_CREDITS_DISTANCE)):
            if CREDITS.search(paragraphs[index]):
                start = index + 1
                break
    return start, end
