"""Lines of plain text -> pieces: paragraphs, headings, scene breaks, and what is left out."""

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from pocket_batch.data import BlockKind
from pocket_batch.sources.breaks import ORNAMENT
from pocket_batch.sources.gutenberg import header_and_licence
from pocket_batch.sources.markup import fold
from pocket_batch.sources.omit import by_title
from pocket_batch.sources.pieces import Piece
from pocket_batch.sources.reasons import (
    DRAWING,
    GUTENBERG,
    HEADER,
    LISTED_IN_TEXT,
    NAMED_CONTENTS,
    Omission,
)

MAX_HEADING = 120  # characters
MAX_HEADING_LINES = 3
MIN_CONTENTS_ENTRIES = 3
MIN_BARE_NUMBERS = 3
MIN_WRAPPED_LINE = 50  # characters; the longest line of hard-wrapped prose is longer
MAX_SHORT_LINE = 0.7  # of the longest; the next word would have fitted on such a line
UNWRAPPED_LINE = 200  # characters; a longer line was not wrapped, it is a paragraph

NUMBER = (
    r"(?:\d+|[IVXLCDM]+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen"
    r"|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty(?:-\w+)?|thirty(?:-\w+)?"
    r"|forty(?:-\w+)?|fifty(?:-\w+)?|the (?:first|second|third|fourth|fifth|last))"
)
PARTS = r"part|book|volume|teil|buch|band|partie|livre|tome|parte|libro|livro|deel|boek"
CHAPTERS = (
    r"chapter|chap\.|act|scene|canto|letter|stave|kapitel|chapitre|cap[ií]tulo|capitolo|hoofdstuk"
)
# CHAPTER IV. The Rabbit -> matches; "Chapter 3 was hard." does not: it goes on in lower case
NUMBERED = re.compile(
    rf"^(?:(?P<part>{PARTS})|{CHAPTERS})\s+{NUMBER}(?:\s*[.:)\]—–-]+\s*(?P<title>.*)|\s+(?P<name>\W?(?-i:[^a-z\W]).*))?$",
    re.IGNORECASE,
)
# Epilogue. -> matches
NAMED = re.compile(
    r"^(?:prologue|epilogue|preface|foreword|introduction|afterword|conclusion|appendix|interlude"
    r"|prolog|epilog|vorwort|nachwort|einleitung|préface|épilogue|prólogo|epílogo|prefazione"
    r"|epilogo|voorwoord|nawoord)[.:]?$",
    re.IGNORECASE,
)
WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty"
).split()
# XIV. -> matches; Three -> matches
BARE_NUMBER = re.compile(rf"^(?:\d{{1,3}}|[IVXLCDM]{{1,8}}|(?i:{'|'.join(WORDS)}))\.?$")
# _very_ -> very
EMPHASIS = re.compile(r"(?<![\w_])_([^_]+)_(?![\w_])")
# Title: Pride and Prejudice -> Title, Pride and Prejudice
FIELD = re.compile(
    r"^(title|author|language|date|publisher|release date|translator|editor):[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
# [Illustration: The bridge] -> matches
ILLUSTRATION = re.compile(r"^\[Illustration(?::?.*)?\]$", re.IGNORECASE | re.DOTALL)
# He left.” -> matches
SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]*_]*\s*$")
ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


@dataclass(slots=True)
class _Paragraph:
    lines: list[str]
    number: int  # of its first line, from 1
    rank: int = 0

    @property
    def text(self) -> str:
        """Its lines as one."""
        return _joined(self.lines)


def pieces_of_text(text: str, name: str, keep_matter: bool = False) -> list[Piece]:
    """Split a text into pieces; headings of parts have rank 1 and of chapters rank 2.

    With `keep_matter` the lines of a table of contents are spoken, as paragraphs.
    """
    paragraphs = _paragraphs(text)
    start, end = header_and_licence([paragraph.text for paragraph in paragraphs])
    body = paragraphs[start:end]
    _rank_headings(body)
    contents = _contents(body)
    if keep_matter:
        for index in contents:
            body[index].rank = 0  # no chapter begins there
        contents = set()
    has_header = is_header(text)
    pieces = []
    for index, paragraph in enumerate(paragraphs):
        omission: Omission | None = None
        if not start <= index < end:
            omission = GUTENBERG
        elif index == 0 and has_header:
            omission = HEADER
        elif index - start in contents:
            omission = LISTED_IN_TEXT
        elif ILLUSTRATION.match(paragraph.text):
            omission = DRAWING
        pieces.append(_piece(paragraph, name, omission))
    return pieces


def is_header(text: str) -> bool:
    """Whether a text begins with a paragraph of nothing but lines such as "Title: Emma"."""
    lines = text.strip().partition("\n\n")[0].splitlines()
    return bool(lines) and all(FIELD.match(line.strip()) for line in lines)


def _piece(paragraph: _Paragraph, name: str, omission: Omission | None) -> Piece:
    text = unicodedata.normalize("NFC", EMPHASIS.sub(r"\1", paragraph.text))
    where = f"{name}:{paragraph.number}"
    omissions = () if omission is None else (omission,)
    if ORNAMENT.fullmatch(text):
        return Piece("scene_break", "", where, omissions=omissions)
    kind: BlockKind = "heading" if paragraph.rank else "paragraph"
    return Piece(kind, text, where, paragraph.rank, omissions)


