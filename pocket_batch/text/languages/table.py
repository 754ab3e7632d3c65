"""What a language has to say to be written out: the fields that every table fills."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Noun:
    """What is counted: its form for one, for many, and its gender (`m`, `f`, `n` or empty)."""

    one: str
    many: str
    gender: str = "m"


@dataclass(frozen=True, slots=True)
class Money:
    """A currency and its hundredth part."""

    whole: Noun
    part: Noun | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """How a time of day is said: `catorze horas e trinta`."""

    hour: Noun  # empty forms when the hour has no noun
    join: str  # between hour and minutes
    minute: str  # after the minutes, may be empty
    parts: Mapping[int, str] = field(default_factory=dict)  # 15 -> `cuarto`
    suffixes: str = r"(?!)"  # regex of what may follow: ` Uhr`
    marks: str = "[:h]"  # regex of what stands between hour and minutes
    before: str = r"(?!)"  # regex of the word after which `14.30` is a time
    full: str = "{hours} {minutes} {seconds}"
    hour_noun: Noun = Noun("", "")  # with minutes and seconds
    minute_noun: Noun = Noun("", "")
    second_noun: Noun = Noun("", "")
    twelve: tuple[tuple[str, int, int], ...] = ()  # `16:00 da tarde`: words, first and last hour
    halves: Mapping[str, str] = field(default_factory=dict)  # `a` and `p` of a.m. and p.m.


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language. Fields called regex hold one; words are as said, in lower case."""

    code: str
    cardinal: Callable[[int], str]
    ordinal: Callable[[int, str], str]  # number and gender
    year: Callable[[int], str]
    agree: Mapping[str, Pairs]  # gender -> regex and words for a number before a noun
    great: str  # regex of the words from which on a number is a noun: `millones`
    point: str  # `Komma`
    dot: str  # `Punkt`
    decimals: str  # `digits`, `pairs` or `number`
    minus: str
    plus: str
    until: str  # between the ends of a range
    between: tuple[str, str]  # `zwischen` and its `und`, instead of `until`
    versus: str  # between the numbers of a score
    # dates
    months: str  # twelve names
    short_months: str  # twelve places, each with its short forms: `sep,sept`
    day: Callable[[int, str], str]  # number and the text before it
    before_month: str  # ` de ` or ` `
    before_year: str
    day_mark: str  # regex of what may stand after the figure of a day
    clock: Clock
    # money and measures
    money: Mapping[str, Money]
    magnitudes: Mapping[str, Noun]  # `Mio.` -> Million
    after_magnitude: str  # `de` in `dos millones de euros`
    before_part: str  # between euros and cents
    units: Mapping[str, Noun]
    per: str  # `pro`, in m/s
    per_hour: str  # `à l'heure`, in km/h
    # fractions
    denominator: Callable[[int, int], str]  # denominator and numerator -> its word
    mixed: str  # between a whole number and a fraction: ` y `
    over: str  # `uno sobre ciento uno`, for a denominator without a word
    half: str  # `{words} y {half}` when a half behind a number has a form of its own
    half_of: Mapping[str, str]  # gender of a noun -> `media` before it
    of_fraction: str  # between a fraction and its unit
    # ordinals
    ordinal_marks: Mapping[str, str]  # regex of an ending -> gender
    ordinal_in: Callable[[str, str], str | None] | None  # text before and after -> gender, German
    # names, numerals
    ruler: Callable[[int, bool, str], str]  # number, is a woman, text before -> words after name
    rulers: str  # names of kings, emperors and popes
    women: str
    numbered: str  # regex of words before a Roman numeral that counts
    numbered_after: str  # regex of words after a Roman numeral that is an ordinal
    numbered_after_f: str  # the same, feminine
    century_word: str  # regex
    century: Callable[[int], str]  # after `century_word`
    lone: Callable[[int], str]
    # abbreviations: regexes are made from these; a space may stand after an inner stop
    titles: Mapping[str, str]  # before a name
    before_number: Mapping[str, str]
    inner: Mapping[str, str]
    final: Mapping[str, str]  # may end a sentence
    # marks
    symbols: Mapping[str, str]
    address_marks: Mapping[str, str]
    read_domains: str  # ends of addresses that are read as words
    extension: str  # of a telephone number
    code_as_number: bool  # +49 is a number rather than two digits
    # nouns after a figure
    feminine: str  # regex of a following word that is feminine
    no_noun: str  # regex of following words before which `uno` stays
    glued: str = r"(?!)"  # regex of what is written on to a figure: `68er`
    titles_f: Mapping[str, str] = field(default_factory=dict)  # before a name of a woman
    endings: Pairs = ()  # regex of an abbreviated end of a word, and its whole form
    opener: str = r"[A-ZÀ-ÖØ-Þ]"  # regex of how a sentence begins


def first_day(first: str, cardinal: Callable[[int], str]) -> Callable[[int, str], str]:
    """How the days of a month are said where the first one alone has an ordinal: `primero`."""

    def day(number: int, before: str) -> str:
        return first if number == 1 else cardinal(number)

    return day


def ordinal_to_ten(
    ordinal: Callable[[int, str], str], cardinal: Callable[[int], str]
) -> Callable[[int], str]:
    """Ordinals as far as people know them: `capítulo primero`, `capítulo once`."""
    return lambda number: ordinal(number, "m") if number <= 10 else cardinal(number)


def ruler_to_ten(
    ordinal: Callable[[int, str], str], cardinal: Callable[[int], str]
) -> Callable[[int, bool, str], str]:
    """The same behind a name: `Isabel segunda`, `Luis catorce`."""

    def ruler(number: int, is_woman: bool, before: str) -> str:
        return ordinal(number, "f" if is_woman else "m") if number <= 10 else cardinal(number)

    return ruler


def words(table: str) -> dict[str, str]:
    """Read `Dr=Doktor; Prof,Professor=Professor` into one entry for each key."""
    entries = (entry.split("=", 1) for entry in table.split(";") if entry.strip())
    return {
        " ".join(key.split()): " ".join(said.split())
        for keys, said in entries
        for key in keys.split(",")
    }


def _noun(text: str) -> Noun:
    gender, forms = text.split(maxsplit=1)
    one, _, many = forms.partition("/")
    return Noun(one.strip(), (many or one).strip(), gender)


def nouns(table: str) -> dict[str, Noun]:
    """Read `km=m Kilometer; h,Std.=f Stunde/Stunden`: gender, form for one, form for many."""
    return {key: _noun(said) for key, said in words(table).items()}


def currencies(table: str) -> dict[str, Money]:
    """Read `€,EUR=m Euro + m Cent`: a currency and its hundredth part, when it has one."""
    found = {}
    for key, said in words(table).items():
        whole, _, part = said.partition(" + ")
        found[key] = Money(_noun(whole), _noun(part) if part else None)
    return found
