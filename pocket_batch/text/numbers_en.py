"""English numbers: how a figure is said, and the rules for bare numbers in a text."""

import re
from functools import lru_cache

from pocket_batch.text.tables_en import UNITS

DIGIT_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# A longer figure is an identifier, not a quantity: its digits are read one by one.
_MAX_PLAIN_DIGITS = 12
_MAX_GROUPED_DIGITS = 33

# a figure with or without thousands and decimals: `3`, `1,200.50`, `.5`
FIGURE = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|(?<![\w.])\.\d+"

# `23rd`, `1,000th`, `2d` -> `twenty-third`, `one thousandth`, `second`
_ORDINAL = re.compile(
    r"(?<![\w.])(\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(?:(?:st|nd|rd|th|ST|ND|RD|TH)\b|(?<=[23])d\b(?!\.))"
)
# `192.168.0.1`, `4.0.1` -> point by point
_DOTTED = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}(?![\d.]*\w)")
# `1/2 a mile` -> `half a mile`
_HALF_OF = re.compile(r"(?<![\w/.,-])1/2(?= (?:an?|the|of|my|his|her|its|our|their)\b)")
# `3 1/2`, `3/4`, `1/4th` -> `three and a half`, ...
_FRACTION = re.compile(
    r"(?<![\w/.])(?:(\d+)[ -])?(\d{1,3})/(\d{1,4})(?:st|nd|rd|ths?|TH)?(?![\w/])"
)
# `1914–18`, `3-5`, `$2–$3` -> `1914 to 18`, ...
_RANGE = re.compile(
    r"(?<![\w.,-])([$£€]?(?:\d[\d,.]*\d|\d)(?:s|%|°|st|nd|rd|th)?)\s?[-–—]\s?"
    r"(?=[$£€']?\d[\d,.]*(?:s|%|°|st|nd|rd|th|[a-zA-Z]{1,2})?(?![\w-]))"
)
# ` -5` -> ` minus 5`, `+5` -> `plus 5`, `#5` -> `number 5`
_SIGN = re.compile(r"(?<![\w)\]-])([-+#])(?=[.]?\d)")
_SIGN_WORDS = {"-": "minus ", "+": "plus ", "#": "number "}
# `mc²` -> `m c²`; units stay
_POWER_OF_LETTERS = re.compile(r"(?<!\w)[a-zA-Z]{2,3}(?=[²³])")
# `5 km²` is read before; `x²` -> `x squared`, `10⁻⁶` -> `10 to the power of minus 6`
_SUPERSCRIPT = re.compile(r"(?<=[\w)])([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOOSE_SUPERSCRIPT = re.compile(r"(?<![\w)⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺])[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SCRIPT_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉⁻⁺", "01234567890123456789-+")
_SUBSCRIPT = re.compile(r"[₀₁₂₃₄₅₆₇₈₉]+")
# `night.¹²`, `word³` -> the mark of a note, not said
_NOTE_MARK = re.compile(r"(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?\"')]))[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?!\w)")
_VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5",
    "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8",
    "⅞": "7/8",
}  # fmt: skip
_VULGAR_SIGN = re.compile(f"(?<=\\d) ?([{''.join(_VULGAR)}])|([{''.join(_VULGAR)}])")
_FIGURE = re.compile(rf"(?<![\d.])(?:{FIGURE})")
# what stands too close to other marks, as in `a.0` -> `a zero`
_LEFT_OVER = re.compile(r"\.?(\d+)")
# `MP3`, `25d08A` -> `MP 3`, `25 d 08 A`
_LETTER_DIGIT = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
# `paragraph 1.E.8` -> `paragraph 1 E 8`
_OUTLINE = re.compile(r"(?<=\d)\.(?=[A-Z]\b)|(?<=\b[A-Z])\.(?=\d)")
_ALPHANUMERIC = re.compile(r"\b(?=\w*\d)(?=\w*[^\W\d_])[^\W_]+\b")
_LONG_DIGITS = re.compile(r"\d{3,}")
# `2 x 4` -> `2 by 4`, `2*8`, `3+4`, `1-2=5`
_OPERATORS = {"x": " by ", "×": " times ", "*": " times ", "+": " plus ", "/": " over "}
_OPERATION = re.compile(r"(?<=\d)\s?([x×*+/])\s?(?=\d)")


@lru_cache(maxsize=4096)
def cardinal(number: int) -> str:
    """Say a whole number: 1200 -> `one thousand two hundred`."""
    from num2words import num2words

    return str(num2words(number)).replace(",", "")


@lru_cache(maxsize=1024)
def ordinal(number: int) -> str:
    """Say a place in an order: 21 -> `twenty-first`."""
    from num2words import num2words

    return str(num2words(number, to="ordinal")).replace(",", "")


