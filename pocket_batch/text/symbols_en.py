"""English readings of signs that stand for words: `&`, `±`, `#`, slashes, Greek letters, emoji."""

import re
import unicodedata

SYMBOLS = {
    "&": "and",
    "=": "equals",
    "+": "plus",
    "±": "plus or minus",
    "−": "minus",
    "∓": "minus or plus",
    "×": "times",
    "÷": "divided by",
    "≈": "about",
    "≃": "about",
    "≅": "is congruent to",
    "≡": "is equivalent to",
    "∝": "is proportional to",
    "≠": "is not",
    "≤": "at most",
    "≥": "at least",
    "⩽": "at most",
    "⩾": "at least",
    "≪": "is much less than",
    "≫": "is much greater than",
    "∞": "infinity",
    "√": "square root of",
    "∑": "sum",
    "∏": "product",
    "∫": "integral",
    "∂": "partial",
    "∇": "del",
    "∈": "in",
    "∉": "not in",
    "⊂": "is a subset of",
    "⊆": "is a subset of",
    "∪": "union",
    "∩": "intersection",
    "∀": "for all",
    "∃": "there is",
    "∅": "the empty set",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "⇒": "implies",
    "⟹": "implies",
    "⇔": "if and only if",
    "→": "to",
    "⟶": "to",
    "←": "from",
    "↔": "to and from",
    "↑": "up",
    "↓": "down",
    "∴": "therefore",
    "∵": "because",
    "∗": "star",
    "∘": "after",
    "⊕": "plus",
    "⊗": "times",
    "∠": "angle",
    "⊥": "perpendicular to",
    "∥": "parallel to",
    "°": "degrees",
    "©": "copyright",
    "§": "section",
    "№": "number",
    "℞": "prescription",
    "$": "dollar",
    "£": "pound",
    "€": "euro",
    "¥": "yen",
    "₩": "won",
    "₹": "rupee",
    "₽": "ruble",
    "₺": "lira",
    "₪": "shekel",
    "₱": "peso",
    "₫": "dong",
    "₴": "hryvnia",
    "₦": "naira",
    "₿": "bitcoin",
    "¢": "cent",
    "\\": "backslash",
    "%": "percent",
    "‰": "per mille",
    "@": "at",
    "#": "hash",
    "♭": "flat",
    "♯": "sharp",
    "µ": "mu",
}
# `A&B` -> `A and B`
_SYMBOL = re.compile(rf"[{re.escape(''.join(SYMBOLS))}]")
# a cheap first look
_HAS_SIGN = re.compile("[^\\w\\s.,;:!?'\"()\\[\\]…—–-]|(?<=\\w)_(?=\\w)|[α-ωΑ-Ω]")
# `Copyright © 1997` -> `Copyright 1997`
_COPYRIGHT = re.compile(r"(?i:(?<=copyright)) ?©")
# `§§ 3` -> `sections 3`
_SECTIONS = re.compile(r"§\s?§\s?")
# `C#`, `F#` -> `C sharp`; `#MeToo` -> `hashtag MeToo`
_SHARP = re.compile(r"(?<!\w)([A-G])#(?!\w)")
# `#MeToo` -> `hashtag MeToo`
_HASHTAG = re.compile(r"(?<![\w#&])#(?=[^\W\d_])")
# `x^2`, `10^-6` -> `x²`, ...: said with the raised figures
_CARET = re.compile(r"(?<=[\w)])\^\{?(-?\d{1,3}|n)\}?")
_RAISE = str.maketrans("0123456789-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ")
# `5 < 6`, `n>0`; `<b>` stays
_LESS = re.compile(r"(?:(?<=\d)|(?<=\W\w)|(?<=^\w)|(?<=\))) ?([<>])(=?) ?(?=-?\d|[^\W\d]\b)")
# `<b>`, `</b>`, `<cough/>`
_TAG = re.compile(r"<[/a-zA-Z][^<>]*>")
_COMPARED = {"<": "is less than", ">": "is greater than", "<=": "is at most", ">=": "is at least"}
# `3-1=2`, `x-y=z`, `2=3-1` -> `3 minus 1=2`, ...
_OPERAND = r"(?:\d+(?:\.\d+)?|[a-z])"
_DIFFERENCE = re.compile(
    rf"(?:(?<=\d)|(?<=\b[a-z]))\s?[-–—]\s?(?={_OPERAND}\s?=)"
    rf"|(?P<before>=\s?{_OPERAND})\s?[-–—]\s?(?={_OPERAND}\b(?!-))"
)
# `->`, `<=` of programs -> the signs they stand for
_TYPED = {"->": "→", "=>": "⇒", "<=": "≤", ">=": "≥", "!=": "≠"}
_TYPED_SIGN = re.compile(r"(?<![<>=!-])(?:->|=>|<=|>=|!=)(?![<>=])")
# `bug#98` -> `bug number 98`
_NUMBER_SIGN = re.compile(r"(?<=[a-z]{3})#(?=\d)")
# `~/bin`, `~user` -> `tilde/bin`, ...; other tildes are ornaments
_TILDE = re.compile(r"(?<![\w~])~(?=[\w/])")
# `a~b`, `snake_case`, `a|b` of programs -> `a tilde b`, ...
_INNER_SIGN = re.compile(r"(?<=[A-Za-z\d])[~|](?=[A-Za-z\d])|(?<=[A-Za-z])_(?=[A-Za-z])")
_INNER_SIGNS = {"~": " tilde ", "|": " vertical bar ", "_": " underscore "}
# `~5` -> `about 5`
_ABOUT = re.compile(r"(?<!\w)[~∼≈](?=[$£€]?\d)")
# `3·5` of old British print -> `3.5`
_RAISED_POINT = re.compile(r"(?<=\d)·(?=\d)")
# `x′` -> `x prime`
_PRIME = re.compile(r"(?<=[^\W\d_])(′|″)")
# `and/or` -> `and or`, `he/she` -> `he or she`, `w/o`, `c/o`; others are said
_AND_OR = re.compile(r"(?i:(?<=\band)/(?=or\b))")
# `he/she` -> `he or she`
_EITHER = re.compile(
    r"(?i:(?<=\bhe)/(?=she\b)|(?<=\bshe)/(?=he\b)|(?<=\bhis)/(?=hers?\b)|(?<=\bhim)/(?=her\b)"
    r"|(?<=\bher)/(?=his\b))"
)
# `s/he` -> `she or he`
_SHE_OR_HE = re.compile(r"\b([Ss])/he\b")
# `w/o milk` -> `without milk`
_SHORT_WITH = re.compile(r"(?<![\w/])(w/o|w/|c/o|b/c)(?:\s|$)")
_WITH = {"w/o": "without ", "w/": "with ", "c/o": "care of ", "b/c": "because "}
# `red, / and blue`: two lines of a verse
_VERSE = re.compile(r"(?<=[.,;:!?\"')…—]) //? (?=[\w\"'(])|(?<=[a-z]) //? (?=[\"'(]?[A-Z])")
# a slash that belongs to no `<tag/>`
_SLASH = re.compile(r"(?<!<)/(?!>)")
# what opens before a sign and what closes after it: `"/usr"` -> `"slash usr"`
_OPENED = re.compile(r"(?:^|[\s(\[])[\"'(\[<]*$")
_CLOSED = re.compile(r"[.,;:!?)\]'\">…](?!\w)")
# `α-particle`, `Δ` -> `alpha-particle`, `delta`; Greek words stay
_GREEK = re.compile(r"(?<![^\W\d_])[α-ωΑ-ΡΣ-Ω](?![^\W\d_])")
# pictures: `☺`, `😀`, `🇬🇧`
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\U0001f1e6-\U0001faff]")
# `black heart suit` -> `heart`
_COLOR_OF_PICTURE = re.compile(r"^(?:black|white|heavy black|heavy) | suit$")
# shades of skin
_NO_PICTURE = re.compile("[\U0001f3fb-\U0001f3ff]")


