"""English dates, years and decades."""

import re

from pocket_batch.text.numbers_en import (
    YEAR,
    begins_sentence,
    cardinal,
    ordinal,
    pairs,
    plural,
    two_digits,
    year,
)
from pocket_batch.text.patterns import any_of
from pocket_batch.text.tables_en import MONTH_NAMES, MONTHS, WEEKDAYS

_MONTH = any_of(MONTHS)

# `2006-08-05`, `2006/8/5` -> August fifth two thousand six
_ISO = re.compile(rf"(?<![\w/.-])({YEAR})([-/])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])(?![\w/-])")
# `10/06/2005`, `15-01-2020`, `11/17/05`; `15.1.2020` with points is day first
_NUMERIC = re.compile(
    rf"(?<![\w/.-])(\d\d?)(?:([/-])(\d\d?)\2({YEAR}|\d\d)|\.\s?(\d\d?)\.\s?({YEAR}))(?![\w/-]|\.\d)"
)
# `July 4, 1776`, `Jan. 15th 2020`, `Jan-15-2020`, `May 5`, `May 5–7, 1865`
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\.?[ -](\d\d?)(?P<th>st|nd|rd|th)?"
    rf"(?:(?:\s?[–—]\s?|-)(?P<last>\d\d?)(?:st|nd|rd|th)?(?![\d-]))?(?![\w:/%]|[.,]\d)"
    rf"(?P<tail>(?:,? |-)(?:{YEAR})(?!\w|,\d))?",
    re.IGNORECASE,
)
# `4 July 1776`, `the 4th of Jan.`, `25 jul 2012`, `03-Apr-2003`, `5–7 May`
_DAY_FIRST = re.compile(
    rf"(?P<the>\bthe )?(?<![\w.,:/-])(?:(?P<first>\d\d?)(?:st|nd|rd|th)?(?:\s?[–—]\s?|-))?"
    rf"(\d\d?)(?:st|nd|rd|th)?(?:(?: day)?(?: of)? |-)({_MONTH})\b(?:\.(?=,? \d))?"
    rf"(?P<tail>(?:,? |-)(?:{YEAR})(?!\w|,\d)|(?<=-[A-Za-z]{{3}})-\d\d(?!\w))?",
    re.IGNORECASE,
)
# a cheap first look for a month, short or long
_HAS_MONTH = re.compile(r"jan|feb|mar|apr|may|ju[nl]|aug|sep|oct|nov|dec", re.IGNORECASE)
# `Mon., 5 Jan` -> `Monday, 5 Jan`
_WEEKDAY = re.compile(
    rf"\b({any_of(WEEKDAYS)})\b\.?(?=,? (?:\d\d?(?:st|nd|rd|th)?,? )?(?i:{_MONTH})\b)"
)
# `July 1506`, `Sept. 1914`
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\.?,? ({YEAR})(?!\w|,\d)", re.IGNORECASE)
# `the 1770s`, `1980's`, `1980 s`, `'90s`, `mid-80s`
_DECADE = re.compile(r"(?<![\w.,])'?(\ue000?)(\d\d0|(?:1\d|20)\d)?(\d0|0)(?:'?s| s)\b")
# `class of '98` -> `ninety-eight`
_SHORT_YEAR = re.compile(r"(?<![\w'])'(\d\d)(?![\w']|,\d)")
# `in 1865`, not `1,865`, `1865.5` or `$1865`
_BARE_YEAR = re.compile(rf"(?<![\w.,$£€¥/#-])({YEAR})(?![\w/]|[.,]\d)")
# `1920/21` -> `nineteen twenty, twenty-one`
_SLASHED_YEARS = re.compile(r"(?<![\w.,/-])((?:1[5-9]|20)\d\d)/(\d\d|(?:1[5-9]|20)\d\d)(?![\w/])")
# `44 B.C.`, `A.D. 340`, `431 to 404 BC`
_ERA = re.compile(
    r"(?<![\w.,])(\d{3}) (?=(?:AD|BC|CE|BCE)\b|to \d{1,3} (?:AD|BC|CE|BCE)\b)|(?<=\bAD )(\d{3})\b"
)


