"""English abbreviations and initials."""

import re

from pocket_batch.text.patterns import any_of, like
from pocket_batch.text.tables_en import (
    BARE_BEFORE_NAMES,
    BARE_TITLES,
    BEFORE_NUMBER,
    FINAL,
    INNER,
    NO_STREET_NAMES,
    STARTERS,
    TITLES,
    WEEKDAYS,
)

# `Mr. Darcy`, `Mrs Bennet` -> `Mister Darcy`, `Missus Bennet`
_TITLE = re.compile(
    rf"\b(?=[A-Z])(?:({any_of(TITLES)})\.(?=\s(?!\d))|({any_of(BARE_TITLES)})\b\.?"
    rf"|({any_of(BARE_BEFORE_NAMES)})(?= [A-Z][a-z]))"
)
# `Dr. Hill`, `Dr Hill` -> `Doctor Hill`; `12 Elm Dr.` -> `12 Elm Drive`
_DR = re.compile(r"\b(?P<before>[A-Z][a-z]+ )?(?i:(?<=\s)dr|(?<=[\"'(])Dr|^dr)\b(?P<dot>\.?)")
# `St. Ives` -> `Saint Ives`; `Elm St.` -> `Elm Street`
_ST = re.compile(r"\b(?P<before>[\w']+[.,]? )?(?P<st>Sts?)\b(?P<dot>\.?)(?=(?P<after> ?[\w]*))")
# `e.g. this`, `cats vs. dogs` -> `for example this`, `cats versus dogs`
_INNER = re.compile(
    r"\b(?:([eE]\.\s?g|[iI]\.\s?e)\.(,?)"
    rf"|(?:(?<=\s)|^|(?<=\())({any_of(set(INNER) - {'e.g', 'i.e'})}|Cf|Viz|Approx)\.(,?)(?=\s))"
)
# `No. 4`, `pp. 3`, `vol. ii.`, `c. 1850` -> `number 4`, ...
_LONG_BEFORE_NUMBER = [short for short in BEFORE_NUMBER if len(short) > 1]
_BEFORE_NUMBER = re.compile(
    rf"(?<![\w.])({any_of([*BEFORE_NUMBER, *map(str.capitalize, _LONG_BEFORE_NUMBER)])})"
    r"\. ?(?=\d|(?:[IVXLC]{2,}|[VX]|[ivxlc]+)\b|(?<![Nn]o\. )I[,;:)])"
)
# `etc.`, `&c.`, `Jr.`, `Brown & Co.` -> the words, with the stop when a sentence ends there
_FINAL = re.compile(rf"(?<![\w.])({any_of(FINAL)})\.(?=(?P<rest>.{{0,24}}))", re.IGNORECASE)
# `U.S.A.`, `B.C.`, `Ph.D.`, `p.m.`, `a.k.a.` -> `USA`, `BC`, `PhD`, `PM`, `AKA`
_DOTTED = re.compile(
    r"(?<![\w.])(?:(?P<half>[ap])\.\s?m\.|(?P<low>a\.k\.a\.|p\.s\.|r\.s\.v\.p\.)|(?P<capitals>(?:[A-Z]\.){2,}"
    r"|(?:[A-Z]\.)+[A-Z](?![\w.])|Ph\.\s?D\.|[MD]\. D\.|B\. C\.|A\. D\.))(?=(?P<rest>.{0,24}))"
)
# `J. R. R. Tolkien`, `John F. Kennedy` -> without stops
_INITIALS = re.compile(r"\b(?<!\w\. )(?<!\.)(?:[A-Z]\. ?){2,9}(?=([A-Z][a-z]+))")
# `John F. Kennedy` -> `John F Kennedy`
_MIDDLE_INITIAL = re.compile(r"\b([A-Z][a-z]+ [A-HJ-Z])\.(?= ([A-Z][a-z]+))")
# `(b. 1920, d. 1999)` -> `(born 1920, died 1999)`
_LIFE = re.compile(
    r"(?<=[(,;] )([bd])\. ?(?=(?:c\. ?)?1\d{3}\b)|(?<=\()([bd])\. ?(?=(?:c\. ?)?1\d{3}\b)"
)
# `Part III, l. 195` -> `Part III, line 195`
_LINE = re.compile(r"(?<=[,;(] )l\. ?(?=\d)|(?<=\()l\. ?(?=\d)")
_PER_CENT = re.compile(r"(?<=\d )p\.\s?c\.(?! ?\d)")  # `4 p.c. bonds`
# `Sat. night`, `Thurs., 3 p.m.` -> `Saturday night`, ...
_WEEKDAY = re.compile(
    rf"\b({any_of(WEEKDAYS)})\.(?= (?:morning|afternoon|evening|night|noon)s?\b|, )"
)
# `E. 42nd St.` -> `East 42nd St.`
_SIDE = re.compile(r"\b([NSEW])\.? (?=\d{1,3}(?:st|nd|rd|th) (?:St|Ave))")
_SIDES = {"N": "North", "S": "South", "E": "East", "W": "West"}
# `lat. 40° N., long. 70° W.` -> `latitude 40° ...`
_PLACE = re.compile(r"\b([Ll]at|[Ll]ong)\.? (?=\d[\d.]* ?°)")
# `Mk II` -> `Mark II`
_MARK = re.compile(r"\bMk\.? (?=[IVX]+\b|\d)")
_SHORT_WORDS = {name.rsplit(" ")[-1] for name in (*INNER, *BEFORE_NUMBER, *FINAL, "ph")}
_SHORT_WORDS |= set(map(str.lower, WEEKDAYS))


