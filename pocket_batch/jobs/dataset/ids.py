"""Ids that every format and every file system takes, made without looking at other rows."""

import re
from hashlib import blake2b

MAX_LENGTH = 100
NUM_HASH = 8
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+|-{2,}")  # two hyphens part an id from what is added to it
_RESERVED = re.compile(r"-sub\d*$")  # of NeMo's tar files
# Names that a reader takes for a split, or a file system for a device.
_SPECIAL = re.compile(
    r"(?:con|prn|aux|nul|com\d|lpt\d|__.*__)$"
    r"|(?:.*[-_ ])?(?:train|training|dev|val|valid|validation|test|testing|eval)(?:[-_ ].*)?$",
    re.IGNORECASE,
)


def safe_id(name: str) -> str:
    """`v1.5_0` -> `v1_5_0-` and a hash: letters, digits, `_` and `-` only.

    An id that has to be changed gets a hash of what it was, so that two of them stay two.
    """
    safe = _OTHERS.sub("_", name).strip("_-")[:MAX_LENGTH]
    if _RESERVED.search(safe) or _SPECIAL.match(safe):
        safe = f"id_{safe}"[: MAX_LENGTH - 1] + "_"
    if safe == name:
        return safe
    return f"{safe[: MAX_LENGTH - NUM_HASH - 1].rstrip('_-') or 'id'}_{short_hash(name)}"


def row_id(source_id: str, text: str, voice: str = "", part: int = 0, take: int = 0) -> str:
    """The id of a row: that of its corpus, or one of its text.

    Args:
        source_id: what the corpus calls it, or empty.
        text: as written.
        voice: added where several speak each text.
        part: of a text that was cut, from 1; 0 for a whole one.
        take: of a text that is spoken more than once, from 0.
    """
    base = safe_id(source_id) if source_id else f"u{short_hash(text, 8)}"
    voice = safe_id(voice) if voice else ""
    parts = (f"p{part}" if part else "", f"t{take}" if take else "", voice)
    return "--".join(filter(None, (base, *parts)))


def short_hash(text: str, num_bytes: int = NUM_HASH // 2) -> str:
    """Hex digits of a hash."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=num_bytes).hexdigest()
