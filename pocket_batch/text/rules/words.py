"""Numbers in the words of a language: figures as written, with and without a noun behind them."""

import re
from functools import lru_cache

from pocket_batch.text.languages.table import Language, Noun

MAX_DIGITS = 24  # longer ones are said digit by digit
# a figure as written: `1.234.567`, `1 234`, `1'234`, `12`, each with decimals `,50` or without
NUMBER = (
    r"(?<![\d.,])(?>\d{1,3}(?:\.\d{3}){1,7}(?!\d)|(?<!\d )\d{1,3}(?: \d{3}){1,7}(?! ?\d)"
    r"|\d{1,3}(?:'\d{3}){1,7}(?!\d)|\d+)(?:,\d+(?!\d|,\d))?"
)
SIGN = r"(?:(?<![\d)\]] )(?<![\w)\]])[-−–+±] ?)?"
_GROUPING = re.compile(r"[. ']")


def digits(figures: str, language: Language) -> str:
    """Say figures one by one: `07` -> `null sieben`."""
    return " ".join(_digit(figure, language) for figure in figures)


@lru_cache(maxsize=128)
def _digit(figure: str, language: Language) -> str:
    return language.cardinal(int(figure))


@lru_cache(maxsize=4096)
def count(number: int, language: Language, gender: str = "") -> str:
    """Say a whole number, agreeing with a noun of `gender` behind it when one is given."""
    return agree(language.cardinal(number), language, gender)


def agree(words: str, language: Language, gender: str) -> str:
    """Give number words the gender of the noun behind them: `veintiuno` -> `veintiuna`."""
    start = 0
    for great in re.finditer(language.great, words):
        start = great.end()
    tail = words[start:]
    for pattern, said in language.agree.get(gender, ()):
        tail = re.sub(pattern, said, tail)
    return words[:start] + tail


def split_number(written: str) -> tuple[str, str]:
    """The figures before and after the comma: `1.234,50` -> `1234` and `50`."""
    whole, _, decimals = written.partition(",")
    return _GROUPING.sub("", whole), decimals


def say_number(written: str, language: Language, gender: str = "") -> str:
    """Say a figure as matched by `NUMBER`; agreement with `gender` when a noun follows."""
    whole, decimals = split_number(written)
    if len(whole) > MAX_DIGITS or (len(whole) > 1 and whole[0] == "0"):
        words = digits(whole, language)
    else:
        words = count(int(whole), language, "" if decimals else gender)
    if not decimals:
        return words
    behind = say_decimals(decimals, language)
    if language.decimals == "pairs":
        behind = agree(behind, language, gender)
    return f"{words} {language.point} {behind}"


def say_decimals(decimals: str, language: Language) -> str:
    """Say the figures after the comma as the language does: singly, in pairs or as a number."""
    if language.decimals == "digits" or len(decimals) > 8:
        return digits(decimals, language)
    if language.decimals == "number" and len(decimals) <= 3:
        zeros = len(decimals) - len(decimals.lstrip("0"))
        rest = decimals[zeros:]
        return " ".join(
            filter(
                None,
                [digits(decimals[:zeros], language), count(int(rest), language) if rest else ""],
            )
        )
    if len(decimals) == 3 and decimals[0] != "0" != decimals[2]:
        return count(int(decimals), language)
    pairs = [decimals[place : place + 2] for place in range(0, len(decimals), 2)]
    return " ".join(
        digits(pair, language) if pair[0] == "0" else count(int(pair), language) for pair in pairs
    )


def say_sign(sign: str, language: Language) -> str:
    """The word of a sign with a space behind it; empty without one."""
    mark = sign.strip()
    if mark == "±":
        return f"{language.plus} {language.minus} "
    if mark == "+":
        return f"{language.plus} "
    return f"{language.minus} " if mark else ""


def is_one(written: str) -> bool:
    """Tell whether a figure is exactly one: `1`, not `1,5`."""
    return written.strip() in {"1", "01"}


def say_counted(written: str, noun: Noun, language: Language) -> str:
    """Say a figure and what it counts: `21` pages -> `veintiuna páginas`."""
    whole, _ = split_number(written)
    few = language.code == "fr" and len(whole) == 1 and whole in "01"
    form = noun.one if is_one(written) or few else noun.many
    said = f"{say_number(written, language, noun.gender)} {form}".rstrip()
    return re.sub("^una (?=[aeiou])", "un'", said) if language.code == "it" else said


def like(model: str, words: str) -> str:
    """Give `words` a capital when `model` begins with one."""
    return words[:1].upper() + words[1:] if model[:1].isupper() else words


def before(match: re.Match[str], size: int = 40) -> str:
    """The text before a match; never the whole, so that a rule takes time by the match alone."""
    return match.string[max(0, match.start() - size) : match.start()]


def after(match: re.Match[str], size: int = 40) -> str:
    """The text behind a match."""
    return match.string[match.end() : match.end() + size]


def until(match: re.Match[str], language: Language) -> str:
    """The word between the ends of a range: `bis`, but `und` behind `zwischen`."""
    word, joint = language.between
    return joint if re.search(rf"(?i:\b{word}) [\ue000]?\Z", before(match)) else language.until


def stop_between(head: str, tail: str, language: Language) -> str:
    """The stop of an abbreviation when its sentence ends there, else nothing."""
    if not tail.strip("\"')] "):
        return "." if head.count(" ") > 2 else ""
    return "." if re.match(rf"[\"')\]]*\s[\"'(¿¡]*{language.opener}", tail) else ""


@lru_cache(maxsize=64)
def noun_gender(word: str, language: Language) -> str:
    """The gender of a word behind a figure as far as its form tells: `m`, `f` or empty."""
    if not word or re.fullmatch(language.no_noun, word):
        return ""
    return "f" if re.fullmatch(language.feminine, word) else "m"