@lru_cache(maxsize=1024)
def year(number: int) -> str:
    """Say a year: 1865 -> `eighteen sixty-five`, 1905 -> `nineteen oh five`, 2005, 1000."""
    century, rest = divmod(number, 100)
    if not 1010 <= number < 2100 or 2000 <= number < 2010:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def digits(figure: str) -> str:
    """Say each digit: `2007` -> `two zero zero seven`."""
    return " ".join(DIGIT_NAMES[int(digit)] for digit in figure if digit.isdecimal())


def plural(word: str) -> str:
    """Make the plural of a number word: `fifty` -> `fifties`, `six` -> `sixes`."""
    if word.endswith("y"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith("x") else "s")


def say(figure: str) -> str:
    """Say a figure as a quantity: `1,200.50` -> `one thousand two hundred point five zero`."""
    whole, _, decimals = figure.partition(".")
    grouped = "," in whole
    whole = whole.replace(",", "")
    if not whole:
        return f"point {digits(decimals)}"
    max_digits = _MAX_GROUPED_DIGITS if grouped else _MAX_PLAIN_DIGITS
    is_code = len(whole) > max_digits or (whole[0] == "0" and len(whole) > 1)
    words = digits(whole) if is_code else cardinal(int(whole))
    return f"{words} point {digits(decimals)}" if decimals else words


def write_out_scripts(text: str) -> str:
    """Turn fraction signs, superscripts and subscripts into figures and words."""
    text = _VULGAR_SIGN.sub(lambda m: f" {_VULGAR[m[1]]}" if m[1] else _VULGAR[m[2]], text)
    text = _NOTE_MARK.sub("", text)
    text = _LOOSE_SUPERSCRIPT.sub(lambda m: m[0].translate(_SCRIPT_DIGITS), text)
    text = _POWER_OF_LETTERS.sub(_spell_letters, text)
    return _SUBSCRIPT.sub(lambda m: f" {m[0].translate(_SCRIPT_DIGITS)} ", text)


def write_out_powers(text: str) -> str:
    """Say the superscripts that no unit has claimed: `10²` -> `10 squared`."""
    return _SUPERSCRIPT.sub(_say_power, text)


def _spell_letters(match: re.Match[str]) -> str:
    return match[0] if match[0] in UNITS else " ".join(match[0])


def _say_power(match: re.Match[str]) -> str:
    power = match[1].translate(_SCRIPT_DIGITS)
    if power in {"2", "3"}:
        return " squared" if power == "2" else " cubed"
    return f" to the power of {power.replace('-', 'minus ').lstrip('+')}"


def write_out_ranges(text: str) -> str:
    """Write the dash of a range as `to`, so that later rules meet plain figures."""
    return _RANGE.sub(r"\1 to ", text)


def write_out_signs(text: str) -> str:
    """Say what stands before a figure: `-5` -> `minus 5`, `#5` -> `number 5`."""
    return _SIGN.sub(lambda m: _SIGN_WORDS[m[1]], text)


def write_out_fractions(text: str) -> str:
    """Say fractions and mixed numbers: `3 1/2` -> `three and a half`."""
    return _FRACTION.sub(_say_fraction, _HALF_OF.sub("half", text))


def _say_fraction(match: re.Match[str]) -> str:
    whole, top, bottom = match[1], int(match[2]), int(match[3])
    lead = f"{whole} " if whole else ""
    if (top, bottom) == (9, 11):
        return f"{lead}nine eleven"
    if (top, bottom) in {(24, 7), (50, 50)}:
        return f"{lead}{cardinal(top)} {cardinal(bottom)}"
    if not 1 < bottom <= 100 or top == 0:
        return f"{lead}{cardinal(top)} over {cardinal(bottom)}"
    if bottom == 2:
        part = "half" if top == 1 else "halves"
    else:
        part = "quarter" if bottom == 4 else ordinal(bottom)
        part += "" if top == 1 else "s"
    if not whole:
        return f"{cardinal(top)} {part}"
    return f"{say(whole)} and {'a' if top == 1 else cardinal(top)} {part}"


def write_out_numbers(text: str) -> str:
    """Say every figure that no other rule has claimed."""
    text = _DOTTED.sub(_say_dotted, text)
    text = _ORDINAL.sub(lambda m: ordinal(int(m[1].replace(",", ""))), text)
    text = _OPERATION.sub(lambda m: _OPERATORS[m[1]], text)
    text = _ALPHANUMERIC.sub(_separate, _OUTLINE.sub(" ", text))
    text = _FIGURE.sub(lambda m: say(m[0]), text)
    return _LEFT_OVER.sub(lambda m: f" {say(m[1])} ", text)


def _say_dotted(match: re.Match[str]) -> str:
    parts = match[0].split(".")
    if len(parts) == 4:  # an address in a network
        return " dot ".join(digits(part) for part in parts)
    return " point ".join(say(part) for part in parts)


def _separate(match: re.Match[str]) -> str:
    """Part letters from digits; three or more digits in a code are read one by one."""
    spaced = _LETTER_DIGIT.sub(" ", match[0])
    return _LONG_DIGITS.sub(lambda m: m[0] if m[0].endswith("0") else digits(m[0]), spaced)
