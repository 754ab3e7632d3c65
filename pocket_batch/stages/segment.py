"""Stage `segment`: chapters become the segments that are spoken, one script for the book."""

from collections.abc import Callable, Iterable, Iterator

from pocket_batch.data import Chapter, Segment
from pocket_batch.settings import SegmentSettings
from pocket_batch.text.segment import segment_chapter


class SegmentText:
    """Cuts chapters into whole sentences within the engine's limit.

    `count_tokens` and `max_tokens` are the engine's.
    """

    name = "segment"

    def __init__(
        self,
        settings: SegmentSettings,
        voice: str,
        language: str,
        max_tokens: int,
        count_tokens: Callable[[str], int],
    ) -> None:
        self._settings = settings
        self._voice = voice
        self._language = language
        self._max_tokens = max_tokens
        self._count_tokens = count_tokens

    def run(self, items: Iterable[Chapter]) -> Iterator[Segment]:
        """Yield the segments of all chapters in reading order."""
        for chapter in items:
            yield from segment_chapter(
                chapter,
                voice=self._voice,
                pauses=self._settings.pauses,
                language=self._language,
                max_tokens=self._max_tokens,
                count_tokens=self._count_tokens,
                min_words=self._settings.min_words,
                join_paragraphs=self._settings.join_paragraphs,
            )
