"""Which texts belong together, and in which split they are: by the text alone, so that adding rows
never moves others."""

import unicodedata
from hashlib import blake2b

from pocket_batch.rows import Split
from pocket_batch.settings import SplitSettings


def text_group(text: str) -> str:
    """`“It’s  HERE!”` -> `its here`: equal for texts that differ in case, width, punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    letters = (c if c.isalnum() or unicodedata.category(c)[0] == "M" else _gap(c) for c in folded)
    return " ".join("".join(letters).split())


def _gap(character: str) -> str:
    """Apostrophes join what they stand in; all other marks separate."""
    return "" if character in "'’‘`´" else " "


def split_of(group: str, settings: SplitSettings) -> Split:
    """The split of all texts of a group; another seed is another division."""
    share = unit_hash(f"split {settings.seed} {group}")
    if share < settings.test:
        return "test"
    return "validation" if share < settings.test + settings.validation else "train"


def unit_hash(text: str) -> float:
    """A number from 0 to 1 that only the text decides."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=7).digest()) / 2**56
