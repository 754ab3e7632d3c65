"""Reading a finished file back and comparing it with what it should be."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path

from pocket_batch.audio.metadata import ChapterSpan, FoundChapter
from pocket_batch.audio.probe import Probe, probe
from pocket_batch.audio.tags import Tags, read_tags
from pocket_batch.errors import OutputError

CHAPTER_TOLERANCE_S = Fraction(1, 1000)  # ID3 and Vorbis comments hold milliseconds


@dataclass(frozen=True, slots=True)
class Expected:
    """What a file should turn out to be.

    `chapters` are in samples of `sampling_rate_hz`, which is not always the rate of the file.
    """

    file_format: str
    codec: str
    duration_s: Fraction
    tolerance_s: Fraction
    chapters: tuple[ChapterSpan, ...]
    sampling_rate_hz: int
    tags: Tags


def verify(path: Path, expected: Expected, use_system: bool = False) -> Probe:
    """Read a file and compare it with what was asked for.

    Raises:
        OutputError: naming the first thing that differs, what was wanted and what was found.
    """
    found = probe(path, use_system)
    _same(path, "codec", expected.codec, found.codec)
    _same(path, "number of channels", 1, found.num_channels)
    if abs(found.duration_s - expected.duration_s) > expected.tolerance_s:
        _same(path, "duration", float(expected.duration_s), float(found.duration_s))
    _same(path, "presence of a cover", expected.tags.cover is not None, found.has_cover)
    _same_chapters(path, expected.chapters, expected.sampling_rate_hz, found.chapters)
    there = read_tags(path, expected.file_format)
    for field in fields(there):
        wanted_value, value = getattr(expected.tags, field.name), getattr(there, field.name)
        if field.name == "cover" and wanted_value != value:
            _same(path, "cover", "the picture that was given", "another one")
        _same(path, f"tag {field.name}", wanted_value, value)
    return found


def _same_chapters(
    path: Path,
    spans: Sequence[ChapterSpan],
    sampling_rate_hz: int,
    found: Sequence[FoundChapter],
) -> None:
    _same(path, "number of chapters", len(spans), len(found))
    for number, (span, there) in enumerate(zip(spans, found, strict=True), start=1):
        _same(path, f"title of chapter {number}", span.title, there.title)
        begin_s = Fraction(span.begin, sampling_rate_hz)
        if abs(there.begin_s - begin_s) > CHAPTER_TOLERANCE_S:
            _same(path, f"start of chapter {number}", float(begin_s), float(there.begin_s))


def _same(path: Path, what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise OutputError(
            f"{path.name} was read back after writing, and its {what} differs: wanted {wanted!r}, "
            f"found {found!r}. It was not kept. Please report this, with the version of ffmpeg."
        )
