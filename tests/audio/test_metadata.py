"""Chapter titles in ffmpeg's text format, and pictures for covers."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pocket_batch.audio.cover import usable_cover
from pocket_batch.audio.ffmpeg import find_ffmpeg, run
from pocket_batch.audio.metadata import ChapterSpan, dump_chapters, one_line
from pocket_batch.audio.probe import probe
from pocket_batch.data import Cover
from pocket_batch.errors import InputError

TITLES = [
    "a = b; #c",
    "back\\slash",
    "ends\\",
    "two\nlines",
    "",
    "日本 – ñ 🎧",
    "[CHAPTER]",
    "x" * 400,
]


def test_ffmpeg_reads_titles_as_they_were_meant(tmp_path: Path) -> None:
    titles = [one_line(title) for title in TITLES]
    spans = [ChapterSpan(title, i * 9600, i * 9600 + 9600) for i, title in enumerate(titles)]
    (tmp_path / "chapters.txt").write_text(dump_chapters(spans, 24_000), encoding="utf-8")
    path = tmp_path / "tone.m4a"
    inputs = ["-f", "lavfi", "-i", "sine=duration=4", "-i", str(tmp_path / "chapters.txt")]
    run([find_ffmpeg(), "-v", "error", *inputs, str(path)], path)
    assert [chapter.title for chapter in probe(path).chapters] == titles


@given(st.text(max_size=300))
def test_any_text_becomes_one_line_that_stays_as_it_is(text: str) -> None:
    line = one_line(text)
    assert one_line(line) == line
    assert len(line.splitlines()) <= 1
    assert len(line.encode()) <= 250


def test_a_title_is_one_line_and_cut_between_characters() -> None:
    assert one_line(" One\r\n\ttwo\x00 ") == "One two"
    assert one_line("ends \\\\") == "ends"
    assert one_line("ü" * 200, 100) == "ü" * 48 + "…"
    assert len(one_line("x" * 300).encode()) <= 250


def picture(kind: str, mode: str = "RGB", size: tuple[int, int] = (30, 40)) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize(("kind", "media_type"), [("JPEG", "image/jpeg"), ("PNG", "image/png")])
def test_jpeg_and_png_stay_as_they_are_whatever_was_declared(kind: str, media_type: str) -> None:
    data = picture(kind)
    assert usable_cover(Cover(data, "image/wrong")) == Cover(data, media_type)


@pytest.mark.parametrize(("kind", "mode"), [("WEBP", "RGBA"), ("GIF", "P"), ("BMP", "RGB")])
def test_other_pictures_become_jpeg(kind: str, mode: str) -> None:
    cover = usable_cover(Cover(picture(kind, mode), "image/webp"))
    assert cover.media_type == "image/jpeg"
    with Image.open(io.BytesIO(cover.data)) as converted:
        assert (converted.format, converted.size) == ("JPEG", (30, 40))


@pytest.mark.parametrize("data", [b"", b"not a picture", picture("WEBP")[:40], b"<svg/>"])
def test_a_picture_that_cannot_be_read_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        usable_cover(Cover(data, "image/webp"))


def test_a_picture_with_too_many_pixels_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(InputError, match="too many"):
        usable_cover(Cover(picture("PNG", "1", (10_000, 8_500)), "image/png"))
