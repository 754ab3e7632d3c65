"""What a book will sound like, before anything is spoken: its spoken words and the unknown ones."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pocket_batch.data import Block, Book, Chapter, Choices
from pocket_batch.jobs.language import book_language
from pocket_batch.jobs.lexicon import lexicon_note, load_lexicon
from pocket_batch.jobs.reading import MARKED_SUFFIXES, is_script, spoken_chapters
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.text.dictionary import dictionary
from pocket_batch.text.lexicon import Lexicon
from pocket_batch.text.markup import apply_marks, without_marks
from pocket_batch.text.words import UnknownWord, unknown_words

USUAL_LANGUAGE = "en"  # of a book that neither says its language nor lets it be guessed


class Inspection:
    """A book with the settings it would be read with; no engine and no model is needed.

    Attributes:
        written: the book without its marks, before anything is written out.
        warnings: sentences about marks in the text that are not as they should be.
        note: a sentence about the lexicon that is used, or nothing.
    """

    def __init__(
        self, source: Path, book: Book, choices: Choices, pipeline: AudiobookPipeline
    ) -> None:
        """Find language and marks.

        Args:
            source: the file of the book; a lexicon and a cast may lie beside it.
            book: as read, with the chosen chapters.
            choices: its language is the one to read in, empty for that of the book.
            pipeline: settings of the reading.

        Raises:
            UsageError: the language is no code.
        """
        self._source, self._book, self._pipeline = source, book, pipeline
        language = book_language(book, choices.language, source, is_script(source))
        self._language = language.tag or USUAL_LANGUAGE
        has_marks = source.suffix.lower() in MARKED_SUFFIXES and not is_script(source)
        marked = [apply_marks(c) if has_marks else (c, ()) for c in book.chapters]
        self.written = replace(
            book,
            title=without_marks(book.title) if has_marks else book.title,
            chapters=tuple(chapter for chapter, _ in marked),
        )
        self.warnings = tuple(sentence for _, sentences in marked for sentence in sentences)
        if language.warning:
            self.warnings += (language.warning,)
        self.note = "" if is_script(source) else lexicon_note(source, book, pipeline.normalize)

    def spoken(self) -> list[Chapter]:
        """The chapters as they will be said.

        Raises:
            UsageError: a lexicon or cast is wrong.
        """
        return spoken_chapters(self._source, self._book, self._language, self._pipeline)

    def unknown(self) -> list[UnknownWord]:
        """Names and rare words that the lexicon does not have yet, most frequent first.

        Raises:
            UsageError: the lexicon is wrong.
        """
        lexicon = load_lexicon(
            self._source, self._book, self._pipeline.normalize, self._language, takes_ipa=True
        )
        blocks = (
            block for chapter in self.written.chapters for block in _without(chapter, lexicon)
        )
        return unknown_words(blocks, self._language, dictionary(self._language))


def _without(chapter: Chapter, lexicon: Lexicon) -> Iterator[Block]:
    """The blocks without the words that a lexicon has."""
    for block in chapter.blocks:
        yield block if lexicon.is_empty else replace(block, text=lexicon.mark(block.text))


def spoken_lines(chapter: Chapter) -> Iterator[str]:
    """A chapter as lines: its title, then each paragraph, with an empty line after each.

    Headings begin with `# `, a break of the scene is `* * *`, and voices and pauses are written
    as marks, as a text source may have them.
    """
    yield f"=== {chapter.number}. {chapter.title}"
    yield ""
    parts: list[str] = []
    voice = ""
    for block in chapter.blocks:
        if block.kind == "scene_break":
            yield from ("* * *", "")
            continue
        if not parts and block.kind == "heading":
            parts.append("#")
        if block.voice != voice:
            parts.append(f"[voice {_quoted(block.voice)}]" if block.voice else "[/voice]")
            voice = block.voice
        parts.append(block.text)
        if block.pause_after_ms is not None:
            parts.append(f"[pause {block.pause_after_ms}ms]")
        if not block.continues:
            yield " ".join((*parts, *(["[/voice]"] if voice else [])))
            yield ""
            parts, voice = [], ""
    if parts:
        yield from (" ".join(parts), "")


def _quoted(voice: str) -> str:
    return f'"{voice}"' if " " in voice else voice


def block_facts(block: Block) -> dict[str, object]:
    """A block for JSON: what every block has, and what only some have when they have it."""
    facts: dict[str, object] = {"kind": block.kind, "text": block.text, "where": block.where}
    for name in ("voice", "language", "continues"):
        if getattr(block, name):
            facts[name] = getattr(block, name)
    if block.pause_after_ms is not None:
        facts["pause_after_ms"] = block.pause_after_ms
    return facts
