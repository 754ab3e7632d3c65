"""Numbers in languages other than English: cardinals, decimals, ordinals, years; the rest stays."""

import re
from functools import lru_cache

# language: mark of thousands, mark of decimals and its word, regex of an ordinal ending
_LANGUAGES = {
    "de": (".", ",", "Komma", r"(?!)"),
    "fr": (" ", ",", "virgule", r"(?:er|re|ère|e|ème|nd|nde)\b"),
    "es": (".", ",", "coma", r"(?:\.?[ºª°]|er\b)"),
    "it": (".", ",", "virgola", r"[º°ª]"),
    "pt": (".", ",", "vírgula", r"\.?[ºª°]"),
    "nl": (".", ",", "komma", r"(?:e|ste|de)\b"),
}
_MAX_DIGITS = 15


@lru_cache(maxsize=4096)
def _words(number: int, language: str, kind: str) -> str:
    from num2words import num2words

    return str(num2words(number, lang=language, to=kind))


@lru_cache(maxsize=8)
def _figure(language: str) -> re.Pattern[str]:
    thousands, decimal, _, ordinal = _LANGUAGES[language]
    group, mark = re.escape(thousands), re.escape(decimal)
    return re.compile(
        rf"(?<![\w.,])(?P<whole>\d{{1,3}}(?:{group}\d{{3}})+(?!\d)|\d+)"
        rf"(?:(?P<ordinal>{ordinal})|{mark}(?P<decimals>\d+))?(?![\w]|[.:/]\d)"
    )


def write_out_numbers_in(text: str, language: str) -> str:
    """Say the figures of a text in German, French, Spanish, Italian, Portuguese or Dutch.

    Figures that are part of a code, date or time stay as they are, and so does every figure in
    another language.
    """
    if language not in _LANGUAGES:
        return text
    return _figure(language).sub(lambda match: _say(match, language), text)


def _say(match: re.Match[str], language: str) -> str:
    thousands, _, point, _ = _LANGUAGES[language]
    whole = match["whole"].replace(thousands, "")
    if len(whole) > _MAX_DIGITS or (whole[0] == "0" and len(whole) > 1):
        return match[0]
    number = int(whole)
    if match["ordinal"]:
        return _words(number, language, "ordinal")
    is_year = match["whole"] == whole and 1100 <= number < 2000 and not match["decimals"]
    words = _words(number, language, "year" if is_year and language == "de" else "cardinal")
    if match["decimals"]:
        digits = (_words(int(digit), language, "cardinal") for digit in match["decimals"])
        words += f" {point} {' '.join(digits)}"
    return words
