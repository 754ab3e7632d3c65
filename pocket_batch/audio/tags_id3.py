# mypy: disable-error-code="no-untyped-call"
"""Tags of MP3 and WAV files: ID3v2.3 with chapters.

Not 2.4: ffmpeg, and players built on it, misread titles over 127 bytes inside its chapter frames.

Source: https://id3.org/id3v2.3.0 and https://id3.org/id3v2-chapters-1.0
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pocket_batch.audio.metadata import ChapterSpan
from pocket_batch.audio.tags import Tags
from pocket_batch.data import Cover

UTF16 = 1  # text encoding, ID3v2.3, section 3.3
FRONT_COVER = 3  # picture type, ID3v2.3, section 4.15
NO_OFFSET = 0xFFFFFFFF  # of a chapter whose place in bytes is not given
TOP_LEVEL, ORDERED = 2, 1  # flags of a table of contents
MAX_CHILDREN = 255  # of a table of contents: its count is one byte

TEXT_FRAMES = {
    "title": "TIT2",
    "album": "TALB",
    "author": "TPE1",
    "narrator": "TCOM",
    "date": "TDRC",
    "genre": "TCON",
    "publisher": "TPUB",
}
USER_FRAMES = {
    "series": "SERIES",
    "series_part": "SERIES-PART",
    "language": "LANGUAGE",  # TLAN wants a three-letter code, and ours is a BCP 47 tag
    "isbn": "ISBN",
    "asin": "ASIN",
    "narrator": "NARRATOR",
}


def write(path: Path, tags: Tags, chapters: Sequence[ChapterSpan], sampling_rate_hz: int) -> None:
    """Write tags, cover and chapters."""
    from mutagen import id3

    file = _open(path)
    if file.tags is None:
        file.add_tags()
    add = file.tags.add
    for field, name in (*TEXT_FRAMES.items(), ("author", "TPE2")):
        if getattr(tags, field):
            add(getattr(id3, name)(encoding=UTF16, text=[getattr(tags, field)]))
    for field, name in USER_FRAMES.items():
        if getattr(tags, field):
            add(id3.TXXX(desc=name, encoding=UTF16, text=[getattr(tags, field)]))
    if tags.description:
        add(id3.COMM(lang="und", desc="", encoding=UTF16, text=[tags.description]))
    if tags.track:
        add(id3.TRCK(encoding=UTF16, text=[f"{tags.track}/{tags.num_tracks}"]))
    if tags.cover is not None:
        cover = tags.cover
        add(
            id3.APIC(
                encoding=UTF16, mime=cover.media_type, type=FRONT_COVER, desc="", data=cover.data
            )
        )
    for frame in _chapter_frames(chapters, sampling_rate_hz):
        add(frame)
    file.tags.update_to_v23()
    file.save(v2_version=3)


def read(path: Path) -> Tags:
    """Read the tags back."""
    file = _open(path)

    def text(name: str) -> str:
        frame = file.tags.get(name)
        return str(frame.text[0]) if frame is not None else ""

    pictures = file.tags.getall("APIC")
    track, _, num_tracks = text("TRCK").partition("/")
    texts = {field: text(name) for field, name in TEXT_FRAMES.items()}
    texts |= {field: text("TXXX:" + name) for field, name in USER_FRAMES.items()}
    return Tags(
        **texts,
        description=text("COMM::und"),
        track=int(track or 0),
        num_tracks=int(num_tracks or 0),
        cover=Cover(pictures[0].data, pictures[0].mime) if pictures else None,
    )


def _open(path: Path) -> Any:
    """mutagen's object for the file, by its name: MP3 or WAVE."""
    if path.suffix == ".wav":
        from mutagen.wave import WAVE

        return WAVE(path)
    from mutagen.mp3 import MP3

    return MP3(path)


def _chapter_frames(chapters: Sequence[ChapterSpan], sampling_rate_hz: int) -> list[Any]:
    """A frame for each chapter and a table of contents, in levels when it would be too long.

    Many players show chapters in the order of their frames, and mutagen sorts frames by length,
    then by name: so names are filled up until all frames are equally long.
    """
    from mutagen import id3

    frames: list[Any] = []
    lengths = [len(chapter.title.encode("utf-16-le")) for chapter in chapters]
    longest = max(lengths, default=0)
    for number, chapter in enumerate(chapters, start=1):
        begin, end = (
            round(position * 1000 / sampling_rate_hz) for position in (chapter.begin, chapter.end)
        )
        title = [id3.TIT2(encoding=UTF16, text=[chapter.title])]
        frames.append(
            id3.CHAP(
                element_id=f"chp{number:04d}" + "_" * (longest - lengths[number - 1]),
                start_time=begin,
                end_time=end,
                start_offset=NO_OFFSET,
                end_offset=NO_OFFSET,
                sub_frames=title,
            )
        )
    names = [frame.element_id for frame in frames]
    level = 0
    while len(names) > MAX_CHILDREN:
        level += 1
        groups = [names[i : i + MAX_CHILDREN] for i in range(0, len(names), MAX_CHILDREN)]
        names = [f"toc{level}.{number}" for number in range(1, len(groups) + 1)]
        for name, group in zip(names, groups, strict=True):
            frames.append(id3.CTOC(element_id=name, flags=ORDERED, child_element_ids=group))
    if names:
        flags = TOP_LEVEL | ORDERED
        frames.append(id3.CTOC(element_id="toc", flags=flags, child_element_ids=names))
    return frames