def has_sign(text: str) -> bool:
    """Tell whether there is any sign beside letters, figures and ordinary punctuation."""
    return _HAS_SIGN.search(text) is not None


def write_out_operators(text: str) -> str:
    """Prepare the signs that the rules for figures need to know: powers, less than, about."""
    if "^" in text:
        text = _CARET.sub(lambda m: m[1].translate(_RAISE), text)
    if "#" in text:
        text = _NUMBER_SIGN.sub(" number ", text)
    if "=" in text:
        text = _DIFFERENCE.sub(lambda m: f"{m['before'] or ''} minus ", text)
    if "=" in text or "->" in text:
        text = _TYPED_SIGN.sub(lambda m: _TYPED[m[0]], text)
    if ("<" in text or ">" in text) and not _TAG.search(text):
        text = _LESS.sub(_compare, text)
    if "~" in text:
        text = _ABOUT.sub("about ", text)
    return text if text.isascii() else _RAISED_POINT.sub(".", text)


def _compare(match: re.Match[str]) -> str:
    return f" {_COMPARED[match[1] + match[2]]} "


def write_out_symbols(text: str) -> str:
    """Say every sign that stands for a word; the rules for figures have had theirs."""
    if "|" in text or "_" in text or "~" in text:
        text = _INNER_SIGN.sub(lambda m: _INNER_SIGNS[m[0]], text)
    if "~" in text:
        text = _TILDE.sub("tilde ", text).replace("~", " ")
    if "/" in text:
        text = _write_out_slashes(text)
    if "#" in text:
        text = _HASHTAG.sub("hashtag ", _SHARP.sub(r"\1 sharp", text))
    if not text.isascii():
        text = _SECTIONS.sub("sections ", _COPYRIGHT.sub("", text))
        text = _GREEK.sub(_name_letter, text)
        text = _PRIME.sub(lambda m: " prime" if m[1] == "′" else " double prime", text)
        text = _EMOJI.sub(_name_picture, text)
    return _SYMBOL.sub(lambda m: _spaced(m, SYMBOLS[m[0]]), text)


