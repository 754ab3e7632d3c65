"""Money, and figures with a unit behind them."""

import re
from collections.abc import Iterable
from functools import lru_cache

from pocket_batch.text.languages.table import Language, Money, Noun
from pocket_batch.text.patterns import any_of
from pocket_batch.text.rules.figures import FRACTION, say_fraction
from pocket_batch.text.rules.words import (
    NUMBER,
    SIGN,
    after,
    before,
    is_one,
    say_counted,
    say_number,
    say_sign,
    split_number,
    stop_between,
    until,
)

_LOW = rf"(?:(?P<low>{NUMBER})\s?(?:[-–—]|bis|à|a|tot)\s?)?"
_LETTER_END = re.compile(r"[^\W_]$")
_LETTERS = frozenset("dqtsfAVJNKWL")  # units of one letter that are also codes: `A 4`
_NOT_BEFORE = {"F", "fr", "kr", "ct", "f."}  # marks that stand behind their figure only
_THOUSAND = {"mil", "mille", "mila"}  # magnitudes that are part of the number
# `$3.50`, `3.50 €`, with the decimal point of English
_POINT = re.compile(
    r"((?<=[$€£])\d{1,9}|(?<=[$€£] )\d{1,9}|(?<![\w.,])\d{1,9}(?=\.\d\d\s?[$€£]))\.(\d\d)(?!\d)"
)
# `20° de latitud`, `20° bajo cero`
_DEGREES = re.compile(
    r" ?(?:bajo|sobre|sob|abaixo|acima|sotto|sopra|de lat|de lon|di lat|[NSEOW]\b|\d)"
)


def _closed(keys: Iterable[str]) -> str:
    """A regex of marks, longest first, those of letters not followed by a letter."""
    closed = (
        re.escape(key) + (r"(?![\w²³])" if _LETTER_END.search(key) else "")
        for key in sorted(keys, key=len, reverse=True)
    )
    return f"(?:{'|'.join(closed)})"


@lru_cache(maxsize=8)
def _currencies(language: Language) -> dict[str, Money]:
    """The currencies by mark and code, codes in lower case too."""
    is_code = re.compile(r"[A-Z]{3}|[A-Z]+\$").fullmatch
    codes = {key.lower(): money for key, money in language.money.items() if is_code(key)}
    return {**codes, **language.money}


