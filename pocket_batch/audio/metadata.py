"""Chapters, and ffmpeg's text format for them.

Source: https://ffmpeg.org/ffmpeg-formats.html#Metadata-2
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

HEADER = ";FFMETADATA1"
MAX_TITLE_BYTES = 250  # a Nero chapter's title has one length byte
_SPECIAL = re.compile(r"[=;#\\\n]")  # `a=b` -> `a\=b`
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\s]+")  # `One\nTwo` -> `One Two`


@dataclass(frozen=True, slots=True)
class ChapterSpan:
    """A chapter of a file: from sample `begin` up to, not including, `end`."""

    title: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundChapter:
    """A chapter as read back from a file, to the microsecond."""

    title: str
    begin_s: Fraction
    end_s: Fraction


def one_line(text: str, max_bytes: int = MAX_TITLE_BYTES) -> str:
    """Text that every format keeps as it is: no control characters, at most `max_bytes` long.

    A backslash at the end goes: ffmpeg takes it, even escaped, for a line that continues.
    """
    text = _UNPRINTABLE.sub(" ", text).strip().rstrip("\\ ")
    if len(text.encode()) <= max_bytes:
        return text
    cut = text.encode()[: max_bytes - len("…".encode())].decode("utf-8", "ignore")
    return cut.rstrip() + "…"


def dump_chapters(chapters: Sequence[ChapterSpan], sampling_rate_hz: int) -> str:
    """The chapters as the text of a metadata file, with times in samples."""
    lines = [HEADER]
    for chapter in chapters:
        title = _SPECIAL.sub(lambda match: "\\" + match.group(), chapter.title)
        lines += ["[CHAPTER]", f"TIMEBASE=1/{sampling_rate_hz}"]
        lines += [f"START={chapter.begin}", f"END={chapter.end}", f"title={title}"]
    return "\n".join(lines) + "\n"
