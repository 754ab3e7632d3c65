"""Single lines are spoken again: what changes, what stays, and that no later run undoes it."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocket_batch.audio.ffmpeg import decode
from pocket_batch.cli.main import main
from pocket_batch.data import Segment, Utterance
from pocket_batch.jobs.redone import Redone, merged, place, with_redone
from pocket_batch.lock import Lock
from pocket_batch.manifest import Manifest
from pocket_batch.records import TimedLine

Command = Callable[..., int]
TONE = ("--voice", "tone", "--executor", "local", "--log-format", "plain", "--format", "wav")
LOG = ("--log-format", "plain")


@pytest.fixture
def made(story: Path, command: Command) -> Path:
    """The work folder of a finished book."""
    assert command(story, *TONE) == 0
    return story.parent / "story.work"


def utterances(work: Path) -> dict[str, Utterance]:
    return {u.key: u for u in Manifest(work / "utterances.jsonl", Utterance).read()}


def keys(work: Path) -> dict[str, str]:
    return {t.segment_id: t.key for t in Manifest(work / "timeline.jsonl", TimedLine).read()}


def segments(work: Path) -> dict[str, Segment]:
    return {s.id: s for s in Manifest(work / "segments.jsonl", Segment).read()}


def redone(work: Path) -> list[dict[str, Any]]:
    path = work / "redo.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_another_take_of_one_line_changes_that_line_alone(made: Path, command: Command) -> None:
    before, spoken = keys(made), utterances(made)
    sound = decode(made.with_name("story.wav"))
    assert command("redo", made, "--segment", "001-0002", *LOG) == 0
    now = keys(made)
    assert {name for name in now if now[name] != before[name]} == {"001-0002"}
    new = utterances(made).keys() - spoken.keys()
    assert new == {now["001-0002"]}
    lines = {t.segment_id: t for t in Manifest(made / "timeline.jsonl", TimedLine).read()}
    line, again = lines["001-0002"], decode(made.with_name("story.wav"))
    assert len(again) == len(sound)
    change = np.abs(again.astype(np.int32) - sound)
    assert change[: line.begin].max() <= 20  # the gain of the book is a hair different
    assert change[line.end :].max() <= 20
    assert change[line.begin : line.end].max() > 1_000


def test_each_redo_is_another_take(made: Path, command: Command) -> None:
    found = {keys(made)["001-0002"]}
    for _ in range(2):
        assert command("redo", made, "--segment", "001-0002", *LOG) == 0
        found.add(keys(made)["001-0002"])
    assert len(found) == 3
    assert [choice["take"] for choice in redone(made)] == [2]


def test_the_command_of_the_book_honours_what_was_chosen(
    story: Path, made: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("redo", made, "--segment", "001-0002", "--text", "Another text.", *LOG) == 0
    chosen, sound = keys(made), story.with_name("story.wav").read_bytes()
    capsys.readouterr()
    assert command(story, *TONE) == 0
    assert "already done" in capsys.readouterr().err
    assert command(story, *TONE, "--format", "flac") == 0
    assert keys(made) == chosen
    assert segments(made)["001-0002"].text == "Another text."
    assert command(story, *TONE) == 0
    assert story.with_name("story.wav").read_bytes() == sound
    story.with_name("story.wav").unlink()
    assert command(story, *TONE, "--fresh") == 0
    assert keys(made) == chosen


def test_a_redo_that_was_stopped_is_done_by_the_next_run(
    story: Path, made: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pocket_batch.errors import StoppedError

    def stop(*args: object) -> None:
        raise StoppedError("Stopped.")

    sound = story.with_name("story.wav").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("pocket_batch.jobs.making.Making.complete", stop)
        assert command("redo", made, "--segment", "001-0002", "--text", "Other words.", *LOG) == 75
    assert story.with_name("story.wav").read_bytes() == sound
    assert command(story, *TONE) == 0
    assert segments(made)["001-0002"].text == "Other words."
    assert story.with_name("story.wav").read_bytes() != sound


def test_a_line_that_is_heard_twice_changes_in_both_places(made: Path, command: Command) -> None:
    before = keys(made)
    twice = [name for name, s in segments(made).items() if "an hour ago" in s.text]
    assert len(twice) == 2
    assert command("redo", made, "--segment", twice[1], "--text", "It rained.", *LOG) == 0
    now = keys(made)
    assert now[twice[0]] == now[twice[1]]
    assert {name for name in now if now[name] != before[name]} == set(twice)


def test_undo_brings_back_what_the_book_has_and_speaks_nothing(
    story: Path, made: Path, command: Command
) -> None:
    before, sound = keys(made), story.with_name("story.wav").read_bytes()
    assert command("redo", made, "--chapter", "1", *LOG) == 0
    assert command("redo", made, "--segment", "001-0002", "--text", "Other words.", *LOG) == 0
    spoken = utterances(made)
    assert keys(made) != before
    assert command("redo", made, "--chapter", "1", "--undo", *LOG) == 0
    assert keys(made) == before
    assert utterances(made) == spoken
    assert story.with_name("story.wav").read_bytes() == sound
    assert redone(made) == []


def test_a_chapter_and_the_suspects_can_be_chosen(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    story.write_text(story.read_text().replace("She came back", "She came error: back"))
    assert command(story, *TONE) == 10
    work = story.parent / "story.work"
    bad = next(name for name, s in segments(work).items() if "error:" in s.text)
    assert command("redo", work, "--suspect", "--text", "She came back early.", *LOG) == 0
    assert segments(work)[bad].text == "She came back early."
    assert (work / "failures.jsonl").read_text() == ""
    capsys.readouterr()
    assert command("redo", work, "--suspect", *LOG) == 2
    assert "nothing in it is suspect" in capsys.readouterr().err


def test_another_voice_speaks_one_line(
    made: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    voices = tmp_path / "config" / "pocket-batch" / "voices"
    voices.mkdir(parents=True)
    (voices / "hum.yaml").write_text("name: hum\nengine: fake\nlanguage: en\nlicence: CC0-1.0\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    before = keys(made)
    assert command("redo", made, "--segment", "002-0002", "--voice", "hum", *LOG) == 0
    now = keys(made)
    assert {name for name in now if now[name] != before[name]} == {"002-0002"}
    assert segments(made)["002-0002"].voice == "hum"
    assert json.loads((made / "run.json").read_text())["cast"]["hum"]["name"] == "hum"
    assert command("redo", made, "--segment", "002-0002", "--voice", "heart", *LOG) == 2
    assert redone(made)[0]["voice"] == "hum"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The work folder of a finished book that no test changes."""
    book = tmp_path_factory.mktemp("kept") / "story.txt"
    book.write_text("Title: A Story\n\nChapter 1. Out\n\nShe went out.\n\nThe rain had stopped.\n")
    assert main([str(book), *TONE]) == 0
    return book.parent / "story.work"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--segment", "009-0009"), 2, "there is no segment `009-0009`"),
        (("--chapter", "7"), 2, "there is no chapter 7"),
        ((), 2, "Give one of"),
        (("--chapter", "1", "--suspect"), 2, "Give one of"),
        (("--chapter", "1", "--text", "One."), 2, "--text is for one line"),
        (("--segment", "001-0002", "--text", "word " * 200), 2, "too long for one utterance"),
        (("--segment", "001-0002", "--text", "..."), 2, "nothing in it that can be spoken"),
        (("--segment", "001-0002", "--text", " "), 2, "--text is empty"),
        (("--segment", "001-0002", "--undo", "--text", "One."), 2, "leave --text"),
        (("--segment", "001-0002", "--voice", "nobody"), 4, "no voice `nobody`"),
    ],
)
def test_what_cannot_be_chosen_is_refused_and_nothing_changes(
    kept: Path, command: Command, capsys: pytest.CaptureFixture[str], words: tuple[str, ...],
    code: int, told: str,
) -> None:  # fmt: skip
    before = {path.name: path.read_bytes() for path in kept.iterdir() if path.is_file()}
    assert command("redo", kept, *words, *LOG) == code
    assert told in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in kept.iterdir() if path.is_file()}


