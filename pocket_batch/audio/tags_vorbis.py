# mypy: disable-error-code="no-untyped-call"
"""Tags of Opus and FLAC files: Vorbis comments with chapters.

Source: https://xiph.org/vorbis/doc/v-comment.html and
https://wiki.xiph.org/Chapter_Extension
"""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pocket_batch.audio.metadata import ChapterSpan
from pocket_batch.audio.tags import Tags
from pocket_batch.data import Cover

FRONT_COVER = 3  # picture type, RFC 9639, section 8.8
COMMENTS = {
    "title": "TITLE",
    "album": "ALBUM",
    "author": "ARTIST",
    "narrator": "NARRATOR",
    "date": "DATE",
    "description": "DESCRIPTION",
    "genre": "GENRE",
    "publisher": "PUBLISHER",
    "series": "SERIES",
    "series_part": "SERIES-PART",
    "language": "LANGUAGE",
    "isbn": "ISBN",
    "asin": "ASIN",
}
COPIES = {"author": "ALBUMARTIST", "narrator": "COMPOSER", "description": "COMMENT"}


def write(path: Path, tags: Tags, chapters: Sequence[ChapterSpan], sampling_rate_hz: int) -> None:
    """Write tags, cover and chapters."""
    file = _open(path)
    for field, name in (*COMMENTS.items(), *COPIES.items()):
        if getattr(tags, field):
            file[name] = [getattr(tags, field)]
    if tags.track:
        file["TRACKNUMBER"] = [str(tags.track)]
        file["TRACKTOTAL"] = [str(tags.num_tracks)]
    for number, chapter in enumerate(chapters, start=1):
        file[f"CHAPTER{number:03d}"] = [_clock(chapter.begin, sampling_rate_hz)]
        file[f"CHAPTER{number:03d}NAME"] = [chapter.title]
    if tags.cover is not None:
        picture = _picture(tags.cover)
        if hasattr(file, "add_picture"):
            file.add_picture(picture)
        else:
            file["METADATA_BLOCK_PICTURE"] = [base64.b64encode(picture.write()).decode()]
    file.save()


def read(path: Path) -> Tags:
    """Read the tags back."""
    from mutagen.flac import Picture

    file = _open(path)

    def text(name: str) -> str:
        return str(file.get(name, [""])[0])

    pictures = list(getattr(file, "pictures", []))
    if "METADATA_BLOCK_PICTURE" in file:
        pictures.append(Picture(base64.b64decode(text("METADATA_BLOCK_PICTURE"))))
    return Tags(
        **{field: text(name) for field, name in COMMENTS.items()},
        track=int(text("TRACKNUMBER") or 0),
        num_tracks=int(text("TRACKTOTAL") or 0),
        cover=Cover(pictures[0].data, pictures[0].mime) if pictures else None,
    )


def _open(path: Path) -> Any:
    """mutagen's object for the file, by its name: FLAC or Ogg Opus."""
    if path.suffix == ".flac":
        from mutagen.flac import FLAC

        return FLAC(path)
    from mutagen.oggopus import OggOpus

    return OggOpus(path)


def _picture(cover: Cover) -> Any:
    from mutagen.flac import Picture

    picture = Picture()
    picture.type, picture.mime, picture.data = FRONT_COVER, cover.media_type, cover.data
    return picture


def _clock(position: int, sampling_rate_hz: int) -> str:
    """Samples to `HH:MM:SS.mmm`: 90,061,500 at 24 kHz -> `01:02:32.563`."""
    milliseconds = round(position * 1000 / sampling_rate_hz)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}.{milliseconds:03d}"
