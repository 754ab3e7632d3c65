"""One file per book: exact length, marks at the tones, tags, cover, nothing else left behind."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from mutagen.mp4 import MP4

from pocket_batch.audio.ffmpeg import decode
from pocket_batch.audio.loudness import integrated_lufs
from pocket_batch.audio.mastering import gained
from pocket_batch.audio.measure import measure
from pocket_batch.audio.probe import measure_loudness, probe
from pocket_batch.audio.tags import read_tags
from pocket_batch.data import Book
from pocket_batch.errors import AudioError, UsageError
from pocket_batch.outputs.audiobook import (
    ChapterMark,
    EncodeSettings,
    WrittenFile,
    write_audiobook,
)
from pocket_batch.outputs.formats import OUTPUTS

RATE_HZ = 24_000
Write = Callable[..., WrittenFile]


@pytest.fixture
def write(tmp_path: Path, book: Book) -> Write:
    """Write a book of tones as `out/book.<format>`."""

    def run(tones, file_format="m4b", gain=1.0, settings=None, **more) -> WrittenFile:
        target = tmp_path / "out" / f"book.{file_format}"
        arguments = (tones.chapter, tones.rate_hz, tones.marks, book, "Anna", gain, -1.0)
        return write_audiobook(target, file_format, *arguments, settings, **more)

    return run


def onsets(samples: np.ndarray, pause: int) -> list[int]:
    """Where sound begins after at least `pause` samples of near silence, or at the start."""
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 400)
    return [int(loud[0]), *(int(loud[i + 1]) for i in np.flatnonzero(np.diff(loud) > pause))]


@pytest.mark.parametrize("file_format", OUTPUTS)
def test_marks_are_where_the_tones_begin_and_the_length_is_exact(
    write: Write, tones: Callable, file_format: str
) -> None:
    book = tones(4)
    written = write(book, file_format)
    found = probe(written.path)
    samples = decode(written.path, RATE_HZ)
    assert written.num_samples == len(book.whole())
    assert abs(len(samples) - written.num_samples) <= 1
    assert [chapter.title for chapter in found.chapters] == list(book.titles)
    assert found.chapters[0].begin_s == 0
    for before, after in pairwise(found.chapters):
        assert before.end_s == after.begin_s
    assert float(found.chapters[-1].end_s) == pytest.approx(written.duration_s, abs=0.01)
    heard = onsets(samples, RATE_HZ // 4)
    marks = [round(chapter.begin_s * RATE_HZ) for chapter in found.chapters]
    assert heard == pytest.approx(marks, abs=60)  # 2.5 ms; a codec blurs the onset of a sine
    if file_format == "m4b":
        assert marks == book.starts


@pytest.mark.parametrize("file_format", ["flac", "wav"])
def test_lossless_files_hold_the_mastered_samples_bit_for_bit(
    write: Write, tones: Callable, file_format: str
) -> None:
    book = tones(3)
    written = write(book, file_format, gain=4.5)
    wanted = np.concatenate(list(gained([book.whole()], RATE_HZ, 4.5, -1.0)))
    assert np.array_equal(decode(written.path), wanted)
    assert written.true_peak_dbtp <= -1.0


@pytest.mark.parametrize("file_format", OUTPUTS)
def test_tags_cover_and_measurements_are_in_the_file(
    write: Write, tones: Callable, book: Book, file_format: str
) -> None:
    written = write(tones(2), file_format)
    tags = read_tags(written.path, file_format)
    assert (tags.title, tags.author, tags.narrator) == (book.title, "Jane Roe, John Doe", "Anna")
    assert (tags.series, tags.series_part, tags.description) == ("Tones", "2", book.description)
    assert tags.cover is not None
    assert tags.cover.media_type == "image/jpeg"
    assert written.num_bytes == written.path.stat().st_size
    assert written.num_chapters == 2
    assert [path.name for path in written.path.parent.iterdir()] == [written.path.name]


@pytest.mark.parametrize(
    ("file_format", "bit_rate", "rate_hz"),
    [("m4b", 64, 24_000), ("mp3", 64, 24_000), ("mp3", 192, 44_100), ("opus", 32, 24_000)],
)
def test_the_file_is_as_loud_as_the_samples(
    write: Write, tones: Callable, file_format: str, bit_rate: int, rate_hz: int
) -> None:
    settings = EncodeSettings(bit_rate_kbps=bit_rate, sampling_rate_hz=rate_hz)
    written = write(tones(3, speech_s=2.0), file_format, 0.5, settings)
    lufs, _ = measure_loudness(written.path)
    assert lufs == pytest.approx(written.lufs, abs=0.15)  # ffmpeg says it with one decimal


@pytest.mark.parametrize(("num_chapters", "has_nero"), [(255, True), (300, False)])
def test_all_of_many_half_second_chapters_are_readable(
    write: Write, tones: Callable, num_chapters: int, has_nero: bool
) -> None:
    book = tones(num_chapters, speech_s=0.3, pause_s=0.2)
    written = write(book)
    found = probe(written.path).chapters
    assert [round(chapter.begin_s * RATE_HZ) for chapter in found] == book.starts
    assert (b"chpl" in written.path.read_bytes()) == has_nero


def test_m4b_is_an_audiobook_that_starts_fast(write: Write, tones: Callable) -> None:
    data = write(tones(2)).path.read_bytes()
    assert data[4:12] == b"ftypM4A "
    assert data.index(b"moov") < data.index(b"mdat")


@pytest.mark.parametrize("file_format", OUTPUTS)
def test_titles_survive_whatever_is_in_them(
    write: Write, tones: Callable, file_format: str
) -> None:
    titles = ("a = b; #c \\ d", "two\nlines", "", "日本 – ñ 🎧", "ends \\", "x" * 400)
    found = probe(write(tones(titles), file_format).path).chapters
    wanted = ["a = b; #c \\ d", "two lines", "3", "日本 – ñ 🎧", "ends", "x" * 247 + "…"]
    assert [chapter.title for chapter in found] == wanted


def test_chapters_without_samples_move_no_other_mark(
    tmp_path: Path, tones: Callable, book: Book
) -> None:
    source = tones(2)
    first, second = source.marks
    marks = [first, ChapterMark("Nothing", 0), second]

    def pcm(index: int):
        return source.chapter({0: 0, 2: 1}[index]) if index != 1 else iter(())

    target = tmp_path / "book.m4b"
    written = write_audiobook(target, "m4b", pcm, RATE_HZ, marks, book, "", 1.0, -1.0)
    found = probe(target).chapters
    assert [chapter.title for chapter in found] == ["Chapter 1", "Chapter 2"]
    assert round(found[1].begin_s * RATE_HZ) == first.num_samples
    assert written.num_chapters == 2


def test_a_book_without_audio_is_refused(tmp_path: Path, book: Book) -> None:
    arguments = (lambda index: iter(()), RATE_HZ, [ChapterMark("One", 0)], book, "", 1.0, -1.0)
    with pytest.raises(AudioError, match="no audio"):
        write_audiobook(tmp_path / "book.m4b", "m4b", *arguments)
    assert not list(tmp_path.iterdir())


def test_a_silent_book_measures_minus_infinity(write: Write, tones: Callable) -> None:
    written = write(tones(2), gain=0.0)
    assert (written.lufs, written.rms_db, written.true_peak_dbtp) == (-np.inf,) * 3


@pytest.mark.parametrize(
    ("file_format", "rate_hz", "wanted_hz", "found_hz"),
    [
        ("mp3", 24_000, 44_100, 44_100),
        ("m4b", 22_050, 44_100, 44_100),
        ("m4b", 22_050, None, 22_050),
        ("flac", 22_050, 48_000, 48_000),
        ("opus", 22_050, None, 48_000),
    ],
)
def test_other_sampling_rates_keep_length_and_marks(
    write: Write, tones: Callable, file_format: str, rate_hz: int, wanted_hz: int, found_hz: int
) -> None:
    book = tones(3, rate_hz=rate_hz)
    written = write(book, file_format, settings=EncodeSettings(sampling_rate_hz=wanted_hz))
    found = probe(written.path)
    assert found.sampling_rate_hz == found_hz
    assert len(decode(written.path, 8000)) == pytest.approx(written.duration_s * 8000, abs=8)
    starts_s = [start / rate_hz for start in book.starts]
    assert [float(c.begin_s) for c in found.chapters] == pytest.approx(starts_s, abs=0.001)


def test_written_values_are_those_of_the_samples(write: Write, tones: Callable) -> None:
    book = tones(3)
    written = write(book, gain=0.7)
    wanted = measure(gained([book.whole()], RATE_HZ, 0.7, -1.0), RATE_HZ)
    assert written.lufs == pytest.approx(integrated_lufs(wanted.block_powers), abs=0.01)
    assert written.true_peak_dbtp == pytest.approx(20 * np.log10(wanted.true_peak), abs=0.01)
    size_kbit = written.num_bytes * 8 / 1000
    assert written.bit_rate_kbps == pytest.approx(size_kbit / written.duration_s)


def test_progress_adds_up_to_all_samples(write: Write, tones: Callable) -> None:
    steps: list[int] = []
    written = write(tones(3), "flac", progress=steps.append)
    assert sum(steps) == written.num_samples


def test_an_existing_file_is_replaced_and_a_stale_work_folder_removed(
    write: Write, tones: Callable
) -> None:
    first = write(tones(1), "flac").path
    stale = first.parent / ".book.flac.part"
    stale.mkdir()
    (stale / "encoded.flac").write_bytes(b"half a file")
    second = write(tones(2), "flac")
    assert len(decode(second.path)) == second.num_samples
    assert [path.name for path in first.parent.iterdir()] == ["book.flac"]


def test_an_unknown_format_is_named_with_those_there_are(write: Write, tones: Callable) -> None:
    with pytest.raises(UsageError, match="m4b, mp3, opus, flac, wav"):
        write(tones(1), "aiff")


def test_m4b_says_that_it_is_an_audiobook(write: Write, tones: Callable) -> None:
    assert MP4(write(tones(1)).path)["stik"] == [2]
