"""English dates, years, decades and times of day."""

import re

from pocket_batch.text.numbers_en import cardinal, digits, ordinal, plural, year
from pocket_batch.text.tables_en import MONTH_NAMES, MONTHS

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"1\d{3}|20\d\d"

# `2006-08-05` -> August fifth
_ISO = re.compile(rf"\b({_YEAR})-(0\d|1[0-2])-([0-2]\d|3[01])\b")
# `10/06/2005`, `15-01-2020`, `11/17/05`
_NUMERIC = re.compile(rf"(?<![\w/-])(\d\d?)([/-])(\d\d?)\2({_YEAR}|\d\d)(?![\w/-])")
# `July 4, 1776`, `Jan. 15th 2020`, `Jan-15-2020`, `May 5`
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\.?[ -](\d\d?)(?:st|nd|rd|th)?(?![\w:/%]|[.,]\d)"
    rf"(?P<tail>(?:,? |-)(?:{_YEAR})(?!\w|,\d))?",
    re.IGNORECASE,
)
# `4 July 1776`, `the 4th of Jan.`, `25 jul 2012`
_DAY_FIRST = re.compile(
    rf"(?P<the>\bthe )?(?<![\w.,:/-])(\d\d?)(?:st|nd|rd|th)?(?: day)?(?: of)? ({_MONTH})\b"
    rf"(?:\.(?=,? \d))?(?P<tail>,? (?:{_YEAR})(?!\w|,\d))?",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"(?:^|[.!?…][\"')\]]*\s)[\"'(]*$")
# `July 1506`, `Sept. 1914`
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\.?,? ({_YEAR})(?!\w|,\d)", re.IGNORECASE)
# `the 1770s`, `1980's`, `1980 s`, `'90s`, `mid-80s`
_DECADE = re.compile(r"(?<![\w.,])'?(\d\d0|(?:1\d|20)\d)?(\d0|0)(?:'?s| s)\b")
# `class of '98` -> `ninety-eight`
_SHORT_YEAR = re.compile(r"(?<![\w'])'(\d\d)(?![\w']|,\d)")
# `in 1865`, not `1,865`, `1865.5` or `$1865`
_BARE_YEAR = re.compile(rf"(?<![\w.,$£€¥/#-])({_YEAR})(?![\w/]|[.,]\d)")
# `44 B.C.`, `A.D. 340`
_ERA = re.compile(r"(?<![\w.,])(\d{3}) (?=(?:AD|BC|CE|BCE)\b)|(?<=\bAD )(\d{3})\b")
# `4:30 p.m.`, `4 pm`, `4.30 a.m.`, `01:59`
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<hour>[01]?\d|2[0-4])(?:(?P<colon>[:.])(?P<minute>[0-5]\d)"
    r"(?::(?P<second>[0-5]\d))?)?(?:\s?(?P<half>[apAP])\.?\s?[mM]\b(?P<stop>\.)?)?"
    r"(?![\w:]|\.\d)"
)
# `2pm-5pm` -> `2pm to 5pm`
_HALF_DAY_RANGE = re.compile(
    r"(?:(?<=[apAP][mM])|(?<=[apAP][mM]\.)|(?<=[apAP]\.[mM]\.))\s?[-–—]\s?(?=\d)"
)
# `2:1`, `119:105`
_RATIO = re.compile(r"(?<![\w:.])(\d+):(\d+)(?![\w:])")
_SENTENCE_END = re.compile(r"[\"')\]]*(?:$|\s+[\"'(]*[A-Z])")


def write_out_dates(text: str, day_first: bool) -> str:
    """Say dates, decades and years. `day_first` reads 10/06/2005 as the tenth of June."""
    text = _ISO.sub(lambda m: _date(int(m[3]), int(m[2]), m[1]), text)
    text = _NUMERIC.sub(lambda m: _numeric_date(m, day_first), text)
    text = _DAY_FIRST.sub(_say_day_first, text)
    text = _MONTH_FIRST.sub(_say_month_first, text)
    return _MONTH_YEAR.sub(lambda m: f"{_month(m[1])} {year(int(m[2]))}", text)


def write_out_years(text: str) -> str:
    """Say decades and four-figure numbers that can be years."""
    text = _DECADE.sub(_say_decade, text)
    text = _SHORT_YEAR.sub(lambda m: _two_digits(m[1]), text)
    text = _ERA.sub(lambda m: f"{_three_digits(m[1] or m[2])}{' ' if m[1] else ''}", text)
    return _BARE_YEAR.sub(lambda m: year(int(m[1])), text)


