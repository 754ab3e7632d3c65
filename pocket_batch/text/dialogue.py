"""Who speaks which words: quoted speech is cut out of its paragraph and given a voice.

Nothing is lost: the texts of the blocks that come of a paragraph, joined by single spaces, have
the characters of the paragraph in order. What is not certainly speech stays with the narrator, and
so does dialogue that begins with a dash, since nothing marks its end.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pocket_batch.bcp47 import primary
from pocket_batch.data import Block, Chapter
from pocket_batch.errors import UsageError
from pocket_batch.settings import Casting
from pocket_batch.text.dialogue_blocks import MARKS, STOPS, split_blocks
from pocket_batch.text.dialogue_marks import (
    QuoteStyle,
    Span,
    first_closing,
    quote_style,
    quoted_spans,
)
from pocket_batch.text.dialogue_tags import SENTENCE_END, Tags
from pocket_batch.text.patterns import HAS_WORD

MAX_BLOCKS = 40  # how far an open quotation is followed, such as a long poem line by line
NEAR = 80  # characters around a quotation that tell what it is
MAX_VERSE = 70  # characters of a line of verse; a paragraph has more


@dataclass(frozen=True, slots=True)
class _Carried:
    """What a paragraph leaves to the next one: inside a quotation, and whose it is."""

    is_inside: bool = False
    goes_on: bool = False
    role: str | None = None


class Dialogue:
    """Gives the quoted speech of a book to voices. Headings, and what has a voice, stay as is."""

    def __init__(
        self, casting: Casting, language: str, chapters: Iterable[Chapter], breath_ms: int
    ) -> None:
        """Learn which marks the book uses.

        Args:
            casting: who speaks.
            language: BCP 47 tag.
            chapters: the whole book as written.
            breath_ms: the silence between a line and what goes on in the same sentence.

        Raises:
            UsageError: a pattern is no regular expression, or a name is empty.
        """
        code = primary(language)
        texts = (b.text for c in chapters for b in c.blocks if b.kind == "paragraph")
        self._style: QuoteStyle = quote_style(texts, code)
        self._casting = casting
        self._breath_ms = breath_ms
        self._lines = [(_compiled(rule.pattern), rule.voice) for rule in casting.lines]
        self._used: set[str] = set()  # roles and patterns
        self._tags = Tags(_names(casting), code)

    def chapter(self, chapter: Chapter) -> Chapter:
        """The same chapter with its paragraphs split where the speaker changes."""
        blocks: list[Block] = []
        carried = _Carried()
        place = 0
        while place < len(chapter.blocks):
            paragraph = _paragraph(chapter.blocks, place)
            place += len(paragraph)
            block = paragraph[0]
            if block.kind == "paragraph" and not block.voice:
                following = chapter.blocks[place : place + MAX_BLOCKS]
                found, carried = self._split(paragraph, following, carried)
                blocks += found
                continue
            blocks += paragraph
            is_between = block.kind == "scene_break" or (block.voice and block.continues)
            carried = carried if is_between else _Carried()
        return replace(chapter, blocks=tuple(blocks))

    def unused(self) -> list[str]:
        """The roles and the patterns that had no line in the chapters so far."""
        wanted = [*self._casting.cast, *(rule.pattern for rule in self._casting.lines)]
        return [name for name in wanted if name not in self._used]

    def _split(
        self, paragraph: Sequence[Block], following: Sequence[Block], carried: _Carried
    ) -> tuple[list[Block], _Carried]:
        text = " ".join(block.text for block in paragraph)
        spans, is_open = quoted_spans(text, self._style, carried.is_inside)
        goes_on, is_inside = False, False
        if is_open:
            goes_on, is_inside = self._goes_on(paragraph[-1], following)
        if is_open and not goes_on:
            spans = spans[:-1]
        spans = [
            span
            for index, span in enumerate(spans)
            if (goes_on and span is spans[-1])
            or (index == 0 and carried.goes_on and HAS_WORD.search(text[: span[1]]))
            or self._is_speech(text, span, text[spans[index - 1][1] : span[0]] if index else "")
        ]
        roles = self._roles(text, spans, carried)
        voices = [
            self._voice(text[start:end], role)
            for (start, end), role in zip(spans, roles, strict=True)
        ]
        lines = list(zip(spans, voices, strict=True))
        left = _Carried(is_inside, goes_on, roles[-1] if spans else None)
        return split_blocks(paragraph, lines, self._breath_ms), left if goes_on else _Carried()

    def _goes_on(self, block: Block, following: Sequence[Block]) -> tuple[bool, bool]:
        """Whether a quotation that is open at the end of a block goes on, and without a new mark.

        It does where the next paragraph begins with a mark, and where the next mark ends it or
        begins a paragraph after short lines, such as another stanza of a poem.
        """
        if block.continues:
            return True, True
        following = [other for other in following if other.kind != "scene_break"]
        if following and following[0].kind == "paragraph" and self._style.begins(following[0].text):
            return True, False
        are_short = len(block.text) <= MAX_VERSE
        for other in following:
            if other.kind == "heading" or other.voice or not self._style.is_clear:
                break
            if self._style.begins(other.text):
                return are_short, are_short
            are_short = are_short and len(other.text) <= MAX_VERSE
            if first_closing(other.text, self._style) is not None:
                return True, True
            if self._style.has_mark(other.text):
                break
        return False, False

    def _is_speech(self, text: str, span: Span, gap: str) -> bool:
        """Tell speech from a word in quotation marks: the so-called "expert".

        `gap` is what stands between this quotation and the one before it.
        """
        start, end = span
        before, after = text[max(0, start - NEAR) : start].rstrip(), text[end : end + NEAR]
        inner = text[start:end].strip(MARKS)
        if not HAS_WORD.search(inner):
            return False
        if not HAS_WORD.search(text, 0, start) and not HAS_WORD.search(text, end):
            return True  # the whole paragraph
        if self._tags.verb_last.search(before) or before.endswith(":"):
            return True
        if inner[-1] not in STOPS and self._tags.is_tag(after):
            return True
        ends = inner[-1] in f"{STOPS},—–;:"
        if ends and self._tags.is_tag(gap):
            return True
        if not before or before[-1] in f"{STOPS}{MARKS})":
            return ends or (not before and after.lstrip().startswith(","))
        if before[-1] in ",;—–":
            return ends or bool(gap)
        return inner[0].isupper() and inner[-1] in STOPS and " " in inner

    def _roles(self, text: str, spans: list[Span], carried: _Carried) -> list[str | None]:
        """The role of each line: named beside it, else named last in this paragraph.

        A paragraph that names one speaker alone begins with them. None is unknown.
        """
        named: list[str | None] = []
        gaps = [""] * len(spans)  # the narration before each line
        for index, (start, end) in enumerate(spans):
            gaps[index] = text[spans[index - 1][1] if index else 0 : start]
            next_start = spans[index + 1][0] if index + 1 < len(spans) else len(text)
            named.append(self._named(text[start:end], gaps[index], text[end:next_start]))
        if spans and named[0] is None and carried.goes_on:
            named[0] = carried.role
        speakers = {role for role in named if role is not None}
        last = speakers.pop() if len(speakers) == 1 and named[0] is None else None
        roles: list[str | None] = []
        for role, gap in zip(named, gaps, strict=True):
            after_tag = SENTENCE_END.split(gap, 1)[-1] if SENTENCE_END.search(gap) else ""
            others = self._tags.roles_in(after_tag if roles else gap)
            if role is None and last and others - {last}:
                last = None  # somebody else has come in since
            last = last if role is None else role
            roles.append(last or None)
        return roles

    def _named(self, quoted: str, before: str, after: str) -> str | None:
        """The role that is named beside a line; empty for somebody else, None for nobody."""
        inner = quoted.strip(MARKS)
        if not inner.endswith("."):  # after a full stop a new sentence begins, about anybody
            role = self._tags.after(after)
            if role is not None:
                return role
        if before.rstrip().endswith((",", ":", "—")):
            return self._tags.before(SENTENCE_END.split(before)[-1].strip())
        return None

    def _voice(self, quoted: str, role: str | None) -> str:
        inner = quoted.strip(MARKS)
        for pattern, voice in self._lines:
            if pattern.search(inner):
                self._used.add(pattern.pattern)
                return voice
        self._used.add(role or "")
        return self._casting.cast[role].voice if role else self._casting.dialogue or ""


def _paragraph(blocks: Sequence[Block], start: int) -> list[Block]:
    """The paragraph that begins at a place: blocks that continue each other in one voice."""
    paragraph = [blocks[start]]
    for place in range(start + 1, len(blocks)):
        block, last = blocks[place], paragraph[-1]
        if not last.continues or (last.kind, last.voice) != (block.kind, block.voice):
            break
        paragraph.append(block)
    return paragraph


def _names(casting: Casting) -> dict[str, str]:
    """Each name of the cast with its role.

    Raises:
        UsageError: a name is empty, or of two roles.
    """
    names: dict[str, str] = {}
    for role, entry in casting.cast.items():
        for name in (role, *entry.also):
            if not name.strip():
                raise UsageError("A name in the cast is empty: a role needs a name it goes by.")
            if names.setdefault(name, role) != role:
                raise UsageError(f"The cast has `{name}` twice: for {names[name]} and for {role}.")
    return names


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"The pattern `{pattern}` in the cast is not a regular expression ({error})."
        ) from error
