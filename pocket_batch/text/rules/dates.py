"""Dates and times of day."""

import re
from functools import lru_cache

from pocket_batch.text.languages.table import Language
from pocket_batch.text.patterns import any_of
from pocket_batch.text.rules.words import (
    after,
    before,
    count,
    digits,
    like,
    say_counted,
    stop_between,
)

_YEAR = r"(?P<year>\d{4}(?!\d)|'\d\d(?!\d))"
# `24.12.1901`, `3/5/1901`, `1-5-2025`, `3.5.01`
_NUMERIC = re.compile(
    r"(?<![\w.,/-])(?P<day>\d{1,2})(?P<mark>[./-]) ?(?P<month>\d{1,2})(?P=mark) ?"
    r"(?P<year>\d{4}|\d\d)"
    r"(?![\w/-]|[.,]\d)"
)
# `1990-2-30`, `2024/03/15`
_YEAR_FIRST = re.compile(
    r"(?<![\w.,/-])(?P<year>[12]\d{3})(?P<mark>[./-])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"(?![\w/-]|[.,]\d)"
)
# `3.5.` behind a German preposition, or alone
_GERMAN_DAY = re.compile(
    r"(?:(?<=\b[Aa]m )|(?<=\b[Vv]om )|(?<=\b[Bb]is )|(?<=\b[Zz]um )|(?<=\b[Ss]eit )|(?<=\b[Dd]en )"
    r"|(?<=\b[Aa]b )|(?<=\b[Dd]er )|(?<=\b[Dd]em )|^|(?<=^\ue000))"
    r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})(?P<stop>\.|$)(?!\d)"
)
# `3.–5. Mai`
_GERMAN_SPAN = re.compile(r"(?<!\d)(\d{1,2}\.) ?[-–—] ?(?=\d{1,2}\. ?[A-ZÄÖÜ\d])")
_ZONES = r"(?: (?P<zone>(?:UTC|GMT|MEZ|MESZ|CET|CEST|EST|PST|MST|CST"
_ZONES += r"|utc|gmt|mez|mesz|cet|cest|est|pst|mst|cst)\b)"
_ZONES += r"(?: ?(?P<shift>[+-]) ?(?P<by>\d{1,2})(?::(?P<by_minutes>\d\d))?)?)?"


def _short_months(language: Language) -> dict[str, int]:
    places = enumerate(language.short_months.split(), 1)
    return {name: place for place, names in places for name in names.split(",")}


@lru_cache(maxsize=8)
def _named(language: Language) -> re.Pattern[str]:
    months = f"(?P<name>(?i:{any_of(language.months.split())}))(?!\\w)"
    short = any_of(_short_months(language))
    months += rf"|(?P<short>(?i:{short}))(?:\.|(?= '?\d)|(?!\w))"
    day = rf"(?P<day>\d{{1,2}})(?:{language.day_mark})?"
    first = rf"(?:(?P<days>\d{{1,2}}(?:[/-]\d{{1,2}}){{0,2}})[/-])?{day}(?: de | of | )(?:{months})"
    return re.compile(rf"(?<![\w.,/-])(?<!\d )(?:{first})(?:(?P<join>,? | de | del ){_YEAR})?")


@lru_cache(maxsize=8)
def _month_and_year(language: Language) -> re.Pattern[str]:
    """`Okt. 1990`, which is said `Oktober 1990`."""
    short = any_of(_short_months(language))
    return re.compile(rf"(?<!\w)(?P<short>(?i:{short}))\.(?= \d{{4}}(?!\d))")


def _say_month(match: re.Match[str], language: Language) -> str:
    place = _short_months(language)[match["short"].lower()]
    return like(match["short"], language.months.split()[place - 1])


@lru_cache(maxsize=8)
def _month_first(language: Language) -> re.Pattern[str]:
    names = any_of([*language.months.split(), *_short_months(language)])
    return re.compile(
        rf"(?<!\w)(?P<name>(?i:{names}))\.? \ue000?(?P<day>\d{{1,2}})"
        r"(?=$|[,;!?]|\.(?:\s|$)| del? \d{4})"
    )


