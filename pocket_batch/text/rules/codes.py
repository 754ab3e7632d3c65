"""Readings of what is not prose: addresses of the net and telephone numbers."""

import re
from functools import lru_cache

from pocket_batch.text.languages.table import Language
from pocket_batch.text.rules.words import count, digits

MAX_SPELLED = 8  # letters; a longer piece that cannot be read is not spelled either
_HOSTS = "com|org|net|edu|gov|info|eu|fr|it|nl|br|mx|ar|cl|uk|us|ch|at|be|io|tv|example"
_URL = re.compile(r"\b(?:(?:https?|ftp)://|(?=www\.))[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_HANDLE = re.compile(r"(?<![\w.@])@[^\W_][\w.]*\b")
_IP = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)")
_TOKEN = re.compile(r"\d+|[A-ZÀ-Þ]?[a-zß-ÿ]+|[^\W\d_a-zß-ÿ]+|[^\W\d_]+|[^\w\s]|_")
# letters that can be read as a word: a vowel, and no heap of consonants
_READABLE = re.compile(
    r"(?=.*[aeiouyà-ü])(?!.*[^aeiouyà-ü]{4})(?![^aeiouyà-ü]{3})(?!.*[^aeiouyà-ü]{3}$).{4,24}$", re.I
)
_GROUPS = re.compile(r"\d+")
# `+593 123-123-5678`, `(11) 99999-8888`, `555-1234`, `030 1234567`, `978-3-16-148410-0`
_PHONE = re.compile(
    r"(?<![\w.,/-])(?<!\d )(?P<number>\+\d{1,3}(?:[ .\-/]{0,2}\(?\d{1,12}\)?){1,8}"
    r"|\(\d{2,5}\)[ \-]?\d{3,8}(?:[ \-]\d{2,8}){0,4}"
    r"|\d{2,3} \d{2,3} \d{2} \d{2}(?! \d)"
    r"|0\d{1,5}(?:[ \-/]\d{2,9}){1,6}|\d{1,5}(?:-\d{1,7}){2,6}|\d{3,5}-\d{4})"
    r"(?:,? (?:ext|extensi[oó]n|extensão|ramal|interno|poste|Durchwahl|toestel)\b\.?"
    r" ?(?P<extension>\d{1,5}))?(?![\w/-]|[.,]\d)"
)
# `0-800-hermano` -> `0 800 hermano`
_FREE_CALL = re.compile(r"\b0-([89]00)-(?=\w)")


@lru_cache(maxsize=8)
def _host(language: Language) -> re.Pattern[str]:
    hosts = _HOSTS + ("|de|es" if language.code in {"de", "nl"} else "")
    return re.compile(
        rf"(?<![\w.@-])[a-zA-Z][\w-]*(?:\.[\w-]+){{0,4}}\.(?:{hosts})\b(?!\.\w)(?:/[\w./|%?=&-]*\w)?"
    )


def say_addresses(text: str, language: Language) -> str:
    """Read URLs, mail addresses, handles, host names and network addresses aloud."""
    if "://" in text or "www." in text:
        text = _URL.sub(lambda m: _read(m[0], language), text)
    if "@" in text:
        text = _EMAIL.sub(lambda m: _read(m[0], language), text)
        text = _HANDLE.sub(lambda m: _read(m[0], language), text)
    if "." not in text:
        return text
    text = _IP.sub(lambda m: _read(m[0], language) if _is_ip(m[0]) else m[0], text)
    return _host(language).sub(lambda m: _read(m[0], language), text)


def _is_ip(figures: str) -> bool:
    groups = figures.split(".")
    return any(len(group) < 3 for group in groups[1:]) and all(int(group) < 256 for group in groups)


def _read(address: str, language: Language) -> str:
    return " ".join(_read_token(token, language) for token in _TOKEN.findall(address.rstrip("/")))


def _read_token(token: str, language: Language) -> str:
    if token[0].isdecimal():
        return digits(token, language)
    if not token[0].isalpha():
        return language.address_marks.get(token, language.symbols.get(token, token))
    is_domain = token.lower() in language.read_domains.split() and token not in {"IT"}
    if is_domain or _READABLE.match(token):
        return token
    return " ".join(token) if len(token) <= MAX_SPELLED else token


def say_phones(text: str, language: Language) -> str:
    """Read telephone and book numbers digit by digit."""
    text = _FREE_CALL.sub(lambda m: f"{count(0, language)} {count(int(m[1]), language)} ", text)
    return _PHONE.sub(lambda m: _say_phone(m, language), text)


def _say_phone(match: re.Match[str], language: Language) -> str:
    number, extension = match["number"], match["extension"]
    groups = _GROUPS.findall(number)
    is_plain = number[0] not in "+(0" and len(groups) < 3
    if sum(map(len, groups)) < 7 and number[0] not in "(" and len(groups) < 3:
        return match[0]
    if is_plain and (len(groups[0]) == 4 and int(groups[1]) < 2200 and int(groups[0]) < 2200):
        return match[0]  # a range of years
    said = []
    if number[0] == "+":
        code = groups.pop(0)
        is_number = language.code_as_number and len(code) == 2
        said = [language.plus, count(int(code), language) if is_number else digits(code, language)]
    if extension is None and len(groups) > 3 and re.search(r"\) ?\d{3}-\d{4}-\d{1,3}$", number):
        extension = groups.pop()
    said += [digits(group, language) for group in groups]
    if extension:
        said += [language.extension, digits(extension, language)]
    return " ".join(said)
