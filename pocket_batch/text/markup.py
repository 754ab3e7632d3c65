"""Marks that a writer puts into a text: pauses and voices.

`[pause 800ms]`, `[pause 1.5s]` and `[pause]` are silence, `[voice marius]` changes who reads until
`[/voice]`, the next voice or the end of the chapter. Marks are written in small letters; anything
else in brackets, such as `[sic]` and `[1]`, is text.
"""

import re
from dataclasses import dataclass, field, replace

from pocket_batch.data import Block, Chapter
from pocket_batch.text.patterns import HAS_WORD

DEFAULT_PAUSE_MS = 1_000
MAX_PAUSE_MS = 60_000
MAX_PROBLEMS = 20  # that are told one by one

_MARK = re.compile(
    r"\s*\[(?P<closes>/?)(?P<name>pause|voice|rate)\b[\s:=]*(?P<value>[^\[\]]{0,200})\]\s*",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"(?P<number>\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})\s*"
    r"(?P<unit>ms|milliseconds?|s|sec|secs|seconds?)"
)
_VOICE = re.compile(r"[^\s\"'“”]+|\"[^\"]+\"|'[^']+'|“[^”]+”")
# `[rate 0.9]`, `[rate 90%]`, `[rate slow]`, `[/rate]`, but not `[rate of exchange]`
_RATE = re.compile(r"[+-]?\d*\.?\d+\s?[%x]?|(?:x-)?(?:slow|fast)|medium|normal|default|")
_CLOSING = re.compile(r"[.,;:!?…\"'”’»)\]]+(?!\w)")  # belongs to the text before a mark


def apply_marks(chapter: Chapter) -> tuple[Chapter, tuple[str, ...]]:
    """Cut the blocks of a chapter at its marks, which then are in no text any more.

    A pause inside a paragraph cuts it in two, and the first half `continues`; one at its start, or
    alone in a paragraph, lengthens the silence after the text before it. What looks like a mark
    but is none stays text. A rate is taken out: no engine has one.

    Returns:
        The chapter, and a sentence about each mark that is not as it should be.
    """
    if not any("[" in block.text for block in chapter.blocks):
        return chapter, ()
    run = _Run()
    for block in chapter.blocks:
        run.add(block)
    title = without_marks(chapter.title)
    return replace(chapter, title=title, blocks=tuple(run.blocks)), run.sentences()


def without_marks(title: str) -> str:
    """A title for people to read; one of marks alone stays."""
    return _MARK.sub(lambda mark: mark[0] if _problem(mark) else " ", title).strip() or title


