"""Sentences of a paragraph: every stop is a place to look at, and rules decide which end one.

Each decision sees a bounded window around its stop, so time grows with the length of the text.
For languages without a table of abbreviations here, a library has a veto.
"""

import re
from bisect import bisect_left, bisect_right

from sentencex import get_sentence_boundaries

from pocket_batch.bcp47 import primary
from pocket_batch.text.dialogue_tags import SPEECH_VERBS
from pocket_batch.text.enumerations import item_places
from pocket_batch.text.lines import separate_parts
from pocket_batch.text.quotes import quoted_spans
from pocket_batch.text.stops import StopRules, stop_rules

# A stop, a run of them, a spaced ellipsis; then what closes: `so.`, `What?!"`, `so . . . .`,
# `(He left.)`, ` Oui ! »`, `use.[2–11]`; `:` in Armenian. Tight stops need no space after them.
_STOP = re.compile(
    r"(?P<stop>[.!?…؟۔।॥։]+(?: [.…](?!\w)[.!?…]*)*|[。！？｡።፧]+|(?<=[ա-և…]):)"
    r"(?P<closers>(?:[)\]}\"'”’“»›«‹」』）]| [»”](?=[\s.,;:!?…)]|$))*)"
    r"(?P<note>(?<=[a-z)\]\"”]\.)\d{1,3}(?: \d{1,3})*(?= [A-Z])|\[\d[\d,–-]*\])?"
)
# `Tom's “Yes.”` -> `Tom's  Yes. `: equal length, apostrophes in words kept
_QUOTES = re.compile(r"[\"“”„«»‹›]|(?<!\w)['‘’‚]|['‘’‚](?!\w)")
_SPACED_FOUR = re.compile(r"\w\.(?: \.){3}")  # `compounds. . . .` before `The practice`
_TIGHT_STOPS = "。！？｡።፧"
_TIGHT_CLOSERS = ")\"'”’」』）"
_WORD = re.compile(r"\w[\w.'’°-]*|№")  # `(Tom's “U.S` -> `Tom's`, `U.S`
_FIRST_WORD = re.compile(r"[^\w]*(?P<word>\w[\w'’]*)(?P<stop>\.?)")
# `Tom said`, `Mister Darcy replied`, `I asked` -> yes
_SPEECH_TAG = re.compile(rf"(?:[\w.'-]+ ){{1,4}}?(?:{SPEECH_VERBS})\b")
# `1.`, `• 9.`, `(12.)`, `3.B.`, `IV.`, `Q.`, `1.)` alone are no sentence
_MARKER_ALONE = re.compile(r"[^\w]*(?:\d{1,3}(?:\.[\dA-Za-z]{1,3})*|[IVXLC]{1,6}|[A-Za-z])\.?\)?")
_CLOCK = frozenset("a.m p.m am pm".split())
# `8 p.m. Monday`, `9 a.m. EST` go on
_AFTER_CLOCK = re.compile(
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Eastern|Pacific|Central|Mountain|[A-Z]{2,4})\b"
)
# `At 5 a.m.`: no sentence yet
_ONLY_A_TIME = re.compile(
    r"[^\w]*(?:At|By|From|Around|About|Before|After|Until|Since|On) [^ ]+ \S+"
)
# `40°26'46"N`, `25 °C`: no initial of a name
_AFTER_DEGREES = re.compile(r"\d\s?[°\"″'′]\s?[NSEWCFK]$")
# names that end with a mark, not exclamations: `used Yahoo! Answers`
_MARKED_NAMES = re.compile(r"[a-z] (?:Yahoo|Jeopardy)$")
_NUMBER_NEXT = re.compile(r"[^\w]{0,2}(?:\d|(?:[IVXLC]{2,6}|[VXLC])\b)")
_ORDINAL = re.compile(r"-?(?:\d{1,2}|[IVXLC]+)")  # `am 3. Mai`, `Karl V. Kaiser`
_LONG_START = 40  # a longer text before a stop is more than a marker or a time


