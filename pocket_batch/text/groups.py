"""Which texts belong together, and in which split they are: by the text alone, so that adding rows
never moves others."""

import re
import unicodedata
from hashlib import blake2b

from pocket_batch.dataset_settings import SplitSettings
from pocket_batch.rows import Split

_APOSTROPHES = "'’‘`´ʼ＇"
_NO_APOSTROPHES = str.maketrans("", "", _APOSTROPHES)
_SPOKEN = "%‰#&@*/°§"  # beside currencies and the signs of sums
_MINUS = re.compile(r"(?<!\w)-(?=\d)")


class _Table(dict[int, str]):
    """What stands for each character, found when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        is_mark = category[0] == "M" and not 0xFE00 <= code <= 0xFE0F  # those choose a picture
        if character.isalnum() or is_mark:
            found = character
        elif category in ("Sc", "Sm") or character in _SPOKEN:
            found = f" {character} "
        else:
            found = "" if category in ("Cf", "Mn") else " "  # joiners, soft hyphens
        self[code] = found
        return found


_TABLE = _Table()


def text_group(text: str) -> str:
    """`“It’s  HERE!”` -> `its here`: equal for texts that differ in case, width, punctuation.

    Signs that are said, as in `$5` and `C++`, count; a text of nothing else is its own group.
    """
    folded = unicodedata.normalize("NFKC", text.translate(_NO_APOSTROPHES)).casefold()
    folded = _MINUS.sub("−", unicodedata.normalize("NFKC", folded))
    return " ".join(folded.translate(_TABLE).split()) or "".join(folded.split())


def split_of(group: str, settings: SplitSettings) -> Split:
    """The split of all texts of a group; another seed is another division."""
    share = unit_hash(f"split {settings.seed} {group}")
    if share < settings.test:
        return "test"
    return "validation" if share < settings.test + settings.validation else "train"


def unit_hash(text: str) -> float:
    """A number from 0 to 1 that only the text decides."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=7).digest()) / 2**56