@lru_cache(maxsize=8)
def _money(language: Language) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Amounts with the mark before them, and with the mark behind."""
    before = any_of(key for key in _currencies(language) if key not in _NOT_BEFORE)
    great = rf"(?:\s?(?P<great>{_closed(language.magnitudes)}))?"
    amount = rf"{_LOW}(?P<number>{NUMBER})(?:,[-–—]+)?{great}"
    return (
        re.compile(rf"(?P<sign>{SIGN})(?<!\w)(?P<mark>{before})\s?{amount}(?P<per>)"),
        re.compile(
            rf"(?P<sign>{SIGN})(?<!\w){amount}\s?(?P<mark>{_closed(_currencies(language))})"
            rf"(?:/(?P<per>{_closed(language.units)}|[^\W\d_]+))?"
        ),
    )


def say_money(text: str, language: Language) -> str:
    """Say amounts of money: `5 €`, `$3,50`, `3 Mio. €`, `R$ 12,05`."""
    text = _POINT.sub(r"\1,\2", text)
    for pattern in _money(language):
        text = pattern.sub(lambda m: _say_money(m, language) + _stop(m, language), text)
    return text


def _stop(match: re.Match[str], language: Language) -> str:
    """The stop of `100 ptas.` where the sentence ends with it."""
    if not match[0].endswith("."):
        return ""
    return stop_between(before(match), after(match), language)


def _head(match: re.Match[str], gender: str, language: Language) -> str:
    """The sign and the lower end of a range, each with a space behind it."""
    sign = say_sign(match["sign"], language)
    if not match["low"]:
        return sign
    return f"{sign}{say_number(match['low'], language, gender)} {until(match, language)} "


def _say_money(match: re.Match[str], language: Language) -> str:
    money, number = _currencies(language)[match["mark"]], match["number"]
    said = _head(match, money.whole.gender, language)
    great = language.magnitudes.get(match["great"] or "")
    if great is None:
        said += _say_amount(number, money, language)
    elif great.one in _THOUSAND:
        count = say_number(number, language, money.whole.gender)
        said += f"{count} {great.one} {money.whole.many}"
    else:
        said += say_counted(number, great, language) + _of(money.whole.many, language)
    return said + _say_per(match, language)


def _say_per(match: re.Match[str], language: Language) -> str:
    """What an amount is for: `/h` -> ` pro Stunde`."""
    if not match["per"]:
        return ""
    if match["per"] == "h":
        return f" {language.per_hour}"
    unit = language.units.get(match["per"])
    return f" {language.per} {unit.one if unit else match['per']}"


def _of(noun: str, language: Language) -> str:
    """A noun behind millions: ` de francs`, ` d'euros`, ` Euro`."""
    if language.code == "fr" and noun[:1] in "aeiouhéè":
        return f" d'{noun}"
    return f" {language.after_magnitude} {noun}" if language.after_magnitude else f" {noun}"


def _say_amount(number: str, money: Money, language: Language) -> str:
    """Say whole units and hundredths apart: `3,50` -> `drei Euro fünfzig Cent`."""
    whole, decimals = split_number(number)
    if len(decimals) == 3 and decimals[2] == "0":
        decimals = decimals[:2]
    if not decimals.strip("0"):
        return say_counted(whole, money.whole, language)
    if money.part is None or len(decimals) > 2:
        return say_counted(number, money.whole, language)
    cents = say_counted(str(int(decimals.ljust(2, "0"))), money.part, language)
    if not whole.strip("0"):
        return cents
    return f"{say_counted(whole, money.whole, language)}{language.before_part}{cents}"


@lru_cache(maxsize=8)
def _measure(language: Language) -> re.Pattern[str]:
    unit = _closed(language.units)
    return re.compile(
        rf"(?P<sign>{SIGN})(?<!\w){_LOW}(?:(?P<fraction>{FRACTION})|(?P<number>{NUMBER}))"
        rf"(?:\s(?P<great>{_closed(language.magnitudes)}))?"
        rf"(?:(?P<space>[\s-]?)(?P<unit>{unit})|(?=/))(?:/(?P<per>{unit}))?(?:\.(?= [a-zß-ÿ]))?"
    )


def say_measures(text: str, language: Language) -> str:
    """Say figures with units: `200 km/h`, `-8,5 %`, `1 1/2 kg`, `20 °C`."""
    text = _point(language).sub(r"\1,\2", text)
    return _measure(language).sub(lambda m: _say_measure(m, language), text)


@lru_cache(maxsize=8)
def _point(language: Language) -> re.Pattern[str]:
    """`12.5%`, with the decimal point of English."""
    return re.compile(rf"(?<![\w.,])(\d{{1,9}})\.(\d{{1,2}})(?=\s?{_closed(language.units)})")


def _say_measure(match: re.Match[str], language: Language) -> str:
    unit = match["unit"] or ""
    if not (unit or match["per"]) or (unit == "°" and not _is_degree(match, language)):
        return match[0]
    is_code = re.match(r"-[^\W\d_]", after(match))  # `4K-Fernseher`
    if unit in _LETTERS and (match["space"] == "-" or match["low"] or is_code):
        return match[0]
    noun = language.units[unit] if unit else Noun("", "", "")
    said = _head(match, noun.gender, language)
    if match["fraction"]:
        said += say_fraction(match["fraction"], language, noun)
    elif match["great"]:
        great = language.magnitudes[match["great"]]
        said += say_counted(match["number"], great, language) + _of(noun.many, language)
    elif match["low"] and is_one(match["number"]):
        said += f"{say_number(match['number'], language, noun.gender)} {noun.many}"
    else:
        said += say_counted(match["number"], noun, language)
    if unit == "%" and re.match("ig", after(match)):
        return said.replace(f" {noun.many}", noun.many.lower())  # `5%ige` -> `fünfprozentige`
    return said + _say_per(match, language) + _stop(match, language)


def _is_degree(match: re.Match[str], language: Language) -> bool:
    """Tell degrees from the ordinal mark that looks like them in Spanish, Italian, Portuguese."""
    if language.code not in {"es", "it", "pt"} or match["space"] or match["fraction"]:
        return True
    whole, decimals = split_number(match["number"])
    return bool(decimals or int(whole) > 31 or _DEGREES.match(after(match)))
