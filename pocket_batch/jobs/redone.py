"""What a person chose for single lines of a book: another text, voice or take (`redo.jsonl`).

Every run of the book honours it, so that a line that was put right stays right. It is kept by what
was planned for the line, so that a change elsewhere in the book does not move it to another line.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pocket_batch.data import Segment
from pocket_batch.jobs.casting import compatible
from pocket_batch.jobs.language import BookLanguage
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.reading import Reading
from pocket_batch.manifest import Manifest, content_key
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.words import plural
from pocket_batch.work_folder import WorkFolder

REDO_FILE = "redo.jsonl"


@dataclass(frozen=True, slots=True)
class Redone:
    """A choice for one line. `planned` is the text that the book has there, in spoken form.

    `text` and `voice` are empty where they stay as planned; `take` 0 is the first one.
    """

    segment_id: str
    planned: str
    text: str = ""
    voice: str = ""
    take: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether all is as planned."""
        return not (self.text or self.voice or self.take)


@dataclass(frozen=True, slots=True)
class Placed:
    """The segments of a book with what was chosen for them.

    `takes` are by segment. `redone` are all choices, by the segments that they are for now;
    `stale` those whose text is no longer in the book.
    """

    segments: tuple[Segment, ...]
    takes: Mapping[str, int]
    redone: tuple[Redone, ...] = ()
    stale: tuple[Redone, ...] = ()


def read_redone(work: WorkFolder) -> tuple[Redone, ...]:
    """All choices; damaged lines are passed over."""
    found = Manifest(work.file(REDO_FILE), Redone).read(damaged=[])
    return tuple({choice.segment_id: choice for choice in found}.values())


def write_redone(work: WorkFolder, redone: Iterable[Redone]) -> None:
    """Keep them, and no others; the folder must be held.

    Raises:
        OutputError: the file cannot be written.
    """
    kept = [choice for choice in redone if not choice.is_nothing]
    if kept or work.file(REDO_FILE).exists():
        Manifest(work.file(REDO_FILE), Redone).replace(kept)


def merged(known: Iterable[Redone], new: Iterable[Redone]) -> tuple[Redone, ...]:
    """Choices with newer ones in their place; those that choose nothing are gone."""
    by_id = {choice.segment_id: choice for choice in (*known, *new)}
    return tuple(choice for choice in by_id.values() if not choice.is_nothing)


def place(segments: Sequence[Segment], redone: Iterable[Redone]) -> Placed:
    """Give lines what was chosen for them.

    A choice whose line has another number now is found by its text, if that is there once.
    """
    by_id = {segment.id: segment for segment in segments}
    by_text: dict[str, list[Segment]] = {}
    for segment in segments:
        by_text.setdefault(segment.text, []).append(segment)
    placed: dict[str, Redone] = {}
    lost = []
    for choice in redone:
        there = by_id.get(choice.segment_id)
        if there is not None and there.text == choice.planned:
            placed[there.id] = choice
        else:
            lost.append(choice)
    stale = []
    for choice in lost:
        found = [s for s in by_text.get(choice.planned, ()) if s.id not in placed]
        if len(found) == 1:
            placed[found[0].id] = replace(choice, segment_id=found[0].id)
        else:
            stale.append(choice)
    chosen = tuple(_chosen(s, placed[s.id]) if s.id in placed else s for s in segments)
    takes = {segment_id: choice.take for segment_id, choice in placed.items()}
    return Placed(chosen, takes, tuple(placed.values()), tuple(stale))


def with_voices(reading: Reading, redone: Iterable[Redone], pipeline: AudiobookPipeline) -> Reading:
    """A reading whose speaker has the voices that were chosen for single lines as well.

    Raises:
        ModelUnavailableError: there is no such voice, or it reads another language.
        UsageError: it is of another engine or model than the narrator.
    """
    speaker = reading.speaker
    language = BookLanguage(speaker.language, "The language of the book is")
    cast = dict(speaker.cast)
    for choice in redone:
        if choice.voice and choice.voice not in cast:
            origin = f"Segment {choice.segment_id}"
            cast[choice.voice] = compatible(choice.voice, origin, speaker, pipeline, language).voice
    return replace(reading, speaker=replace(speaker, cast=cast))


def with_redone(fingerprint: str, redone: Iterable[Redone]) -> str:
    """The fingerprint of a result in which some lines are as they were chosen."""
    parts = {
        choice.segment_id: f"{choice.take} {choice.voice}\n{choice.text}\n{choice.planned}"
        for choice in redone
    }
    return (
        content_key(plain=fingerprint, **{f"at {k}": v for k, v in parts.items()})
        if parts
        else fingerprint
    )


def tell_redone(reporter: Reporter, redone: Sequence[Redone], stale: Sequence[Redone]) -> None:
    """Say that lines are not as the book has them, and which choices came to nothing."""
    if redone:
        text = f"{plural(len(redone), 'line')} as chosen with `redo` ({REDO_FILE} has them)."
        reporter.note("redone", text, count=len(redone))
    if stale:
        words = stale[0].planned[:60]
        text = (
            f"{plural(len(stale), 'choice')} made with `redo` fit no line of the book any more, "
            f"such as “{words}”: speak it again with `redo` if it is still wrong."
        )
        reporter.note("redo_stale", text, "warning", count=len(stale))


def _chosen(segment: Segment, choice: Redone) -> Segment:
    return replace(segment, text=choice.text or segment.text, voice=choice.voice or segment.voice)
