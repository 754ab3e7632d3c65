"""English numbers: how a figure is said, and the rules for bare numbers in a text."""

import re
from functools import lru_cache

from pocket_batch.text.patterns import any_of
from pocket_batch.text.units_en import UNITS

DIGIT_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# A longer figure is an identifier, not a quantity: its digits are read one by one.
_MAX_PLAIN_DIGITS = 12
_MAX_GROUPED_DIGITS = 33

# a figure with or without thousands and decimals: `3`, `1,200.50`, `.5`
FIGURE = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|(?<![\w.])\.\d+"
YEAR = r"1\d{3}|20\d\d"

# `23rd`, `1,000th`, `2d` -> `twenty-third`, `one thousandth`, `second`; `12th` but not `12st`
_ORDINAL = re.compile(
    r"(?<![\w.])(\d{1,3}(?:,\d{3}){1,4}|\d{1,12})"
    r"(?:(st|nd|rd|th|ST|ND|RD|TH)\b|(?<=[23])d\b(?!\.))"
)
# `192.168.0.1`, `4.0.1` -> point by point
_DOTTED = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}(?![\d.]*\w)")
# `4.10. The list`, at the beginning of a paragraph -> section by section: `four point ten`
_SECTION = re.compile(r"^(\ue000?)(\d{1,2})\.(\d{2})(?=\.? [A-Z])(?!\.? [A-Z]\b)")
_TITLE_NEXT = re.compile(r"\.? [\"'(]?[A-Z]")
# `1/2 a mile` -> `half a mile`
_HALF_OF = re.compile(r"(?<![\w/.,-])1/2(?= (?:an?|the|of|my|his|her|its|our|their)\b)")
# `3 1/2`, `3/4`, `1/4th`, `4 1/2 kg` -> `three and a half`, ...
_UNIT = any_of(UNITS)
_FRACTION = re.compile(
    r"(?<![\w/.])(?:(\d+)[ -])?(\d{1,3})/(\d{1,4})(?:st|nd|rds?|ths?|TH)?"
    rf"(?: ?(?P<unit>{_UNIT})(?!'))?(?![\w/])"
)
# said as two numbers, not as a fraction
_PAIRS = {(9, 11), (24, 7), (50, 50), (20, 20), (360, 360)}
# `747-400`, `978-0` -> two figures and no range; `1900-05` and `431–404 BC` are ranges
_NO_RANGE = re.compile(
    r"(?<![\w.,$£€/-])(?:(\d{3})-(\d{3})(?! ?B\.?C)"
    r"|(?!(?:1\d|20)\d\d-0\d\b)(\d+)-(0\d+|(?<=\d{3}-)0)"
    r"|(\d+)-\5)(?!\w|[.,/-]\w)"
)
# `1914–18`, `3-5`, `$2–$3` -> `1914 to 18`, ...
_RANGE = re.compile(
    r"(?<![\w.,-])([$£€]?(?:\d[\d,.]*\d|\d)(?:s|%|°|st|nd|rd|th)?)\s?[-–—]\s?"
    r"(?=[$£€']?\d[\d,.]*(?:s|%|°|st|nd|rd|th|[a-zA-Z]{1,2})?(?![\w-]))"
)
# ` -5` -> ` minus 5`, `+5` -> `plus 5`, `#5` -> `number 5`, `–5°`, `-$5`
_SIGN = re.compile(r"(?<![\w)\]–—-])([-–+#])(?=[.$£€¥]?\d)")
_SIGN_WORDS = {"-": "minus ", "–": "minus ", "+": "plus ", "#": "number "}
# `1,200.5` -> `one thousand two hundred point five`
_FIGURE = re.compile(rf"(?<![\d.])(?:{FIGURE})")
# what stands too close to other marks, as in `a.0` -> `a zero`
_LEFT_OVER = re.compile(r"\.?(\d+)")
# `2 x 4` -> `2 by 4`, `2*8`, `3+4`
_OPERATORS = {"x": " by ", "×": " times ", "*": " times ", "+": " plus ", "/": " over "}
_OPERATION = re.compile(r"(?<=\d)\s?([x×*+/])\s?(?=\d)")
# `a 3 × 4 matrix`, `an m × n grid` -> `a 3 by 4 matrix`, ...
_SIZE = re.compile(
    r"(?<=\w) ?× ?(?=\w{1,4}(?: (?!and|or|of|is)[a-z]+)?"
    r" (?:matri|grid|array|table|board|pixel|square|cell))"
)
# `eight and a half x 11` -> `... by 11`
_BY = re.compile(r"(?<=half|rter|ters|ghth|hths) ?[x×] ?(?=\d)")
# `a .45 Colt`, `the .22 rifle` -> `a forty-five Colt`, ...
_CALIBER = re.compile(
    r"(?<![\w.])\.(\d{2,3})(?=[ -](?:cali|rifle|pistol|revolver|[Mm]agnum|bullet|cartridge|round"
    r"|slug|automatic|shell|Colt|Winchester|Remington|Webley))"
)
# `1000s of people` -> `thousands of people`
_MANY = re.compile(r"(?<![\w.,])1(000|00)s(?= of\b)|(?<![\w.,])10(0?)(?:,?)000s(?= of\b)")
# `1080p` -> `ten eighty p`
_LINES = re.compile(r"(?<!\w)(480|720|1080|2160)([pi])(?!\w)")
# `flight 370`, `Room 101` -> `flight three seventy`, `Room one oh one`
_NAMED_NUMBER = re.compile(
    r"\b(?=[A-Zfrhib])((?i:flight|route|highway|interstate|boeing|airbus)|Room|Area|Fahrenheit)"
    r" (\d{3})(?![\w%]|[,.:/]\d)"
)
# `He left. ("` -> a sentence begins here
_BEGINS = re.compile(r"(?:^|[.!?…][\"')\]]*\s)[\"'(]*\ue000?$")


