"""One file per chapter, with a cover and a playlist beside them."""

import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pocket_batch.audio.metadata import ChapterSpan, one_line
from pocket_batch.audio.pcm import Pcm
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
COVER_NAMES = {"image/jpeg": "cover.jpg", "image/png": "cover.png"}


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

    Beside them `cover.jpg` (or `.png`) and a playlist `<book title>.m3u8`, which is written last.
    Chapters without samples get no file and no number. Several files are encoded at a time, as
    `settings.num_threads` says.

    Args:
        gains: linear factor of each chapter.

    Others, and errors, as in `write_audiobook`; of the files those that were finished stay.
    """
    settings = settings or EncodeSettings()
    tags, warnings = book_tags(book, narrator)
    spans = chapter_spans(marks)
    spoken = [index for index, span in enumerate(spans) if span.end > span.begin]
    if not spoken:
        raise AudioError(f"{folder} was not written, because there is no audio to put into it.")
    suffix = output_format(file_format).suffix
    tasks, lock = Tasks(settings.num_threads), threading.Lock()

    def locked_progress(num_samples: int) -> None:
        with lock:
            progress(num_samples)

    def write(number: int, index: int) -> WrittenFile:
        def pieces(_: int) -> Iterable[Pcm]:
            return tasks.stoppable(chapter_pcm(index))

        title = spans[index].title
        span = ChapterSpan(title, 0, spans[index].end - spans[index].begin)
        pcm = FinishedPcm(
            pieces, [span], sampling_rate_hz, gains[index], ceiling_dbtp, locked_progress
        )
        own_tags = replace(tags, title=title, track=number, num_tracks=len(spoken))
        target = folder / file_name(number, len(spoken), title, suffix)
        return write_file(target, file_format, pcm, own_tags, (), replace(settings, num_threads=1))

    written = tasks.run(
        [partial(write, number, index) for number, index in enumerate(spoken, start=1)]
    )
    if tags.cover is not None:
        replace_file(folder / COVER_NAMES[tags.cover.media_type], tags.cover.data)
    playlist = folder / (safe_name(book.title) + ".m3u8")
    replace_file(playlist, _playlist(tags, written).encode())
    return [replace(written[0], warnings=warnings), *written[1:]]


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
