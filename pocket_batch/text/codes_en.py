"""English readings of what is not prose: addresses of the net, telephone numbers, codes."""

import re

from pocket_batch.text.numbers_en import cardinal, digits

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
_DOMAINS = "com|org|net|edu|gov|mil|int|info|io|co|uk|de|fr|us|ca|au|eu|example|abc"

# `http://a.example/b_c?d=1.` -> `a dot example slash b underscore c question mark d equals 1.`
_URL = re.compile(r"\b(?:(?:https?|ftp)://|(?=www\.))[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# `nvidia.com` -> `nvidia dot com`
_HOST = re.compile(rf"(?<![\w.-])[a-zA-Z][\w-]*(?:\.[\w-]+)*\.(?:{_DOMAINS})\b(?:/[\w./-]*\w)?")
_HAS_HOST = re.compile(rf"\w\.(?:{_DOMAINS})\b")
_TOKEN = re.compile(r"\d+|[^\W\d_]+|[^\w\s]|_")
# `401(k)`, `501(c)` -> `four oh one k`, `five oh one c`
_STATUTE = re.compile(r"\b(\d)0(\d)\(([a-z])\)")
# `123-123-5678`, `(555)555-5555`, `+1 (123)-123-5678`, `978-0-306-40615-7` -> digit by digit
_PHONE = re.compile(
    r"(?<![\w-])(?:\+\d{1,3}[ -])?(?:\(\d{3}\)[ -]?\d{3}[ -]\d{4}|\d+(?:-\d+){2,})(?![\w-])"
)


def write_out_addresses(text: str) -> str:
    """Read URLs, mail addresses and host names aloud, without the scheme."""
    if "://" in text or "www." in text:
        text = _URL.sub(lambda m: _read(re.sub(r"^\w+://", "", m[0]).rstrip("/")), text)
    if "@" in text:
        text = _EMAIL.sub(lambda m: _read(m[0]), text)
    return _HOST.sub(lambda m: _read(m[0]), text) if _HAS_HOST.search(text) else text


def _read(address: str) -> str:
    said = [_MARKS.get(token, token) for token in _TOKEN.findall(address)]
    return " ".join(digits(token) if token.isdecimal() else token for token in said)


def write_out_phones(text: str) -> str:
    """Read telephone and book numbers digit by digit, a pause between groups."""
    text = _STATUTE.sub(lambda m: f"{digits(m[1])} oh {digits(m[2])} {m[3]}", text)
    return _PHONE.sub(_say_phone, text)


def _say_phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match[0])
    said = [cardinal(800) if group == "800" else digits(group) for group in groups]
    return ("plus " if match[0].startswith("+") else "") + ", ".join(said)
