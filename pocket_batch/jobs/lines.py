"""The lines of a script as segments: cut where a person cut them, unless the engine cannot."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pocket_batch.data import Block, Chapter, Segment
from pocket_batch.jobs.voice import Speaker
from pocket_batch.settings import SegmentSettings
from pocket_batch.stages.segment import SegmentText
from pocket_batch.text.patterns import HAS_WORD


def lines_as_segments(
    chapters: Iterable[Chapter], speaker: Speaker, settings: SegmentSettings, stage: SegmentText
) -> Iterator[Segment]:
    """One segment a line, with its own id, text, voice and pause.

    A line that is too long for the engine is cut like any text; its parts are numbered. A line
    without a word is not spoken, and its pause goes to the line before it.

    Args:
        chapters: of a script, a block a line (several when a mark cut it), `where` their ids.
        stage: cuts for the engine of `speaker`.
    """
    for chapter in chapters:
        segments: list[Segment] = []
        for block in chapter.blocks:
            pause_ms = _pause_ms(block, is_last=block is chapter.blocks[-1], settings=settings)
            if not HAS_WORD.search(block.text):
                if segments:
                    longest = max(segments[-1].pause_after_ms, pause_ms)
                    segments[-1] = replace(segments[-1], pause_after_ms=longest)
                continue
            segments += _cut(chapter, block, pause_ms, speaker, stage)
        yield from _numbered(segments)


def _pause_ms(block: Block, is_last: bool, settings: SegmentSettings) -> int:
    if block.pause_after_ms is not None:
        return block.pause_after_ms
    return settings.pauses.chapter_ms if is_last else settings.pauses.sentence_ms


def _cut(
    chapter: Chapter, block: Block, pause_ms: int, speaker: Speaker, stage: SegmentText
) -> list[Segment]:
    voice, engine = block.voice or speaker.voice.name, speaker.engine
    if engine.count_tokens(block.text) <= engine.max_tokens:
        return [Segment(block.where, chapter.number, block.text, voice, pause_ms)]
    parts = list(stage.run([replace(chapter, blocks=(block,))]))
    parts[-1] = replace(parts[-1], pause_after_ms=pause_ms)
    return [replace(part, id=block.where, voice=voice) for part in parts]


def _numbered(segments: list[Segment]) -> Iterator[Segment]:
    """Give the parts of a line ids of their own: `001-0002`, `001-0002.2`."""
    times: dict[str, int] = {}
    for segment in segments:
        times[segment.id] = times.get(segment.id, 0) + 1
        number = times[segment.id]
        yield segment if number == 1 else replace(segment, id=f"{segment.id}.{number}")