def _spaced(match: re.Match[str], word: str) -> str:
    """Part a word from what stands around its sign, but not from marks that belong to it."""
    text, start, end = match.string, match.start(), match.end()
    before = "" if _OPENED.search(text, max(0, start - 4), start) else " "
    after = "" if _CLOSED.match(text, end) else " "
    return before + word + after


def _write_out_slashes(text: str) -> str:
    text = _SHE_OR_HE.sub(r"\1he or he", text)
    text = _EITHER.sub(" or ", _AND_OR.sub(" ", text))
    text = _SHORT_WITH.sub(lambda m: _WITH[m[1]], text)
    return _SLASH.sub(lambda m: _spaced(m, "slash"), _VERSE.sub(_pause, text))


def _pause(match: re.Match[str]) -> str:
    return ", " if match.string[match.start() - 1].isalnum() else " "


def _name_letter(match: re.Match[str]) -> str:
    name = unicodedata.name(match[0], "")
    if not name.startswith("GREEK"):
        return match[0]
    return name.rsplit(" ", 1)[-1].lower().replace("lamda", "lambda")


def _name_picture(match: re.Match[str]) -> str:
    """Say a picture by its Unicode name: `😀` -> `grinning face`; flags by their letters."""
    sign = match[0]
    if "\U0001f1e6" <= sign <= "\U0001f1ff":
        return chr(ord(sign) - 0x1F1E6 + ord("A"))
    if sign in SYMBOLS or _NO_PICTURE.match(sign):
        return sign if sign in SYMBOLS else ""
    name = _COLOR_OF_PICTURE.sub("", unicodedata.name(sign, "").lower())
    return f" {name} " if name and not any(map(str.isdecimal, name)) else sign
