"""Characters that are numbers or signs: one form for each before the rules, words for the rest."""

import re
import unicodedata
from functools import lru_cache

from pocket_batch.text.languages.table import Language
from pocket_batch.text.patterns import any_of

_VULGAR = re.compile(r"(?P<whole>\d ?)?(?P<mark>[¼-¾⅐-⅞↉])")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-0123456789+-")
# `10⁶` -> `10 ^ 6`, `m²` stays for the units, `mot¹` -> `mot 1`
_SUPERSCRIPT = re.compile(
    r"(?P<base>(?:(?<=\d)|(?<=\b[^\W\d_])|(?<=[)\]]))?)(?P<run>[⁺⁻]?[⁰¹²³⁴-⁹]+)"
)
_SUBSCRIPT = re.compile(r"[₊₋]?[₀-₉]+")
_ODD = re.compile(r"[^\x00-\u02ff\u0300-\u203e\ue000-\uf8ff]|[²³¹¼-¾µ]")
# `Copyright © 2010` -> `Copyright 2010`
_COPYRIGHT = re.compile(r"(?i)\b(copyright) ©")
# `km/h` alone, `und/oder`: the stroke between words is not said
_STROKE = re.compile(r"(?<=[^\W\d_])/(?=[^\W\d_])|(?<=\s)/\s")


def unify_characters(text: str) -> str:
    """Write digits of other scripts, fractions, raised and Roman characters in plain ones."""
    if not _ODD.search(text) and not any(c.isdigit() and not c.isascii() for c in text):
        return text
    text = _VULGAR.sub(_write_fraction, text.replace("µ", "μ"))
    text = _SUPERSCRIPT.sub(_write_power, text)
    text = _SUBSCRIPT.sub(lambda m: f" {m[0].translate(_RAISED)} ", text)
    text = "".join(c if c.isascii() else _plain(c) for c in text)
    return re.sub(" {2,}", " ", text)


def _write_fraction(match: re.Match[str]) -> str:
    parts = unicodedata.normalize("NFKC", match["mark"]).replace("⁄", "/")
    return f"{match['whole'].strip()} {parts}" if match["whole"] else parts


def _write_power(match: re.Match[str]) -> str:
    run = match["run"]
    text, start = match.string, match.start()
    before = text[max(0, start - 3) : start]
    is_base = bool(re.search(r"(?:\d|[)\]]|(?:^|[^\w])\w{1,2})$", before))
    if run in "²³" and len(run) == 1 and before[-1:].strip():
        return (
            run
            if is_base or re.search(r"(?:[kcdmh]?m)$", before)
            else f" {run.translate(_RAISED)} "
        )
    return f" {'^ ' if is_base else ''}{run.translate(_RAISED)} "


@lru_cache(maxsize=1024)
def _plain(character: str) -> str:
    """A digit or a number character in ASCII; any other character as it is."""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if unicodedata.category(character) in {"No", "Nl"} and character not in "²³":
        plain = unicodedata.normalize("NFKC", character).replace("⁄", "/")
        return f" {plain} " if plain.isascii() and plain != character else character
    return character


@lru_cache(maxsize=8)
def _symbols(language: Language) -> re.Pattern[str]:
    return re.compile(rf"\s?({any_of(language.symbols)})\s?")


def say_symbols(text: str, language: Language) -> str:
    """Say the signs that are left: `Müller & Sohn` -> `Müller und Sohn`."""
    text = _COPYRIGHT.sub(r"\1", text)
    text = _symbols(language).sub(lambda m: f" {language.symbols[m[1]]} ", text)
    return _STROKE.sub(" ", text).replace(" …", "…")
