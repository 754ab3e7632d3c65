"""From written to spoken form: the order of the rules, for a text and for a chapter."""

import re
from dataclasses import replace

from pocket_batch.data import Block, Chapter
from pocket_batch.text.abbreviations import (
    expand_abbreviations,
    expand_leading_numeral,
    expand_lone_numeral,
    expand_numerals,
)
from pocket_batch.text.capitals import lower_capital_opening, lower_capital_runs
from pocket_batch.text.clean import clean, dashes_to_pauses, fold
from pocket_batch.text.codes_en import write_out_addresses, write_out_phones
from pocket_batch.text.dates_en import write_out_dates, write_out_times, write_out_years
from pocket_batch.text.measures_en import write_out_measures
from pocket_batch.text.numbers_en import (
    write_out_fractions,
    write_out_numbers,
    write_out_powers,
    write_out_ranges,
    write_out_scripts,
    write_out_signs,
)
from pocket_batch.text.numbers_other import write_out_numbers_in
from pocket_batch.text.tables_en import SYMBOLS

_HAS_DIGIT = re.compile(r"\d")
_HAS_SCRIPT = re.compile(r"[¹²³⁰-₉½⅓-⅞¼¾]")
# `Charles I`, `Act IV`, `page xii`, but not `then I`
_HAS_NUMERAL = re.compile(
    r" (?:[VXLC][IVXLC]*|I[VXLCI]+|[ivxlc]{2,})\b|\b(?:[A-Z]\w+\.?|[A-Za-z]+\.) I\b"
)
_SYMBOL = re.compile(rf"\s?([{re.escape(''.join(SYMBOLS))}])\s?")
# `and/or` -> `and or`, `he/she` -> `he or she`; others are said
_AND_OR = re.compile(r"(?i:(?<=\band)/(?=or\b))")
_EITHER = re.compile(r"(?i:(?<=\bhe)/(?=she\b)|(?<=\bhis)/(?=hers?\b)|(?<=\bhim)/(?=her\b))")
_SLASH = re.compile(r"(?<=\w)/(?=\w)")
# `the ——shire militia` -> `the blankshire militia`, `Mister B——` -> `Mister B blank`
_BLANK_NAME = re.compile(
    r"\b(?:([A-Z])|((?:[Tt]he|of|in|at|Lord|Lady|Sir|Mister|Missus|Miss|Doctor|Captain|Colonel"
    r"|General|Major|Lieutenant) ))——(?=[\s,.;:!?']|$|shire)"
)
# A sentence that begins with a figure gets a capital when the figure becomes a word.
_MARK = "\ue000"
_FIRST_FIGURE = re.compile(
    r"(^[\"'(]*|(?<!\ds)(?<!\dd)(?<!\bft)(?<!\bin)(?<!\blb)(?<!\boz)[.!?…][\"')\]]*\s+[\"'(]*)(?=[-+#$£€¥.]?\d)"
)
_MARKED_WORD = re.compile(f"{_MARK}\\s*(\\w?)")
# `Chapter 1 Down the Rabbit-Hole` -> `Chapter 1. Down the Rabbit-Hole`
_NUMBER_AND_TITLE = re.compile(
    r"^((?i:chapter|book|part|volume|act|scene|canto|section|letter|stave) (?:[IVXLC]+|\d+))"
    r"(?= [A-Z\"'])"
)


def normalize(text: str, language: str) -> str:
    """Write a paragraph the way it is said.

    Args:
        text: one paragraph as written.
        language: BCP 47 tag. English gets every rule; German, French, Spanish, Italian,
            Portuguese and Dutch clean-up and numbers; any other language clean-up alone.

    Returns:
        The spoken form, white space folded; empty when there is nothing to say.
    """
    tags = language.replace("_", "-").lower().split("-")
    text = clean(text)
    if tags[0] == "en":
        text = _english(text, day_first="gb" in tags[1:])
    elif _HAS_DIGIT.search(text):
        text = write_out_numbers_in(text, tags[0])
    return fold(dashes_to_pauses(text))


def _english(text: str, day_first: bool) -> str:
    """Apply the English rules, each only when a cheap look says that it may have work."""
    text = expand_lone_numeral(lower_capital_opening(text))
    text = write_out_addresses(text)
    text = expand_abbreviations(text)
    if "——" in text:
        text = _BLANK_NAME.sub(lambda m: f"{m[1]} blank" if m[1] else f"{m[2]}blank", text)
    if _HAS_NUMERAL.search(text):
        text = expand_numerals(text)
    if not text.isascii() and _HAS_SCRIPT.search(text):
        text = write_out_scripts(text)
    if _HAS_DIGIT.search(text):
        text = _english_figures(text, day_first)
    text = text if text.isascii() else write_out_powers(text)
    if "/" in text:
        text = _EITHER.sub(" or ", _AND_OR.sub(" ", text))
        text = _SLASH.sub(" slash ", text)
    text = text.replace(" + ", " plus ")
    return _SYMBOL.sub(lambda m: f" {SYMBOLS[m[1]]} ", text)


def _english_figures(text: str, day_first: bool) -> str:
    """Say every figure; the most particular rules come first."""
    text = write_out_phones(write_out_dates(text, day_first))
    text = _FIRST_FIGURE.sub(rf"\1{_MARK}", text)
    text = write_out_signs(write_out_ranges(text))
    text = write_out_times(text)
    text = write_out_fractions(text)
    text = write_out_measures(text)
    text = text if text.isascii() else write_out_powers(text)
    text = write_out_years(text)
    text = write_out_numbers(text)
    return _MARKED_WORD.sub(lambda m: m[1].upper(), text)


def normalize_chapter(chapter: Chapter, language: str) -> Chapter:
    """Write the blocks of a chapter the way they are said.

    Blocks with nothing to say are dropped, scene breaks stay. A heading gets a full stop if it has
    no stop, so that the voice falls at its end. Title and number of the chapter do not change.
    """
    blocks = (_normalize_block(block, language) for block in chapter.blocks)
    return replace(chapter, blocks=tuple(block for block in blocks if block is not None))


def _normalize_block(block: Block, language: str) -> Block | None:
    if block.kind == "scene_break":
        return block
    text = block.text
    if block.kind == "heading":
        text = _normalize_heading(text, language)
    else:
        text = normalize(text, language)
    return replace(block, text=text) if text else None


def _normalize_heading(text: str, language: str) -> str:
    """Normalise a heading and close it: `IV` -> `Four.`, `CHAPTER I. The River` -> ..."""
    if language.lower().startswith("en"):
        text = expand_leading_numeral(lower_capital_runs(clean(text)))
        text = _NUMBER_AND_TITLE.sub(r"\1.", text)
    text = normalize(text, language)
    if not text:
        return ""
    body = text.rstrip("\"')]")
    if body[-1:] in ".!?…":
        return text
    return body.rstrip(",;:- ") + text[len(body) :] + "." if body == text else text + "."
