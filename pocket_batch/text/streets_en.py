"""English postal addresses: house numbers, directions, kinds of street, states and postcodes."""

import re

from pocket_batch.text.numbers_en import begins_sentence, cardinal, digits, pairs
from pocket_batch.text.tables_en import STARTERS

_KINDS = {
    "St": "Street", "Ave": "Avenue", "Av": "Avenue", "Rd": "Road", "Blvd": "Boulevard",
    "Dr": "Drive", "Ln": "Lane", "Hwy": "Highway", "Expy": "Expressway", "Pkwy": "Parkway",
    "Ct": "Court", "Pl": "Place", "Sq": "Square", "Ter": "Terrace", "Cir": "Circle",
    "Tpke": "Turnpike", "Fwy": "Freeway",
}  # fmt: skip
_DIRECTIONS = {
    "N": "North", "S": "South", "E": "East", "W": "West",
    "NE": "Northeast", "NW": "Northwest", "SE": "Southeast", "SW": "Southwest",
}  # fmt: skip
_STATES = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California",
    "CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "FL": "Florida", "GA": "Georgia",
    "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa",
    "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine", "MD": "Maryland",
    "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota", "MS": "Mississippi",
    "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire",
    "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York", "NC": "North Carolina",
    "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania",
    "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee",
    "TX": "Texas", "UT": "Utah", "VT": "Vermont", "VA": "Virginia", "WA": "Washington",
    "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming", "DC": "DC",
}  # fmt: skip
# Two letters that after a name and a comma may be a degree or a word: a state only in an address.
_UNSURE = frozenset("AL AR CO CT DE GA HI ID IN LA MA MD ME MI MO MS OH OK OR PA SC SD VA".split())
_WHOLE_KINDS = (
    "Street|Avenue|Road|Boulevard|Drive|Lane|Court|Place|Square|Terrace|Circle|Parkway|Expressway"
    "|Turnpike|Freeway"
)

# `1211 E Arques Ave` -> `twelve eleven East Arques Avenue`; `221B Baker Street`
_COMPASS = "|".join(_DIRECTIONS)
_AFTER_ORDINAL = r"(?:(?<=\dst )|(?<=\dnd )|(?<=\drd )|(?<=\dth ))"
_STREET = re.compile(
    r"(?<![\w.,/$£€#-])(?<![Nn]o\. )(?P<number>\d{1,5})(?P<letter>[A-Z])?"
    rf"(?: (?P<direction>{_COMPASS})\.?(?= \w))?"
    r"(?P<name>(?: (?:St\. )?(?:[A-Z][A-Za-z'-]+|\d{1,3}(?:st|nd|rd|th))){1,3}?) "
    rf"(?:(?P<whole>{_WHOLE_KINDS})|(?P<kind>{'|'.join(_KINDS)}|{_AFTER_ORDINAL}st)(?P<stop>\.?))"
    rf"(?: (?P<side>{_COMPASS})\b\.?)?(?!\w)(?= ?(?P<next>[\w\"'(]*))"
)
# `Santa Clara, CA 95051` -> `Santa Clara, California nine five zero five one`
_STATE = re.compile(
    rf"(?<=[a-z], )(?P<state>{'|'.join(_STATES)})(?: (?P<zip>\d{{5}})(?:-(?P<more>\d{{4}}))?)?"
    r"(?![\w'&])"
)
# `Elm Street, Boston, ` before a code
_TOWN = re.compile(r", [A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2}, $")
# a cheap first look
_LOOK_FOR_STATE = re.compile(r", [A-Z][A-Z]\b")


def write_out_streets(text: str, has_digit: bool) -> str:
    """Read the house number, the kind of street and the state of an address."""
    said = _STREET.sub(_say_street, text) if has_digit else text
    if not _LOOK_FOR_STATE.search(said):
        return said
    in_address = said != text
    return _STATE.sub(lambda match: _say_state(match, in_address), said)


def _say_street(match: re.Match[str]) -> str:
    following, side = match["next"], match["side"]
    is_new_sentence = following in STARTERS or match.end() == len(match.string)
    is_named = following[:1].isupper() and not (is_new_sentence or match["direction"])
    if match["kind"] and not side and is_named:
        return match[0]  # `300 Mount St. Helens`
    number = _house_number(match["number"])
    words = [number.capitalize() if begins_sentence(match) else number, match["letter"]]
    words += [_DIRECTIONS.get(match["direction"] or ""), match["name"].strip()]
    words += [match["whole"] or _KINDS[match["kind"].capitalize()], _DIRECTIONS.get(side or "")]
    stop = "." if match[0].endswith(".") and is_new_sentence else ""
    return " ".join(word for word in words if word) + stop


def _house_number(figure: str) -> str:
    if len(figure) <= 4:
        return pairs(figure)
    if figure.endswith("000"):
        return cardinal(int(figure))
    return f"{cardinal(int(figure[:2]))} {pairs(figure[2:])}"


def _say_state(match: re.Match[str], in_address: bool) -> str:
    code, postcode = match["state"], match["zip"]
    if code in _UNSURE and not postcode:
        before = match.string[max(0, match.start() - 40) : match.start()]
        if not (in_address and _TOWN.search(before)):
            return match[0]
    words = [_STATES[code]]
    if postcode:
        words.append(digits(postcode))
    if match["more"]:
        words += ["dash", digits(match["more"])]
    return " ".join(words)
