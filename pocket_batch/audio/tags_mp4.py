# mypy: disable-error-code="no-untyped-call"
"""Tags of M4B files: iTunes atoms, freeform ones where iTunes has none."""

from collections.abc import Sequence
from pathlib import Path

from pocket_batch.audio.metadata import ChapterSpan
from pocket_batch.audio.tags import Tags
from pocket_batch.data import Cover

AUDIOBOOK = 2  # of the atom `stik`, the kind of media
MAX_SHORT_DESCRIPTION = 255  # characters of `desc`; `ldes` has the whole
FREEFORM = "----:com.apple.iTunes:"

TITLE, ALBUM, AUTHOR, ALBUM_AUTHOR = "\xa9nam", "\xa9alb", "\xa9ART", "aART"
NARRATOR = "\xa9wrt"  # the composer: where audiobook players look for the narrator
DATE, GENRE, COMMENT = "\xa9day", "\xa9gen", "\xa9cmt"
FREEFORM_FIELDS = {
    "series": "SERIES",
    "series_part": "SERIES-PART",
    "publisher": "PUBLISHER",
    "isbn": "ISBN",
    "asin": "ASIN",
    "language": "LANGUAGE",
    "narrator": "NARRATOR",
}


def write(path: Path, tags: Tags, chapters: Sequence[ChapterSpan], sampling_rate_hz: int) -> None:
    """Write tags and cover; the chapters are in the file already."""
    from mutagen.mp4 import MP4, MP4Cover, MP4FreeForm

    file = MP4(path)
    atoms = {
        TITLE: tags.title,
        ALBUM: tags.album,
        AUTHOR: tags.author,
        ALBUM_AUTHOR: tags.author,
        NARRATOR: tags.narrator,
        DATE: tags.date,
        GENRE: tags.genre,
        "desc": tags.description[:MAX_SHORT_DESCRIPTION],
        "ldes": tags.description,
        COMMENT: tags.description,
    }
    for name, text in atoms.items():
        if text:
            file[name] = [text]
    for field, name in FREEFORM_FIELDS.items():
        if getattr(tags, field):
            file[FREEFORM + name] = [MP4FreeForm(getattr(tags, field).encode())]
    file["stik"] = [AUDIOBOOK]
    if tags.track:
        file["trkn"] = [(tags.track, tags.num_tracks)]
    if tags.cover is not None:
        is_png = tags.cover.media_type == "image/png"
        kind = MP4Cover.FORMAT_PNG if is_png else MP4Cover.FORMAT_JPEG
        file["covr"] = [MP4Cover(tags.cover.data, kind)]
    file.save()


def read(path: Path) -> Tags:
    """Read the tags back."""
    from mutagen.mp4 import MP4, MP4Cover

    file = MP4(path)

    def text(name: str) -> str:
        value = file.get(name, [""])[0]
        return bytes(value).decode() if isinstance(value, bytes) else str(value)

    cover = None
    if "covr" in file:
        picture = file["covr"][0]
        is_png = picture.imageformat == MP4Cover.FORMAT_PNG
        cover = Cover(bytes(picture), "image/png" if is_png else "image/jpeg")
    track, num_tracks = file.get("trkn", [(0, 0)])[0]
    return Tags(
        title=text(TITLE),
        album=text(ALBUM),
        author=text(AUTHOR),
        date=text(DATE),
        description=text("ldes"),
        genre=text(GENRE),
        track=track,
        num_tracks=num_tracks,
        cover=cover,
        **{field: text(FREEFORM + name) for field, name in FREEFORM_FIELDS.items()},
    )