def split_sentences(text: str, language: str, inside_quotes: bool = False) -> list[str]:
    """Cut a paragraph into sentences; closing quotes and brackets stay with theirs.

    Args:
        text: one paragraph; its white space is folded to single spaces first. An empty line and
            a line broken on purpose (`text.lines`) end a sentence.
        language: BCP 47 tag; a language that has no table here is cut as the library does.
        inside_quotes: also cut at the stops inside a quotation or bracket of several sentences,
            which is one sentence else: for speech, where each of them is followed by a pause.

    Returns:
        The sentences, none empty; joined by single spaces they equal the folded text, but for
        those that end with a full stop of Chinese or Japanese, which no space follows.
    """
    sentences: list[str] = []
    for part in separate_parts(text):
        sentences += _split_part(part, language, inside_quotes)
    return sentences


def joint_after(sentence: str) -> str:
    """What stands between a sentence and the next one: a space, or nothing in Chinese."""
    return "" if sentence.rstrip(_TIGHT_CLOSERS)[-1:] in tuple(_TIGHT_STOPS) else " "


def _split_part(text: str, language: str, inside_quotes: bool) -> list[str]:
    """Cut a text of one line with folded white space."""
    sentences: list[str] = []
    start = 0
    for place in _places(text, language, inside_quotes):
        sentence = text[start:place].strip(" ")
        if sentence:
            sentences.append(sentence)
            start = place
    if start < len(text):
        sentences.append(text[start:].strip(" "))
    return sentences


def _places(text: str, language: str, inside_quotes: bool) -> list[int]:
    """Find the places to cut, in order; none twice, none at the end."""
    code = primary(language) or "en"
    rules = stop_rules(code)
    items, marker_ends = item_places(text, bool(rules and rules.has_ordinal_stops))
    spans = [] if inside_quotes else quoted_spans(text)
    opens = [start for start, _ in spans]
    places: list[int] = []
    start = 0
    for match in _STOP.finditer(text):
        end = match.end()
        at = bisect_left(items, start + 1)
        if at < len(items) and items[at] <= match.start():
            start = items[bisect_right(items, match.start()) - 1]
        if end >= len(text) or end in marker_ends or match.end("stop") in marker_ends:
            continue
        if text[end] != " " and match["stop"][-1] not in _TIGHT_STOPS:
            continue
        span = bisect_left(opens, end) - 1
        if span >= 0 and spans[span][1] >= end:
            continue
        if _ends_sentence(text, start, match, rules or StopRules()) and (
            rules or match["stop"][-1] in _TIGHT_STOPS or _library_agrees(text, code, match)
        ):
            if _SPACED_FOUR.fullmatch(text, match.start() - 1, end):
                end = match.start() + 1  # a full stop, and an omission before the next sentence
            places.append(end)
            start = end
    return sorted({*places, *items})


def _library_agrees(text: str, code: str, match: re.Match[str]) -> bool:
    """Tell whether the library has a boundary between a stop and the next sentence.

    It is shown the surroundings only, for it takes minutes for long texts of some kinds, and it
    is shown blanks for quotes, for it keeps a quotation whole.
    """
    begin = max(0, match.start() - 80)
    window = _QUOTES.sub(" ", text[begin : match.end() + 60])
    stop, end = match.start() - begin, match.end() - begin
    places = (boundary["end_index"] for boundary in get_sentence_boundaries(code, window))
    return any(stop < place <= end + 1 for place in places)


def _ends_sentence(text: str, start: int, match: re.Match[str], rules: StopRules) -> bool:
    """Decide on one stop; the sentence began at `start`."""
    stop, closers = match["stop"], match["closers"]
    rest = text[match.end() : match.end() + 80].lstrip(" ")
    first = _FIRST_WORD.match(rest)
    if first is None or first["word"][0].islower():
        return False
    if stop[-1] in _TIGHT_STOPS:
        return not (closers and rest[0] in "とっ、，")
    so_far = text[start : min(match.start(), start + _LONG_START)].strip(" ")
    if not any(map(str.isalnum, so_far)):
        return False
    if closers and _is_speech_tag(rest, first["word"], rules):
        return False
    if (
        stop == "!"
        and not closers
        and _MARKED_NAMES.search(text, max(0, match.start() - 12), match.start())
    ):
        return first["word"].lower() in rules.openers
    if stop[-1] not in ".…" or stop[0] in "!?":
        return text[match.start() - 1] not in "(["
    if len(stop) > 1 or stop == "…":
        return _ellipsis_ends(text, match, first["word"])
    is_short = match.start() - start < _LONG_START
    if is_short and _MARKER_ALONE.fullmatch(so_far + stop + closers):
        return False
    if not closers and match["note"] is None:
        return _full_stop_ends(text, so_far if is_short else "", match.start(), rest, rules)
    return True


def _is_speech_tag(rest: str, word: str, rules: StopRules) -> bool:
    """Tell whether what follows a quotation says who spoke: `Tom said`, not `She said`."""
    is_name = word == "I" or word.lower() not in rules.openers
    return is_name and rest[0].isalpha() and bool(_SPEECH_TAG.match(rest))


def _ellipsis_ends(text: str, match: re.Match[str], word: str) -> bool:
    """Tell a trailing off from a pause: three spaced dots and dots before `I` go on."""
    stop = match["stop"]
    if text[match.start() - 1] == "[" and text[match.end() : match.end() + 2] == " (":
        return False  # `"stairways [...]" (Smith 55).`
    if stop.count(".") > 3 or match["closers"] or any(c in "!?" for c in stop):
        return True
    if stop.startswith((". .", "...")) and text[match.start() - 1] == " ":
        return False
    return word not in ("I", "I'm", "I’m", "I'd", "I’d", "I'll", "I’ll", "I've", "I’ve")


def _full_stop_ends(text: str, so_far: str, place: int, rest: str, rules: StopRules) -> bool:
    """Decide on a single full stop by the words on both of its sides.

    `so_far` is the whole sentence up to the stop if it is short, else empty.
    """
    token, before = _words_before(text, place)
    first = _FIRST_WORD.match(rest)
    assert first is not None
    low = token.replace("’", "'").lower()
    if len(last := low.rpartition("'")[2]) > 1:  # `l'avv.`
        low = last
    if rules.has_ordinal_stops and low.endswith("str"):  # `Hauptstr. 5`
        low = "str"
    opener = first["word"].replace("’", "'").lower()
    is_opener = not first["stop"] and opener in rules.openers
    if first["stop"] and opener in rules.never_first:
        return False
    if low in rules.numbered and _NUMBER_NEXT.match(rest):
        return False
    if low in _CLOCK:
        return not (_AFTER_CLOCK.match(rest) or _ONLY_A_TIME.fullmatch(so_far))
    if low in rules.never:
        return False
    if len(token) == 1 and token.isupper():
        if _AFTER_DEGREES.search(text, max(0, place - 6), place):
            return True
        return _initial_ends(token, before, is_opener)
    if low in rules.soft or (len(token) == 1 and token.isalpha()) or _is_dotted(token):
        return is_opener
    if rules.has_ordinal_stops and _ORDINAL.fullmatch(token):
        return is_opener
    return True


def _is_dotted(token: str) -> bool:
    """Tell `U.S`, `Ph.D`, `z.B` from a word, a number or an address."""
    parts = token.split(".")
    return len(parts) > 1 and all(part.isalpha() and len(part) <= 3 for part in parts)


def _initial_ends(letter: str, before: str, is_opener: bool) -> bool:
    """Tell `and I. Did`, `vitamin C. It` from `Albert I. Jones` and `by J. Smith`."""
    if letter == "I" and before and before[0].islower():
        return True
    return is_opener and bool(before)


def _words_before(text: str, place: int) -> tuple[str, str]:
    """The word that a stop belongs to, without what opens before it, and the word before that."""
    *_, before, word = ["", "", *_WORD.findall(text[max(0, place - 60) : place])]
    return word, before
