"""What may be done with a set: the strictest of what its voices and its text allow."""

import re
from collections.abc import Mapping

from pocket_batch.dataset_settings import LicenceSettings
from pocket_batch.errors import UsageError

UNKNOWN = "unknown"
# From the freest to the strictest: (pattern of the name in small letters, rank).
_RANKS = (
    (re.compile(r"cc0|pd|pddl|public[- ]domain|unlicense"), 0),
    (re.compile(r"mit|apache|bsd|isc|zlib|bsl"), 1),
    (re.compile(r"cc-by(?!-nc|-nd|-sa)|odc-by|cdla-permissive"), 2),
    (re.compile(r"cc-by-sa|agpl|gpl|lgpl|odbl|cdla-sharing"), 3),
    (re.compile(r"cc-by-nd"), 4),
    (re.compile(r"cc-by-nc(?!-nd|-sa)"), 5),
    (re.compile(r"cc-by-nc-sa"), 6),
    (re.compile(r"cc-by-nc-nd"), 7),
)
_UNKNOWN_RANK = 9
# Those of the Hugging Face Hub that a set of speech may have.
_HUB = frozenset(
    "apache-2.0 mit isc zlib unlicense pddl bsd bsd-2-clause bsd-3-clause bsl-1.0 odc-by odbl "
    "cc cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nd-4.0 "
    "cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 "
    "cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 agpl-3.0 "
    "cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0".split()
)
_NONCOMMERCIAL = 5
_NC = re.compile(r"\bnc\b|non-?commercial")


def rank(licence: str) -> int:
    """How strict a licence is: 0 allows all, 9 is not known."""
    small = normal(licence)
    found = next((number for pattern, number in _RANKS if pattern.match(small)), _other(small))
    return max(found, _NONCOMMERCIAL) if _NC.search(small) else found


def _other(small: str) -> int:
    return _NONCOMMERCIAL if _NC.search(small) else _UNKNOWN_RANK


def normal(licence: str) -> str:
    """`CC BY 4.0` -> `cc-by-4.0`."""
    small = re.sub(r"[\s_]+", "-", licence.strip().casefold())
    return small.replace("creative-commons", "cc").replace("ccby", "cc-by")


def is_noncommercial(licence: str) -> bool:
    """Whether it forbids commercial use."""
    return _NONCOMMERCIAL <= rank(licence) < _UNKNOWN_RANK


def licence_of_set(voices: Mapping[str, str], settings: LicenceSettings) -> str:
    """The licence that a set gets.

    Args:
        voices: the licence of each voice by its name.
        settings: that of the text, and what is wanted or allowed.

    Returns:
        The strictest of all, or the one that is wanted if that is no freer.

    Raises:
        UsageError: naming each voice, or the text, that does not go with what is wanted.
    """
    of_all = {f"voice {name}": licence for name, licence in voices.items()}
    if settings.text:
        of_all["the text"] = settings.text
    _refuse_unknown(of_all, settings)
    _refuse_noncommercial(of_all, settings)
    strictest = max(of_all.values(), key=rank, default=UNKNOWN)
    if settings.wanted is None:
        return strictest
    too_strict = {who: what for who, what in of_all.items() if rank(what) > rank(settings.wanted)}
    if too_strict:
        raise UsageError(
            f"The set is to be {settings.wanted}, and {_listed(too_strict)}. Choose other voices "
            f"(`pocket-batch voices`), or leave --license out: the set then is {strictest}."
        )
    return settings.wanted


def _refuse_unknown(of_all: Mapping[str, str], settings: LicenceSettings) -> None:
    unknown = {who: what for who, what in of_all.items() if rank(what) == _UNKNOWN_RANK}
    if unknown and not settings.allow_unknown:
        raise UsageError(
            f"Nobody knows what may be done with this set: {_listed(unknown)}. Choose other voices "
            "(`pocket-batch voices`), or give --allow-unknown-license if you know."
        )


def _refuse_noncommercial(of_all: Mapping[str, str], settings: LicenceSettings) -> None:
    found = {who: what for who, what in of_all.items() if is_noncommercial(what)}
    if found and not settings.allow_noncommercial:
        raise UsageError(
            f"Not for commercial use: {_listed(found)}. Choose other voices, or give "
            "--allow-noncommercial: the whole set then is so."
        )


def _listed(of_all: Mapping[str, str]) -> str:
    return ", ".join(f"{who} is {what or UNKNOWN}" for who, what in sorted(of_all.items()))


def hub_licence(licence: str) -> str:
    """The id that model hubs have for a licence: `CC-BY-4.0` -> `cc-by-4.0`."""
    small = normal(licence)
    if rank(licence) == _UNKNOWN_RANK:
        return "other" if small not in ("", UNKNOWN) else UNKNOWN
    if rank(licence) == 0 and "cc0" in small:
        return "cc0-1.0"
    return small if small in _HUB else "other"
