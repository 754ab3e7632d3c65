"""English readings of what is not prose: addresses of the net, file names, telephones, codes."""

import re

from pocket_batch.text.numbers_en import begins_sentence, cardinal, digits, ordinal, pairs, year

_MARKS = {
    ".": "dot",
    "/": "slash",
    "-": "dash",
    "_": "underscore",
    "@": "at",
    ":": "colon",
    "?": "question mark",
    "=": "equals",
    "&": "and",
    "#": "hash",
    "%": "percent",
    "+": "plus",
    "~": "tilde",
}
_DOMAINS = "com|org|net|edu|gov|mil|int|info|io|co|uk|de|fr|ca|au|eu|example|abc"
_FILES = (
    "txt|pdf|jpe?g|png|gif|svg|html?|xml|xhtml|epub|mp3|mp4|m4b|wav|zip|tar|gz|xz|deb|dsc|exe|dll"
    "|docx?|xlsx?|csv|json|ya?ml|conf|cfg|ini|log|py|js|css|php|sh"
)
_SPOKEN = {"jpg": "jpeg", "yml": "yaml", "gz": "GZ", "xz": "XZ", "py": "py"}

# `http://a.example/b_c?d=1.` -> `HTTP colon slash slash a dot example slash b underscore c ...`
_URL = re.compile(
    r"(?P<bracket><)?\b(?P<link>(?:[A-Za-z][A-Za-z0-9+]{1,9}://|(?=www\.))"
    r"[^\s<>\"')\]]*[^\s<>\"')\].,;:!?])(?(bracket)>)"
)
# `user@example.org` -> `user at example dot org`
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}(?:/[\w./-]*[\w/])?"
)
# `nvidia.com`, `a.example.org/b` -> `nvidia dot com`, ...
_HOST = re.compile(
    rf"(?<![\w.-])[a-zA-Z][\w-]*(?:\.[\w-]+){{0,9}}"
    rf"(?:\.(?:{_DOMAINS}|{_FILES})(?![\w-]|\.\w)(?:/[\w./-]*[\w/])?)"
    r"|(?<![\w.-])[a-z][\w-]+(?:\.[a-z0-9_][\w-]*){2,9}(?![\w-]|\.\w)"
    r"|(?<![\w.-])[a-z][\w-]*\.[a-z]{2,}/[\w./-]*[\w/]"
)
# a cheap first look for either
_HAS_HOST = re.compile(rf"\.(?:(?:{_DOMAINS}|{_FILES})\b|[\w-]+[./][a-z0-9_])")
# `the .com boom`, `an .exe file` -> `the dot com boom`
_ENDING = re.compile(rf"(?<=[\s(\"'])\.(?:[\w-]+\.){{0,4}}(?:{_DOMAINS}|{_FILES})(?![\w-]|\.\w)")
# a cheap first look
_HAS_ENDING = re.compile(r"[\s(\"']\.\w")
# `a-1.b` -> `a`, `-`, `1`, `.`, `b`
_TOKEN = re.compile(r"\d+|[^\W\d_]+|[^\w\s]|_")
# `kb` has none
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
# `401(k)`, `401k`, `501(c)` -> `four oh one k`, `five oh one c`
_STATUTE = re.compile(r"\b(\d)0(\d)(?:\(([a-z])\)|(?<=401)(k)\b|(?<=403)(b)\b)")
# `123-123-5678`, `(555)555-5555`, `+44 20 7946 0958`, `0-306-40615-X` -> digit by digit
_PHONE = re.compile(
    r"(?<![\w.,/-])(?:(?:\+?\d{1,3}[ -])?\(\ue000?\d{3}\)[ -]?\d{3}[ -]\d{4}|\d+(?:-\d+){2,}(?:-X)?"
    r"|\+\d{1,3}(?:[ -]\(?\d{1,8}\)?){2,5}|0\d{2,4} \d{3,4} \d{3,4}|\d{3}([. ])\d{3}\1\d{4}"
    r"|\d{4}(?: \d{4}){3}|555-\d{4})(?![\w-]|\.\d)"
)
# `call 867-5309` -> digit by digit, where a word says that it is a number to call
_SHORT_PHONE = re.compile(
    r"\b((?:tel|phone|telephone|call|dial|fax|call (?:me|us|him|her|them) (?:at|on))[.:]? )"
    r"(\d{3}-\d{4})(?![\w-])",
    re.IGNORECASE,
)
# `867-5309`, but not `500-2500` or `987-1012`, which are ranges
_BARE_PHONE = re.compile(r"(?<![\w.,/$£€-])\d{3}-([2-9]\d{3})(?![\w-]|[.,]\d| ?[%°])")
# `called 911` -> digit by digit
_EMERGENCY = re.compile(r"(?i:(?<=call )|(?<=called )|(?<=dial )|(?<=dialed ))(911|999|112)\b")
# `1-800-GO-U-HAUL` -> `one, eight hundred, GO U HAUL`
_LETTERED_PHONE = re.compile(
    r"(?<![\w-])(?:1-)?(?:8\d\d|900)-[A-Z\d]{1,8}(?:-[A-Z\d]{1,8}){0,3}(?![\w-])"
)
# `ISBN 0306406152` -> digit by digit
_BOOK_NUMBER = re.compile(r"\b(ISBN|ISSN|SSN|EAN|LCCN)(?:-1[03])?(:? )(\d[\d-]*(?:X\b)?)")
# `2Q22`, `Q3 2022` -> `the second quarter of twenty-two`, ...
_QUARTER = re.compile(
    r"(?<!\w)(?:([1-4])Q'?|Q([1-4])(?: ?'| (?=\d{4})|(?=\d)))((?:20|19)?\d\d)(?!\w|[.,]\d)"
)
# `paragraph 1.E.8` -> `paragraph 1 E 8`
_OUTLINE = re.compile(r"(?<=\d)\.(?=[A-Z]\b)|(?<=\b[A-Z])\.(?=\d)")
# `MP3`, `25d08A` -> `MP 3`, `25 d 08 A`
_ALPHANUMERIC = re.compile(r"\b(?=\w*\d)(?=\w*[^\W\d_])[^\W_]+\b")
# `MP3` -> the place between `P` and `3`
_LETTER_DIGIT = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
# `BA123` -> `123`
_LONG_DIGITS = re.compile(r"\d{3,}")


