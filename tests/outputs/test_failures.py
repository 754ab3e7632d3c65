"""Whatever goes wrong, nothing half-written has the final name, and the message says what."""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pocket_batch.audio import ffmpeg, tags
from pocket_batch.data import Book
from pocket_batch.errors import LockedError, OutputError, StoppedError
from pocket_batch.outputs import audiobook, folder
from pocket_batch.outputs.audiobook import write_audiobook
from pocket_batch.outputs.folder import work_folder
from pocket_batch.outputs.formats import OUTPUTS, check_size

RATE_HZ = 24_000


@pytest.fixture
def write(tmp_path: Path, book: Book, tones: Callable) -> Callable[..., None]:
    """Write where an older file lies; it must be there, unchanged and alone, after a failure."""

    def run(file_format: str, message: str, kind: type[Exception] = OutputError, **more) -> None:
        source = tones(3)
        target = tmp_path / f"book.{file_format}"
        target.write_bytes(b"older")
        pcm = more.pop("chapter_pcm", source.chapter)
        arguments = (pcm, RATE_HZ, source.marks, book, "Anna", 1.0, -1.0)
        with pytest.raises(kind, match=message):
            write_audiobook(target, file_format, *arguments, **more)
        assert [path.name for path in tmp_path.iterdir() if path.name != "fake"] == [target.name]
        assert target.read_bytes() == b"older"

    return run