def write_out_dates(text: str, day_first: bool) -> str:
    """Say dates, decades and years. `day_first` reads 10/06/2005 as the tenth of June."""
    if "/" in text or "-" in text or "." in text:
        text = _ISO.sub(lambda m: _date(int(m[4]), int(m[3]), m[1]), text)
        text = _NUMERIC.sub(lambda m: _numeric_date(m, day_first), text)
        text = _SLASHED_YEARS.sub(_say_slashed_years, text)
    if not _HAS_MONTH.search(text):
        return text
    text = _WEEKDAY.sub(lambda m: WEEKDAYS[m[1]], text)
    text = _DAY_FIRST.sub(_say_day_first, text)
    text = _MONTH_FIRST.sub(_say_month_first, text)
    return _MONTH_YEAR.sub(lambda m: f"{_month(m[1])} {year(int(m[2]))}", text)


def write_out_years(text: str) -> str:
    """Say decades and four-figure numbers that can be years."""
    text = _DECADE.sub(_say_decade, text)
    text = _SHORT_YEAR.sub(lambda m: two_digits(m[1]), text)
    if "AD" in text or "BC" in text or "CE" in text:
        text = _ERA.sub(lambda m: f"{_three_digits(m[1] or m[2])}{' ' if m[1] else ''}", text)
    return _BARE_YEAR.sub(lambda m: year(int(m[1])), text)


def _month(name: str) -> str:
    return MONTHS[name.lower()]


def _year_words(figure: str) -> str:
    return year(int(figure)) if len(figure) == 4 else two_digits(figure)


def _three_digits(figure: str) -> str:
    return cardinal(int(figure)) if figure.endswith("00") else pairs(figure)


def _date(day: int, month: int, year_figure: str) -> str:
    return f"{MONTH_NAMES[month - 1]} {ordinal(day)} {_year_words(year_figure)}"


def _numeric_date(match: re.Match[str], day_first: bool) -> str:
    day_first = day_first or match[2] is None
    first, second = int(match[1]), int(match[3] or match[5])
    year_figure = match[4] or match[6]
    month, day = (second, first) if day_first or first > 12 else (first, second)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match[0]
    if first > 12 or day_first:
        month_name = MONTH_NAMES[month - 1]
        return f"{_the(match)} {ordinal(day)} of {month_name} {_year_words(year_figure)}"
    return _date(day, month, year_figure)


def _say_slashed_years(match: re.Match[str]) -> str:
    return f"{year(int(match[1]))}, {_year_words(match[2])}"


def _tail(tail: str | None) -> str:
    """Say the year that follows a day: `, 1776` -> `, seventeen seventy-six`."""
    if not tail:
        return ""
    return f"{',' if tail[0] == ',' else ''} {_year_words(tail.lstrip(', -'))}"


def _the(match: re.Match[str]) -> str:
    """Give the article of a date, with a capital where it begins a sentence."""
    return "The" if begins_sentence(match) else "the"


def _is_verb(name: str, tail: str | None) -> bool:
    """Tell the months that are also words apart: `may 5 of them come`, `march 5 miles`."""
    return name in {"may", "march", "mar"} and not tail


def _say_month_first(match: re.Match[str]) -> str:
    name, day = match[1], int(match[2])
    last = int(match["last"]) if match["last"] else 0
    if not 1 <= day <= 31 or last > 31 or (not match["th"] and _is_verb(name, match["tail"])):
        return match[0]
    until = f" to {ordinal(last)}" if last else ""
    return f"{_month(name)} {ordinal(day)}{until}{_tail(match['tail'])}"


def _say_day_first(match: re.Match[str]) -> str:
    day, name = int(match[3]), match[4]
    first = int(match["first"]) if match["first"] else 0
    if not 1 <= day <= 31 or first > 31 or _is_verb(name, match["tail"]):
        return match[0]
    since = f"{ordinal(first)} to " if first else ""
    return f"{_the(match)} {since}{ordinal(day)} of {_month(name)}{_tail(match['tail'])}"


def _say_decade(match: re.Match[str]) -> str:
    mark, century, rest = match[1], match[2], match[3]
    if not century:
        is_decade = len(rest) == 2 and rest != "00"
        return mark + plural(cardinal(int(rest))) if is_decade else match[0]
    number = int(century + rest)
    if number % 100 == 0:
        return mark + plural(year(number))
    return f"{mark}{cardinal(number // 100)} {plural(cardinal(number % 100))}"
