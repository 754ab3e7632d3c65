"""From written to spoken form: the order of the rules, for a text and for a block."""

import re
from dataclasses import replace

from pocket_batch.bcp47 import primary
from pocket_batch.data import Block
from pocket_batch.text.abbreviations import expand_abbreviations
from pocket_batch.text.capitals import lower_capital_opening, lower_capital_runs
from pocket_batch.text.clean import clean, dashes_to_pauses, fold
from pocket_batch.text.codes_en import write_out_codes, write_out_links, write_out_phones
from pocket_batch.text.dates_en import write_out_dates, write_out_years
from pocket_batch.text.measures_en import (
    write_out_measures,
    write_out_rates,
    write_out_unit_ranges,
)
from pocket_batch.text.money_en import write_out_money
from pocket_batch.text.numbers_en import (
    write_out_fractions,
    write_out_named_numbers,
    write_out_numbers,
    write_out_operations,
    write_out_ordinals,
    write_out_ranges,
    write_out_signs,
)
from pocket_batch.text.numbers_other import write_out_in
from pocket_batch.text.placeholders import shield, unshield
from pocket_batch.text.romans_en import (
    expand_leading_numeral,
    expand_lone_numeral,
    expand_numerals,
    has_numeral,
)
from pocket_batch.text.scripts_en import HAS_SCRIPT, write_out_powers, write_out_scripts
from pocket_batch.text.streets_en import write_out_streets
from pocket_batch.text.symbols_en import has_sign, write_out_operators, write_out_symbols
from pocket_batch.text.times_en import write_out_times
from pocket_batch.text.units_en import CURRENCIES
from pocket_batch.text.verses_en import write_out_verses

# a cheap first look
_HAS_DIGIT = re.compile(r"\d")
# `the ——shire militia` -> `the blankshire militia`, `Mister B——` -> `Mister B blank`
_BLANK_NAME = re.compile(
    r"\b(?:([A-Z])|((?:[Tt]he|of|in|at|Lord|Lady|Sir|Mister|Missus|Miss|Doctor|Captain|Colonel"
    r"|General|Major|Lieutenant) ))——(?=[\s,.;:!?']|$|shire)"
)
_ORNAMENTS = frozenset("#~*=+-_/\\|–—.,:;'\" …^<>()[]{}")
# A sentence that begins with a figure gets a capital when the figure becomes a word.
_MARK = "\ue000"
_FIRST_FIGURE = re.compile(
    r"(^[\"'(]*|(?<!\ds)(?<!\dd)(?<!\bft)(?<!\bin)(?<!\blb)(?<!\blbs)(?<!\boz)[.!?…][\"')\]]*\s+[\"'(]*)"
    rf"(?=[-–+#~]?(?:Rs\.? ?|[{''.join(CURRENCIES)}])?\.?\d)"
)
# mark and `twelve` -> `Twelve`
_MARKED_WORD = re.compile(f"{_MARK}\\s*(\\w?)")
# `10 000` -> `10,000`
_SPACED_THOUSANDS = re.compile(r"(?<![\w.,])(?<!\d )\d{1,3}(?: 000)+(?! ?\d)")
# `10 000` with a space that breaks no line -> `10,000`
_THIN_THOUSANDS = re.compile("[\u00a0\u2009\u202f](?<=\\d.)(?=\\d{3}(?!\\d))")
# `Chapter 1 Down the Rabbit-Hole` -> `Chapter 1. Down the Rabbit-Hole`
_NUMBER_AND_TITLE = re.compile(
    r"^((?i:chapter|book|part|volume|act|scene|canto|section|letter|stave) (?:[IVXLC]+|\d+))"
    r"(?= [A-Z\"'])"
)


def normalize(text: str, language: str) -> str:
    """Write a paragraph the way it is said.

    Args:
        text: one paragraph as written. Characters U+E100..U+EFFF stand for words of a lexicon:
            they count as capitalised words, and each comes back as it was.
        language: BCP 47 tag. English gets every rule here; other languages get their own, as far
            as there are any; the clean-up of characters, quotes and dashes is the same for all.

    Returns:
        The spoken form, white space folded; empty when there is nothing to say.
    """
    shielded = shield(text)
    said = _normalize(shielded, language)
    return said if shielded == text else unshield(said)