def test_a_folder_that_a_run_holds_is_refused(
    made: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = Lock(made / "lock")
    lock.take()
    try:
        assert command("redo", made, "--segment", "001-0002", *LOG) == 6
    finally:
        lock.release()
    assert "Nothing was changed" in capsys.readouterr().err
    assert redone(made) == []


def test_a_book_that_was_moved_is_named_and_one_that_was_changed_is_refused(
    story: Path, made: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = story.rename(story.with_name("moved.txt"))
    assert command("redo", made, "--segment", "001-0002", *LOG) == 3
    assert "--source" in capsys.readouterr().err
    assert command("redo", made, "--segment", "001-0002", "--source", moved, *LOG) == 0
    moved.write_text(moved.read_text().replace("hour", "day"))
    assert command("redo", made, "--segment", "001-0002", "--source", moved, *LOG) == 3
    assert "has changed since" in capsys.readouterr().err


def test_a_folder_without_a_run_is_refused(tmp_path: Path, command: Command) -> None:
    assert command("redo", tmp_path, "--segment", "001-0002", *LOG) == 3
    assert command("redo", tmp_path / "not-there", "--segment", "001-0002", *LOG) == 3
    assert not list(tmp_path.iterdir())


def test_an_output_that_others_changed_is_not_replaced_unasked(
    story: Path, made: Path, command: Command
) -> None:
    output = story.with_name("story.wav")
    output.write_bytes(b"something of mine")
    assert command("redo", made, "--segment", "001-0002", *LOG) == 5
    assert output.read_bytes() == b"something of mine"
    assert command("redo", made, "--segment", "001-0002", "--overwrite", *LOG) == 0


def test_it_is_made_again_as_it_was_asked_for_from_any_folder(
    story: Path, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Chapters, title, authors, a cover, and files that were named from where the run began."""
    from PIL import Image

    monkeypatch.chdir(story.parent)
    Image.new("RGB", (8, 8), "red").save("cover.png")
    Path("words.yaml").write_text("rain: drizzle\n")
    asked = ("--chapters", "2", "--title", "Mine", "--author", "Me", "--cover", "cover.png")
    assert command("story.txt", *TONE, *asked, "--lexicon", "words.yaml", "-o", "mine.wav") == 0
    work = story.parent / "story.work"
    work = work if work.is_dir() else story.parent / "mine.work"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    first = next(iter(segments(work)))
    assert command("redo", os.path.relpath(work), "--segment", first, *LOG) == 0
    run = json.loads((work / "run.json").read_text())
    assert run["choices"]["chapters"] == [2]
    assert run["target"] == str(story.parent / "mine.wav")
    assert any("drizzle" in s.text for s in segments(work).values())
    monkeypatch.chdir(story.parent)
    assert command("story.txt", *TONE, *asked, "--lexicon", "words.yaml", "-o", "mine.wav") == 0


def test_an_engine_that_knows_no_other_take_is_said_so(
    made: Path,
    command: Command,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pocket_batch.engine import fake

    tone = fake._tone
    before = {u.segment_id: u.seed for u in utterances(made).values()}
    monkeypatch.setattr(fake, "_tone", lambda r: tone(replace(r, seed=before[r.segment_id])))
    assert command("redo", made, "--segment", "001-0002", *LOG) == 0
    assert "sounds as before" in capsys.readouterr().err
    assert command("redo", made, "--segment", "001-0002", "--text", "Other words.", *LOG) == 0
    assert "sounds as before" not in capsys.readouterr().err


def test_a_choice_follows_its_text_when_lines_before_it_come_and_go() -> None:
    old = [Segment(f"001-{n:04d}", 1, text, "a", 0) for n, text in enumerate("ABC", 1)]
    new = [Segment(f"001-{n:04d}", 1, text, "a", 0) for n, text in enumerate("XABC", 1)]
    choice = Redone("001-0002", "B", text="Bee", take=2)
    assert [s.text for s in place(old, [choice]).segments] == ["A", "Bee", "C"]
    placed = place(new, [choice])
    assert [s.text for s in placed.segments] == ["X", "A", "Bee", "C"]
    assert placed.takes == {"001-0003": 2}
    assert placed.redone[0].segment_id == "001-0003"


def test_a_choice_whose_text_is_gone_is_kept_and_changes_nothing() -> None:
    lines = [Segment("001-0001", 1, "A", "a", 0), Segment("001-0002", 1, "A", "a", 0)]
    gone, unclear = Redone("001-0001", "Q", text="R"), Redone("001-0009", "A", take=1)
    placed = place(lines, [gone, unclear])
    assert placed.segments == tuple(lines)
    assert placed.stale == (gone, unclear)


def test_choices_replace_each_other_and_nothing_is_as_if_never_chosen() -> None:
    one, two, none = Redone("1", "A", take=1), Redone("1", "A", take=2), Redone("1", "A")
    assert merged([one], [two]) == (two,)
    assert merged([one], [none]) == ()
    assert with_redone("f", ()) == "f"
    assert len({with_redone("f", [c]) for c in (one, two, replace(one, text="x"))}) == 3
