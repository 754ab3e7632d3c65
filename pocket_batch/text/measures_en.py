"""English percentages, quantities with units, feet and inches, angles."""

import re
from itertools import pairwise

from pocket_batch.text.numbers_en import FIGURE, say
from pocket_batch.text.patterns import any_of
from pocket_batch.text.units_en import PER_UNITS, UNITS

# `5 %`, `3‰` -> `five percent`, `three per mille`
_PERCENT = re.compile(rf"(?<![\d.,])({FIGURE})\s?(%|‰)")
# `12kg`, `5 ft.`, `2°C`, `41,459.00 km²`, `3 g/cm³`, `5 m s⁻¹`, `a 12-kg bag`
_UNIT = re.compile(
    rf"(?P<a>\b[Aa]n? )?(?<![\w.])(?P<figure>{FIGURE})(?P<gap>\s|-)?(?P<unit>{any_of(UNITS)})"
    rf"(?P<power>[²³]|[23](?![\w.]))?"
    rf"(?: ?/ ?(?P<per>{any_of(PER_UNITS)})(?P<per_power>[²³]|[23](?!\w))?"
    r"|[ ·]?(?P<inverse>s|h|min|m|cm|kg|l|L|mol)⁻(?P<inverse_power>[¹²³]))?"
    r"(?P<stop>\.(?=\s[a-z(]|\s\d+ ?(?:oz|in|ft|lbs?)\b|[,;)]))?(?![\w°²³⁻]|\.\w)(?!'\w)"
)
_POWERS = {"²": "square ", "2": "square ", "³": "cubic ", "3": "cubic "}
# `5-10 km`, `1980–1970 kg` -> `five to 10 km`, ...: quantities, never years
_UNIT_RANGE = re.compile(
    rf"(?<![\w.,/-])({FIGURE})\s?[-–—]\s?(?=(?:{FIGURE})[\s-]?(?:{any_of(UNITS)})(?!\w|\.\d))"
)
# `12/kg`, `km/h` without a figure -> `12 per kilogram`, `kilometers per hour`
_PER_UNIT = re.compile(r"(?<=\d)/(kg|km|lb|ml|cm|mm|oz|hr|min|sec)\b")
# `per kg` -> `per kilogram`
_PER_WORD = re.compile(r"(?<=\bper )(kg|km|lb|lbs|ml|cm|mm|oz|hr|min|sec|sq ft)\b")
# `in km/h` -> `in kilometers per hour`
_BARE_RATE = re.compile(
    r"(?<![\w/])(?<!\d )(km|mi|m|ft|mg|g|kg)/(h|hr|s|sec|min|kg|l|L|ml|day)(?![\w/])"
)
# `0.5 s`, `20 s` -> seconds; `80s` is a decade
_SECONDS = re.compile(r"(?<![\w.,])(\d+\.\d+ ?|\d{1,3} )s(?![\w'.])")
# `5 in. long` -> `5 inches long`
_INCHES = re.compile(rf"(?<![\w.])({FIGURE}) ?(sq\.? )?in\.(?=\s(?:[a-z(×]|\d)|[,;)])")
# `6'2"`, `5′ 10″` -> `six feet two inches`
_FEET = re.compile(r"(?<![\w.])(\d{1,6})\s?(?:['′]|ft\.?)\s?(\d{1,6})\s?(?:\"|″|''|in\b\.?)")
# `5′`, `3″` -> `5 feet`, `3 inches`
_PRIME = re.compile(r"(?<=\d)\s?([′″])")
# `8' x 10'`, `6' tall` -> feet
_BARE_FEET = re.compile(
    r"(?<=\d)'(?= ?(?:x|×|by|tall|long|wide|high|deep|thick)\b)|(?<=[x×] \d)'|(?<=[x×] \d\d)'"
)
# `8 feet x 10` -> `8 feet by 10`
_BY = re.compile(r"(?<=feet|ches) ?[x×] ?(?=\d)")
# before an inch mark: `12`, `three quarters`
_BEFORE_INCH = re.compile(r"(?:\d|half|halves|quarters?|thirds?|eighths?|sixteenths?)$")
_PART_OF_INCH = re.compile(r"(?<!and )\b\w+ (?:half|quarters?|thirds?|eighths?|sixteenths?)$")
# `a 12" ruler` -> `a 12 inch ruler`, where the mark can close no quote
_SINGLE = re.compile(r"\b[Aa]n? [\d./,]+$")
# `41°24'12"N`, `40°N` -> degrees, minutes, seconds, direction
_ANGLE = re.compile(
    r"(?<![\w.])(\d{1,3}(?:\.\d+)?)\s?°\s?(?:(\d{1,2}(?:\.\d+)?)\s?['′]\s?"
    r"(?:(\d{1,2}(?:\.\d+)?)\s?(?:\"|″|''|′′)\s?)?(?P<far>[NSEW]\b)?|(?P<near>[NSEW]\b))"
    r"(?:(?<=[NSEW])\.(?=,))?"
)
_POINTS = {"N": "north", "S": "south", "E": "east", "W": "west"}
# `4.4x`, `10x` -> `four point four x`
_TIMES = re.compile(rf"(?<![\w.])({FIGURE})x(?!\w)")