def _month(name: str) -> str:
    return MONTHS[name.lower()]


def _year_words(figure: str) -> str:
    return year(int(figure)) if len(figure) == 4 else _two_digits(figure)


def _two_digits(figure: str) -> str:
    return f"oh {cardinal(int(figure))}" if figure[0] == "0" else cardinal(int(figure))


def _three_digits(figure: str) -> str:
    if figure.endswith("00") or figure[1] == "0":
        return cardinal(int(figure))
    return f"{cardinal(int(figure[0]))} {cardinal(int(figure[1:]))}"


def _date(day: int, month: int, year_figure: str) -> str:
    return f"{MONTH_NAMES[month - 1]} {ordinal(day)} {_year_words(year_figure)}"


def _numeric_date(match: re.Match[str], day_first: bool) -> str:
    first, second = int(match[1]), int(match[3])
    month, day = (second, first) if day_first or first > 12 else (first, second)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match[0]
    if first > 12 or day_first:
        return f"{_the(match)} {ordinal(day)} of {MONTH_NAMES[month - 1]} {_year_words(match[4])}"
    return _date(day, month, match[4])


def _tail(tail: str | None) -> str:
    """Say the year that follows a day: `, 1776` -> `, seventeen seventy-six`."""
    return f"{',' if tail[0] == ',' else ''} {year(int(tail[-4:]))}" if tail else ""


def _the(match: re.Match[str]) -> str:
    """Give the article of a date, with a capital where it begins a sentence."""
    return "The" if _BEGINS.search(match.string[: match.start()]) else "the"


def _is_verb(name: str, tail: str | None) -> bool:
    """Tell the months that are also words apart: `may 5 of them come`, `march 5 miles`."""
    return name in {"may", "march", "mar"} and not tail


def _say_month_first(match: re.Match[str]) -> str:
    name, day = match[1], int(match[2])
    if not 1 <= day <= 31 or _is_verb(name, match["tail"]):
        return match[0]
    return f"{_month(name)} {ordinal(day)}{_tail(match['tail'])}"


def _say_day_first(match: re.Match[str]) -> str:
    day, name = int(match[2]), match[3]
    if not 1 <= day <= 31 or _is_verb(name, match["tail"]):
        return match[0]
    return f"{_the(match)} {ordinal(day)} of {_month(name)}{_tail(match['tail'])}"


def _say_decade(match: re.Match[str]) -> str:
    century, rest = match[1], match[2]
    if not century:
        return plural(cardinal(int(rest))) if len(rest) == 2 and rest != "00" else match[0]
    number = int(century + rest)
    if number % 100 == 0:
        return plural(year(number))
    return f"{cardinal(number // 100)} {plural(cardinal(number % 100))}"


def write_out_times(text: str) -> str:
    """Say times of day; a pair with a colon that is no time is said as a ratio or verse."""
    text = _CLOCK.sub(_say_time, _HALF_DAY_RANGE.sub(" to ", text))
    return _RATIO.sub(_say_ratio, text)


def _say_time(match: re.Match[str]) -> str:
    hour, minute, half = int(match["hour"]), match["minute"], match["half"]
    if half is None and match["colon"] != ":":
        return match[0]  # a number or a decimal
    if match["second"] and not half:
        return _say_duration(hour, int(minute), int(match["second"]))
    words = cardinal(hour)
    if minute and int(minute):
        words += f" {_two_digits(minute)}"
    elif not half:
        words += " o'clock" if hour <= 23 else " hundred"
    if half:
        words += f" {half.upper()}M"
    rest = match.string[match.end() :]
    return words + ("." if match["stop"] and _SENTENCE_END.match(rest) else "")


def _say_duration(hours: int, minutes: int, seconds: int) -> str:
    parts = ((hours, "hour"), (minutes, "minute"), (seconds, "second"))
    said = [f"{cardinal(n)} {name}{'' if n == 1 else 's'}" for n, name in parts]
    return f"{said[0]} {said[1]} and {said[2]}"


def _say_ratio(match: re.Match[str]) -> str:
    left, right = match[1], match[2]
    if len(left) > 6 or len(right) > 6:
        return f"{digits(left)} {digits(right)}"
    joint = " to " if len(right) == 1 else ", "
    return f"{cardinal(int(left))}{joint}{cardinal(int(right))}"
