"""`inspect`: what will be spoken, what will not, and the words to say how to say."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.jobs.lexicon_file import read_lexicon

Command = Callable[..., int]
Shown = Callable[..., str]

STORY = """\
Title: A Small Story
Author: Nobody

Chapter 1. Out

Dr. Zorvath had 3 keys. [pause 800ms] The door was open.

[voice marius] “Zorvath!” [/voice] cried Quellin to Zorvath. [pause lots]

* * *

She went out.

Chapter 2. Back

She came back at 5 p.m. with Quellin.
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "tale.txt"
    path.write_text(STORY, encoding="utf-8")
    return path


@pytest.fixture
def shown(command: Command, capsys: pytest.CaptureFixture[str]) -> Shown:
    """What `inspect` with some words prints; it must succeed."""

    def run(*words: object) -> str:
        assert command("inspect", *words) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def facts(shown: Shown) -> Callable[..., dict[str, Any]]:
    """What `inspect --json` with some words says."""

    def run(*words: object) -> dict[str, Any]:
        found = json.loads(shown(*words, "--json"))
        assert isinstance(found, dict)
        return found

    return run


def test_text_is_what_will_be_spoken_with_voices_and_pauses(book: Path, shown: Shown) -> None:
    lines = shown(book, "--text").splitlines()
    assert [line for line in lines if line] == [
        "=== 1. Chapter 1. Out",
        "# Chapter one. Out.",
        "Doctor Zorvath had three keys. [pause 800ms] The door was open.",
        '[voice marius] "Zorvath!" [/voice] cried Quellin to Zorvath. [pause lots]',
        "* * *",
        "She went out.",
        "=== 2. Chapter 2. Back",
        "# Chapter two. Back.",
        "She came back at five PM with Quellin.",
    ]


