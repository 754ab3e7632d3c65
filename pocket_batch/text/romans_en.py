"""English readings of Roman numerals, where what stands around them tells what they are."""

import re

from pocket_batch.text.numbers_en import cardinal, ordinal, year
from pocket_batch.text.patterns import like, roman_value
from pocket_batch.text.placeholders import WORD
from pocket_batch.text.tables_en import NUMBERED, RANKS, RULERS

_NUMERAL = r"(?=[IVXLCDM]+\b)(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?<=[IVXLCDM])"
_LOWER_NUMERAL = (
    r"(?=[ivxlc]+\b)(?:xc|xl|l?x{0,3}|c{1,3}(?:xc|xl|l?x{0,3}))(?:ix|iv|v?i{0,3})(?<=[ivxlc])"
)
# `Act IV`, `page xii`, `XVIth`
_LOOK = re.compile(
    r"[ (\"'](?:[VXLCDM][IVXLCDM]*|I[VXLCI]+|[ivxlc]{2,})(?:th|st|nd|rd)?\b|^[MDCLXVI]{2,}\b"
)
# `Charles I`, but not `then I`
_LOOK_FOR_I = re.compile(r"\b(?:[A-Z]\w+\.?|[A-Za-z]+\.) I\b")
# `Chapter IV` -> `Chapter four`, `vol. ii` -> `volume two`, `chapters I–IV`
_NUMBERED = re.compile(
    rf"\b(?P<word>(?i:{NUMBERED})(?P<many>s)?\.?) (?P<numeral>{_NUMERAL}|{_LOWER_NUMERAL})\b"
    rf"(?:\s?[-–—]\s?(?P<last>{_NUMERAL}|{_LOWER_NUMERAL})\b)?(?=(?P<rest>.{{0,5}}))"
)
# `Louis XIV` -> `Louis the Fourteenth`, `King Haggard II`
_AFTER_RANK = r"(?:(?<=King )|(?<=Queen )|(?<=Pope )|(?<=Tsar )|(?<=Czar ))"
_RULER = re.compile(
    rf"\b(?P<rank>(?:{RANKS}) )?"
    rf"(?P<name>{RULERS}|{RULERS.upper()}|{_AFTER_RANK}(?:[A-Z][a-z]+|{WORD})) "
    rf"(?P<numeral>{_NUMERAL})\b(?=(?P<rest>.{{0,2}}))"
)
# `Rocky II`, `World War II` -> `Rocky two`; a lone `I`, `V` or `X` never
_NAMED = re.compile(r"(?<=[A-Z][a-z]{2})(\w* )(II|III|IV|VI{1,3}|IX|XI{1,3}|XIV|XV|XVI{0,3})\b")
# `the XIXth century`, `XIX century` -> `the nineteenth century`
_ORDINAL = re.compile(
    r"\b(?=[IVXLC]+(?:th|st|nd|rd)?\b)((?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?<=[IVXLC])"
    r"(?:(?:th|st|nd|rd)\b|(?= [Cc]entur(?:y|ies)\b))"
)
# `MDCCCXCIV`, `MMXXI` -> the year
_YEAR = re.compile(
    r"\b(?=[MDCLXVI]{4,}\b)(MM?(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))\b"
)
# a line that is `IV` or begins `IV. The River`
_LEADING = re.compile(rf"^({_NUMERAL})(?=\.?$|\. |: |, |…)")
# `IV`, `IV.` -> `Four`, `Four.`
_LONE = re.compile(rf"^{_NUMERAL}(?=\.?$)")
# a paragraph that begins `II. The plan`; a single letter is an initial
_ITEM = re.compile(rf"^(?=[IVXL]{{2}})({_NUMERAL})(?=\. [\"'(]?[A-Z])")
# `Inferno, xxxiii. 46` -> `Inferno, thirty-three, 46`
_CITED = re.compile(rf"(?<=[a-z], )(?=[ivxl]{{2}})({_LOWER_NUMERAL})\. ?(?=\d)")
# `Vol. II., p. 3` -> `Vol. II, p. 3`
_STOPPED = re.compile(r"(?<![\w.])([VX]|[IVXLC]{2,7})\.(?=,)")
# `(i) one and (ii) two`
_LISTED = re.compile(rf"(?<=\()({_LOWER_NUMERAL})(?=\))")
# after `Part I`: ` of it`, `.`, but not ` played`
_CLAIMS_I = re.compile(r"^(?:['.,:;)\]\"?!]|$| (?:of|and|to)\b)")
# Alone they are letters: `Section C`, `Class D`; but `Chapter L` is the fiftieth.
_LETTERS = frozenset("CDLMcdlm")
_IN_ORDER = re.compile(r"(?i:chapter|canto|psalm|stave|lecture|lesson|episode|letter|chap)\b")