def _normalize(text: str, language: str) -> str:
    code = primary(language)
    written = text
    if code == "en" and not text.isascii():
        text = _THIN_THOUSANDS.sub(",", text)
    text = clean(text)
    if len(text) < 80 and not set(text) - _ORNAMENTS:
        return ""  # a paragraph of `#`, `+ + +` or `/` parts two scenes
    if code == "en":
        text = _english(text, day_first="gb" in language.lower())
    else:
        text = write_out_in(text, code)
    text = fold(dashes_to_pauses(text))
    if "…" in text and "..." in written and "…" not in written:
        return text.replace("…", "...")
    return text


def _english(text: str, day_first: bool) -> str:
    """Apply the English rules, each only when a cheap look says that it may have work."""
    text = expand_lone_numeral(lower_capital_opening(text))
    has_digit = _HAS_DIGIT.search(text) is not None
    text = write_out_links(text)
    if has_digit:
        text = write_out_verses(_SPACED_THOUSANDS.sub(_join_thousands, text))
    text = write_out_streets(text, has_digit)
    text = expand_abbreviations(text)
    if "——" in text:
        text = _BLANK_NAME.sub(lambda m: f"{m[1]} blank" if m[1] else f"{m[2]}blank", text)
    if not text.isascii() and HAS_SCRIPT.search(text):
        text = write_out_scripts(text)
        has_digit = True
    if has_numeral(text):
        text = expand_numerals(text)
    signs = has_sign(text)
    if signs:
        text = write_out_operators(text)
    if has_digit:
        text = _english_figures(text, day_first)
    text = write_out_rates(text if text.isascii() else write_out_powers(text))
    return write_out_symbols(text) if signs else text


def _english_figures(text: str, day_first: bool) -> str:
    """Say every figure; the most particular rules come first."""
    text = write_out_dates(text, day_first)
    text = _FIRST_FIGURE.sub(rf"\1{_MARK}", text)
    text = write_out_phones(write_out_unit_ranges(text))
    text = write_out_money(text)
    text = write_out_signs(write_out_ranges(text))
    text = write_out_times(text)
    text = write_out_fractions(text)
    text = write_out_measures(text)
    text = text if text.isascii() else write_out_powers(text)
    text = write_out_years(write_out_named_numbers(text))
    text = write_out_operations(write_out_ordinals(text))
    text = write_out_codes(text)
    text = write_out_numbers(text)
    return _MARKED_WORD.sub(lambda m: m[1].upper(), text)


def _join_thousands(match: re.Match[str]) -> str:
    return match[0].replace(" ", ",")


def normalize_block(block: Block, language: str) -> Block | None:
    """Write one block the way it is said, in its own language where it has one.

    A heading gets a full stop if it has no stop, so that the voice falls at its end. A scene break
    stays as it is.

    Returns:
        The block with its spoken text, all else as it was; None when there is nothing to say.
    """
    if block.kind == "scene_break":
        return block
    language = block.language or language
    if block.kind == "heading":
        text = _normalize_heading(block.text, language)
        text = text if block.continues else _closed(text)
    else:
        text = normalize(block.text, language)
    return replace(block, text=text) if text else None


def _normalize_heading(text: str, language: str) -> str:
    """Normalise a heading: `IV` -> `Four`, `CHAPTER I. THE RIVER` -> `Chapter One. The river`."""
    text = shield(text)
    if primary(language) == "en":
        text = expand_leading_numeral(lower_capital_runs(clean(text)))
        text = _NUMBER_AND_TITLE.sub(r"\1.", text)
    return unshield(normalize(text, language))


def _closed(text: str) -> str:
    """Give a heading the stop that it lacks."""
    if not text:
        return ""
    body = text.rstrip("\"')]")
    if body[-1:] in ".!?…":
        return text
    return body.rstrip(",;:- ") + text[len(body) :] + "." if body == text else text + "."
