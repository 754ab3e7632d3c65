"""The header and licence that Project Gutenberg puts around its texts."""

import re
from collections.abc import Sequence

# *** START OF THE PROJECT GUTENBERG EBOOK EMMA *** -> matches
START = re.compile(r"\*\*\*\s*START OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
# *** END OF THIS PROJECT GUTENBERG EBOOK EMMA *** -> matches
END = re.compile(
    r"(?:\*\*\*\s*END OF (?:THE|THIS) PROJECT GUTENBERG|^End of (?:the )?Project Gutenberg)",
    re.IGNORECASE,
)
# Produced by Anonymous Volunteers -> matches
CREDITS = re.compile(
    r"^(?:Produced by|E-?text prepared by|Transcribed (?:from|by))\b", re.IGNORECASE
)
MAX_CREDITS_DISTANCE = 5  # paragraphs after the start line
# The longest of their headers and licences have about 13,000 and 20,000 characters. A line like
# theirs farther inside belongs to a collection of their texts, and must not silence the rest.
MAX_HEADER = 20_000
MAX_LICENCE = 30_000


def header_and_licence(paragraphs: Sequence[str]) -> tuple[int, int]:
    """Where the book itself begins and ends among the paragraphs of a file.

    Returns:
        Start (inclusive) and end (exclusive); the whole range when there are no such lines.
    """
    start = _start(paragraphs)
    end = len(paragraphs)
    num_characters = 0
    for index in range(len(paragraphs) - 1, start - 1, -1):
        num_characters += len(paragraphs[index])
        if num_characters > MAX_LICENCE:
            break
        if END.search(paragraphs[index]):
            end = index
    return start, end


def _start(paragraphs: Sequence[str]) -> int:
    num_characters = 0
    for index, paragraph in enumerate(paragraphs):
        if num_characters > MAX_HEADER:
            return 0
        num_characters += len(paragraph)
        if START.search(paragraph):
            following = paragraphs[index + 1 : index + 1 + MAX_CREDITS_DISTANCE]
            credits = (n for n, text in enumerate(following, start=1) if CREDITS.search(text))
            return index + 1 + next(credits, 0)
    return 0
