"""Cover pictures that every audio format takes: JPEG or PNG of reasonable size."""

import io
from typing import TYPE_CHECKING

from pocket_batch.data import Cover
from pocket_batch.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 8_000_000  # a FLAC picture block holds 16 MiB, and players keep the cover in memory
MAX_PIXELS = 80_000_000  # more is a mistake or an attack on memory
MAX_SIDE = 2400  # pixels, of a picture that has to be made smaller
JPEG_QUALITY = 90
MEDIA_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png"}


def usable_cover(cover: Cover) -> Cover:
    """The cover itself when it is a JPEG or PNG, whatever was declared; else converted to JPEG.

    Raises:
        InputError: it is not a picture that can be read, or far too large.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(cover.data)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise InputError(
                    f"The cover has {picture.width} x {picture.height} pixels, which is too many."
                )
            media_type = MEDIA_TYPES.get(picture.format or "")
            if media_type and len(cover.data) <= MAX_BYTES:
                return Cover(cover.data, media_type)
            return Cover(_as_jpeg(picture), "image/jpeg")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        is_strange = isinstance(error, UnidentifiedImageError)
        reason = "it is no picture of a known kind" if is_strange else str(error)
        raise InputError(f"The cover ({cover.media_type}) cannot be read: {reason}.") from error


def jpeg_of(cover: Cover) -> bytes:
    """The bytes of a usable cover as JPEG."""
    from PIL import Image

    if cover.media_type == "image/jpeg":
        return cover.data
    with Image.open(io.BytesIO(cover.data)) as picture:
        return _as_jpeg(picture)


def _as_jpeg(picture: "Image") -> bytes:
    """Flatten on white, since JPEG has no transparency, and shrink to MAX_SIDE."""
    from PIL import Image

    picture.thumbnail((MAX_SIDE, MAX_SIDE))
    opaque = picture.convert("RGBA")
    flat = Image.new("RGBA", opaque.size, "white")
    flat.alpha_composite(opaque)
    buffer = io.BytesIO()
    flat.convert("RGB").save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()