@dataclass(slots=True)
class _Run:
    """The blocks so far, who reads, and what was wrong."""

    blocks: list[Block] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    rates: list[str] = field(default_factory=list)  # their places
    voice: str = ""

    def add(self, block: Block) -> None:
        """Cut a block at its marks. A block without any only gets the voice."""
        place, has_marks = 0, False
        pieces: list[Block] = []
        for mark in _MARK.finditer(block.text):
            problem = _problem(mark)
            if problem:
                self.problems.append(f"{_at(block)}{problem}")
                continue
            has_marks = True
            self._add_text(pieces, block, block.text[place : mark.start()])
            place = mark.end()
            self._apply(mark, pieces, block)
            closing = _CLOSING.match(block.text, place)
            if closing and pieces:
                pieces[-1] = replace(pieces[-1], text=pieces[-1].text + closing[0])
                place = closing.end()
        if not has_marks:
            self.blocks.append(self._spoken(block))
            return
        self._add_text(pieces, block, block.text[place:])
        if pieces:
            self._close(pieces, block)
        elif block.pause_after_ms is not None:
            self._lengthen(self.blocks, block.pause_after_ms)
        self.blocks += pieces

    def _add_text(self, pieces: list[Block], block: Block, text: str) -> None:
        """Put what stands between two marks: a block of its own, or more of the one before."""
        text = text.strip()
        if not text:
            return
        last = pieces[-1] if pieces else None
        piece = replace(self._spoken(block), text=text, pause_after_ms=None, continues=True)
        same = last and last.pause_after_ms is None and last.voice == piece.voice
        if last and (same or not HAS_WORD.search(text)):
            pieces[-1] = replace(last, text=f"{last.text} {text}")
        else:
            pieces.append(piece)

    def _close(self, pieces: list[Block], block: Block) -> None:
        """Give the last piece what the paragraph had at its end."""
        last = pieces[-1]
        pause_ms = last.pause_after_ms if last.pause_after_ms is not None else block.pause_after_ms
        pieces[-1] = replace(last, pause_after_ms=pause_ms, continues=block.continues)

    def _spoken(self, block: Block) -> Block:
        if not self.voice or block.kind == "scene_break":
            return block
        return replace(block, voice=self.voice)

    def _apply(self, mark: re.Match[str], pieces: list[Block], block: Block) -> None:
        name = mark["name"].lower()
        if name == "rate":
            self.rates.append(_at(block))
        elif name == "voice":
            if not mark["value"] and not self.voice:
                self.problems.append(f"{_at(block)}`{mark[0].strip()}` ends no voice.")
            self.voice = "" if mark["closes"] else mark["value"].strip().strip("\"'“”")
        else:
            self._pause(mark, pieces, block)

    def _pause(self, mark: re.Match[str], pieces: list[Block], block: Block) -> None:
        wanted_ms = _milliseconds(mark["value"].strip())
        if wanted_ms > MAX_PAUSE_MS:
            self.problems.append(
                f"{_at(block)}`{mark[0].strip()}` is longer than a pause may be: it is "
                f"{MAX_PAUSE_MS // 1000} seconds."
            )
        target = pieces or self.blocks
        if not self._lengthen(target, min(wanted_ms, MAX_PAUSE_MS)):
            self.problems.append(
                f"{_at(block)}`{mark[0].strip()}` stands before the first word of its chapter, "
                "where it does nothing. `master.lead_in_ms` is the silence there."
            )

    def _lengthen(self, blocks: list[Block], pause_ms: int) -> bool:
        """Make the silence after the last text that is spoken; a second pause adds to the first."""
        for i in range(len(blocks) - 1, -1, -1):
            block = blocks[i]
            if block.kind != "scene_break" and HAS_WORD.search(block.text):
                total_ms = min((block.pause_after_ms or 0) + pause_ms, MAX_PAUSE_MS)
                blocks[i] = replace(block, pause_after_ms=total_ms)
                return True
        return False

    def sentences(self) -> tuple[str, ...]:
        """What was wrong, for the user: each mark once, and the rates together."""
        told = self.problems[:MAX_PROBLEMS]
        if len(self.problems) > MAX_PROBLEMS:
            told.append(f"{len(self.problems) - MAX_PROBLEMS} more marks have problems.")
        if self.rates:
            marks = "`[rate]` is" if len(self.rates) == 1 else f"{len(self.rates)} `[rate]` are"
            told.append(f"{self.rates[0]}{marks} taken out: no engine reads faster or slower.")
        return tuple(told)


def _problem(mark: re.Match[str]) -> str:
    """Why this is text rather than a mark, in a sentence; empty for a mark."""
    name, value, is_end = mark["name"], mark["value"].strip(), bool(mark["closes"])
    text = f"`{mark[0].strip():.60}` is read as text: "
    if name != name.lower():
        return f"{text}marks are written in small letters."
    if name == "pause" and is_end:
        return f"{text}a pause has no end."
    if name == "pause" and value and not _DURATION.fullmatch(value.lower()):
        return f"{text}a pause is written [pause 800ms] or [pause 1.5s]."
    if name == "voice" and not is_end and value and not _VOICE.fullmatch(value):
        return f"{text}a voice is written [voice marius]; quote a name with spaces."
    if name == "rate" and not _RATE.fullmatch(value.lower()):
        return f"{text}a rate is a number."
    return ""


def _milliseconds(value: str) -> int:
    """`800ms` -> 800, `1.5s` -> 1500, nothing -> the usual pause."""
    duration = _DURATION.fullmatch(value.lower())
    if duration is None:
        return DEFAULT_PAUSE_MS
    factor = 1 if duration["unit"].startswith("m") else 1000
    return round(float(duration["number"]) * factor)


def _at(block: Block) -> str:
    return f"{block.where}: " if block.where else ""