@lru_cache(maxsize=4096)
def cardinal(number: int) -> str:
    """Say a whole number: 1200 -> `one thousand two hundred`.

    `and` is said once, before the last two figures, so a long number stays in one breath.
    """
    from num2words import num2words

    words = str(num2words(number)).replace(",", "")
    if number < 1000 or " and " not in words:
        return words
    head, _, tail = words.rpartition(" and ")
    joint = " and " if number % 100 else " "
    return head.replace(" and ", " ") + joint + tail


@lru_cache(maxsize=1024)
def ordinal(number: int) -> str:
    """Say a place in an order: 21 -> `twenty-first`, 121 -> `one hundred twenty-first`."""
    from num2words import num2words

    return str(num2words(number, to="ordinal")).replace(",", "").replace(" and ", " ")


@lru_cache(maxsize=1024)
def year(number: int) -> str:
    """Say a year: 1865 -> `eighteen sixty-five`, 1905 -> `nineteen oh five`, 2005, 1000."""
    if not 1010 <= number < 2100 or 2000 <= number < 2010:
        words = cardinal(number)
        return words.replace(" and ", " ") if number >= 2000 else words
    return pairs(str(number))


def pairs(figure: str) -> str:
    """Say three or four figures two by two: `370` -> `three seventy`, `1105` -> `eleven oh five`.

    As house numbers, years and flights are said; round thousands stay whole.
    """
    number = int(figure)
    if number % 1000 == 0 or number < 100:
        return cardinal(number)
    century, rest = divmod(number, 100)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def digits(figure: str) -> str:
    """Say each digit: `2007` -> `two zero zero seven`."""
    return " ".join(DIGIT_NAMES[int(digit)] for digit in figure if digit.isdecimal())


def two_digits(figure: str) -> str:
    """Say two figures as in a year or a time: `05` -> `oh five`, `45` -> `forty-five`."""
    return f"oh {cardinal(int(figure))}" if figure[0] == "0" else cardinal(int(figure))


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


def begins_sentence(match: re.Match[str]) -> bool:
    """Tell whether a match stands where a sentence begins, so that its words want a capital."""
    start = match.start()
    return _BEGINS.search(match.string, max(0, start - 8), start) is not None


def write_out_ranges(text: str) -> str:
    """Write the dash of a range as `to`, so that later rules meet plain figures."""
    if "-" in text:
        text = _NO_RANGE.sub(_part_figures, text)
    return _RANGE.sub(r"\1 to ", text)


def _part_figures(match: re.Match[str]) -> str:
    """Say `747-400` as two figures; `350-400` is a range."""
    if match[5]:
        return f"{match[5]} {match[5]}"  # `50-50`
    if match[1] is None:
        return f"{match[3]} {digits(match[4])}"
    before = match.string[max(0, match.start() - 7) : match.start()]
    if match[1] <= match[2] and before.lower() not in {"boeing ", "airbus "}:
        return match[0]
    return f"{pairs(match[1])} {pairs(match[2])}"


