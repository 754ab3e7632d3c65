"""Figures without a unit: fractions, ordinals, ranges, scores, decimals, years, cardinals."""

import re
from functools import lru_cache

from pocket_batch.text.languages.table import Language, Noun
from pocket_batch.text.patterns import any_of
from pocket_batch.text.rules.words import (
    MAX_DIGITS,
    NUMBER,
    SIGN,
    after,
    before,
    count,
    digits,
    is_one,
    noun_gender,
    say_number,
    say_sign,
    split_number,
    stop_between,
    until,
)

# `1/2`, `3 3/5`, `1/100.000`
FRACTION = (
    r"(?<![\d.,/])(?:\d{1,4} )?(?<![\d/])\d{1,4}/"
    r"(?:\d{1,3}(?:[. ]\d{3}){1,3}|\d{1,9})(?![\d/]|[.,]\d)"
)
_SIGNED_FRACTION = re.compile(rf"(?P<sign>{SIGN})(?P<fraction>(?<!\w){FRACTION})(?!\w)")
# `1848/49`, `24/7`, `08/15`: two numbers, no fraction
_PAIR = re.compile(
    r"(?<![\w.,/])(?P<low>1\d{3}|20\d\d|24(?=/7)|0\d)/(?P<high>\d{1,4})(?![\w/]|[.,]\d)"
)
# `1/2 Tasse`, `1½ heure`: the word behind a half
_HALF_OF = re.compile(r"(?<![\w.,/])(?:(?P<whole>\d{1,3}) )?1/2 (?P<noun>[^\W\d_]+)")
_RANGE = re.compile(
    rf"(?<![\w.,:/+–-])(?P<low>{NUMBER})(?P<mark>\s?[-–]\s?|:|\s?—\s?)(?P<high>{NUMBER})(?![\w/:–-]|[.,]\d)"
)
_LIST = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{1,3}){2,}(?![\w]|[.,]\d)")
# `1.2.3`, `3.14`
_DOTTED = re.compile(r"(?<![\w.,])\d+(?:\.\d+)+(?![\w])")
_SIGNED = re.compile(
    rf"(?P<sign>{SIGN})(?<!\w)(?P<number>{NUMBER})(?P<space> (?P<noun>[^\W\d_]+)|)(?!\w|\.\d)"
)
_REST = re.compile(r"\d+")
# `2 + 2 - 1 = 3`
_MINUS = re.compile(r"(?<=\d) ?[—–−-] ?(?=\d[\d .,+*×/=—–−-]{0,60}=)|(?<==) ?[—–−-] ?(?=\d)")


def is_year(figures: str) -> bool:
    """Tell whether a bare figure would be a year: four digits without marks, 1000 to 2100."""
    return len(figures) == 4 and figures.isdecimal() and 1000 <= int(figures) <= 2100


def say_fractions(text: str, language: Language) -> str:
    """Say fractions and mixed numbers: `3/4`, `1 1/2`."""
    if "/" not in text:
        return text
    text = _PAIR.sub(lambda m: _say_pair(m, language), text)
    text = _HALF_OF.sub(lambda m: _say_half_of(m, language), text)
    return _SIGNED_FRACTION.sub(
        lambda m: say_sign(m["sign"], language) + say_fraction(m["fraction"], language), text
    )


def say_fraction(written: str, language: Language, unit: Noun | None = None) -> str:
    """Say a fraction, with the unit behind it when there is one."""
    *whole, parts = written.split(" ", 1) if re.match(r"\d+ \d+/", written) else [written]
    top, bottom = parts.split("/")
    numerator, denominator = int(top), int(re.sub(r"[. ]", "", bottom))
    if whole and (numerator, denominator) == (1, 2) and language.half:
        return _say_half(whole[0], language, unit)
    name = language.denominator(denominator, numerator)
    if name:
        fraction = f"{count(numerator, language, 'm')} {name}"
    else:
        fraction = f"{count(numerator, language)} {language.over} {count(denominator, language)}"
    if whole:
        gender = unit.gender if unit else ""
        fraction = f"{count(int(whole[0]), language, gender)}{language.mixed}{fraction}"
    if unit is None:
        return fraction
    form = unit.one if is_one(parts) or language.code in {"es", "pt", "it", "fr"} else unit.many
    return f"{fraction}{language.of_fraction}{form}"


def _say_half(whole: str, language: Language, unit: Noun | None) -> str:
    gender = unit.gender if unit else ""
    half = {
        "es": "media" if gender == "f" else "medio",
        "fr": "demie" if gender == "f" else "demi",
    }.get(language.code, "mezzo")
    words = count(int(whole), language, gender)
    if language.code == "de" and whole == "1":
        words = "ein"
    said = language.half.format(words=words.removesuffix("één"), half=half)
    if unit is None:
        return said
    return f"{said} {unit.one if is_one(whole) else unit.many}"


def _say_pair(match: re.Match[str], language: Language) -> str:
    low, high = match["low"], match["high"]
    if is_year(low) and len(high) not in {2, 4}:
        return match[0]
    return f"{say_bare(low, language)} {say_bare(high, language)}"


def _say_half_of(match: re.Match[str], language: Language) -> str:
    """Say `1/2 Tasse` and `1 1/2 horas` when the word behind is a noun of known gender."""
    whole, noun = match["whole"], match["noun"]
    gender = noun_gender(noun, language)
    if not gender or not language.half_of or (whole and not language.half):
        return match[0]
    if not whole:
        return f"{language.half_of[gender]} {noun}".replace("- ", "-")
    if language.code == "de":
        return f"{_say_half(whole, language, None)} {noun}"
    if whole == "1" and language.code != "it":
        noun = noun.removesuffix("s")  # `1½ horas` -> `una hora y media`
    half = _say_half("0", language, Noun("", "", gender)).split(" ", 1)[1].strip()
    return f"{count(int(whole), language, gender)} {noun} {half}"


@lru_cache(maxsize=8)
def _ordinals(language: Language) -> re.Pattern[str]:
    marks = "|".join(f"(?P<m{i}>{mark})" for i, mark in enumerate(language.ordinal_marks))
    return re.compile(rf"(?<![\w,/])(?P<number>{NUMBER})(?:{marks})(?!\w)")


_GERMAN_ORDINAL = re.compile(r"(?<![\w.,:/-])(?P<number>\d{1,3}(?:\.\d{3}){1,2}|\d{1,7})\.(?!\d)")


def say_ordinals(text: str, language: Language) -> str:
    """Say ordinals: `3.`, `1er`, `2e`, `1º`, `2ª`."""
    genders = list(language.ordinal_marks.values())

    def say(match: re.Match[str]) -> str:
        whole, decimals = split_number(match["number"])
        if decimals or len(whole) > 7:
            return match[0]
        place = next(i for i in range(len(genders)) if match[f"m{i}"] is not None)
        return language.ordinal(int(whole), genders[place])

    text = _ordinals(language).sub(say, text)
    if language.ordinal_in is None:
        return text
    return _GERMAN_ORDINAL.sub(lambda m: _say_in_place(m, language), text)


def _say_in_place(match: re.Match[str], language: Language) -> str:
    """Say a German `3.` with the ending of its place, unless the stop ends a sentence."""
    assert language.ordinal_in is not None
    head, tail = before(match), after(match, 60)
    ending = language.ordinal_in(head, tail)
    if ending is None:
        return match[0]
    said = language.ordinal(int(match["number"].replace(".", "")), ending)
    return said + stop_between(head, tail, language)


def say_ranges(text: str, language: Language) -> str:
    """Say ranges and scores: `10-20`, `1914–1918`, `3:2`."""
    return _RANGE.sub(lambda m: _say_range(m, language), text)


def _say_range(match: re.Match[str], language: Language) -> str:
    mark = match["mark"].strip()
    low, high = (split_number(match[name])[0] for name in ("low", "high"))
    if mark == "—" and not (is_year(low) and is_year(high)):
        return match[0]
    is_short_year = is_year(low) and len(high) == 2 and int(high) > int(low[2:])
    word = until(match, language) if int(low) < int(high) or is_short_year else language.versus
    if mark == ":":
        word = language.versus
    if not word or (low[0] == "0" and len(low) > 1):
        return f"{say_bare(match['low'], language)} {say_bare(match['high'], language)}"
    return f"{say_bare(match['low'], language)} {word} {say_bare(match['high'], language)}"