def expand_abbreviations(text: str) -> str:
    """Write out titles, common abbreviations and dotted initials."""
    text = _TITLE.sub(lambda m: TITLES[m[1] or m[2] or m[3]], text)
    if "St" in text:
        text = _ST.sub(_say_st, text)
    if "Dr" in text or "dr." in text:
        text = _DR.sub(_say_dr, text)
    if "Mk" in text:
        text = _MARK.sub("Mark ", text)
    if "°" in text:
        text = _PLACE.sub(lambda m: f"{m[1]}itude ", text)
    if not _has_short_word_with_stop(text):
        return text
    text = _PER_CENT.sub("percent", text)
    text = _WEEKDAY.sub(lambda m: WEEKDAYS[m[1]], text)
    text = _SIDE.sub(lambda m: f"{_SIDES[m[1]]} ", text)
    text = _LINE.sub("line ", text)
    text = _LIFE.sub(lambda m: "born " if (m[1] or m[2]) == "b" else "died ", text)
    text = _BEFORE_NUMBER.sub(_say_before_number, text)
    text = _INNER.sub(_say_inner, text)
    text = _FINAL.sub(_say_final, text)
    text = _INITIALS.sub(_say_initials, text)
    text = _DOTTED.sub(_say_dotted, text)
    return _MIDDLE_INITIAL.sub(lambda m: m[1] + ("." if m[2] in STARTERS else ""), text)


def _has_short_word_with_stop(text: str) -> bool:
    """Look cheaply for an abbreviation; most paragraphs have none."""
    for piece in text.split(".")[:-1]:
        word = piece[-9:].rsplit(" ", 1)[-1].lstrip("\"'([").lower()
        if len(word) < 2 or word in _SHORT_WORDS:
            return True
    return False


def _stop(rest: str, starters_only: bool) -> str:
    """Tell whether an abbreviation before `rest` ends its sentence: `.` or nothing."""
    rest = rest.lstrip("\"')]")
    if not rest.strip():
        return "."
    if not rest.startswith(" "):
        return ""
    word = rest.lstrip(" \"'(").split(" ")[0].rstrip(",.;:!?")
    if starters_only:
        return "." if word in STARTERS else ""
    return "." if word[:1].isupper() else ""


def _say_st(match: re.Match[str]) -> str:
    before, after = match["before"] or "", match["after"].strip()
    if match["st"] == "Sts":
        return match[0] if not after[:1].isupper() else f"{before}Saints"
    name = before.strip()
    is_named = name[:1].isupper() and name not in NO_STREET_NAMES and name[-1] not in ".,"
    is_named = is_named or bool(re.fullmatch(r"\d+(?:st|nd|rd|th)", name))
    if is_named and (not after[:1].isupper() or after in STARTERS):
        stop = "." if match["dot"] and (not match["after"] or after in STARTERS) else ""
        return f"{before}Street{stop}"
    return f"{before}Saint" if after[:1].isupper() else match[0]


def _say_dr(match: re.Match[str]) -> str:
    before, rest = match["before"] or "", match.string[match.end() : match.end() + 24]
    if re.match(r" (?:(?:&|and) (?:M(?:rs|is)|Lady|Dr)|[A-Z])", rest) and not (
        before and rest.split()[0] in STARTERS
    ):
        return f"{before}Doctor"
    if before and match["dot"]:
        return f"{before}Drive{_stop(rest, starters_only=False)}"
    return match[0]


def _say_before_number(match: re.Match[str]) -> str:
    return like(match[1], BEFORE_NUMBER[match[1].lower()]) + " "


def _say_inner(match: re.Match[str]) -> str:
    short = (match[1] or match[3]).lower().replace(" ", "")
    words = like(match[1] or match[3], INNER[short])
    return words + ("," if short in {"i.e", "e.g", "viz"} else match[4] or "")


def _say_final(match: re.Match[str]) -> str:
    words = like(match[1], FINAL[match[1].lower()])
    return words + _stop(match["rest"], starters_only=match[1].lower() not in {"etc", "&c", "ibid"})


def _say_initials(match: re.Match[str]) -> str:
    if match[1] in STARTERS:
        return match[0]
    return " ".join(match[0].replace(".", " ").split()) + " "


def _say_dotted(match: re.Match[str]) -> str:
    capitals = match["capitals"] or (match["low"] or f"{match['half']}m.").upper()
    is_dotted = match[0].endswith(".")
    capitals = capitals.replace(".", "").replace(" ", "")
    if not is_dotted or (not match["rest"] and not _has_letter(match.string[: match.start()])):
        return capitals  # a line that is `01:59 p.m.` and nothing else is no sentence
    return capitals + _stop(match["rest"], starters_only=not match["half"])


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))
