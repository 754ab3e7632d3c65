"""One file per chapter, with a cover and a playlist beside them."""

import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pocket_batch.audio.cover import jpeg_of
from pocket_batch.audio.metadata import ChapterSpan, one_line
from pocket_batch.audio.tags import Tags, book_tags
from pocket_batch.data import Book
from pocket_batch.errors import AudioError
from pocket_batch.outputs.audiobook import (
    ChapterMark,
    EncodeSettings,
    WrittenFile,
    chapter_spans,
    write_file,
)
from pocket_batch.outputs.folder import replace_file
from pocket_batch.outputs.formats import output_format
from pocket_batch.outputs.pcm import ChapterPcm, FinishedPcm, Progress
from pocket_batch.outputs.threads import Tasks

MAX_NAME_BYTES = 180  # of a file name without its ending; file systems allow 255 in all
_UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]+')  # `A/B: C?` -> `A_B_ C_`


def write_split(
    folder: Path,
    file_format: str,
    chapter_pcm: ChapterPcm,
    sampling_rate_hz: int,
    marks: Sequence[ChapterMark],
    book: Book,
    narrator: str,
    gains: Sequence[float],
    ceiling_dbtp: float,
    settings: EncodeSettings | None = None,
    progress: Progress = lambda num_samples: None,
) -> list[WrittenFile]:
    """Write each chapter as a file of its own, numbered and titled, into `folder`.

    Beside them `cover.jpg` and a playlist `<book title>.m3u8`, which is written last.
    Chapters without samples get no file and no number.

    Args:
        gains: linear factor of each chapter.

    The other arguments and the errors are those of `write_audiobook`; files that were finished
    before an error stay.
    """
    tags, warnings = book_tags(book, narrator)
    splitter = _Splitter(folder, file_format, tags, settings or EncodeSettings(), progress)
    work = []
    for index, span in enumerate(chapter_spans(marks)):
        length = span.end - span.begin
        if length:
            own = ChapterSpan(span.title, 0, length)
            pieces = splitter.pieces(chapter_pcm, index)
            work.append((pieces, [own], sampling_rate_hz, gains[index], ceiling_dbtp))
    if not work:
        raise AudioError(f"{folder} was not written, because there is no audio to put into it.")
    written = splitter.write([FinishedPcm(*arguments, splitter.progress) for arguments in work])
    return [replace(written[0], warnings=warnings), *written[1:]]


class _Splitter:
    """Writes chapters, several at a time, then cover and playlist."""

    def __init__(
        self,
        folder: Path,
        file_format: str,
        tags: Tags,
        settings: EncodeSettings,
        progress: Progress,
    ) -> None:
        self._folder, self._format, self._tags = folder, file_format, tags
        self._suffix = output_format(file_format).suffix
        self._settings = replace(settings, num_threads=1)
        self._tasks, self._lock = Tasks(settings.num_threads), threading.Lock()
        self._progress = progress

    def pieces(self, chapter_pcm: ChapterPcm, index: int) -> ChapterPcm:
        """The pieces of one chapter as those of a book that has no other."""
        return lambda _: self._tasks.stoppable(chapter_pcm(index))

    def progress(self, num_samples: int) -> None:
        with self._lock:
            self._progress(num_samples)

    def write(self, chapters: Sequence[FinishedPcm]) -> list[WrittenFile]:
        written = self._tasks.run(
            [
                partial(self._write_chapter, number, len(chapters), pcm)
                for number, pcm in enumerate(chapters, start=1)
            ]
        )
        cover = self._tags.cover
        if cover is not None:
            replace_file(self._folder / "cover.jpg", jpeg_of(cover))
        playlist = self._folder / (safe_name(self._tags.album) + ".m3u8")
        replace_file(playlist, _playlist(self._tags, written).encode())
        return written

    def _write_chapter(self, number: int, num_files: int, pcm: FinishedPcm) -> WrittenFile:
        title = pcm.spans[0].title
        tags = replace(self._tags, title=title, track=number, num_tracks=num_files)
        target = self._folder / file_name(number, num_files, title, self._suffix)
        return write_file(target, self._format, pcm, tags, (), self._settings)


def file_name(number: int, num_files: int, title: str, suffix: str) -> str:
    """`3, 12, "A/B: C?", ".m4b"` -> `03 - A_B_ C_.m4b`."""
    width = max(2, len(str(num_files)))
    return f"{number:0{width}d} - {safe_name(title)}{suffix}"


def safe_name(title: str) -> str:
    """A title as part of a file name on any system: no `/\\:*?"<>|`, not too long, not empty."""
    name = _UNSAFE.sub("_", unicodedata.normalize("NFC", title))
    return one_line(name, MAX_NAME_BYTES).rstrip(". ") or "_"


def _playlist(tags: Tags, written: Sequence[WrittenFile]) -> str:
    """An extended M3U playlist with names relative to its folder.

    Source: https://datatracker.ietf.org/doc/html/rfc8216, section 4 (the tags used here).
    """
    lines = ["#EXTM3U", f"#PLAYLIST:{tags.album}"]
    for file in written:
        title = file.path.stem.partition(" - ")[2]
        lines += [f"#EXTINF:{round(file.duration_s)},{title}", file.path.name]
    return "\n".join(lines) + "\n"
