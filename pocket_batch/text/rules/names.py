"""Abbreviations, initials and Roman numerals."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial

from pocket_batch.text.languages.table import Language
from pocket_batch.text.rules.words import after, before, like, stop_between

CAPITAL = "A-ZÀ-ÖØ-Þ"
# titles that are also written without a stop
_BARE = re.compile(r"Dr|Mr|Mrs|Ms|Mme|Mmes|Mlle|Mlles|Mgr|St|Ste|.*[^\x00-\x7f].*|.*\..*|C/")
_SENTENCE_START = re.compile(r"(?:^|[.!?…][\"')\]]*\s)[\"'(]*$")
_INITIALS = re.compile(rf"(?<![\w.])(?:[{CAPITAL}]\.[ -]?){{2,6}}(?=[{CAPITAL}][a-zß-ÿ'])")
_DOTTED = re.compile(r"(?<![\w.])(?:[A-ZÀ-ÖØ-Þ]\.){2,8}")


def _written(key: str) -> str:
    """A regex of an abbreviation: `z.B` -> `z\\. ?B`, the last stop apart."""
    return re.escape(key).replace(r"\.", r"\. ?").replace(r"\ ", " ")


def _any_written(keys: Iterable[str]) -> str:
    return "|".join(map(_written, sorted(keys, key=len, reverse=True))) or "(?!)"


def _joined(table: Mapping[str, str]) -> dict[str, str]:
    """The table by keys without spaces."""
    return {key.replace(" ", ""): said for key, said in table.items()}


@lru_cache(maxsize=8)
def _tables(language: Language) -> dict[str, tuple[re.Pattern[str], dict[str, str]]]:
    """For each kind of abbreviation, in the order of work, its regex and its table."""
    inner = rf"(?<![\w.])((?i:{_any_written(language.inner)}))\.(?!\w)"
    final = rf"(?<![\w.])((?i:{_any_written(language.final)}))\."
    return {
        "final": (re.compile(final), _joined(language.final)),
        "inner": (re.compile(inner), _joined(language.inner)),
        "numbers": (re.compile(_numbers(language)), _joined(language.before_number)),
        "titles": (re.compile(_titles(language)), _joined(language.titles)),
    }


def _numbers(language: Language) -> str:
    """A regex of words before a number: `S. 5`, `n° 5`, `vol. IV`."""
    stopless = [re.escape(key) for key in language.before_number if key[-1] in "°ºª±"]
    return (
        rf"(?<![\w.])(?:((?i:{_any_written(language.before_number)}))\.\s?"
        rf"|((?i:{'|'.join(stopless) or '(?!)'}))\s?)(?=\d|[IVXLC]+\b|[ivxlc]{{2,}}\b)"
    )


def _titles(language: Language) -> str:
    """A regex of titles before a name: `Dr. Bos`, `Mme Dupont`, `Mᵐᵉ`, `M. et Mme`, `sr. pérez`."""
    long = [key for key in language.titles if len(key) > 1]
    short = [key for key in language.titles if len(key) == 1]
    bare = [key for key in language.titles if _BARE.fullmatch(key)]
    raised = [key for key in bare if not key.isascii()]
    lower = [key.lower() for key in long] if language.code in {"es", "pt", "it"} else []
    joint = r"(?i:d[eiu]|da|von|van|di|et|les?|und|y|ed?|en)\b"
    name = rf"(?=\s+[\"']?[{CAPITAL}]|\s*$|\s+{joint})"
    return (
        rf"(?<![\w.])(?:((?i:{_any_written(long)})|{_any_written(short)})\.{name}"
        rf"|({_any_written(bare)})(?=\s[{CAPITAL}])|({_any_written(raised)})(?!\w)"
        rf"|({_any_written(lower)})\.(?=\s[a-zà-ÿ]))"
    )


def expand_abbreviations(text: str, language: Language) -> str:
    """Write out titles before names, words before numbers, and other abbreviations."""
    for name, (pattern, table) in _tables(language).items():
        if name != "titles" and "." not in text and not re.search("[°ºª±]", text):
            continue
        text = pattern.sub(partial(_expand, name=name, table=table, language=language), text)
    for end, whole in language.endings:
        text = re.sub(end, partial(_end, whole=whole, language=language), text)
    if "." in text:
        text = _INITIALS.sub(lambda m: " ".join(re.findall(r"\w", m[0])) + " ", text)
        text = _DOTTED.sub(lambda m: m[0].replace(".", "") + stop_after(m, language), text)
    return text


def _expand(match: re.Match[str], name: str, table: Mapping[str, str], language: Language) -> str:
    short = next(group for group in match.groups() if group).replace(" ", "")
    said = _find(short, name, table, language)
    is_unit = {short, f"{short}."} & set(language.units) or short.lower() in {"a.m", "p.m"}
    if not said or (name == "inner" and is_unit and before(match).rstrip()[-1:].isdigit()):
        return match[0]  # `5 min.` is a measure
    name_behind = re.match(r"\s+(\w+a)\b", after(match))
    if name == "titles" and name_behind and name_behind[1] not in {"Luca", "Andrea", "Nicola"}:
        said = language.titles_f.get(short, said)
    if short[0].isupper() and _SENTENCE_START.search(before(match, 8)):
        said = said[0].upper() + said[1:]
    if name == "numbers":
        return said + " "
    if name == "final" or not after(match).strip():
        return said + stop_after(match, language)
    return said


def _find(short: str, name: str, table: Mapping[str, str], language: Language) -> str:
    """What an abbreviation stands for; empty where its capitals make it another word (`Max.`)."""
    is_loose = name in {"numbers", "titles"} or "." in short
    if short in table:
        return table[short]
    if len(short) == 1 or (name == "titles" and language.code == "de" and short.islower()):
        return ""  # `lt. Polizei` is no lieutenant
    begun = table.get(short[0].lower() + short[1:])
    if begun and (is_loose or len(short) > 3):
        return begun if name == "titles" else like(short, begun)
    return _in_any_case(tuple(table.items())).get(short.lower(), "") if is_loose else ""


@lru_cache(maxsize=32)
def _in_any_case(table: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {key.lower(): said for key, said in table}


def _end(match: re.Match[str], whole: str, language: Language) -> str:
    return whole + (stop_after(match, language) if match[0].endswith(".") else "")


def stop_after(match: re.Match[str], language: Language) -> str:
    """The stop of an abbreviation that ends a sentence; none where the sentence goes on."""
    return stop_between(before(match), after(match), language)
