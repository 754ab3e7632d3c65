"""English readings of raised, lowered, circled and other small figures: `x²`, `H₂O`, `½`, `③`."""

import re
import unicodedata

from pocket_batch.text.units_en import UNITS

# any of them, as a cheap first look
HAS_SCRIPT = re.compile("[¹²³⁰-₟½⅐-ↈ¼¾ªº①-⓿❶-➓ʰ-ʸᵃ-ᵿℂℊ-ℕℙ-ℝℤℬℭℯ-ℱℳℴ\U0001d400-\U0001d7ff]")
# `ℝ`, `𝑥` -> `R`, `x`
_LETTER_OF_FORMULA = re.compile("[ℂℊ-ℓℕℙ-ℝℤℬℭℯ-ℱℳℴ\U0001d400-\U0001d7ff]+")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SCRIPT_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉⁻⁺₋₊", "01234567890123456789-+-+")
# `5 km²` is read with its unit; `x²` -> `x squared`, `10⁻⁶` -> `10 to the power of minus 6`
_SUPERSCRIPT = re.compile(rf"(?<=[\w)])([⁻⁺]?[{_RAISED}]+|ⁿ)")
# a cheap first look
_HAS_RAISED = re.compile(f"[{_RAISED}ⁿ]")
# `Ca²⁺`, `Cl⁻` -> `Ca 2 plus`, `Cl minus`
_CHARGE = re.compile(rf"(?<![{_RAISED}])([{_RAISED}]{{0,3}})([⁺⁻])(?![{_RAISED}])")
# `²³⁵U` -> `235 U`
_LOOSE_SUPERSCRIPT = re.compile(rf"(?<![\w){_RAISED}⁻⁺])[⁻⁺]?[{_RAISED}]+")
# `H₂O` -> `H 2 O`
_SUBSCRIPT = re.compile(rf"[₋₊]?[₀₁₂₃₄₅₆₇₈₉]+(?P<power>(?=[{_RAISED}⁻⁺]))?")
# `xₙ` -> `x n`
_LOW_LETTERS = re.compile(r"[ₐ-ₜᵢ-ᵥ]+")
# `1ˢᵗ`, `5º` -> `1st`, `5th`
_RAISED_LETTERS = re.compile(r"(?<=\d)[ʰ-ʸᵃ-ᶻᵀᵗˢⁿª]+")
# `night.¹²`, `word³` -> the mark of a note, not said
_NOTE_MARK = re.compile(rf"(?:(?<=[^\W\d_⁰-₟¹²³]{{3}})|(?<=[.,;:!?\"')]))[{_RAISED}]+(?!\w)")
# `mc²` -> `m c²`; units stay
_POWER_OF_LETTERS = re.compile(r"(?<!\w)[a-zA-Z]{2,3}(?=[²³])")
# `3½` -> `3 1/2`, `½` -> `1/2`
_VULGAR_SIGN = re.compile(r"((?<=[\d½¼¾⅐-⅞]) ?)?([½¼¾⅐-⅞↉])")
# `①`, `⑵` -> ` 1 `, ` 2 `
_CIRCLED = re.compile(r"[①-⒛⓪-⓿❶-➓]")
# `Ⅷ` -> `VIII`
_ROMAN_SIGN = re.compile(r"[Ⅰ-ⅿ]")


def write_out_scripts(text: str) -> str:
    """Turn fraction signs, small figures and figures in circles into plain figures and words."""
    text = _VULGAR_SIGN.sub(_part_fraction, text)
    text = _LETTER_OF_FORMULA.sub(lambda m: _compatible(m[0]), text)
    text = _ROMAN_SIGN.sub(lambda m: _compatible(m[0]), text)
    text = _CIRCLED.sub(_say_circled, text)
    text = _CHARGE.sub(_say_charge, text)
    text = _NOTE_MARK.sub("", text)
    text = _LOOSE_SUPERSCRIPT.sub(lambda m: m[0].translate(_SCRIPT_DIGITS), text)
    text = _RAISED_LETTERS.sub(lambda m: _compatible(m[0]), text)
    text = _LOW_LETTERS.sub(lambda m: f" {_compatible(m[0])}", text)
    text = _POWER_OF_LETTERS.sub(_spell_letters, text)
    return _SUBSCRIPT.sub(_say_lowered, text)


def write_out_powers(text: str) -> str:
    """Say the superscripts that no unit has claimed: `10²` -> `10 squared`."""
    return _SUPERSCRIPT.sub(_say_power, text) if _HAS_RAISED.search(text) else text


def _compatible(sign: str) -> str:
    """Give the plain characters that Unicode calls equal: `½` -> `1/2`, `Ⅷ` -> `VIII`."""
    return unicodedata.normalize("NFKC", sign).replace("⁄", "/")


def _part_fraction(match: re.Match[str]) -> str:
    """Part a fraction from what it touches: `3½lb` -> `3 1/2 lb`."""
    before = "" if match[1] is None else " "
    is_word = match.string[match.end() : match.end() + 1].isalpha()
    return before + _compatible(match[2]) + (" " if is_word else "")


def _say_circled(match: re.Match[str]) -> str:
    number = unicodedata.numeric(match[0], -1)
    plain = str(int(number)) if number >= 0 else _compatible(match[0])
    return f" {plain} "


def _say_lowered(match: re.Match[str]) -> str:
    gap = " " if match["power"] is None else ""
    return f" {match[0].translate(_SCRIPT_DIGITS)}{gap}"


def _say_charge(match: re.Match[str]) -> str:
    size = match[1].translate(_SCRIPT_DIGITS)
    sign = "plus" if match[2] == "⁺" else "minus"
    return f" {size} {sign}" if size else f" {sign}"


def _spell_letters(match: re.Match[str]) -> str:
    return match[0] if match[0] in UNITS else " ".join(match[0])


def _say_power(match: re.Match[str]) -> str:
    power = match[1].translate(_SCRIPT_DIGITS)
    if power in {"2", "3"}:
        return " squared" if power == "2" else " cubed"
    power = "n" if power == "ⁿ" else power.replace("-", "minus ").lstrip("+")
    return f" to the power of {power}"
