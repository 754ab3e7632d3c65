"""Notes that are spoken: moved from where they stand to their marks, or to the chapter's end.

A note is read once, at its first mark; notes that no mark leads to are read where they stand.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pocket_batch.settings import ReadSettings
from pocket_batch.sources.announce import word_for
from pocket_batch.sources.flow import Flow
from pocket_batch.sources.omit import is_notes_title
from pocket_batch.sources.pieces import Piece, Place
from pocket_batch.sources.reasons import MOVED_NOTE, NOTE_MARK

# He rang twice.” Then -> matches at the stop with its quote; CJK stops need no space after them
SENTENCE_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[」』）”’]*")
# "Mr." or "J." -> matches: no end of a sentence before a name
ABBREVIATED = re.compile(r"(?:\b[A-Z]\w{0,3}|\b[a-z])\.$")
REACH = 4  # characters before a mark in which the stop of its sentence may stand
# "[] A note" or ". A note" -> matches: what stood around a mark that led back
LEFTOVER = re.compile(r"(?:\[\s*\]|\(\s*\))?[\])}]?[.:]?(?:\s+|$)")
MAX_SENTENCE = 2_000  # characters after a mark in which its sentence may end
# "12. A note." -> matches, the mark is group 1
LABEL = re.compile(r"[\[({]?\s*(\w{1,4}|[*†‡§¶]{1,4})\s*(?:[\])}][.:]?|[.:])?\s+(?=\S)")


def place_notes(
    chapters: Sequence[list[Piece]], flow: Flow, settings: ReadSettings, language: str
) -> None:
    """Move the notes of a book into its chapters, as the settings say.

    Args:
        chapters: the pieces of each chapter; changed in place.
        flow: the book; what is left out of notes is added to it.
        settings: whether notes are spoken, and where.
        language: of the book, for the heading above notes; a BCP 47 tag.
    """
    if settings.notes == "drop":
        return
    bodies = _bodies(chapters)
    placed = _place(chapters, bodies)
    moved = {id(note) for notes in placed.values() for _, note in notes}
    for pieces in chapters:
        _speak_in_place(pieces, moved)
        arranged: list[Piece] = []
        at_end: list[Piece] = []
        for piece in pieces:
            if id(piece) in moved:
                continue
            notes = placed.get(id(piece), [])
            labels = {mark.target: mark.text.strip(" []().:") for mark in piece.marks}
            for _, note in notes:
                flow.pieces.extend(_take_label(note, labels))
            notes = [(offset, note) for offset, note in notes if note.text]
            if settings.notes == "inline":
                arranged.extend(_with_notes(piece, notes))
            else:
                arranged.append(piece)
                at_end.extend(note for _, note in notes)
        pieces[:] = arranged + _with_heading(arranged, at_end, language)
    for notes in placed.values():
        for _, note in notes:
            note.omissions = ()


def _bodies(chapters: Sequence[list[Piece]]) -> dict[Place, list[Piece]]:
    bodies: dict[Place, list[Piece]] = {}
    for pieces in chapters:
        for piece in pieces:
            for place in piece.notes if piece.text and not piece.is_inline else ():
                bodies.setdefault(place, []).append(piece)
    return bodies


def _place(
    chapters: Sequence[list[Piece]], bodies: dict[Place, list[Piece]]
) -> dict[int, list[tuple[int, Piece]]]:
    """For each piece with marks (by its `id`), the notes that belong there, with their offsets."""
    placed: dict[int, list[tuple[int, Piece]]] = {}
    taken: set[int] = set()
    for pieces in chapters:
        for piece in pieces:
            if not piece.marks or piece.omissions:
                continue
            for mark in piece.marks:
                for note in _with_notes_of_notes(mark.target, bodies, taken):
                    placed.setdefault(id(piece), []).append((mark.offset, note))
    return placed


def _with_notes_of_notes(
    target: Place, bodies: dict[Place, list[Piece]], taken: set[int]
) -> list[Piece]:
    found: list[Piece] = []
    queue = deque(bodies.get(target, ()))
    while queue:
        note = queue.popleft()
        if id(note) in taken:
            continue
        taken.add(id(note))
        found.append(note)
        for mark in reversed(note.marks):
            queue.extendleft(reversed(bodies.get(mark.target, ())))
    return found


def _speak_in_place(pieces: list[Piece], moved: set[int]) -> None:
    """Speak the notes that stay where they are; the headings of those that have gone do not."""
    has_gone: bool | None = None  # whether all notes below the heading to come have
    for piece in reversed(pieces):
        if piece.is_inline or not piece.text:  # the line above notes is no scene break
            continue
        if MOVED_NOTE not in piece.omissions:
            has_gone = None
        elif piece.kind == "heading" or is_notes_title(piece.text):
            if has_gone:
                continue
        else:
            has_gone = id(piece) in moved and has_gone is not False
        piece.omissions = tuple(o for o in piece.omissions if o != MOVED_NOTE)


def _with_notes(piece: Piece, notes: list[tuple[int, Piece]]) -> list[Piece]:
    """A piece cut after the sentences that hold its marks, with the notes between."""
    if piece.kind != "paragraph" or piece.omissions:
        return [piece, *(note for _, note in notes)]
    arranged: list[Piece] = []
    start = 0
    for offset, note in notes:
        end = max(start, _sentence_end(piece.text, offset))
        if end > start:
            arranged.append(_part(piece, piece.text[start:end]))
            start = end
        arranged.append(note)
    if rest := piece.text[start:].strip():
        arranged.append(replace(piece, text=rest, marks=()))
    return arranged


def _part(piece: Piece, text: str) -> Piece:
    # The pause that the source asks for comes after the last part.
    return replace(piece, text=text.strip(), marks=(), pause_after_ms=None, continues=False)


def _sentence_end(text: str, offset: int) -> int:
    """Where the sentence with a mark at `offset` ends; the end of the text if that is not sure."""
    for match in SENTENCE_END.finditer(text, max(0, offset - REACH), offset + MAX_SENTENCE):
        following = text[match.end() : match.end() + REACH].lstrip(" \"'“‘«(—–-")[:1]
        before = text[max(0, match.start() - 20) : match.start() + 1]
        is_abbreviation = match[0] == "." and ABBREVIATED.search(before) is not None
        if match.end() >= offset and not following.islower() and not is_abbreviation:
            return match.end()
    return len(text)


def _take_label(note: Piece, labels: Mapping[Place, str]) -> list[Piece]:
    """Take the mark that a note repeats at its begin off its text, and list it."""
    match = LABEL.match(note.text)
    if match is None or match.group(1) not in map(labels.get, note.notes):
        match = LEFTOVER.match(note.text)
    if match is None or not match[0].strip():
        return []
    label = note.text[: match.end()].strip()
    note.text = note.text[match.end() :]
    return [Piece("paragraph", label, note.where, omissions=(NOTE_MARK,), is_inline=True)]


def _with_heading(chapter: list[Piece], notes: list[Piece], language: str) -> list[Piece]:
    if not notes:
        return []
    word = word_for("notes", language)
    # Without another heading the chapter would be called by this one.
    has_heading = any(p.kind == "heading" and not p.omissions for p in chapter)
    if has_heading:
        return [Piece("heading", word, notes[0].where), *notes]
    return [Piece("paragraph", f"{word}.", notes[0].where), *notes]