def test_wrong_marks_and_the_lexicon_are_told_beside_the_text(
    book: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    book.with_name("tale.lexicon.yaml").write_text("Zorvath: ZOR-vath\n", encoding="utf-8")
    assert command("inspect", book, "--text") == 0
    said = capsys.readouterr()
    assert "three keys" in said.out
    assert "ZOR-vath" in said.out
    assert "Zorvath" not in said.out
    assert "Warning: tale.txt:8: `[pause lots]`" in said.err
    assert "tale.lexicon.yaml beside the book" in said.err
    assert command("inspect", book) == 0
    assert "Warning: tale.txt:" in capsys.readouterr().out


def test_titles_and_counts_have_no_marks(tmp_path: Path, shown: Shown) -> None:
    book = tmp_path / "marked.md"
    book.write_text("# One [pause 1s] Two\n\nThree [pause] four.\n", encoding="utf-8")
    said = shown(book)
    assert "[pause" not in said
    assert "1 chapter, 4 words" in said


def test_options_change_what_is_read_as_they_do_for_an_audiobook(
    book: Path, shown: Shown, tmp_path: Path
) -> None:
    assert "Chapter two" not in shown(book, "--text", "--chapters", "1")
    lexicon = tmp_path / "other.csv"
    lexicon.write_text("Quellin,kwell-in\n", encoding="utf-8")
    assert "kwell-in to Zorvath" in shown(book, "--text", "--lexicon", lexicon)
    assert "kwell-in" in shown(book, "--text", "--set", f"normalize.lexicon={lexicon}")
    assert "three" not in shown(book, "--text", "--language", "de")


def test_a_wrong_option_or_lexicon_is_a_usage_error(
    book: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = book.with_name("bad.yaml")
    bad.write_text("entries:\n- {written: '(', spoken: x, regex: true}\n", encoding="utf-8")
    for words, says in (
        (("--chapters", "9"), "no chapter 9"),
        (("--language", "English"), "`en`"),
        (("--lexicon", bad), "line 2"),
        (("--set", "read.notez=drop"), "`notes`"),
    ):
        assert command("inspect", book, "--text", *words) == 2
        assert says in capsys.readouterr().err


def test_unknown_lists_words_that_can_be_saved_as_a_lexicon(book: Path, shown: Shown) -> None:
    said = shown(book, "--unknown")
    words = [line for line in said.splitlines() if not line.startswith("#")]
    assert [line.split(":")[0] for line in words] == ["Zorvath", "Quellin"]
    assert "# 3 times, first in tale.txt:6" in words[0]
    saved = book.with_name("tale.lexicon.yaml")
    saved.write_text(said, encoding="utf-8")
    assert read_lexicon(saved) == ()
    assert "Doctor Zorvath" in shown(book, "--text")
    saved.write_text(said.replace("Zorvath: ", "Zorvath: ZOR-vath"), encoding="utf-8")
    said = shown(book, "--text")
    assert "Doctor ZOR-vath had three keys" in said
    assert '[voice marius] "ZOR-vath!" [/voice]' in said
    assert "Zorvath" not in shown(book, "--unknown")


def test_json_has_the_text_and_the_unknown_words_when_they_are_asked_for(
    book: Path, facts: Callable[..., dict[str, Any]]
) -> None:
    plain = facts(book)
    assert "unknown" not in plain
    assert "text" not in plain["chapters"][0]
    assert plain["dropped"][0]["where"] == "tale.txt:1"
    assert any("[pause lots]" in warning for warning in plain["warnings"])
    whole = facts(book, "--text", "--unknown")
    assert whole.keys() == plain.keys() | {"unknown"}
    first = whole["chapters"][0]["text"]
    assert first[0] == {"kind": "heading", "text": "Chapter one. Out.", "where": "tale.txt:4"}
    assert first[1]["pause_after_ms"] == 800
    assert first[1]["continues"] is True
    assert first[3]["voice"] == "marius"
    assert whole["unknown"][0] == {
        "word": "Zorvath", "count": 3, "where": "tale.txt:6", "is_name": True,
    }  # fmt: skip


def test_dropped_text_follows_with_its_place_and_reason(shown: Shown) -> None:
    sample = Path(__file__).parents[2] / "jobs" / "samples" / "tide-clock.epub"
    for words in (("--dropped",), ("--text", "--dropped")):
        said = shown(sample, *words)
        assert "The baker’s cat was not counted" in said
        assert ".xhtml" in said
    assert "baker’s cat" not in shown(sample, "--text")


def test_long_lines_are_whole_in_a_pipe(tmp_path: Path, shown: Shown) -> None:
    book = tmp_path / "long.txt"
    title = "A Very Long Title " * 20
    book.write_text(f"Title: {title}\n\nChapter 1. Out\n\n{'word and ' * 100}end.", "utf-8")
    assert title.strip() in shown(book)
    assert any(len(line) > 800 for line in shown(book, "--text").splitlines())


@pytest.mark.parametrize("option", ["--text", "--unknown", "--json"])
def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path, option: str) -> None:
    book = tmp_path / "big.txt"
    names = " ".join(f"Zorva{chr(97 + i % 26)}th{chr(97 + i // 26)}" for i in range(600))
    book.write_text("Chapter 1\n\n" + f"So he saw {names} go.\n\n" * 50, encoding="utf-8")
    command = [sys.executable, "-m", "pocket_batch", "inspect", str(book), option]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0


def test_no_model_and_no_engine_is_needed(book: Path) -> None:
    code = (
        "import sys; from pocket_batch.cli.main import main; "
        f"main(['inspect', {str(book)!r}, '--text', '--unknown']); "
        "assert not {'torch', 'ray', 'onnxruntime'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_novel_is_shown_in_seconds(corpus: Path, shown: Shown) -> None:
    book = corpus / "text" / "pg1342_pride_and_prejudice.txt"
    started = time.monotonic()
    text = shown(book, "--text", "--unknown")
    assert time.monotonic() - started < 30
    assert "It is a truth universally acknowledged" in text
    assert "Bingley:" in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("option", ["--text", "--unknown"])
def test_what_does_not_fit_on_a_disk_is_told_and_is_no_success(book: Path, option: str) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "pocket_batch", "inspect", book, option],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert ended.returncode == 5
    assert "No space left" in ended.stderr
    assert "bug" not in ended.stderr
