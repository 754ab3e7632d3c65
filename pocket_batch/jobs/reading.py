"""From a file to a book that can be spoken: its words, its voices, and how the words are said."""

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from pocket_batch.data import Block, Book, Chapter, Choices
from pocket_batch.errors import UsageError
from pocket_batch.jobs import casting as casts
from pocket_batch.jobs.language import book_language
from pocket_batch.jobs.lexicon import load_lexicon
from pocket_batch.jobs.voice import Speaker, choose_speaker
from pocket_batch.settings import AudiobookPipeline, Casting, ReadSettings
from pocket_batch.sources.script import ScriptHead, read_head
from pocket_batch.stages.normalize import Normalize
from pocket_batch.stages.read import Read
from pocket_batch.text.lexicon import Lexicon
from pocket_batch.text.markup import apply_marks, without_marks

SCRIPT_SUFFIX = ".jsonl"
# `[voice marius]` -> ` marius`, `[voice]` and `[/voice]` -> nothing
_VOICE_MARKS = re.compile(r"\[/?voice([^\[\]]*)\]")
MARKED_SUFFIXES = (".txt", ".md", ".markdown", SCRIPT_SUFFIX)


@dataclass(frozen=True, slots=True)
class Reading:
    """A book whose paragraphs are split by speaker, who reads it, and how its words are said.

    `is_script` tells that its lines are in spoken form and cut. `texts` are hashes of what else
    the result depends on.
    """

    book: Book
    speaker: Speaker
    lexicon: Lexicon
    is_script: bool
    texts: dict[str, str]


def is_script(source: Path) -> bool:
    """Whether a source is a script, whose text is spoken as it stands."""
    return source.suffix.lower() == SCRIPT_SUFFIX


def read_chosen(source: Path, choices: Choices, settings: ReadSettings) -> Book:
    """Read a book: the chapters that are wanted, with what the user says instead of its own.

    Raises:
        InputError: the book is refused.
        UsageError: a chapter that was asked for does not exist.
    """
    (book,) = Read(settings, choices.chapters).run([source])
    return replace(
        book,
        title=choices.title or book.title,
        authors=choices.authors or book.authors,
        cover=choices.cover or book.cover,
    )


def open_reading(source: Path, choices: Choices, pipeline: AudiobookPipeline) -> Reading:
    """Read a book, choose who reads it, and split it by speaker; uses no network.

    Raises:
        InputError: the book is refused.
        ModelUnavailableError: a voice or model does not exist, or reads another language.
        UsageError: settings that do not go together, or files of them that are wrong.
    """
    head = _head(source, pipeline)
    pipeline = _as_head_says(pipeline, head)
    book = read_chosen(source, choices, pipeline.read)
    language = book_language(book, choices.language, source, is_script(source))
    if language.warning:
        book = replace(book, warnings=(*book.warnings, language.warning))
    casting = Casting() if is_script(source) else casts.find_casting(source, pipeline)
    book = _with_voices(source, book, language.tag, pipeline, casting)
    book = replace(book, chapters=_named_as_files(book.chapters, head))
    narrator = choose_speaker(pipeline, language)
    speaker = casts.with_cast(narrator, book, casting, pipeline, language, source)
    if is_script(source):
        lexicon = Lexicon((), speaker.language)
    else:
        reads_ipa = speaker.engine.takes_ipa
        lexicon = load_lexicon(source, book, pipeline.normalize, speaker.language, reads_ipa)
    texts = {
        "cast": casts.casting_fingerprint(casting),
        "lexicon": lexicon.fingerprint,
        "cover": sha256(book.cover.data).hexdigest() if book.cover else "",
    }
    return Reading(book, speaker, lexicon, is_script(source), texts)


def spoken_chapters(
    source: Path, book: Book, language: str, pipeline: AudiobookPipeline
) -> list[Chapter]:
    """The chapters of a book as they will be said, split by speaker; needs no engine.

    Args:
        source: where the book is from; its lexicon and cast may lie beside it.
        book: as read.
        language: BCP 47 tag.
        pipeline: its settings of normalisation, voices and pauses count.

    Raises:
        UsageError: a lexicon or cast file is wrong.
    """
    casting = Casting() if is_script(source) else casts.find_casting(source, pipeline)
    book = _with_voices(source, book, language, pipeline, casting)
    if is_script(source):
        return list(book.chapters)
    lexicon = load_lexicon(source, book, pipeline.normalize, language)
    return list(Normalize(language, lexicon, pipeline.normalize.normalizer).run(book.chapters))


def _with_voices(
    source: Path, book: Book, language: str, pipeline: AudiobookPipeline, casting: Casting
) -> Book:
    """The book with marks applied and quoted speech given to voices; marks win."""
    chapters, warnings = book.chapters, book.warnings
    if source.suffix.lower() in MARKED_SUFFIXES:
        apply = _apply_to_lines if is_script(source) else apply_marks
        found = [apply(chapter) for chapter in chapters]
        chapters = tuple(chapter for chapter, _ in found)
        warnings += tuple(text for _, texts in found for text in texts)
    chapters, unused = casts.cast_chapters(chapters, casting, language or "en", pipeline)
    if unused:
        warnings += (f"No quoted line was found for {', '.join(unused)} of the cast.",)
    title = without_marks(book.title)
    return replace(book, title=title, chapters=chapters, warnings=warnings)


def _apply_to_lines(chapter: Chapter) -> tuple[Chapter, tuple[str, ...]]:
    """Apply the marks of a script: a voice ends with its line."""
    return apply_marks(replace(chapter, blocks=tuple(map(_with_end, chapter.blocks))))


def _with_end(block: Block) -> Block:
    last = _VOICE_MARKS.findall(block.text)[-1:]
    return replace(block, text=f"{block.text} [/voice]") if last and last[0].strip() else block


def _head(source: Path, pipeline: AudiobookPipeline) -> ScriptHead | None:
    """What a script says first.

    Raises:
        UsageError: a setting that changes nothing in a script was given.
    """
    if not is_script(source):
        return None
    given = {
        "--cast": pipeline.cast is not None,
        "--dialogue-voice": pipeline.dialogue_voice is not None,
        "--lexicon": pipeline.normalize.lexicon is not None,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(
                f"{option} does nothing to a script: {source.name} says who speaks, and is in "
                "spoken form. Give it to `pocket-batch script`, or edit the lines."
            )
    return read_head(source)


def _as_head_says(pipeline: AudiobookPipeline, head: ScriptHead | None) -> AudiobookPipeline:
    """Voice and model of the script, unless others were asked for."""
    if head is None or pipeline.voice is not None:
        return pipeline
    voice = head.voices.get(head.voice, head.voice) or None
    return replace(pipeline, voice=voice, model=pipeline.model or head.model or None)


def _named_as_files(chapters: tuple[Chapter, ...], head: ScriptHead | None) -> tuple[Chapter, ...]:
    """Voices of a script that are files, by their files."""
    if head is None or not head.voices:
        return chapters
    return tuple(
        replace(
            chapter,
            blocks=tuple(
                replace(block, voice=head.voices.get(block.voice, block.voice))
                for block in chapter.blocks
            ),
        )
        for chapter in chapters
    )
