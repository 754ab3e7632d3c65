"""Segments of a chapter: whole sentences that the engine speaks in one go, and their pauses.

The words of the segments are the words of the chapter, in order, each once.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pocket_batch.data import Block, Chapter, Pauses, Segment
from pocket_batch.text.sentences import split_sentences

_CLAUSE = re.compile(r"(?<=[.!?…;:])[\"'”’)]* ")  # `and went; then` -> `and went; |then`
_COMMA = re.compile(r"(?<=,)[\"'”’)]* ")  # `however, it` -> `however, |it`
_DASH = re.compile(r"(?<=[—–)\]]) | (?=[(\[—–])")  # `past (the mill)` -> `past |(the mill)`
_CONJUNCTION = re.compile(  # `up and` -> `up |and`
    r" (?=(?:and|or|but|nor|for|so|yet|which|that|who|when|while|because|if|as|than"
    r"|und|oder|aber|et|ou|mais|y|o|pero|e|ma|mas|en|of|maar)\b)"
)
_SPACE = re.compile(" ")
# An over-long sentence is cut at the first of these that has a place near enough to the ideal
# one; the number is the share of the length by which a cut may miss that.
_CUT_KINDS = (
    (_CLAUSE, 0.25),
    (_COMMA, 0.25),
    (_DASH, 0.25),
    (_CLAUSE, 0.34),
    (_COMMA, 0.34),
    (_DASH, 0.34),
    (_CONJUNCTION, 0.3),
    (_SPACE, 1.0),
)
# A cut inside a sentence is heard as a short breath: this part of the pause between sentences.
_CUT_PAUSE_DIVISOR = 4
_SPOKEN = re.compile(r"[^\W_]")


@dataclass(slots=True)
class _Piece:
    """Text to speak and the silence after it, which later blocks may still lengthen."""

    text: str
    pause_ms: int


def segment_chapter(
    chapter: Chapter,
    voice: str,
    pauses: Pauses,
    language: str,
    max_tokens: int,
    count_tokens: Callable[[str], int],
    min_words: int = 4,
) -> Iterator[Segment]:
    """Cut a normalised chapter into segments with the pause that follows each.

    A heading is a segment of its own. A sentence of fewer than `min_words` words joins its
    neighbour in the paragraph, since engines garble very short texts. What has no letter or digit
    is not spoken, and its pause merges with the one before.

    Args:
        chapter: blocks in spoken form.
        voice: name of the voice, copied to every segment.
        language: BCP 47 tag of the text.
        max_tokens: what the engine speaks at once by `count_tokens`; no segment has more.
        min_words: fewest words of a sentence that stands alone.

    Yields:
        Segments in reading order; the last one has the chapter pause.
    """
    pieces: list[_Piece] = []
    for block in chapter.blocks:
        if block.kind == "scene_break":
            _lengthen(pieces, pauses.scene_break_ms)
            continue
        for piece in _block_pieces(block, pauses, language, max_tokens, count_tokens, min_words):
            if _SPOKEN.search(piece.text):
                pieces.append(piece)
            else:
                _lengthen(pieces, piece.pause_ms)
    if pieces:
        pieces[-1].pause_ms = pauses.chapter_ms
    for number, piece in enumerate(pieces, start=1):
        name = f"{chapter.number:03d}-{number:04d}"
        yield Segment(name, chapter.number, piece.text, voice, piece.pause_ms)


def _lengthen(pieces: list[_Piece], pause_ms: int) -> None:
    """Give the last piece at least this pause."""
    if pieces:
        pieces[-1].pause_ms = max(pieces[-1].pause_ms, pause_ms)


def _block_pieces(
    block: Block,
    pauses: Pauses,
    language: str,
    max_tokens: int,
    count_tokens: Callable[[str], int],
    min_words: int,
) -> list[_Piece]:
    """Cut one heading or paragraph; the last piece has the pause of its kind."""

    def fits(text: str) -> bool:
        return count_tokens(text) <= max_tokens

    text = " ".join(block.text.split())
    if not text:
        return []
    if block.kind == "heading":
        end_ms = pauses.heading_ms
        sentences = [text] if fits(text) else split_sentences(text, language)
    else:
        end_ms = pauses.paragraph_ms
        sentences = join_short(split_sentences(text, language), min_words, fits)
    pieces: list[_Piece] = []
    for sentence in sentences:
        parts = [sentence] if fits(sentence) else cut_long(sentence, max_tokens, count_tokens)
        breath_ms = pauses.sentence_ms // _CUT_PAUSE_DIVISOR
        pieces += [_Piece(part, breath_ms) for part in parts]
        pieces[-1].pause_ms = pauses.sentence_ms
    pieces[-1].pause_ms = end_ms
    return pieces


def join_short(sentences: Iterable[str], min_words: int, fits: Callable[[str], bool]) -> list[str]:
    """Join each sentence of fewer than `min_words` words to the next one, else to the one before.

    `fits` tells whether the engine takes a text at once; what would not fit stays apart.
    """
    joined: list[str] = []
    held = ""  # short, waits for the next sentence
    for sentence in sentences:
        candidate = f"{held} {sentence}" if held else sentence
        if held and not fits(candidate):
            _join_to_previous(joined, held, fits)
            candidate = sentence
        if _num_words(candidate) < min_words:
            held = candidate
        else:
            joined.append(candidate)
            held = ""
    if held:
        _join_to_previous(joined, held, fits)
    return joined


def _join_to_previous(joined: list[str], short: str, fits: Callable[[str], bool]) -> None:
    """Append a short sentence to the last one, or as its own when that would not fit."""
    if joined and fits(f"{joined[-1]} {short}"):
        joined[-1] = f"{joined[-1]} {short}"
    else:
        joined.append(short)


def _num_words(text: str) -> int:
    """Count the words that are heard: those with a letter or digit."""
    return sum(1 for word in text.split() if _SPOKEN.search(word))


def cut_long(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> list[str]:
    """Cut a sentence that the engine cannot speak at once into pieces of similar length.

    Places are tried in this order: semicolon, colon or stop; comma; dash or bracket; before a
    conjunction; any space; and inside a word only when the word alone is too long.

    Returns:
        Pieces of at most `max_tokens`; joined by spaces they equal `text`, but for the inside of
        a word.
    """
    num_tokens = count_tokens(text)
    if num_tokens <= max_tokens or len(text) < 2:
        return [text]
    num_pieces = max(2, math.ceil(num_tokens / max_tokens))
    ideal = len(text) * (num_pieces // 2) / num_pieces
    cut = _best_cut(text, ideal)
    halves = (text[:cut].rstrip(), text[cut:].lstrip())
    return [piece for half in halves for piece in cut_long(half, max_tokens, count_tokens)]


def _best_cut(text: str, ideal: float) -> int:
    """Find the place nearest to `ideal` of the best kind that has one near enough."""
    for kind, max_miss in _CUT_KINDS:
        places = [match.end() for match in kind.finditer(text) if 0 < match.end() < len(text)]
        if places:
            nearest = min(places, key=lambda place: abs(place - ideal))
            if abs(nearest - ideal) <= max_miss * len(text):
                return nearest
    # a word longer than the engine's limit, such as a string of letters without any space
    return max(1, min(len(text) - 1, round(ideal)))
