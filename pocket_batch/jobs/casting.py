"""Several voices in one book: the cast file, who it names, and whether they can speak together."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from pocket_batch.config import load_casting
from pocket_batch.data import Book, Chapter
from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.jobs.language import BookLanguage
from pocket_batch.jobs.named import PROMPT_SUFFIXES, STATE_SUFFIX, named_voice
from pocket_batch.jobs.voice import Speaker, choose_speaker
from pocket_batch.settings import AudiobookPipeline, Casting
from pocket_batch.text.dialogue import Dialogue
from pocket_batch.text.respell import prepared

CAST_SUFFIX = ".cast.yaml"
NONE = "none"  # as the name of a cast file: not even that beside the book


def find_cast_file(source: Path, pipeline: AudiobookPipeline) -> Path | None:
    """The cast file that was given (`none`: not any), else BOOK.cast.yaml beside the book."""
    if pipeline.cast == NONE:
        return None
    if pipeline.cast is not None:
        return Path(pipeline.cast).expanduser()
    beside = source.with_name(source.stem + CAST_SUFFIX)
    return beside if beside.is_file() else None


def find_casting(source: Path, pipeline: AudiobookPipeline) -> Casting:
    """Who speaks which quoted lines of a book; `dialogue_voice` wins over the cast file.

    Raises:
        UsageError: the file is missing, not YAML, or has a key that is unknown.
    """
    if pipeline.dialogue_voice is not None and not pipeline.dialogue_voice.strip():
        raise UsageError(
            "The name of the dialogue voice is empty: give one of `pocket-batch voices`, or a file."
        )
    path = find_cast_file(source, pipeline)
    casting = _with_files(load_casting(path), path.parent) if path else Casting()
    return replace(casting, dialogue=pipeline.dialogue_voice or casting.dialogue)


def casting_fingerprint(casting: Casting) -> str:
    """A hash of all that a cast says; of voices that are files the name alone, see `voice_key`."""
    plain = _renamed(casting, lambda name: Path(name).name)
    return sha256(repr(plain).encode("utf-8", "backslashreplace")).hexdigest()


def cast_chapters(
    chapters: tuple[Chapter, ...], casting: Casting, language: str, pipeline: AudiobookPipeline
) -> tuple[tuple[Chapter, ...], list[str]]:
    """The chapters with their quoted speech cut out and given to voices.

    Returns:
        The chapters, and the roles and patterns of the cast that got no line.

    Raises:
        UsageError: a pattern of the cast is no regular expression.
    """
    if not (casting.dialogue or casting.cast or casting.lines):
        return chapters, []
    chapters, casting = tuple(map(_prepared_chapter, chapters)), _prepared(casting)
    breath_ms = pipeline.segment.pauses.sentence_ms // 2
    dialogue = Dialogue(casting, language, chapters, breath_ms)
    return tuple(dialogue.chapter(chapter) for chapter in chapters), dialogue.unused()


def _prepared_chapter(chapter: Chapter) -> Chapter:
    """A chapter in which names are found, whatever code points their accents are made of."""
    blocks = (replace(block, text=prepared(block.text)) for block in chapter.blocks)
    return replace(chapter, blocks=tuple(blocks))


def _prepared(casting: Casting) -> Casting:
    """Likewise the names and patterns of a cast; names of files stay."""
    roles = {
        prepared(name): replace(role, also=tuple(map(prepared, role.also)))
        for name, role in casting.cast.items()
    }
    lines = tuple(replace(rule, pattern=prepared(rule.pattern)) for rule in casting.lines)
    return replace(casting, cast=roles, lines=lines)


def with_cast(
    speaker: Speaker,
    book: Book,
    casting: Casting,
    pipeline: AudiobookPipeline,
    language: BookLanguage,
    source: Path,
) -> Speaker:
    """The narrator with all other voices that have lines in the book.

    All voices of the cast are looked up, whether they have lines or not. Errors name the cast file,
    which may be that beside `source`, that nobody asked for.

    Raises:
        ModelUnavailableError: there is no such voice, or it reads another language.
        UsageError: a voice is of another engine or model than the narrator.
    """
    with_lines = {block.voice for chapter in book.chapters for block in chapter.blocks} - {""}
    voices = {}
    file = find_cast_file(source, pipeline)
    for name, origin in _named(casting, book, pipeline, file.name if file else "").items():
        voice = compatible(name, origin, speaker, pipeline, language)
        if name in with_lines:
            voices[name] = voice.voice
    return replace(speaker, cast=voices)


def _named(
    casting: Casting, book: Book, pipeline: AudiobookPipeline, cast_file: str
) -> dict[str, str]:
    """Every voice that is named for a line, with where it is."""
    named: dict[str, str] = {}
    if pipeline.dialogue_voice:
        named[pipeline.dialogue_voice] = "--dialogue-voice"
    for name in [
        *([casting.dialogue] if casting.dialogue else []),
        *(role.voice for role in casting.cast.values()),
        *(rule.voice for rule in casting.lines),
    ]:
        named.setdefault(name, cast_file)
    for chapter in book.chapters:
        for block in chapter.blocks:
            if block.voice:
                named.setdefault(block.voice, block.where)
    return named


def compatible(
    name: str, origin: str, speaker: Speaker, pipeline: AudiobookPipeline, language: BookLanguage
) -> Speaker:
    """Another voice, which must speak with the engine and the model of the narrator.

    Args:
        name: of the voice, or its file.
        origin: where it is asked for; errors begin with it.
        speaker: the narrator.
        pipeline: of the run.
        language: of the book.

    Raises:
        ModelUnavailableError: there is no such voice, or it reads another language.
        UsageError: it is of another engine or model.
    """
    narrator, spec = speaker.voice, speaker.engine.spec
    try:
        voice = named_voice(name, pipeline.model)
        if voice.engine == spec.name:
            other = choose_speaker(replace(pipeline, voice=name), language)
            if other.engine.spec == spec:
                return other
    except ModelUnavailableError as error:
        raise ModelUnavailableError(f"{origin}: {error}") from error
    if voice.engine != spec.name:
        raise UsageError(
            f"{origin}: The voice {voice.name} is of the engine {voice.engine}, and the "
            f"narrator {narrator.name} of {spec.name}. All voices of a book are of one engine: "
            f"choose another narrator with --voice, or other voices (`pocket-batch voices`)."
        )
    raise UsageError(
        f"{origin}: The voice {voice.name} speaks with the model `{other.engine.spec.model}`, "
        f"and the narrator {narrator.name} with `{spec.model}`. All voices of a book are of one "
        "model: choose it with --model, or other voices (`pocket-batch voices`)."
    )


def _with_files(casting: Casting, folder: Path) -> Casting:
    """Recordings and states that lie beside the cast file, by their whole paths."""

    def found(name: str) -> str:
        is_file = Path(name).suffix.lower() in (*PROMPT_SUFFIXES, STATE_SUFFIX)
        return str((folder / name).resolve()) if is_file and (folder / name).is_file() else name

    return _renamed(casting, found)


def _renamed(casting: Casting, rename: Callable[[str], str]) -> Casting:
    return Casting(
        dialogue=rename(casting.dialogue) if casting.dialogue else None,
        cast={name: replace(r, voice=rename(r.voice)) for name, r in casting.cast.items()},
        lines=tuple(replace(rule, voice=rename(rule.voice)) for rule in casting.lines),
    )


def words_by_voice(texts: Iterable[tuple[str, str]]) -> list[str]:
    """The voices of (voice, text) pairs, in order of the words they speak, the most first."""
    words: dict[str, int] = {}
    for voice, text in texts:
        words[voice] = words.get(voice, 0) + len(text.split())
    return sorted(words, key=lambda voice: -words[voice])