def write_out_unit_ranges(text: str) -> str:
    """Say the lower end of a range that has its unit at the end."""
    return _UNIT_RANGE.sub(lambda m: f"{say(m[1])} to ", text)


def write_out_measures(text: str) -> str:
    """Say percentages and units; the figures of units are said too."""
    if "%" in text or "‰" in text:
        text = _PERCENT.sub(_say_percent, text)
    if "°" in text:
        text = _ANGLE.sub(_say_angle, text)
    text = _FEET.sub(_say_feet, text)
    text = _PRIME.sub(lambda m: " feet" if m[1] == "′" else " inches", text)
    if "'" in text:
        text = _BARE_FEET.sub(" feet", text)
    if '"' in text:
        text = _say_inch_marks(text)
    if "x" in text or "×" in text:
        text = _BY.sub(" by ", text)
    if "in." in text:
        text = _INCHES.sub(_say_inches, text)
    text = write_out_rates(text)
    text = _TIMES.sub(lambda m: f"{say(m[1])} x", text)
    text = _UNIT.sub(_say_unit, text)
    text = _PER_UNIT.sub(lambda m: f" per {UNITS[m[1]][0]}", text)
    text = _PER_WORD.sub(lambda m: UNITS[m[1]][0], text)
    return _SECONDS.sub(_say_seconds, text)


def write_out_rates(text: str) -> str:
    """Say rates without a figure: `in km/h` -> `in kilometers per hour`."""
    if "/" not in text:
        return text
    return _BARE_RATE.sub(lambda m: f"{UNITS[m[1]][1]} per {PER_UNITS[m[2]]}", text)


def _counted(figure: str, one: str, many: str) -> str:
    return f"{say(figure)} {one if figure == '1' else many}"


def _say_percent(match: re.Match[str]) -> str:
    return f"{say(match[1])} {'percent' if match[2] == '%' else 'per mille'}"


def _say_feet(match: re.Match[str]) -> str:
    return f"{_counted(match[1], 'foot', 'feet')} {_counted(match[2], 'inch', 'inches')}"


def _say_inch_marks(text: str) -> str:
    """Say the mark after a figure where no quote is open, so that it can close none."""
    pieces = text.split('"')
    said, is_open = pieces[0], False
    for before, piece in pairwise(pieces):
        if not is_open and _BEFORE_INCH.search(before):
            is_single = _SINGLE.search(before) or _PART_OF_INCH.search(before)
            said += (" inch" if is_single else " inches") + piece
            continue
        is_open = not is_open
        said += '"' + piece
    return said


def _say_inches(match: re.Match[str]) -> str:
    square = "square " if match[2] else ""
    return _counted(match[1], f"{square}inch", f"{square}inches")


def _say_seconds(match: re.Match[str]) -> str:
    return _counted(match[1].strip(), "second", "seconds")


def _say_angle(match: re.Match[str]) -> str:
    parts = [_counted(match[1], "degree", "degrees")]
    if match[2]:
        parts.append(_counted(match[2], "minute", "minutes"))
    if match[3]:
        parts.append(_counted(match[3], "second", "seconds"))
    point = match["far"] or match["near"]
    return " ".join([*parts, _POINTS[point]] if point else parts)


def _say_unit(match: re.Match[str]) -> str:
    one, many = UNITS[match["unit"]]
    power = _POWERS.get(match["power"] or "", "")
    is_single = match["figure"] == "1" or match["a"] or match["gap"] == "-"
    said = f"{power}{one if is_single else many}"
    if match["per"]:
        said += f" per {_POWERS.get(match['per_power'] or '', '')}{PER_UNITS[match['per']]}"
        if match["per"] == "s" and match["per_power"] in {"²", "2"}:
            said = said.replace("square second", "second squared")
    elif match["inverse"]:
        lower = match["inverse_power"]
        said += f" per {_POWERS.get(lower, '')}{PER_UNITS[match['inverse']]}"
    gap = "-" if match["gap"] == "-" else " "
    return f"{match['a'] or ''}{say(match['figure'])}{gap}{said}"
