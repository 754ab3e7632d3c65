"""English money, percentages and quantities with units."""

import re

from pocket_batch.text.numbers_en import FIGURE, cardinal, say
from pocket_batch.text.tables_en import CURRENCIES, MULTIPLES, PRICED_THINGS, UNITS

_SIGNS = "".join(CURRENCIES)
_PER = {"yr": "year", "y": "year", "mo": "month", "wk": "week", "d": "day", "h": "hour"}

# `$3.50`, `US $76.3 trillion`, `¥30b`, `£1,200`, `a $5 bill`
_MONEY = re.compile(
    rf"(?:\b(?P<country>US|A|C|HK|NZ) ?)?(?P<sign>[{_SIGNS}])\s?(?P<figure>{FIGURE})"
    rf"(?:\s?(?P<many>thousand|hundred|million|billion|trillion|dozen|mn|bn|[kmb])\b)?"
    rf"(?:(?P<per>/(?:{'|'.join(_PER)})\b)|(?P<thing>[ -](?:{PRICED_THINGS})\b))?",
    re.IGNORECASE,
)
# `£3 10s. 6d.`, `3s. 6d.`, `£10 5s.`
_OLD_MONEY = re.compile(
    r"(?:£\s?(?P<pounds>\d{1,3}(?:,?\d{3}){0,3}),? )?\b(?P<shillings>\d{1,2})s\."
    r"(?:,? (?P<pence>\d{1,2})d\b(?P<stop>\.)?)?"
)
_OLD_PENCE = re.compile(r"(?<![\w.,])(\d{1,2})d(?P<stop>\.)(?=[\s,;)\"']|$)")
# after `6d.`: the stop also ends the sentence
_SENTENCE_END = re.compile(r"[\"')\]]*(?:$|\s+[\"'(]*[A-Z])")
# `5p`, `50¢` -> `five pence`, `fifty cents`
_SMALL_COIN = re.compile(r"(?<![\w.,])(\d{1,2})(p|¢)(?!\w)")
_PERCENT = re.compile(rf"(?<![\d.,])({FIGURE})\s?(%|‰)")
# `12kg`, `5 ft.`, `2°C`, `41,459.00 km²`, `7.2-millimeter`
_UNIT = re.compile(
    rf"(?<![\w.])(?P<figure>{FIGURE})(?P<gap>\s?)"
    rf"(?P<unit>{'|'.join(re.escape(u) for u in sorted(UNITS, key=len, reverse=True))})"
    r"(?P<power>[²³]|[23](?!\w))?(?P<stop>\.(?=\s[a-z(]|[,;]))?(?![\w°²³])(?!'\w)"
)
# `12/kg` -> `12 per kilogram`
_PER_UNIT = re.compile(r"(?<=\d)/(kg|km|lb|ml|cm|mm|oz|hr|min|sec)\b")
# `6'2"`, `5′ 10″` -> `six feet two inches`
_FEET = re.compile(r"(?<![\w.])(\d{1,6})\s?(?:['′]|ft\.?)\s?(\d{1,6})\s?(?:\"|″|''|in\b\.?)")
_PRIME = re.compile(r"(?<=\d)\s?([′″])")
# `4.4x`, `10x` -> `four point four times`
_TIMES = re.compile(rf"(?<![\w.])({FIGURE})x(?!\w)")


def write_out_measures(text: str) -> str:
    """Say money, percentages and units; the figures of units are said too."""
    if any(sign in text for sign in _SIGNS) or "¢" in text:
        text = _OLD_MONEY.sub(_say_old_money, text) if "£" in text else text
        text = _MONEY.sub(_say_money, text)
    text = _OLD_MONEY.sub(_say_old_money, text)
    text = _OLD_PENCE.sub(lambda m: _pence(int(m[1])) + _stop(m), text)
    text = _SMALL_COIN.sub(_say_small_coin, text)
    text = _PERCENT.sub(_say_percent, text)
    text = _FEET.sub(_say_feet, text)
    text = _PRIME.sub(lambda m: " feet" if m[1] == "′" else " inches", text)
    text = _PER_UNIT.sub(lambda m: f" per {UNITS[m[1]][0]}", text)
    text = _TIMES.sub(lambda m: f"{say(m[1])} times", text)
    return _UNIT.sub(_say_unit, text)


def _counted(number: int, one: str, many: str) -> str:
    return f"{cardinal(number)} {one if number == 1 else many}"


def _say_money(match: re.Match[str]) -> str:
    one, many, cent, cents = CURRENCIES[match["sign"]]
    figure, multiple = match["figure"].rstrip(","), (match["many"] or "").lower()
    whole, _, decimals = figure.replace(",", "").partition(".")
    after = f" per {_PER[match['per'][1:].lower()]}" if match["per"] else ""
    country = f"{match['country']} " if match["country"] else ""
    if multiple:
        multiple = MULTIPLES.get(multiple, multiple)
        return f"{country}{say(figure)} {multiple} {one if match['thing'] else many}" + (
            match["thing"] or after
        )
    if match["thing"]:
        return f"{country}{say(figure)} {one}{match['thing']}"
    small = decimals.rstrip("0")
    if len(small) > 2 or (decimals and not small and not whole):
        return f"{country}{say(figure)} {many}{after}"
    parts = []
    if whole and (whole.strip("0") or not small):
        parts.append(f"{say(whole)} {one if whole == '1' else many}")
    if small:
        parts.append(_counted(int(small.ljust(2, "0")), cent, cents))
    return country + " and ".join(parts) + after


def _pence(number: int) -> str:
    """Say old pence: 6 -> `sixpence`, 1 -> `one penny`."""
    if number == 1:
        return "one penny"
    return f"{cardinal(number)}pence" if number <= 12 else f"{cardinal(number)} pence"


def _say_old_money(match: re.Match[str]) -> str:
    pounds, shillings, pence = match["pounds"], match["shillings"], match["pence"]
    if not pounds and not pence:
        return match[0]  # `in the 80s.`
    said = [_counted(int(pounds.replace(",", "")), "pound", "pounds")] if pounds else []
    said.append(_counted(int(shillings), "shilling", "shillings"))
    if pence:
        said.append(f"and {_pence(int(pence))}")
    return " ".join(said) + _stop(match)


def _stop(match: re.Match[str]) -> str:
    """Keep the stop of an abbreviation that ends its sentence."""
    return "." if match["stop"] and _SENTENCE_END.match(match.string[match.end() :]) else ""


def _say_small_coin(match: re.Match[str]) -> str:
    if match[2] == "¢":
        return _counted(int(match[1]), "cent", "cents")
    return _counted(int(match[1]), "penny", "pence")


def _say_percent(match: re.Match[str]) -> str:
    return f"{say(match[1])} {'percent' if match[2] == '%' else 'per mille'}"


def _say_feet(match: re.Match[str]) -> str:
    feet, inches = int(match[1]), int(match[2])
    return f"{_counted(feet, 'foot', 'feet')} {_counted(inches, 'inch', 'inches')}"


def _say_unit(match: re.Match[str]) -> str:
    one, many = UNITS[match["unit"]]
    power = {"²": "square ", "2": "square ", "³": "cubic ", "3": "cubic "}.get(
        match["power"] or "", ""
    )
    return f"{say(match['figure'])} {power}{one if match['figure'] == '1' else many}"
