"""English money: signs and codes, magnitudes, ranges, the old British coins."""

import re

from pocket_batch.text.numbers_en import FIGURE, cardinal, say
from pocket_batch.text.patterns import SENTENCE_NEXT
from pocket_batch.text.units_en import CURRENCIES, CURRENCY_CODES, MULTIPLES, PRICED_THINGS

_SIGNS = "".join(CURRENCIES)
_CODES = "|".join(CURRENCY_CODES)
_PER = {
    "yr": "year", "y": "year", "year": "year", "mo": "month", "month": "month", "wk": "week",
    "week": "week", "d": "day", "day": "day", "h": "hour", "hr": "hour", "hour": "hour",
    "kg": "kilogram", "lb": "pound", "oz": "ounce", "g": "gram", "l": "liter", "gal": "gallon",
    "person": "person", "head": "head",
}  # fmt: skip
# `CHF 10`, `10 CAD` -> `ten Swiss francs`, ...
_OTHER_CODES = {
    "CHF": "Swiss francs", "CAD": "Canadian dollars", "AUD": "Australian dollars",
    "NZD": "New Zealand dollars", "CNY": "yuan", "RMB": "yuan", "SEK": "Swedish kronor",
    "NOK": "Norwegian kroner", "DKK": "Danish kroner", "RUB": "rubles", "MXN": "Mexican pesos",
    "R$": "reais",
}  # fmt: skip
# a cheap first look
_HAS_OTHER = re.compile("|".join(map(re.escape, _OTHER_CODES)))
_OTHER_MONEY = re.compile(
    rf"(?<![\w.,])(?:({_HAS_OTHER.pattern}) ?({FIGURE})|({FIGURE}) ?({_HAS_OTHER.pattern}))"
    r"(?!\w|[.,]\d)(?: (thousand|million|billion)\b)?"
)
# `C$5` -> `five Canadian dollars`
_COUNTRIES = {
    "A": "Australian ", "AU": "Australian ", "C": "Canadian ", "CA": "Canadian ",
    "HK": "Hong Kong ", "NZ": "New Zealand ", "S": "Singapore ",
}  # fmt: skip
# `-$5`, `$-5` -> `minus $5`
_NEGATIVE = re.compile(rf"(?<![\w)\]–—-])(?:[-–]([{_SIGNS}])|([{_SIGNS}])-)(?=\.?\d)")
_MANY = r"(?:thousand|hundred|million|billion|trillion|dozen|mn|mm|bn|tn|[kmbt])\b"

# `$5-10 million`, `$5–$10m` -> `five to $10 million`; `$5 million-$9 million` keeps both units
# and `$1.50-$2` stays for the rule of amounts
_RANGE = re.compile(
    rf"(?P<sign>[{_SIGNS}])(?P<low>{FIGURE})(?P<low_many>[\s-]?{_MANY})?\s?[-–—]\s?"
    rf"(?=(?P<again>[{_SIGNS}])?(?:{FIGURE})(?P<many>[\s-]?{_MANY})?)",
    re.IGNORECASE,
)
# `EUR 5`, `5 USD`, `5€`, `Rs. 5` -> `€5`, `$5`, `€5`, `₹5`
_CODE = re.compile(
    rf"\b({_CODES}|Rs\.?) ?(\ue000?)(?=\d)|(?<![\w.,])({FIGURE}) ?({_CODES}\b|[€£](?![\d.]))"
)
# a cheap first look
_HAS_CODE = re.compile(rf"{_CODES}|Rs|\d ?[€£]")
# `$3.50`, `US $76.3 trillion`, `¥30b`, `£1,200`, `a $5 bill`
_MONEY = re.compile(
    r"(?P<a>\ban? )?(?:(?<![\w'])(?-i:(?P<country>US|AU|CA|HK|NZ|[ACS](?=\$))(?P<apart> ?)))?"
    rf"(?P<sign>[{_SIGNS}])\s?"
    rf"(?P<figure>{FIGURE})(?:[\s-]?(?P<many>{_MANY}))?"
    rf"(?:(?P<per>/(?:{'|'.join(_PER)})\b)|(?P<thing>[ -](?:{PRICED_THINGS})\b))?",
    re.IGNORECASE,
)
# `£3 10s. 6d.`, `3s. 6d.`, `£10 5s.`, `£10 5s`
_OLD_MONEY = re.compile(
    r"(?:£\s?(?P<pounds>\d{1,3}(?:,?\d{3}){0,3}),? )?\b(?P<shillings>\d{1,2})s"
    r"(?:(?P<end>\.)|(?(pounds)\b|(?!)))"
    r"(?:,? (?P<pence>\d{1,2})(?P<half> 1/2 ?)?d\b(?P<stop>\.)?)?"
)
# `6d.`, `2½d.` -> `sixpence`, `twopence halfpenny`
_OLD_PENCE = re.compile(
    r"(?<![\w.,/])(?P<pence>\d{1,2})(?P<half> 1/2 ?)?d(?P<stop>\.)(?=[\s,;)\"']|$)"
)
# `30s. a week`, `a 10s. note` -> `thirty shillings a week`, `a ten shilling note`
_SHILLINGS = re.compile(
    r"(?P<a>\b[Aa] )?(?<!the )(?<!his )(?<!her )(?<!eir )(?<![\w.,/'-])"
    r"(\d{1,2})s\.(?=\s[a-z]|[,;)])"
)
# `25c. each` -> `twenty-five cents each`
_CENTS = re.compile(r"(?<![\w.,])(\d{1,2})c\.(?=\s[a-z])")
# `5p`, `50¢` -> `five pence`, `fifty cents`
_SMALL_COIN = re.compile(r"(?<![\w.,])(\d{1,2})(p|¢)(?!\w)")


