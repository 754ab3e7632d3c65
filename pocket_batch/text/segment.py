"""Segments of a chapter: whole sentences that the engine speaks in one go, and their pauses.

The words of the segments are the words of the chapter, in order, each once.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from pocket_batch.data import Block, Chapter, Pauses, Segment
from pocket_batch.text.cuts import cut_long
from pocket_batch.text.patterns import HAS_WORD
from pocket_batch.text.sentences import joint_after, split_sentences

# A cut inside a sentence is heard as a short breath: this part of the pause between sentences.
_CUT_PAUSE_DIVISOR = 4
# Scripts written without spaces
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
_CHARACTERS_A_WORD = 2


@dataclass(slots=True)
class _Piece:
    """Text to speak and the silence after it, which later blocks may still lengthen.

    `is_parted` tells that the silence is one that the source asks for, or a scene's end: nothing
    joins across it.
    """

    text: str
    pause_ms: int
    voice: str
    language: str
    is_heading: bool = False
    is_parted: bool = False


def segment_chapter(
    chapter: Chapter,
    voice: str,
    pauses: Pauses,
    language: str,
    max_tokens: int,
    count_tokens: Callable[[str], int],
    min_words: int = 4,
    join_paragraphs: bool = True,
) -> Iterator[Segment]:
    """Cut a normalised chapter into segments with the pause that follows each.

    A heading is a segment of its own. A sentence of fewer than `min_words` words joins its
    neighbour, since engines garble very short texts: in its paragraph, else that of the same
    voice in the next paragraph or the one before. What has no letter or digit is not spoken, and
    its pause merges with the one before.

    Args:
        chapter: blocks in spoken form. A block's own voice, language and pause win.
        voice: name of the voice of blocks that name none.
        language: BCP 47 tag of the text.
        max_tokens: what the engine speaks at once by `count_tokens`; no segment has more.
        min_words: fewest words of a sentence that stands alone.
        join_paragraphs: let a paragraph that is too short join another; the pause between them is
            then the one that the voice makes itself.

    Yields:
        Segments in reading order; the last one has the chapter pause, or the longer one that the
        source asks for there.
    """
    limits = _Limits(max_tokens, count_tokens, min_words)
    pieces: list[_Piece] = []
    for block in _merged(chapter.blocks, voice, language):
        spoken = [p for p in _block_pieces(block, pauses, limits) if HAS_WORD.search(p.text)]
        pieces += spoken
        if pieces:
            end_ms = _end_pause_ms(block, pauses)
            last = pieces[-1]
            last.pause_ms = end_ms if spoken else max(last.pause_ms, end_ms)
            last.is_parted |= block.pause_after_ms is not None or block.kind == "scene_break"
    if join_paragraphs:
        pieces = _join_across(pieces, limits)
    if pieces:
        asked_ms = pieces[-1].pause_ms if pieces[-1].is_parted else 0
        pieces[-1].pause_ms = max(pauses.chapter_ms, asked_ms)
    for number, piece in enumerate(pieces, start=1):
        name = f"{chapter.number:03d}-{number:04d}"
        yield Segment(name, chapter.number, piece.text, piece.voice, piece.pause_ms)


@dataclass(frozen=True, slots=True)
class _Limits:
    """What the engine speaks at once, and what is too short for it."""

    max_tokens: int
    count_tokens: Callable[[str], int]
    min_words: int

    def fits(self, text: str) -> bool:
        return self.count_tokens(text) <= self.max_tokens

    def is_short(self, text: str) -> bool:
        return _num_words(text) < self.min_words


def _merged(blocks: Iterable[Block], voice: str, language: str) -> Iterator[Block]:
    """Name voice and language of each block, and join the parts of a paragraph that share them.

    A paragraph that was split at a quotation is whole again where one voice reads both.
    """
    held: Block | None = None
    for block in blocks:
        text = " ".join(block.text.split())
        block = replace(
            block, text=text, voice=block.voice or voice, language=block.language or language
        )
        if held is None:
            held = block
        elif held.continues and held.pause_after_ms is None and _is_alike(held, block):
            held = replace(
                block, text=f"{held.text} {block.text}".strip(), where=held.where or block.where
            )
        else:
            yield held
            held = block
    if held is not None:
        yield held


def _is_alike(one: Block, other: Block) -> bool:
    """Tell whether two blocks are read the same way."""
    return (one.kind, one.voice, one.language) == (other.kind, other.voice, other.language)


def _end_pause_ms(block: Block, pauses: Pauses) -> int:
    """The silence after a block."""
    if block.pause_after_ms is not None:
        return block.pause_after_ms
    if block.kind == "scene_break":
        return pauses.scene_break_ms
    if block.continues:
        return pauses.sentence_ms
    return pauses.heading_ms if block.kind == "heading" else pauses.paragraph_ms


def _block_pieces(block: Block, pauses: Pauses, limits: _Limits) -> list[_Piece]:
    """Cut one heading or paragraph; the pause after its last piece is not yet that of its kind."""
    if block.kind == "scene_break":
        return []
    if block.kind == "heading" and limits.fits(block.text):
        sentences = [block.text]
    else:
        sentences = split_sentences(block.text, block.language, inside_quotes=True)
    if block.kind == "paragraph":
        sentences = join_short(sentences, limits.min_words, limits.fits)
    pieces: list[_Piece] = []
    for sentence in sentences:
        parts = cut_long(sentence, limits.max_tokens, limits.count_tokens, block.language)
        breath_ms = pauses.sentence_ms // _CUT_PAUSE_DIVISOR
        is_heading = block.kind == "heading"
        pieces += [_Piece(p, breath_ms, block.voice, block.language, is_heading) for p in parts]
        pieces[-1].pause_ms = pauses.sentence_ms
    return pieces


def join_short(sentences: Iterable[str], min_words: int, fits: Callable[[str], bool]) -> list[str]:
    """Join each sentence of fewer than `min_words` words to the next one, else to the one before.

    `fits` tells whether the engine takes a text at once; what would not fit stays apart.
    """
    joined: list[str] = []
    held = ""  # short, waits for the next sentence
    for sentence in sentences:
        candidate = _glue(held, sentence)
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
    if joined and fits(_glue(joined[-1], short)):
        joined[-1] = _glue(joined[-1], short)
    else:
        joined.append(short)


def _join_across(pieces: Iterable[_Piece], limits: _Limits) -> list[_Piece]:
    """Join each piece that is still too short to one of the same voice, as `join_short` does.

    The pause between the two is left to the voice; the one after both is that of the second.
    """
    joined: list[_Piece] = []
    held: _Piece | None = None  # short, waits for the next piece
    for piece in pieces:
        candidate = _joined(held, piece, limits) if held else piece
        if held and candidate is None:
            _join_back(joined, held, limits)
            candidate = piece
        assert candidate is not None
        held = None
        if limits.is_short(candidate.text) and not candidate.is_heading:
            held = candidate
        else:
            joined.append(candidate)
    if held:
        _join_back(joined, held, limits)
    return joined


def _join_back(joined: list[_Piece], short: _Piece, limits: _Limits) -> None:
    """Join a short piece to the last one, or append it when that cannot be."""
    both = _joined(joined[-1], short, limits) if joined else None
    if both is None:
        joined.append(short)
    else:
        joined[-1] = both


def _joined(one: _Piece, other: _Piece, limits: _Limits) -> _Piece | None:
    """Two pieces as one utterance; None where a listener must hear them apart."""
    is_apart = one.is_parted or one.is_heading or other.is_heading
    if is_apart or (one.voice, one.language) != (other.voice, other.language):
        return None
    text = _glue(one.text, other.text)
    return replace(other, text=text) if limits.fits(text) else None


def _glue(one: str, other: str) -> str:
    """Put a sentence after another as they stood in the text."""
    return f"{one}{joint_after(one)}{other}" if one and other else one or other


def _num_words(text: str) -> int:
    """Count the words that are heard: those with a letter or digit."""
    num_words = 0
    for word in text.split():
        if num_characters := len(_UNSPACED.findall(word)):
            num_words += max(1, num_characters // _CHARACTERS_A_WORD)
        elif HAS_WORD.search(word):
            num_words += 1
    return num_words