def say_bare(written: str, language: Language, gender: str = "") -> str:
    """Say a figure without a unit; four figures that can be a year are said as one."""
    return (
        language.year(int(written)) if is_year(written) else say_number(written, language, gender)
    )


@lru_cache(maxsize=8)
def _magnitudes(language: Language) -> re.Pattern[str]:
    names = [name for name in language.magnitudes if len(name) > 2 and name not in {"mil", "mila"}]
    return re.compile(
        rf"(?P<sign>{SIGN})(?<!\w)(?P<number>{NUMBER}) (?P<great>{any_of(names)})(?!\w)"
    )


def say_numbers(text: str, language: Language) -> str:
    """Say every figure that no other rule has taken; none is left."""
    text = _MINUS.sub(f" {language.minus} ", text)
    text = _magnitudes(language).sub(lambda m: _say_magnitude(m, language), text)
    text = _LIST.sub(lambda m: _say_list(m[0], language), text)
    text = _thousand(language).sub(lambda m: f"{m[1]}.000{m[2]}", text)
    text = _glued(language).sub(lambda m: say_bare(m[0].rstrip("-"), language), text)
    text = _SIGNED.sub(lambda m: _say_signed(m, language), text)
    text = _DOTTED.sub(lambda m: _say_dotted(m[0], language), text)
    return _REST.sub(lambda m: _say_rest(m, language), text)


@lru_cache(maxsize=8)
def _glued(language: Language) -> re.Pattern[str]:
    """A figure with a word written on to it: `68er`, `10-jährig`."""
    return re.compile(rf"(?<!\w){NUMBER}{language.glued}")


@lru_cache(maxsize=8)
def _thousand(language: Language) -> re.Pattern[str]:
    """`2 mil pessoas`, said like `2.000 pessoas`."""
    return re.compile(
        r"(?<![\w.,])(\d{1,3}) mil( )(?!mil)" if "mil" in language.magnitudes else "(?!)"
    )


def _say_list(written: str, language: Language) -> str:
    """Say `1,2,3` as a list, and `1,234,567` as the one number that it is in English."""
    groups = written.split(",")
    if all(len(group) == 3 for group in groups[1:]):
        return say_number("".join(groups), language)
    return ", ".join(say_number(group, language) for group in groups)


def _say_magnitude(match: re.Match[str], language: Language) -> str:
    noun = language.magnitudes[match["great"]]
    sign = say_sign(match["sign"], language)
    name = match["great"] if match["great"].isalpha() and len(match["great"]) > 3 else noun.many
    return f"{sign}{say_number(match['number'], language, noun.gender)} {name}"


def _say_signed(match: re.Match[str], language: Language) -> str:
    number, noun = match["number"], match["noun"] or ""
    gender = noun_gender(noun, language)
    sign = say_sign(match["sign"], language)
    said = say_bare(number, language, gender) if not sign else say_number(number, language, gender)
    if said == "una" and language.code == "it" and noun[:1] in "aeiou" and noun:
        return f"{sign}un'{noun}"  # `un'ora`
    return f"{sign}{said}{match['space']}"


def _say_dotted(written: str, language: Language) -> str:
    groups = written.split(".")
    first = count(int(groups[0]), language) if len(groups[0]) <= MAX_DIGITS else ""
    rest = [
        count(int(group), language)
        if len(groups) > 2 and len(group) < 4 and group[0] != "0"
        else digits(group, language)
        for group in groups[1:]
    ]
    return f" {language.dot} ".join([first or digits(groups[0], language), *rest])


def _say_rest(match: re.Match[str], language: Language) -> str:
    figures = match[0]
    is_long = len(figures) > MAX_DIGITS or (figures[0] == "0" and len(figures) > 1)
    said = digits(figures, language) if is_long else count(int(figures), language)
    head = " " if before(match, 1).isalpha() else ""
    tail = " " if after(match, 1).isalpha() else ""
    return f"{head}{said}{tail}"
