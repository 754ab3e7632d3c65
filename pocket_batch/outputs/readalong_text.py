"""Finds the utterances of a book in its documents, and marks them there."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pocket_batch.data import Block, Chapter
from pocket_batch.outputs.overlays import Said
from pocket_batch.outputs.spans import DocumentText, Wrapped
from pocket_batch.sources.markup import Element
from pocket_batch.text.align import owners, ranges, words_of

MAX_EXTRA_WORDS = 3  # that a document has in the middle of a sentence, and nobody speaks

_PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a block: the utterance that speaks it, as an index, and the text as written."""

    document: str
    line: int
    utterance: int
    text: str


def written_pieces(chapters: Iterable[Chapter], said: Sequence[Said]) -> list[Piece]:
    """What of the written text each utterance speaks, in the order in which it is heard.

    Args:
        chapters: as read, in written form; `Block.where` names document and line.
        said: all utterances, in order.
    """
    found: list[Piece] = []
    for chapter in chapters:
        numbers = [i for i, line in enumerate(said) if line.chapter == chapter.number]
        if numbers:
            found += _pieces_of(chapter.blocks, numbers, [said[i].text for i in numbers])
    return found


def _pieces_of(
    blocks: Sequence[Block], numbers: Sequence[int], texts: Sequence[str]
) -> Iterable[Piece]:
    written = _PARAGRAPH.join(block.text for block in blocks)
    words = words_of(written)
    parts = ranges(written, words, owners(written, words, texts))
    end = -len(_PARAGRAPH)
    index = 0
    for block in blocks:
        begin = end + len(_PARAGRAPH)
        end = begin + len(block.text)
        document, _, line = block.where.rpartition(":")
        while index < len(parts) and parts[index][1][0] < end:
            number, (first, last) = parts[index]
            text = written[max(first, begin) : min(last, end)].strip()
            if text:
                place = int(line) if line.isdigit() else 0
                yield Piece(document, place, numbers[number], text)
            if last > end:
                break  # it goes on in the next block
            index += 1


def written_texts(pieces: Iterable[Piece], said: Sequence[Said]) -> list[str]:
    """The text of each utterance as it is written; in spoken form where it is not found."""
    found: dict[int, list[str]] = {}
    for piece in pieces:
        found.setdefault(piece.utterance, []).append(piece.text)
    return [" ".join(found.get(i, ())) or line.text for i, line in enumerate(said)]


def mark_documents(
    pieces: Iterable[Piece],
    said: Sequence[Said],
    take: Callable[[str], Element | None],
    prefix: str = "ra",
) -> tuple[dict[str, Element], dict[str, list[Wrapped]]]:
    """Wrap what is heard of each document.

    Args:
        pieces: of all documents.
        said: all utterances; what one of no length was to say is found, so that nothing else is
            taken for it, and is not wrapped.
        take: gives the tree of a document, which is changed; None for one that has no place for
            spans.
        prefix: of the ids.

    Returns:
        The changed trees, and the spans in them with utterances as stretches, by document.
    """
    by_document: dict[str, list[Piece]] = {}
    for piece in pieces:
        by_document.setdefault(piece.document, []).append(piece)
    roots: dict[str, Element] = {}
    wrapped: dict[str, list[Wrapped]] = {}
    for document, found in by_document.items():
        root = take(document)
        if root is None:
            continue
        spans = _mark(root, sorted(found, key=lambda piece: piece.line), said, prefix)
        if spans:
            roots[document], wrapped[document] = root, spans
    return roots, wrapped


def _mark(
    root: Element, pieces: Sequence[Piece], said: Sequence[Said], prefix: str
) -> list[Wrapped]:
    document = DocumentText.of(root)
    words = words_of(document.text)
    owner = owners(document.text, words, [piece.text for piece in pieces], MAX_EXTRA_WORDS)
    utterances = [pieces[i].utterance if i >= 0 else -1 for i in owner]
    silent = frozenset(i for i in utterances if i >= 0 and not said[i].is_heard)
    return document.wrap(ranges(document.text, words, utterances), prefix, silent)
