"""English times of day, durations with colons, ratios and verses."""

import re

from pocket_batch.text.numbers_en import cardinal, digits, two_digits
from pocket_batch.text.patterns import SENTENCE_NEXT

_ZONE = r"(?:[ECMPecmp]\.?[SDsd]?\.?[Tt]|G\.?M\.?T|gmt|UTC|utc|BST|CES?T|AES?T|IST|JST)"
# `17h30` -> `17:30`
_HOUR_LETTER = re.compile(r"(?<![\w.:])([01]?\d|2[0-3])h([0-5]\d)(?!\w)")
# `at 4.30`, `the 9.13 train` -> `at 4:30`, ...; `at 1.25 per cent` stays
_POINT = re.compile(
    r"\b(?:((?i:at|till|until)) (?=[\d.]+(?:[,;)!?]|\.?(?:$|\s+[A-Z])| (?:and|or|in|on|to|for|the"
    r"|he|she|we|they|I|sharp|precisely|that|this|every|each|when|but|as)\b))"
    r"|([Tt]he) (?=[\d.]+ (?:train|express|bus|boat|from|to|up|down)\b))"
    r"([1-9]|1\d|2[0-3])\.([0-5]\d)(?!\d)"
)
# `2h30m` -> `2 hr 30 min`
_HOURS_MINUTES = re.compile(r"(?<![\w.:])(\d{1,2})h ?([0-5]?\d)m(?:in)?(?!\w)")
# `0600 hours` -> `oh six hundred hours`
_MILITARY = re.compile(r"(?<![\w.,:$£€-])([01]\d|2[0-3])([0-5]\d)(?= (?:hours|hrs)\b)")
# `4:30 p.m.`, `4 pm`, `4.30 a.m.`, `01:59`, `1:59 p.m. e.s.t.`
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<hour>[01]?\d|2[0-4])(?:(?P<colon>[:.])(?P<minute>[0-5]\d)"
    r"(?::(?P<second>[0-5]\d))?)?(?:\s?(?P<half>[apAP])\.?\s?[mM]\b(?P<stop>\.)?)?"
    rf"(?:(?<=[\dmM.]) \(?(?P<zone>{_ZONE})\b(?P<zone_stop>\.)?\)?)?(?![\w:]|\.\d)"
)
# `2pm-5pm` -> `2pm to 5pm`
_HALF_DAY_RANGE = re.compile(
    r"(?:(?<=[apAP][mM])|(?<=[apAP][mM]\.)|(?<=[apAP]\.[mM]\.))\s?[-–—]\s?(?=\d)"
)
# `2:1`, `119:105`
_RATIO = re.compile(r"(?<![\w:.])(\d+):(\d+)(?![\w:])")


def write_out_times(text: str) -> str:
    """Say times of day; a pair with a colon that is no time is said as a ratio or verse."""
    text = _HOURS_MINUTES.sub(r"\1 hr \2 min", text)
    text = _HOUR_LETTER.sub(r"\1:\2", text)
    text = _POINT.sub(lambda m: f"{m[1] or m[2]} {m[3]}:{m[4]}", text)
    text = _MILITARY.sub(_say_military, text)
    text = _CLOCK.sub(_say_time, _HALF_DAY_RANGE.sub(" to ", text))
    return _RATIO.sub(_say_ratio, text) if ":" in text else text


def _say_military(match: re.Match[str]) -> str:
    minute = two_digits(match[2]) if int(match[2]) else "hundred"
    return f"{two_digits(match[1])} {minute}"


def _say_time(match: re.Match[str]) -> str:
    hour, minute, half = int(match["hour"]), match["minute"], match["half"]
    if half is None and match["colon"] != ":":
        return match[0]  # a number or a decimal
    if match["second"] and not half:
        return _say_duration(hour, int(minute), int(match["second"]))
    words = cardinal(hour)
    if minute and int(minute):
        words += f" {two_digits(minute)}"
        if match["second"]:
            words += f" and {cardinal(int(match['second']))} seconds"
    elif not half:
        words += " o'clock" if hour <= 23 else " hundred"
    if half:
        words += f" {half.upper()}M"
    stop = match["stop"]
    if match["zone"]:
        words += " " + match["zone"].replace(".", "").upper()
        stop = match["zone_stop"]
    # A line that is a time and nothing else is no sentence.
    is_sentence = match.end() < len(match.string) or match.start() > 1
    ends = stop and is_sentence and SENTENCE_NEXT.match(match.string, match.end())
    return words + ("." if ends else "")


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