def _paragraphs(text: str) -> list[_Paragraph]:
    paragraphs: list[_Paragraph] = []
    group: list[tuple[int, str]] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        is_ornament = bool(line.strip()) and ORNAMENT.fullmatch(line) is not None
        if line.strip() and not is_ornament:
            group.append((number, line))
            continue
        paragraphs.extend(_paragraphs_of_group(group))
        group = []
        if is_ornament:
            paragraphs.append(_Paragraph([line], number))
    return paragraphs


def _paragraphs_of_group(group: list[tuple[int, str]]) -> list[_Paragraph]:
    """Lines without a blank line between: one hard-wrapped paragraph, or one each if long.

    Paragraphs may also begin at an indent, or end at a short line with the end of a sentence, and
    a heading may stand right above its text.
    """
    if not group:
        return []
    lines = [line for _, line in group]
    if max(map(len, lines)) > UNWRAPPED_LINE:
        starts = set(range(len(lines)))
    else:
        starts = {0} | _indented(lines) | _after_short_lines(lines)
    is_long = sum(map(len, lines)) > MAX_HEADING
    if is_long and NUMBERED.match(fold(lines[0])):
        starts.add(1)
    places = sorted(place for place in starts if place < len(lines))
    ends = [*places[1:], len(lines)]
    return [
        _Paragraph(lines[start:end], group[start][0])
        for start, end in zip(places, ends, strict=True)
    ]


def _indented(lines: list[str]) -> set[int]:
    """The lines that begin a paragraph by their indent, where most others have none."""
    depths = [len(line) - len(line.lstrip()) for line in map(str.expandtabs, lines)]
    deeper = {place for place, depth in enumerate(depths) if depth > min(depths)}
    if max(map(len, lines)) < MIN_WRAPPED_LINE or 2 * len(deeper) >= len(lines):
        return set()  # verse, or a quotation
    ended = {place for place in deeper if place and SENTENCE_END.search(lines[place - 1])}
    return {place for place in deeper if place - 1 not in deeper} | ended


def _after_short_lines(lines: list[str]) -> set[int]:
    """The lines after one that ends a sentence well before the others do."""
    width = max(map(len, lines))
    if width < MIN_WRAPPED_LINE:
        return set()  # verse, or an address
    return {
        place + 1
        for place, (line, following) in enumerate(pairwise(lines))
        if len(line.rstrip()) < MAX_SHORT_LINE * width
        and SENTENCE_END.search(line)
        and not following.lstrip()[:1].islower()
    }


def _joined(lines: list[str]) -> str:
    """Hard-wrapped lines -> one; a word broken at its hyphen keeps it: "well-" "known"."""
    joined = ""
    for line in map(fold, lines):
        is_broken = joined.endswith("-") and joined[-2:-1].isalpha() and line[:1].islower()
        joined += line if not joined or is_broken else f" {line}"
    return joined


def _rank_headings(paragraphs: list[_Paragraph]) -> None:
    for paragraph in paragraphs:
        text = paragraph.text
        if len(text) > MAX_HEADING or len(paragraph.lines) > MAX_HEADING_LINES:
            continue
        match = NUMBERED.match(fold(paragraph.lines[0]))
        if match is not None:
            paragraph.rank = 1 if match.group("part") else 2
        elif NAMED.match(text):
            paragraph.rank = 2
    if not any(p.rank and not NAMED.match(p.text) for p in paragraphs):
        _rank_bare_numbers(paragraphs)


def _rank_bare_numbers(paragraphs: list[_Paragraph]) -> None:
    # Only 1, 2, 3 ... from the start are chapters; a lone number is anything.
    numbered = [p for p in paragraphs if BARE_NUMBER.match(p.text)]
    values = [_value(p.text.rstrip(".")) for p in numbered]
    if len(values) >= MIN_BARE_NUMBERS and values == list(range(1, len(values) + 1)):
        for paragraph in numbered:
            paragraph.rank = 2


def _value(number: str) -> int:
    if number.isdecimal():
        return int(number)
    if number.lower() in WORDS:
        return WORDS.index(number.lower()) + 1
    digits = [ROMAN_DIGITS[digit] for digit in number]
    following = [*digits[1:], 0]
    return sum(d if d >= after else -d for d, after in zip(digits, following, strict=True))


def _contents(paragraphs: list[_Paragraph]) -> set[int]:
    """The paragraphs of a table of contents: headings in a row that all come again later."""
    found: set[int] = set()
    last_place = {_key(p.text): index for index, p in enumerate(paragraphs) if p.rank}
    run: list[int] = []
    for index, paragraph in enumerate(paragraphs):
        if paragraph.rank and last_place[_key(paragraph.text)] > index:
            run.append(index)
            continue
        found |= _contents_run(run)
        run = []
        if _is_list_of_headings(paragraph):
            found.add(index)
    found |= _contents_run(run)
    before = {index - 1 for index in found if index > 0}
    return found | {index for index in before if by_title(paragraphs[index].text) is NAMED_CONTENTS}


def _contents_run(run: list[int]) -> set[int]:
    return set(run) if len(run) >= MIN_CONTENTS_ENTRIES else set()


def _is_list_of_headings(paragraph: _Paragraph) -> bool:
    entries = [line for line in paragraph.lines if NUMBERED.match(fold(line))]
    return len(entries) >= max(MIN_CONTENTS_ENTRIES, 0.8 * len(paragraph.lines))


def _key(text: str) -> str:
    return fold(text).casefold().rstrip(".:")