def has_numeral(text: str) -> bool:
    """Look cheaply for what can be a Roman numeral; most paragraphs have none."""
    return bool(_LOOK.search(text) or (" I" in text and _LOOK_FOR_I.search(text)))


def expand_numerals(text: str) -> str:
    """Say Roman numerals where a word before them tells what they are; never the pronoun I."""
    text = _NUMBERED.sub(_say_numbered, _STOPPED.sub(r"\1", text))
    text = _RULER.sub(_say_ruler, text)
    text = _NAMED.sub(lambda m: f"{m[1]}{cardinal(roman_value(m[2]))}", text)
    text = _ORDINAL.sub(lambda m: ordinal(roman_value(m[1])), text)
    text = _CITED.sub(lambda m: f"{cardinal(roman_value(m[1]))}, ", text)
    return _YEAR.sub(_say_year, text)


def expand_leading_numeral(text: str) -> str:
    """Say the numeral that a heading begins with: `IV. The River` -> `Four. The River`."""
    return _LEADING.sub(lambda m: cardinal(roman_value(m[1])).capitalize(), text)


def expand_lone_numeral(text: str) -> str:
    """Say a paragraph that is a numeral, or begins with one: `IV.` -> `Four.`; `I.` stays.

    The numerals of a list inside it are said too: `(i) bread and (ii) salt`.
    """
    if "(ii)" in text or "(iv)" in text:
        text = _LISTED.sub(lambda m: cardinal(roman_value(m[1])), text)
    if text[1:2] and text[1] in "IVXL" and text[0] in "IVXL":
        text = _ITEM.sub(lambda m: cardinal(roman_value(m[1])).capitalize(), text)
    if 1 < len(text) < 9 and text[0] in "IVXLC" and text.rstrip(".") not in {"I", "L", "C"}:
        return _LONE.sub(lambda m: cardinal(roman_value(m[0])).capitalize(), text)
    return text


def _say_numbered(match: re.Match[str]) -> str:
    numeral, rest, word = match["numeral"], match["rest"], match["word"]
    is_letter = numeral in _LETTERS and not (numeral in "LC" and _IN_ORDER.match(word))
    if is_letter or (match["many"] and not match["last"]):
        return match[0]
    before = match.string[max(0, match.start() - 10) : match.start()]
    is_world_war = before.endswith("World ") and not before.endswith("the World ")
    if numeral.upper() == "I" and not match["last"] and not is_world_war:
        is_heading = match.start() == 0 and re.match(r" [A-Z]", rest)
        if numeral == "i" or not (_CLAIMS_I.match(rest) or is_heading):
            return match[0]
    said = like(word, cardinal(roman_value(numeral)))
    if match["last"]:
        said += f" to {like(word, cardinal(roman_value(match['last'])))}"
    return f"{word.rstrip('.')} {said}"


def _say_year(match: re.Match[str]) -> str:
    number = roman_value(match[1])
    return year(number) if 1400 < number < 2100 else match[0]


def _say_ruler(match: re.Match[str]) -> str:
    numeral, rank = match["numeral"], match["rank"] or ""
    if (match["name"], numeral) == ("Malcolm", "X"):
        return match[0]
    if numeral == "I" and not rank and not re.match(r"['.;:)]|$", match["rest"]):
        return match[0]
    return f"{rank}{match['name']} the {ordinal(roman_value(numeral)).title()}"
