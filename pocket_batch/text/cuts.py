"""Where a sentence that the engine cannot speak at once is cut, so that it is heard least.

A piece is spoken as a sentence of its own: the models want a stop at the end, and the tone falls
there. At a semicolon or comma a reader's does nearly the same; between words it is always heard.
"""

import math
import re
from collections.abc import Callable
from functools import cache

from pocket_batch.bcp47 import primary

_CLOSERS = "[\"'”’»)]*"
# `Halt! and stop` -> `Halt! |and stop`; `etc.` and shorter abbreviations stay whole
_STOP = re.compile(rf"(?:(?<=[!?…])|(?<=\w{{5}}\.)){_CLOSERS} |(?<=[。！？])")
_CLAUSE = re.compile(rf"(?<=[;:]){_CLOSERS} |(?<=[；：])")  # `and went; then` -> `and went; |then`
_COMMA = re.compile(rf"(?<=,){_CLOSERS} |(?<=[，、])")  # `however, it` -> `however, |it`
_DASH = re.compile(r"(?<=[—–)\]]) | (?=[(\[—–])")  # `past (the mill)` -> `past |(the mill)`
_SPACE = re.compile(" ")

# Words that begin a clause or, after the bar, a phrase; those that stand for both come first.
_BEFORE = {
    "en": """and or but nor so yet which that who whom whose when while because if as than where
        although though unless until since | in on at with without from into by for after before
        through over under between about against among upon across behind beyond during to of""",
    "de": """und oder aber sondern denn dass daß weil wenn als ob wie wo während obwohl damit bevor
        nachdem bis | in im an am auf aus bei beim mit nach von vom vor zu zum zur für durch gegen
        ohne um über unter zwischen seit wegen""",
    "fr": """et ou mais ni car donc que qui quand lorsque si comme puisque parce dont où tandis
        quoique | dans en à au aux avec sans sous sur pour par chez vers entre depuis pendant après
        avant contre de du des""",
    "es": """y e o u pero ni sino que quien cuando si como porque aunque mientras donde pues cual
        | en a al con sin sobre bajo entre desde hasta hacia para por según durante tras contra de
        del""",
    "it": """e ed o ma né che chi quando se come perché mentre dove poiché benché cui
        | in a al alla con senza su sul sulla per tra fra da dal dalla verso durante contro dopo
        prima di del della nel nella""",
    "nl": """en of maar want dat die wie als toen terwijl omdat hoewel zodat waar wanneer dan
        | in op aan bij met zonder van voor na naar om over onder tussen door tegen tot uit""",
    "pt": """e ou mas nem que quem quando se como porque embora enquanto onde pois
        | em no na nos nas a ao à com sem sobre sob entre desde até para por pelo pela durante
        contra de do da dos das""",
}


@cache
def _kinds(language: str) -> tuple[tuple[re.Pattern[str], float], ...]:
    """The kinds of places, best first.

    A sentence is cut at the first kind that has a place near enough to the ideal one; the number
    is the share of the length by which a cut may miss that.
    """
    clause, _, phrase = _BEFORE.get(language, "").partition("|")
    return (
        (_STOP, 0.25),
        (_CLAUSE, 0.25),
        (_COMMA, 0.25),
        (_DASH, 0.25),
        (_STOP, 0.34),
        (_CLAUSE, 0.34),
        (_COMMA, 0.34),
        (_DASH, 0.34),
        (_before_words(clause), 0.3),
        (_before_words(phrase), 0.2),
        (_SPACE, 1.0),
    )


MIN_WORDS_TO_CUT = 6


def _before_words(words: str) -> re.Pattern[str]:
    """Match the space before any of some words; nothing when there are none."""
    if not words.split():
        return re.compile(r"(?!)")
    return re.compile(rf" (?=(?:{'|'.join(words.split())})\b(?!['’-]))")


def cut_long(
    text: str, max_tokens: int, count_tokens: Callable[[str], int], language: str = "en"
) -> list[str]:
    """Cut a sentence that the engine cannot speak at once into pieces of similar length.

    Places are tried in this order: stop; semicolon or colon; comma; dash or bracket; before a
    conjunction; before a phrase; any space; and inside a word only when the word alone is too
    long.

    Args:
        text: white space folded.
        max_tokens: what the engine speaks at once, by `count_tokens`.
        language: BCP 47 tag of the text; says which words are conjunctions.

    Returns:
        Pieces of at most `max_tokens`; joined by spaces they equal `text`, but for the inside of
        a word and after the stops and commas of Chinese and Japanese.
    """
    num_tokens = count_tokens(text)
    if num_tokens <= max_tokens or len(text) < 2:
        return [text]
    num_pieces = max(2, math.ceil(num_tokens / max_tokens))
    ideal = len(text) * (num_pieces // 2) / num_pieces
    cut = _best_cut(text, ideal, _kinds(primary(language)))
    halves = (text[:cut].rstrip(), text[cut:].lstrip())
    return [
        piece for half in halves for piece in cut_long(half, max_tokens, count_tokens, language)
    ]


def cut_in_two(text: str, language: str) -> list[str]:
    """Cut a text near its middle, at the best place there is, or leave a short one whole."""
    if len(text.split()) < MIN_WORDS_TO_CUT:
        return [text]
    cut = _best_cut(text, len(text) / 2, _kinds(primary(language)))
    halves = [text[:cut].rstrip(), text[cut:].lstrip()]
    is_whole = all(half and _is_balanced(half) for half in halves)
    return halves if is_whole else [text]  # not through a word with its pronunciation


def _is_balanced(text: str) -> bool:
    return text.count("[") == text.count("]") and text.count("(") == text.count(")")


def _best_cut(text: str, ideal: float, kinds: tuple[tuple[re.Pattern[str], float], ...]) -> int:
    """Find the place nearest to `ideal` of the best kind that has one near enough."""
    for kind, max_miss in kinds:
        places = [match.end() for match in kind.finditer(text) if 0 < match.end() < len(text)]
        if places:
            nearest = min(places, key=lambda place: abs(place - ideal))
            if abs(nearest - ideal) <= max_miss * len(text):
                return nearest
    # a word longer than the engine's limit, such as a string of letters without any space
    return max(1, min(len(text) - 1, round(ideal)))
