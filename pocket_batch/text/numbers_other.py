"""From written to spoken form in German, French, Spanish, Italian, Portuguese and Dutch.

A language is a table in `text/languages`; the rules in `text/rules` apply it in the order below.
"""

import re
from functools import lru_cache
from importlib import import_module

from pocket_batch.text.languages.table import Language
from pocket_batch.text.rules.amounts import say_measures, say_money
from pocket_batch.text.rules.characters import say_symbols, unify_characters
from pocket_batch.text.rules.codes import say_addresses, say_phones
from pocket_batch.text.rules.dates import say_dates, say_times
from pocket_batch.text.rules.figures import say_fractions, say_numbers, say_ordinals, say_ranges
from pocket_batch.text.rules.names import expand_abbreviations
from pocket_batch.text.rules.numerals import expand_numerals

LANGUAGES = {
    "de": "GERMAN",
    "fr": "FRENCH",
    "es": "SPANISH",
    "it": "ITALIAN",
    "pt": "PORTUGUESE",
    "nl": "DUTCH",
}
_DIGIT = re.compile(r"\d")
_UNUSABLE = {"am"}  # num2words 0.5.14 does not come back from a large number in Amharic
# A sentence that begins with a figure gets a capital when the figure becomes a word.
_MARK = "\ue000"
_FIRST_FIGURE = re.compile(
    r"(^|(?:(?<=[^\W\d_]{2})|(?<=\d{3}))[.!?…][\"')\]]*\s+)(?=[\"'(¿¡]*[-+$€£]?\d)"
)
_MARKED_WORD = re.compile(f"{_MARK}\\s*([\"'(¿¡]*)(\\w?)")
# `1,234.50`, written the English way -> `1234,50`
_ENGLISH = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3}){1,6}\.\d+(?![\w.,]*\d)")
# `anni '20`, `Sommer '68`: the mark is not said
_LEFT_OUT = re.compile(r"(?<!\w)'(?=\d\d(?:00|0)?(?![\w']))")
_PLAIN_FIGURE = re.compile(r"(?<![\w.,])\d{1,15}(?![\w]|[.,:/-]\d)")


@lru_cache(maxsize=8)
def _table(language: str) -> Language:
    module = import_module(f"pocket_batch.text.languages.{language}")
    table = getattr(module, LANGUAGES[language])
    assert isinstance(table, Language)
    return table


def write_out_in(text: str, primary_language: str) -> str:
    """Write a cleaned text the way it is said in a language other than English.

    Args:
        text: one paragraph, cleaned; dashes are `—`, quotes straight.
        primary_language: ISO 639 code such as `de`. A language without a table has its plain
            cardinals said when num2words knows it, and stays as it is otherwise.

    Returns:
        The spoken form. In a language with a table no digit is left in it.
    """
    if primary_language not in LANGUAGES:
        return _say_plain_figures(text, primary_language)
    language = _table(primary_language)
    text = unify_characters(text)
    text = say_addresses(text, language)
    text = expand_abbreviations(text, language)
    text = expand_numerals(text, language)
    if _DIGIT.search(text):
        text = _say_figures(text, language)
    return say_symbols(text, language)


def _say_figures(text: str, language: Language) -> str:
    """Say every figure; the most particular rules come first."""
    text = _ENGLISH.sub(lambda m: m[0].replace(",", "").replace(".", ","), text)
    text = _LEFT_OUT.sub("", text)
    text = _FIRST_FIGURE.sub(lambda m: _mark(m, language), text)
    text = say_dates(text, language)
    text = say_phones(text, language)
    text = say_times(text, language)
    text = say_money(text, language)
    text = say_measures(text, language)
    text = say_fractions(text, language)
    text = say_ordinals(text, language)
    text = say_ranges(text, language)
    text = say_numbers(text, language)
    return _MARKED_WORD.sub(lambda m: m[1] + m[2].upper(), text)


def _mark(match: re.Match[str], language: Language) -> str:
    """Mark a figure that begins a sentence, unless the stop before it belongs to a month."""
    word = match.string[max(0, match.start() - 12) : match.start()].rsplit(" ", 1)[-1].lower()
    if word in re.split("[ ,]", language.short_months):
        return match[0]
    return match[0] + _MARK


def _say_plain_figures(text: str, language: str) -> str:
    if language in _UNUSABLE or not _DIGIT.search(text):
        return text
    return _PLAIN_FIGURE.sub(lambda m: _plain_words(m[0], language) or m[0], text)


@lru_cache(maxsize=4096)
def _plain_words(figures: str, language: str) -> str:
    from num2words import num2words

    try:
        return str(num2words(int(figures), lang=language))
    except (NotImplementedError, OverflowError):
        return ""