def write_out_signs(text: str) -> str:
    """Say what stands before a figure: `-5` -> `minus 5`, `#5` -> `number 5`."""
    return _SIGN.sub(lambda m: _SIGN_WORDS[m[1]], text)


def write_out_operations(text: str) -> str:
    """Say the signs between figures: `2 x 4` -> `2 by 4`, `3+4` -> `3 plus 4`."""
    text = _BY.sub(" by ", text)
    if "×" in text:
        text = _SIZE.sub(" by ", text)
    return _OPERATION.sub(lambda m: _OPERATORS[m[1]], text)


def write_out_fractions(text: str) -> str:
    """Say fractions and mixed numbers: `3 1/2` -> `three and a half`."""
    return _FRACTION.sub(_say_fraction, _HALF_OF.sub("half", text))


def _say_fraction(match: re.Match[str]) -> str:
    whole, top, bottom = match[1], int(match[2]), int(match[3])
    lead = f"{whole} " if whole else ""
    unit = f" {UNITS[match['unit']][1 if whole or top > bottom else 0]}" if match["unit"] else ""
    if (top, bottom) in _PAIRS:
        return f"{lead}{cardinal(top)} {cardinal(bottom)}{unit}"
    if bottom < 2 or top == 0 or (top > bottom > 20):
        return f"{lead}{cardinal(top)} over {cardinal(bottom)}{unit}"
    if bottom == 2:
        part = "half" if top == 1 else "halves"
    else:
        part = "quarter" if bottom == 4 else ordinal(bottom)
        part += "" if top == 1 else "s"
    part = part.removeprefix("one ")  # `three thousandths`
    if not whole:
        return f"{cardinal(top)} {part}{unit}"
    return f"{say(whole)} and {'a' if top == 1 else cardinal(top)} {part}{unit}"


def write_out_ordinals(text: str) -> str:
    """Say places in an order; an ending that does not fit its figure makes none: `12st`."""
    return _ORDINAL.sub(_say_ordinal, text)


def _say_ordinal(match: re.Match[str]) -> str:
    number = int(match[1].replace(",", ""))
    ending = (match[2] or "").lower()
    if number % 100 in {11, 12, 13}:
        fitting = "th"
    else:
        fitting = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return ordinal(number) if ending in {fitting, ""} else match[0]


def write_out_numbers(text: str) -> str:
    """Say every figure that no other rule has claimed."""
    text = _FIGURE.sub(_say_figure, text)
    return _LEFT_OVER.sub(lambda m: f" {say(m[1])} ", text)


def _say_figure(match: re.Match[str]) -> str:
    """Say a figure; a comma before it that parts no thousands gets its space: `123,000012`."""
    before = match.string[max(0, match.start() - 2) : match.start()]
    gap = " " if before.endswith(",") and before[0].isdecimal() else ""
    return gap + say(match[0])


def write_out_named_numbers(text: str) -> str:
    """Say versions and addresses point by point, and flights and rooms in pairs."""
    text = _DOTTED.sub(_say_dotted, text)
    text = _SECTION.sub(_say_section, text)
    text = _CALIBER.sub(lambda m: pairs(m[1]), text)
    text = _MANY.sub(_say_many, text)
    text = _LINES.sub(lambda m: f"{pairs(m[1])} {m[2]}", text)
    return _NAMED_NUMBER.sub(lambda m: f"{m[1]} {pairs(m[2])}", text)


def _say_section(match: re.Match[str]) -> str:
    return f"{match[1]}{cardinal(int(match[2]))} point {_two_figures(match[3])}"


def _two_figures(figure: str) -> str:
    return digits(figure) if figure[0] == "0" else cardinal(int(figure))


def _say_many(match: re.Match[str]) -> str:
    if match[1]:
        return "thousands" if match[1] == "000" else "hundreds"
    return "hundreds of thousands" if match[2] else "tens of thousands"


def _is_section(match: re.Match[str]) -> bool:
    """Tell the number of a section from an address in a network: `5.14.4.1. What they ask`."""
    before = match.string[max(0, match.start() - 12) : match.start()].lstrip("\ue000")
    heads = (
        not before
        and "0" not in match[0].split(".")
        and _TITLE_NEXT.match(match.string, match.end())
    )
    return bool(heads) or before.lower().endswith(("section ", "version ", "paragraph "))


def _say_dotted(match: re.Match[str]) -> str:
    parts = match[0].split(".")
    if len(parts) == 4 and not _is_section(match):  # an address in a network
        return " dot ".join(digits(part) for part in parts)
    return " point ".join(say(part) for part in parts)