def write_out_links(text: str) -> str:
    """Read URLs, mail addresses, host and file names aloud, mark by mark."""
    if "://" in text or "www." in text:
        text = _URL.sub(lambda m: _read(m["link"]), text)
    if "@" in text:
        text = _EMAIL.sub(lambda m: _read(m[0]), text)
    if _HAS_HOST.search(text):
        text = _HOST.sub(lambda m: _read(m[0]), text)
    return _ENDING.sub(lambda m: _read(m[0]), text) if _HAS_ENDING.search(text) else text


def _read(address: str) -> str:
    return " ".join(_say_token(token) for token in _TOKEN.findall(address))


def _say_token(token: str) -> str:
    if token.isdecimal():
        return cardinal(int(token)) if token.endswith("00") and len(token) < 7 else digits(token)
    if token in _MARKS:
        return _MARKS[token]
    if token.lower() in _SPOKEN:
        return _SPOKEN[token.lower()]
    # Without a vowel it is spelled, and capitals tell the voice so.
    return token if len(token) == 1 or _VOWEL.search(token) else token.upper()


def write_out_phones(text: str) -> str:
    """Read telephone and book numbers digit by digit, a pause between groups."""
    text = _STATUTE.sub(lambda m: f"{digits(m[1])} oh {digits(m[2])} {m[3] or m[4] or m[5]}", text)
    text = _BOOK_NUMBER.sub(lambda m: f"{m[1]}{m[2]}{_say_groups(m[3])}", text)
    text = _PHONE.sub(lambda m: _say_groups(m[0]), text)
    text = _SHORT_PHONE.sub(lambda m: m[1] + _say_groups(m[2]), text)
    text = _BARE_PHONE.sub(_say_bare_phone, text)
    text = _EMERGENCY.sub(lambda m: digits(m[1]), text)
    text = _LETTERED_PHONE.sub(_say_lettered_phone, text)
    return _QUARTER.sub(_say_quarter, text)


def _say_groups(number: str) -> str:
    groups = re.findall(r"\d+|X", number)
    said = [_say_group(group) for group in groups]
    mark = "\ue000" if "\ue000" in number else ""  # its first word wants a capital
    return mark + ("plus " if number.startswith("+") else "") + ", ".join(said)


def _say_group(group: str) -> str:
    if group in {"800", "900"}:
        return cardinal(int(group))
    return group if group == "X" else digits(group)


def _say_bare_phone(match: re.Match[str]) -> str:
    is_round = match[1].endswith("00") or int(match[1]) < 2100
    return match[0] if is_round else _say_groups(match[0])


def _say_lettered_phone(match: re.Match[str]) -> str:
    """Read `1-800-GO-U-HAUL`: the letters are words, the figures digits."""
    groups = match[0].split("-")
    if not any(map(str.isalpha, groups)):
        return match[0]
    first = next(i for i, group in enumerate(groups) if group.isalpha())
    numbers = [_say_group(group) for group in groups[:first]]
    words = [group if group.isalpha() else " ".join(group) for group in groups[first:]]
    return ", ".join([*numbers, " ".join(words)])


def _say_quarter(match: re.Match[str]) -> str:
    figure = match[3]
    said = year(int(figure)) if len(figure) == 4 else cardinal(int(figure))
    the = "The" if begins_sentence(match) else "the"
    return f"{the} {ordinal(int(match[1] or match[2]))} quarter of {said}"


def write_out_codes(text: str) -> str:
    """Part the letters of a code from its figures: `MP3` -> `MP 3`, `BA123` -> `BA one two ...`."""
    return _ALPHANUMERIC.sub(_separate, _OUTLINE.sub(" ", text))


def _separate(match: re.Match[str]) -> str:
    """Part letters from digits; a long figure is a year or round, or its digits are read."""
    spaced = _LETTER_DIGIT.sub(" ", match[0])
    return _LONG_DIGITS.sub(lambda m: _say_code(m[0]), spaced)


def _say_code(figure: str) -> str:
    if figure.endswith("00"):
        return figure
    if len(figure) == 3 and figure[2] == "0" and figure[0] != "0":
        return pairs(figure)
    is_year = len(figure) == 4 and figure[:2] in {"19", "20"}
    return year(int(figure)) if is_year else digits(figure)