def write_out_money(text: str) -> str:
    """Say amounts of money, the figures too."""
    if _HAS_OTHER.search(text):
        text = _OTHER_MONEY.sub(_say_other_money, text)
    if _HAS_CODE.search(text):
        text = _CODE.sub(_to_sign, text)
    if any(sign in text for sign in _SIGNS) or "¢" in text:
        text = _OLD_MONEY.sub(_say_old_money, text) if "£" in text else text
        text = _NEGATIVE.sub(lambda m: f"minus {m[1] or m[2]}", text)
        text = _MONEY.sub(_say_money, _RANGE.sub(_say_low_end, text))
    if "d" in text or "s." in text:
        text = _OLD_MONEY.sub(_say_old_money, text)
        text = _OLD_PENCE.sub(lambda m: _pence(m) + _stop(m), text)
        text = _SHILLINGS.sub(_say_shillings, text)
    if "c." in text:
        text = _CENTS.sub(lambda m: _counted(int(m[1]), "cent", "cents"), text)
    return _SMALL_COIN.sub(_say_small_coin, text)


def _counted(number: int, one: str, many: str) -> str:
    return f"{cardinal(number)} {one if number == 1 else many}"


def _to_sign(match: re.Match[str]) -> str:
    if match[1]:
        return match[2] + CURRENCY_CODES.get(match[1], "₹")
    return CURRENCY_CODES.get(match[4], match[4]) + match[3]


def _say_other_money(match: re.Match[str]) -> str:
    many = f" {match[5]}" if match[5] else ""
    return f"{say(match[2] or match[3])}{many} {_OTHER_CODES[match[1] or match[4]]}"


def _say_low_end(match: re.Match[str]) -> str:
    """Leave the unit to the end of a range that has it once: `$5-10`, `$5-$10 million`."""
    low = match["low"]
    if match["low_many"]:
        return f"{match['sign']}{low}{match['low_many']} to "
    if match["again"] and not match["many"]:
        return f"{match['sign']}{low} to "
    if "." in low and not match["many"]:
        return f"{match['sign']}{low} to {'' if match['again'] else match['sign']}"
    return f"{say(low)} to {'' if match['again'] else match['sign']}"


def _say_money(match: re.Match[str]) -> str:
    one, many, cent, cents = CURRENCIES[match["sign"]]
    country = _COUNTRIES.get((match["country"] or "").upper(), "")
    if match["country"] == "US" and not match["apart"]:
        country = "US "  # `US$5`; in `the US $5` it is the land
    one, many = country + one, country + many
    figure, multiple = match["figure"].rstrip(","), (match["many"] or "").lower()
    whole, _, decimals = figure.replace(",", "").partition(".")
    after = f" per {_PER[match['per'][1:].lower()]}" if match["per"] else ""
    lead = (match["a"] or "") + ("" if country or not match["country"] else "US ")
    single = bool(match["thing"] or match["a"])  # `a $5 bill`, `a $20 million house`
    if multiple:
        multiple = MULTIPLES.get(multiple, multiple)
        name = one if single else many
        return f"{lead}{say(figure)} {multiple} {name}{match['thing'] or after}"
    if single and not decimals.strip("0"):
        return f"{lead}{say(figure.partition('.')[0])} {one}{match['thing'] or after}"
    small = decimals.rstrip("0")
    if len(small) > 2 or (decimals and not small and not whole):
        return f"{lead}{say(figure)} {many}{match['thing'] or after}"
    parts = []
    if whole and (whole.strip("0") or not small):
        parts.append(f"{say(whole)} {one if whole == '1' else many}")
    if small:
        parts.append(_counted(int(small.ljust(2, "0")), cent, cents))
    return lead + " ".join(parts) + (match["thing"] or after)


def _pence(match: re.Match[str]) -> str:
    """Say old pence: 6 -> `sixpence`, 1 -> `one penny`, 2½ -> `twopence halfpenny`."""
    number = int(match["pence"])
    half = " halfpenny" if match["half"] else ""
    if number == 1:
        return "one penny" + half
    return f"{cardinal(number)}pence{half}" if number <= 12 else f"{cardinal(number)} pence{half}"


def _say_old_money(match: re.Match[str]) -> str:
    pounds, shillings, pence = match["pounds"], match["shillings"], match["pence"]
    if not pounds and not pence:
        return match[0]  # `in the 80s.`
    said = [_counted(int(pounds.replace(",", "")), "pound", "pounds")] if pounds else []
    said.append(_counted(int(shillings), "shilling", "shillings"))
    if pence:
        said.append(f"and {_pence(match)}")
    return " ".join(said) + _stop(match, "stop" if pence else "end")


def _say_shillings(match: re.Match[str]) -> str:
    single = "shilling" if match["a"] else "shillings"
    return (match["a"] or "") + _counted(int(match[2]), "shilling", single)


def _stop(match: re.Match[str], name: str = "stop") -> str:
    """Keep the stop of an abbreviation that ends its sentence."""
    return "." if match[name] and SENTENCE_NEXT.match(match.string, match.end()) else ""


def _say_small_coin(match: re.Match[str]) -> str:
    if match[2] == "¢":
        return _counted(int(match[1]), "cent", "cents")
    return _counted(int(match[1]), "penny", "pence")