@pytest.fixture
def fake_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a shell script in the place of ffmpeg."""

    def use(script: str) -> None:
        path = tmp_path / "fake"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(audiobook, "find_ffmpeg", lambda use_system: str(path))

    return use


@pytest.mark.parametrize("file_format", ["m4b", "flac"])
def test_a_killed_encoder_is_said(write: Callable, fake_ffmpeg: Callable, file_format: str) -> None:
    fake_ffmpeg("kill -9 $$")
    write(file_format, r"killed \(SIGKILL\)")


@pytest.mark.parametrize("file_format", ["m4b", "flac"])
def test_the_words_of_a_failing_encoder_are_passed_on(
    write: Callable, fake_ffmpeg: Callable, file_format: str
) -> None:
    fake_ffmpeg("head -c 1000 >/dev/null; echo 'Unknown encoder' >&2; exit 8")
    write(file_format, "ffmpeg says: Unknown encoder")


def test_an_encoder_that_writes_nothing_is_found_out(
    write: Callable, fake_ffmpeg: Callable
) -> None:
    fake_ffmpeg("exit 0")
    write("flac", "before the end|could not be")


def test_a_full_disk_is_named_when_ffmpeg_meets_it(tmp_path: Path) -> None:
    output = ["-f", "s16le", "-y", "/dev/full"]
    command = [ffmpeg.find_ffmpeg(), "-v", "error", *ffmpeg.pcm_input(RATE_HZ), *output]
    with pytest.raises(OutputError, match=r"book\.m4b could not be written: no space is left"):
        ffmpeg.encode([np.ones(1_000_000, np.int16)] * 3, command, tmp_path / "book.m4b")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_when_moving_meets_it(
    write: Callable, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(folder.os, "fsync", fsync)
    write("flac", "no space is left")


def test_a_full_disk_is_named_when_tagging_meets_it(
    write: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mutagen.flac import FLAC

    def save(self: FLAC) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FLAC, "save", save)
    write("flac", "no space is left")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, tones: Callable, book: Book) -> None:
    (tmp_path / "file").write_text("")
    source = tones(1)
    target = tmp_path / "file" / "book.flac"
    arguments = (source.chapter, RATE_HZ, source.marks, book, "", 1.0, -1.0)
    with pytest.raises(OutputError, match=r"book\.flac could not be written: .*Choose another"):
        write_audiobook(target, "flac", *arguments)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(tmp_path: Path, tones: Callable, book: Book) -> None:
    source = tones(1)
    tmp_path.chmod(0o500)
    arguments = (source.chapter, RATE_HZ, source.marks, book, "", 1.0, -1.0)
    with pytest.raises(OutputError, match="Permission denied"):
        write_audiobook(tmp_path / "book.flac", "flac", *arguments)


@pytest.mark.parametrize("file_format", OUTPUTS)
def test_a_file_that_reads_back_differently_is_not_kept(
    write: Callable, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    def write_less(path, file_format, wanted, chapters, rate_hz):
        less = tags.Tags(wanted.title, wanted.album, cover=wanted.cover)
        tags.write_tags(path, file_format, less, chapters, rate_hz)

    monkeypatch.setattr(audiobook, "write_tags", write_less)
    write(file_format, "its tag author differs: wanted 'Jane Roe, John Doe', found ''")


@pytest.mark.parametrize("file_format", ["mp3", "flac", "opus"])
def test_missing_chapters_are_found_out(
    write: Callable, monkeypatch: pytest.MonkeyPatch, file_format: str
) -> None:
    def write_none(path, file_format, wanted, chapters, rate_hz):
        tags.write_tags(path, file_format, wanted, chapters[:2], rate_hz)

    monkeypatch.setattr(audiobook, "write_tags", write_none)
    write(file_format, "its number of chapters differs: wanted 3, found 2")


@pytest.mark.parametrize("file_format", ["m4b", "flac"])
def test_a_chapter_that_changed_its_length_is_refused(
    write: Callable, tones: Callable, file_format: str
) -> None:
    longer = tones(3, speech_s=2.0).chapter
    write(file_format, r"Chapter 1 \(Chapter 1\) has .* samples", chapter_pcm=longer)


@pytest.mark.parametrize("file_format", ["m4b", "flac"])
def test_a_stop_while_encoding_passes_through(write: Callable, file_format: str) -> None:
    def stop(num_samples: int) -> None:
        raise StoppedError("stopped")

    write(file_format, "stopped", StoppedError, progress=stop)


def test_a_missing_ffmpeg_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import imageio_ffmpeg

    def none() -> str:
        raise RuntimeError("No ffmpeg exe could be found.")

    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", none)
    monkeypatch.setattr(ffmpeg.shutil, "which", lambda name: None)
    with pytest.raises(OutputError, match=r"Install ffmpeg and ask for the system's"):
        ffmpeg.find_ffmpeg()
    with pytest.raises(OutputError, match="there is none on the PATH"):
        ffmpeg.find_ffmpeg(use_system=True)


def test_an_ffmpeg_that_cannot_be_started_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be started"):
        ffmpeg.encode([], [str(tmp_path / "nothing")], tmp_path)
    with pytest.raises(OutputError, match="cannot be started"):
        ffmpeg.run([str(tmp_path / "nothing")], tmp_path)


def test_ctrl_c_in_the_terminal_does_not_reach_ffmpeg(tmp_path: Path) -> None:
    leads_own_group = "import os, sys; sys.stdin.read(); sys.exit(os.getpgid(0) != os.getpid())"
    ffmpeg.encode([b""], [sys.executable, "-c", leads_own_group], tmp_path)
    ffmpeg.run([sys.executable, "-c", leads_own_group], tmp_path)


def test_a_wav_file_over_4_gib_is_refused_with_another_way() -> None:
    check_size(OUTPUTS["wav"], 24 * 3600 * RATE_HZ, "book.wav")
    check_size(OUTPUTS["flac"], 30 * 3600 * RATE_HZ, "book.flac")
    with pytest.raises(OutputError, match="Write FLAC"):
        check_size(OUTPUTS["wav"], 25 * 3600 * RATE_HZ, "book.wav")


def test_two_runs_cannot_write_one_target_at_the_same_time(tmp_path: Path) -> None:
    target = tmp_path / "book.m4b"
    with work_folder(target) as folder:
        (folder / "part").touch()
        with pytest.raises(LockedError, match="another run"), work_folder(target):
            pass
        assert (folder / "part").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / ".book.m4b.part"
    left.mkdir()
    (left / "half").touch()
    with work_folder(tmp_path / "book.m4b") as folder:
        assert list(folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == []
