"""Bad input: one clear sentence, the right exit code, and nothing half-written."""

import argparse
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.cli.audiobook import parse_chapters
from pocket_batch.cli.book import add_choice_arguments, choices_of
from pocket_batch.errors import UsageError

Command = Callable[..., int]
TONE = ("--voice", "tone", "--executor", "local", "--log-format", "plain")


def make(path: Path, data: bytes = b"") -> Path:
    path.write_bytes(data)
    return path


def empty_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w"):
        pass
    return path


SAMPLE = Path(__file__).parents[2] / "jobs" / "samples" / "tide-clock.epub"

REFUSED = {
    "missing": lambda folder: folder / "none.epub",
    "a folder": lambda folder: folder,
    "a long name": lambda folder: folder / ("x" * 300 + ".txt"),
    "unknown suffix": lambda folder: make(folder / "book.pdf", b"%PDF-1.7"),
    "no suffix": lambda folder: make(folder / "book", b"text"),
    "empty epub": lambda folder: make(folder / "book.epub"),
    "not a zip": lambda folder: make(folder / "book.epub", b"hello " * 100),
    "zip of nothing": lambda folder: empty_zip(folder / "book.epub"),
    "truncated": lambda folder: make(
        folder / "book.epub", SAMPLE.read_bytes()[: SAMPLE.stat().st_size // 2]
    ),
    "empty text": lambda folder: make(folder / "book.txt"),
    "binary text": lambda folder: make(folder / "book.txt", bytes(range(256)) * 20),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_an_input_that_cannot_be_read_is_refused_with_3(
    kind: str, tmp_path: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    book = REFUSED[kind](folder)
    before = sorted(folder.rglob("*"))
    for words in ((book, *TONE), ("inspect", book)):
        assert command(*words) == 3
        messages = capsys.readouterr().err.splitlines()
        assert messages[-1].startswith("pocket-batch: ")
        assert book.name in messages[-1]
        assert len(messages) == 1 + messages[0].startswith("Voice tone")
    assert sorted(folder.rglob("*")) == before


def test_an_encrypted_book_is_refused_as_such(
    corpus: Path, tmp_path: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(corpus / "hazards" / "h35_drm.epub", *TONE, "-o", tmp_path / "x.m4b") == 3
    assert "DRM" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--voice", "nobody"), 4, "no voice `nobody`"),
        (("--voice", "emma"), 4, "emma"),
        (("--language", "fr"), 4, "speaks en"),
        (("--chapters", "9"), 2, "no chapter 9"),
        (("--chapters", "1-"), 2, "1,3-5"),
        (("--set", "write.bitrat=3"), 2, "bitrate_kbps"),
        (("--set", "stages=[read, write]"), 2, "in this order"),
        (("--workers", "many"), 2, "--workers"),
        (("--workers", "999"), 2, "999"),
        (("--pipeline", "none.yaml"), 2, "none.yaml"),
        (("--fresh", "--resume"), 2, "give one"),
        (("-o", "x.mp3", "--format", "m4b"), 2, "does not fit the format"),
        (("-o", "x.ogg"), 2, ".m4b, .mp3, .opus"),
        (("-o", "story.txt", "--overwrite"), 2, "the book itself"),
        (("-o", "x.m4b", "--work", "x.m4b"), 2, "are both"),
        (("--loudness", "acx", "--target-lufs", "-20"), 2, "leave --target-lufs out"),
        (("--chapters", "1-3000000000"), 2, "1,3-5"),
        (("--workers", "²"), 2, "--workers"),
        (("--set", "seed=2020-13-45"), 2, "not YAML"),
        (("--set", "seed=" + "[" * 3000), 2, "not YAML"),
        (("-o", "/proc/none/x.m4b"), 5, "/proc"),
    ],
)
def test_a_wrong_option_ends_with_its_code_and_a_sentence(
    words: tuple[str, ...],
    code: int,
    says: str,
    story: Path,
    command: Command,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HIBARI_HOME", str(story.parent / "no-voices"))
    monkeypatch.chdir(story.parent)
    assert command(story, *TONE, *words) == code
    captured = capsys.readouterr()
    assert says in captured.err
    assert "Traceback" not in captured.err
    assert not list(story.parent.glob("*.m4b"))


@pytest.mark.parametrize(("word", "meant"), [("inspct", "inspect"), ("voice", "voices")])
def test_a_command_that_is_misspelled_is_told_and_not_taken_for_a_book(
    word: str, meant: str, story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(word, story) == 2
    assert f"Did you mean `{meant}`?" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused_before_any_work(
    story: Path, tmp_path: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    assert command(story, *TONE, "-o", locked / "x.m4b") == 5
    assert "no permission" in capsys.readouterr().err


def test_a_disk_without_room_is_told_before_any_work(
    story: Path,
    command: Command,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import shutil

    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    assert command(story, *TONE) == 5
    assert "are free" in capsys.readouterr().err


def test_a_list_of_chapters_is_numbers_and_ranges() -> None:
    assert parse_chapters("1,3-5") == {1, 3, 4, 5}
    assert parse_chapters("") == frozenset()
    for text in ("a", "5-3", "0", "1,,2", "-1"):
        with pytest.raises(UsageError):
            parse_chapters(text)


def test_an_author_without_a_name_is_none() -> None:
    parser = argparse.ArgumentParser()
    add_choice_arguments(parser)
    args = parser.parse_args(["--author", "", "--author", "Ann", "--author", " "])
    assert choices_of(args).authors == ("Ann",)
