"""Roman numerals where the words around them tell what they are; never a word such as `i`."""

import re
from functools import lru_cache

from pocket_batch.text.languages.table import Language
from pocket_batch.text.patterns import any_of, roman_value
from pocket_batch.text.rules.words import after, before, count

_BODY = r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
ROMAN = rf"(?=[MDCLXVI]){_BODY}(?<=[MDCLXVI])(?![\w'])"
_MARKED = rf"(?=[IVX]){_BODY}(?<=[IVXLC])"
_LOWER = (
    r"(?=[ivxlc])(?:xc|xl|l?x{0,3}|c{1,3}(?:xc|xl|l?x{0,3}))(?:ix|iv|v?i{0,3})(?<=[ivxlc])(?!\w)"
)
_LONG_LOWER = rf"(?=[mdclxvi]{{4}})(?i:{_BODY})(?!\w)"
_NEVER = {
    "C",
    "D",
    "M",
    "L",
    "CD",
    "CC",
    "CV",
    "MM",
    "DC",
    "MD",
    "MC",
    "LI",
    "CI",
    "MI",
    "DI",
    "DIX",
}
_NEVER |= {"MIX", "CL", "CM", "DM", "MDI", "LL", "DL", "MV", "MVD", "CIX", "DVI"}


@lru_cache(maxsize=8)
def _patterns(language: Language) -> dict[str, re.Pattern[str]]:
    marks = "|".join(f"(?:{mark})" for mark in language.ordinal_marks)
    rulers = any_of([*language.rulers.split(), *language.women.split()])
    dot = r"(?P<dot>\.?)"
    return {
        "marked": re.compile(rf"(?<![\w'])(?P<numeral>{_MARKED})(?P<mark>{marks})(?!\w)"),
        "before": re.compile(
            rf"(?<![\w'])(?P<numeral>{_MARKED}){dot}(?= (?:{language.numbered_after})(?!\w))"
        ),
        "before_f": re.compile(
            rf"(?<![\w'])(?P<numeral>{_MARKED})(?= (?:{language.numbered_after_f})(?!\w))"
        ),
        "numbered": re.compile(
            rf"(?<!\w)(?P<word>(?i:{language.numbered})) "
            rf"(?P<numeral>{ROMAN}|{_LOWER}|{_LONG_LOWER})"
            r"(?P<after>(?=[\s.,;:!?)\"'\]-]|$))"
        ),
        "century": re.compile(
            rf"(?<!\w)(?P<word>(?i:{language.century_word})) (?P<numeral>{ROMAN}|{_LOWER})"
            rf"(?:(?P<and> (?:y|e|a|al|ao|-) |[-–/])(?P<other>{ROMAN}))?"
        ),
        "ruler": re.compile(
            rf"(?<![\w-])(?P<name>{rulers}|(?i:{rulers})(?= [ivx]{{2}}))(?P<s>s?)"
            rf" (?P<numeral>{ROMAN}|[ivx]{{2,5}}(?!\w)){dot}"
        ),
        "other": re.compile(rf"(?<![\w'.])(?P<numeral>(?=[IVX]{{2}}){ROMAN}){dot}"),
    }


def expand_numerals(text: str, language: Language) -> str:
    """Say Roman numerals of chapters, centuries, rulers and parts."""
    if not re.search(r"(?<![\w'])[IVXLCDMivxlcdm]", text):
        return text
    text = _expand_lone(text, language)
    patterns = _patterns(language)
    text = patterns["marked"].sub(_to_figures, text)
    text = patterns["before_f"].sub(lambda m: f"{roman_value(m['numeral'])}ª", text)
    mark = {"de": ".", "fr": "e", "nl": "e"}.get(language.code, "º")
    text = patterns["before"].sub(lambda m: f"{roman_value(m['numeral'])}{mark}", text)
    text = patterns["century"].sub(lambda m: _say_century(m, language), text)
    text = patterns["numbered"].sub(lambda m: _say_numbered(m, language), text)
    text = patterns["ruler"].sub(lambda m: _say_ruler(m, language), text)
    return patterns["other"].sub(lambda m: _say_other(m, language), text)


def _expand_lone(text: str, language: Language) -> str:
    """Say a text that is a numeral, or a heading that begins with one: `IV. Der Fluss`."""
    if re.fullmatch("[ivx]{2,8}", text) and re.fullmatch(_LOWER, text) and text not in {"vi", "xi"}:
        return language.lone(roman_value(text))
    match = re.match(rf"({ROMAN})(?=(\.?)(.*))", text[:60])
    if match is None or match[1] in _NEVER or not set(match[1]) <= set("IVXLC"):
        return text
    number, rest = roman_value(match[1]), text[match.end() :]
    if rest in {"", "."}:
        return language.lone(number).capitalize() + rest
    if len(match[1]) > 1 and re.match(r"[.:,] [^\W\d_a-z]|\s?[—–] ", rest):
        return language.lone(number).capitalize() + rest
    return text


def _to_figures(match: re.Match[str]) -> str:
    numeral, mark = match["numeral"], match["mark"]
    single_marks = {"I": ("er", "re", "ère", "ᵉʳ", "ʳᵉ"), "V": ("e",), "X": ("e",)}
    if mark.isalpha() and mark[0].isascii() and len(numeral) == 1:
        allowed = (
            (*single_marks[numeral], "ème", "ste", "de") if numeral != "I" else single_marks["I"]
        )
        if mark not in allowed:
            return match[0]
    return f"{roman_value(numeral)}{mark}"


def _say_century(match: re.Match[str], language: Language) -> str:
    said = f"{match['word']} {language.century(roman_value(match['numeral']))}"
    if match["other"]:
        joint = match["and"] if match["and"].strip(" -–/") else f" {language.until} "
        said += joint + language.century(roman_value(match["other"]))
    return said


def _say_numbered(match: re.Match[str], language: Language) -> str:
    numeral = match["numeral"]
    closes = re.match(r"[.,;:!?)\"'\]]|$", after(match))
    if numeral in {"C", "D", "M", "L"} or (numeral.islower() and len(numeral) == 1 and not closes):
        return match[0]
    if numeral.islower() and numeral in {"vi", "li", "ci", "xi"} and not closes:
        return match[0]
    if len(numeral) < 4 and numeral.islower() and set(numeral) <= set("lc"):
        return match[0]
    return f"{match['word']} {count(roman_value(numeral), language)}"


def _say_ruler(match: re.Match[str], language: Language) -> str:
    numeral, name = match["numeral"], match["name"]
    if (
        numeral.upper() in _NEVER
        or not re.fullmatch(_BODY, numeral.upper())
        or len(match["s"]) > (language.code == "de")
    ):
        return match[0]
    is_woman = name.lower() in language.women.lower().split()
    head = before(match)
    said = language.ruler(roman_value(numeral), is_woman, head + ("Königs " if match["s"] else ""))
    stop = match["dot"]
    if stop and language.code == "de":
        rest = after(match)
        stop = (
            "."
            if not rest.strip() or re.match(rf"[\"')\]]*\s[\"'(]*{language.opener}", rest)
            else ""
        )
    return f"{name}{match['s']} {said}{stop}"


def _say_other(match: re.Match[str], language: Language) -> str:
    """Say a numeral of two letters or more that no other rule knows; none among capitals."""
    numeral, head, tail = match["numeral"], before(match), after(match)
    around = head + tail
    is_shouted = re.search("[A-ZÀ-Þ]{4}", around) and not any(map(str.islower, around))
    if numeral in _NEVER or is_shouted:
        return match[0]
    number = roman_value(numeral)
    if match["dot"] and language.code == "de" and re.match(r",| [a-zäöü]", tail):
        word = head.rstrip().rsplit(" ", 1)[-1]
        return language.ruler(number, False, head) if word[:1].isupper() else f"{number}."
    said = count(number, language)
    if re.search(r"(?:^|[.!?…][\"')]*\s)[\"'(]*\Z", head):
        said = said.capitalize()
    return said + match["dot"]
