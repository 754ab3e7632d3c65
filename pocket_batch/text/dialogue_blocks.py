"""A paragraph in blocks of one voice each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from pocket_batch.data import Block
from pocket_batch.text.dialogue_marks import Span
from pocket_batch.text.patterns import HAS_WORD

STOPS = ".!?…"
MARKS = "“”„‟\"'‘’‚«»‹› \u00a0\u202f"
# `, ` and `). ` after a quotation belong to it; `(` before it too
_CLOSING = re.compile(r"(?:[,.;:!?…)\]]|—(?=\s|$))+")
_OPENING = re.compile(r"(?:(?<=\s)|^)[(\[—–-]+$")


def split_blocks(
    paragraph: Sequence[Block], lines: Sequence[tuple[Span, str]], breath_ms: int
) -> list[Block]:
    """Cut a paragraph where the voice changes.

    Args:
        paragraph: its blocks in order, all but the last with `continues`.
        lines: the place of each spoken line in their texts joined by spaces, and its voice.
        breath_ms: the silence at a cut inside a sentence.

    Returns:
        Blocks with the characters of the paragraph in order, none without a word where a
        paragraph is one block.
    """
    text = " ".join(block.text for block in paragraph)
    runs = list(_runs(text, lines))
    blocks: list[Block] = []
    start = place = 0
    for block in paragraph:
        end = start + len(block.text)
        pieces: list[tuple[str, str]] = []
        while place < len(runs) and runs[place][0] < end:
            first, last, voice = runs[place]
            pieces.append((text[max(start, first) : min(end, last)].strip(), voice))
            if last > end:
                break  # the next block goes on with it
            place += 1
        blocks += _pieces_of(block, [piece for piece in pieces if piece[0]], breath_ms)
        start = end + 1
    return blocks


def _pieces_of(block: Block, pieces: list[tuple[str, str]], breath_ms: int) -> Iterator[Block]:
    """The pieces of one block; the last has its pause, the others a breath inside a sentence."""
    for (part, voice), (following, _) in pairwise(pieces):
        is_stop = part.rstrip(MARKS)[-1:] in STOPS and not following.lstrip("([—–- ")[:1].islower()
        pause_ms = None if is_stop else breath_ms
        yield replace(block, text=part, voice=voice, pause_after_ms=pause_ms, continues=True)
    for part, voice in pieces[-1:]:
        yield replace(block, text=part, voice=voice)


def _runs(text: str, lines: Sequence[tuple[Span, str]]) -> Iterator[tuple[int, int, str]]:
    """Start, end and voice of what one voice says in a row; the narrator's is empty."""
    parts: list[tuple[int, int, str]] = []
    place = 0
    for (start, end), (_, voice) in zip(
        _widened(text, [span for span, _ in lines]), lines, strict=True
    ):
        parts += [(place, start, ""), (start, end, voice)]
        place = end
    parts.append((place, len(text), ""))
    begin, current = 0, None
    for start, end, voice in parts:
        if not text[start:end].strip():
            continue
        if current is not None and voice != current:
            yield begin, start, current
            begin = start
        current = voice
    if current is not None:
        yield begin, len(text), current


def _widened(text: str, spans: Sequence[Span]) -> list[Span]:
    """Give each quotation the marks without words beside it, that nobody could read alone."""
    widened: list[Span] = []
    for index, (start, end) in enumerate(spans):
        last_end = widened[-1][1] if widened else 0
        limit = spans[index + 1][0] if index + 1 < len(spans) else len(text)
        closing = _CLOSING.match(text, end, limit)
        opening = _OPENING.search(text[last_end:start])
        if opening:
            start = last_end + opening.start()
        end = closing.end() if closing else end
        if not HAS_WORD.search(text[end:limit]):
            end = limit
        if not widened and not HAS_WORD.search(text[:start]):
            start = 0
        widened.append((start, end))
    return widened