@lru_cache(maxsize=8)
def _time(language: Language) -> re.Pattern[str]:
    clock = language.clock
    half = r"(?:\s?(?P<half>[apAP])\.? ?[mM]\b\.?)"
    minutes = r"(?P<minutes>[0-5]\d)"
    suffix = rf"(?P<suffix>{clock.suffixes})"
    bare = rf"(?P<bare>{clock.suffixes})"
    bare_half = half.replace("<half>", "<bare_half>")
    before = rf"(?:(?<!\w)(?P<before>(?i:{clock.before})) )"
    return re.compile(
        rf"(?P<lead>{before}?)(?<![\w.,:/-])(?P<hours>\d{{1,2}})(?:(?P<mark>{clock.marks}|\.){minutes}"
        rf"(?:(?:[:.]|m(?:in)?\s?)(?P<seconds>[0-5]\d)s?|\s?m(?:in)?\b)?(?![\d%€$]|[.,:]\d|\.º|\s?[%€$])"
        rf"(?:{suffix}|{half})?|(?:{bare}|{bare_half}|(?= (?:UTC|GMT|utc|gmt)\b))){_ZONES}(?!\w)"
    )


def say_dates(text: str, language: Language) -> str:
    """Say dates: `3.5.1901`, `3. Mai 1901`, `10 mayo`, `2024-03-15`."""
    if language.code == "de":
        text = _GERMAN_SPAN.sub(r"\1 bis ", text)
    text = _YEAR_FIRST.sub(lambda m: _say_numeric(m, language), text)
    text = _NUMERIC.sub(lambda m: _say_numeric(m, language), text)
    if language.code == "de":
        text = _GERMAN_DAY.sub(lambda m: _say_german_day(m, language), text)
    text = _month_and_year(language).sub(lambda m: _say_month(m, language), text)
    text = _named(language).sub(lambda m: _say_named(m, language), text)
    if language.code == "es":
        text = _month_first(language).sub(lambda m: _say_month_first(m, language), text)
    return text


def _say_day(day: int, match: re.Match[str], language: Language) -> str:
    return language.day(day, before(match))


def _say_year(written: str, language: Language) -> str:
    if written[0] == "'" or len(written) == 2:
        short = written.lstrip("'")
        return digits(short, language) if short[0] == "0" else count(int(short), language)
    return language.year(int(written))


def _say_numeric(match: re.Match[str], language: Language) -> str:
    day, month = int(match["day"]), int(match["month"])
    if month > 12 >= day:
        day, month = month, day
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return match[0]
    months = any_of(language.months.split())
    if match["mark"] == "-" and re.match(rf" (?:de )?(?i:{months})", after(match)):
        return match[0]  # `10-11-12 juin`
    name = language.months.split()[month - 1]
    date = f"{_say_day(day, match, language)}{language.before_month}{name}"
    return f"{date}{language.before_year}{_say_year(match['year'], language)}"


def _say_german_day(match: re.Match[str], language: Language) -> str:
    day, month = int(match["day"]), int(match["month"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return match[0]
    tail = after(match, 20)
    stop = "." if match["stop"] and (not tail or re.match(rf"\s{language.opener}", tail)) else ""
    return f"{_say_day(day, match, language)} {language.months.split()[month - 1]}{stop}"


def _say_named(match: re.Match[str], language: Language) -> str:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return match[0]
    month = match["name"]
    if not month:
        place = _short_months(language)[match["short"].lower()]
        month = language.months.split()[place - 1]
    said = f"{_say_day(day, match, language)}{language.before_month}{month}"
    if match["days"]:
        days = (count(int(figure), language) for figure in re.split("[/-]", match["days"]))
        said = f"{' '.join(days)} {said}"
    if match["year"]:
        join = match["join"] if match["join"].strip(" ,") else language.before_year
        said += join + _say_year(match["year"], language)
    return said


def _say_month_first(match: re.Match[str], language: Language) -> str:
    day, name = int(match["day"]), match["name"].lower()
    if not 1 <= day <= 31:
        return match[0]
    if name in _short_months(language):
        name = language.months.split()[_short_months(language)[name] - 1]
    return like(match["name"], _say_day(day, match, language) + language.before_month + name)


@lru_cache(maxsize=8)
def _time_span(language: Language) -> re.Pattern[str]:
    clock = language.clock
    end = rf"\d{{1,2}}(?:{clock.marks}[0-5]\d(?!\d)|(?:\.[0-5]\d)?(?:{clock.suffixes}))"
    start = rf"\d{{1,2}}(?:(?:{clock.marks}|\.)[0-5]\d|\s?h)?"
    return re.compile(rf"(?<![\w.,:/-])({start})\s?[-–—]\s?(?={end})")


def say_times(text: str, language: Language) -> str:
    """Say times of day: `14:30`, `14h30`, `14.30 Uhr`, `3 p.m.`, `8-10 h`."""
    text = _time_span(language).sub(lambda m: f"{m[1].replace('.', ':')} {language.until} ", text)
    return _time(language).sub(lambda m: _say_time(m, language), text)


def _suffix(match: re.Match[str]) -> str | None:
    return match["suffix"] or match["bare"]


def _half(match: re.Match[str]) -> str | None:
    return match["half"] or match["bare_half"]


def _is_time(match: re.Match[str]) -> bool:
    hours = int(match["hours"])
    if hours > 24:
        return False
    if match["mark"] and match["mark"].strip() != ".":
        return True
    if match["mark"]:
        is_clear = _suffix(match) or _half(match) or match["before"] or match["zone"]
        return bool(is_clear or (match["seconds"] is None and hours >= 10))
    return bool(_half(match) or match["zone"] or _suffix(match))


def _say_time(match: re.Match[str], language: Language) -> str:
    clock, hours = language.clock, int(match["hours"])
    if not _is_time(match) or _is_measure(match, language):
        return match[0]
    for words, first, last in clock.twelve:
        if first <= hours <= last and not match["seconds"] and re.match(words, after(match)):
            hours -= 12
    said = match["lead"] + _say_hours(match, hours, language)
    half = _half(match)
    if half:
        said += f" {clock.halves.get(_part_of_day(half, hours), f'{half.lower()} m')}"
    return said + _say_zone(match, language) + _stop_of(match, language)


def _is_measure(match: re.Match[str], language: Language) -> bool:
    """Tell `1 h`, `30 min`, `10.25 km` and the decimal or section `12.15` from times."""
    suffix = (_suffix(match) or "").strip()
    if not match["minutes"] and not _half(match):
        is_hours = suffix[:1] == "h" and language.code in {"de", "es", "it"}
        has_figure = bool(match["zone"]) or match["hours"][0] == "0"
        return suffix == "min" or (is_hours and not has_figure)
    if match["mark"] != "." or suffix or _half(match) or match["before"]:
        return False
    if language.code in {"de", "nl", "fr"}:
        return True
    return bool(_unit(language).match(match.string, match.end()))


@lru_cache(maxsize=8)
def _unit(language: Language) -> re.Pattern[str]:
    return re.compile(rf"\s?(?:{any_of([*language.units, *language.magnitudes])})(?!\w)")


def _part_of_day(half: str, hours: int) -> str:
    """The key of `Clock.halves`: `a` morning, `n` noon, `p` afternoon, `e` evening and midnight."""
    if half.lower() == "a":
        return "e" if hours == 12 else "a"
    return "n" if hours == 12 else "e" if 8 <= hours < 12 else "p"


def _say_hours(match: re.Match[str], hours: int, language: Language) -> str:
    clock = language.clock
    minutes, seconds = match["minutes"], match["seconds"]
    if seconds and not (seconds == "00" and language.code == "es"):
        return clock.full.format(
            hours=say_counted(str(hours), clock.hour_noun, language),
            minutes=say_counted(str(int(minutes)), clock.minute_noun, language),
            seconds=say_counted(str(int(seconds)), clock.second_noun, language),
        )
    said = say_counted(str(hours), clock.hour, language)
    if not minutes or minutes == "00":
        return said
    part = clock.parts.get(int(minutes))
    is_bare_quarter = language.code == "it" and minutes == "15" and not match["lead"]
    if part and (hours <= 12 or is_bare_quarter):
        return f"{said}{clock.join}{part}"
    minute = "" if match["lead"] else clock.minute
    return f"{said}{clock.join}{count(int(minutes), language)} {minute}".rstrip()


def _say_zone(match: re.Match[str], language: Language) -> str:
    if not match["zone"]:
        return ""
    said = " " + " ".join(match["zone"])
    if match["by"]:
        said += f" {language.plus if match['shift'] == '+' else language.minus} "
        said += count(
            int(match["by"]), language, language.clock.hour.gender if match["by_minutes"] else ""
        )
        said += f" {count(int(match['by_minutes']), language)}" if match["by_minutes"] else ""
    return said


def _stop_of(match: re.Match[str], language: Language) -> str:
    """The stop of `p.m.` where the sentence ends with it."""
    if not match[0].endswith("."):
        return ""
    return stop_between(before(match), after(match), language)
