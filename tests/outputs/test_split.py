"""A file per chapter, and what lies beside them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.audio.ffmpeg import decode
from pocket_batch.audio.probe import probe
from pocket_batch.audio.tags import read_tags
from pocket_batch.data import Book, Cover
from pocket_batch.errors import AudioError, OutputError, StoppedError
from pocket_batch.outputs.audiobook import ChapterMark, EncodeSettings, WrittenFile
from pocket_batch.outputs.split import file_name, safe_name, write_split

RATE_HZ = 24_000
TITLES = ("A/B: C?", "Zwei – ñ", "x" * 300)


@pytest.fixture
def write(tmp_path: Path, book: Book) -> Callable[..., list[WrittenFile]]:
    def run(tones, file_format: str, num_threads: int = 2, **more) -> list[WrittenFile]:
        gains = [1.0 + 0.1 * index for index in range(len(tones.titles))]
        arguments = (tones.chapter, RATE_HZ, tones.marks, book, "Anna", gains, -1.0)
        settings = EncodeSettings(num_threads=num_threads)
        return write_split(tmp_path / "out", file_format, *arguments, settings, **more)

    return run


@pytest.mark.parametrize("file_format", ["m4b", "mp3", "opus"])
def test_each_chapter_is_a_numbered_file_with_its_own_tags(
    write: Callable, tones: Callable, book: Book, file_format: str
) -> None:
    source = tones(TITLES)
    written = write(source, file_format)
    names = ["01 - A_B_ C_", "02 - Zwei – ñ", "03 - " + "x" * 177 + "…"]
    assert [file.path.name for file in written] == [f"{name}.{file_format}" for name in names]
    for number, (file, mark) in enumerate(zip(written, source.marks, strict=True), start=1):
        tags = read_tags(file.path, file_format)
        assert (tags.track, tags.num_tracks, tags.album) == (number, 3, book.title)
        assert tags.title == (mark.title if number < 3 else "x" * 247 + "…")
        assert file.num_samples == mark.num_samples
        assert len(decode(file.path, RATE_HZ)) == pytest.approx(mark.num_samples, abs=1)
        assert probe(file.path).chapters == ()


def test_each_chapter_has_its_own_gain(write: Callable, tones: Callable) -> None:
    written = write(tones(2), "flac")
    assert written[1].lufs - written[0].lufs == pytest.approx(0.83, abs=0.1)


def test_cover_and_playlist_lie_beside_the_files(
    write: Callable, tones: Callable, tmp_path: Path
) -> None:
    written = write(tones(2), "flac")
    playlist = tmp_path / "out" / "A Book_ of “Tones”.m3u8"
    assert playlist.read_text(encoding="utf-8").splitlines() == [
        "#EXTM3U",
        "#PLAYLIST:A Book: of “Tones”",
        "#EXTINF:2,Chapter 1",
        "01 - Chapter 1.flac",
        "#EXTINF:2,Chapter 2",
        "02 - Chapter 2.flac",
    ]
    assert (tmp_path / "out" / "cover.jpg").read_bytes()[:2] == b"\xff\xd8"
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {playlist.name, "cover.jpg", *(file.path.name for file in written)}


def test_chapters_without_samples_get_no_file_and_no_number(
    tones: Callable, tmp_path: Path, book: Book
) -> None:
    source = tones(2)
    marks = [source.marks[0], ChapterMark("Nothing", 0), source.marks[1]]

    def pcm(index: int):
        return source.chapter({0: 0, 2: 1}[index])

    gains = [1.0, 1.0, 1.0]
    written = write_split(tmp_path, "flac", pcm, RATE_HZ, marks, book, "", gains, -1.0)
    assert [file.path.name for file in written] == ["01 - Chapter 1.flac", "02 - Chapter 2.flac"]


def test_an_unreadable_cover_is_said_once(tones: Callable, tmp_path: Path, book: Book) -> None:
    source, bad = tones(2), replace(book, cover=Cover(b"?", "image/webp"))
    arguments = (source.chapter, RATE_HZ, source.marks, bad, "", [1.0, 1.0], -1.0)
    written = write_split(tmp_path, "flac", *arguments)
    assert [len(file.warnings) for file in written] == [1, 0]


def test_progress_adds_up_over_all_files(write: Callable, tones: Callable) -> None:
    steps: list[int] = []
    written = write(tones(3), "flac", progress=steps.append)
    assert sum(steps) == sum(file.num_samples for file in written)


@pytest.mark.parametrize("error", [OutputError("no"), StoppedError("stop"), KeyboardInterrupt()])
def test_a_failure_in_one_chapter_stops_all_and_leaves_whole_files_only(
    write: Callable, tones: Callable, tmp_path: Path, error: BaseException
) -> None:
    steps: list[int] = []

    def stop(num_samples: int) -> None:
        steps.append(num_samples)
        if len(steps) > 8:
            raise error

    with pytest.raises(type(error)):
        write(tones(12), "flac", progress=stop)
    left = list((tmp_path / "out").iterdir())
    assert len(left) < 12
    assert all(path.suffix == ".flac" and probe(path).duration_s > 1 for path in left)


def test_a_book_without_audio_is_refused(tmp_path: Path, book: Book) -> None:
    with pytest.raises(AudioError, match="no audio"):
        write_split(tmp_path / "o", "m4b", lambda i: iter(()), RATE_HZ, [], book, "", [], -1.0)


@given(st.text(max_size=300))
def test_a_safe_name_is_safe_on_any_system(title: str) -> None:
    name = safe_name(title)
    assert 0 < len(name.encode()) <= 180
    assert not set(name) & set('/\\:*?"<>|\n\0')
    assert name == name.strip()
    assert not name.endswith(".")


def test_numbers_are_as_wide_as_needed() -> None:
    assert file_name(7, 9, "T", ".mp3") == "07 - T.mp3"
    assert file_name(7, 120, "...", ".mp3") == "007 - _.mp3"
