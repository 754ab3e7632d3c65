"""The script of a book: written, edited by a person, and spoken as it stands."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.data import Segment, Utterance
from pocket_batch.manifest import Manifest

Command = Callable[..., int]
TONE = ("--voice", "tone", "--log-format", "plain")
LOCAL = ("--executor", "local", "--log-format", "plain")
SAMPLE = Path(__file__).parents[2] / "jobs" / "samples" / "tide-clock.epub"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def spoken(work: Path) -> list[Utterance]:
    return list(Manifest(work / "utterances.jsonl", Utterance).read())


def segments(work: Path) -> list[Segment]:
    return list(Manifest(work / "segments.jsonl", Segment).read())


def own_voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Tones by other names."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "pocket-batch" / "voices"
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"{name}.yaml").write_text(
            f"{{name: {name}, engine: fake, language: en, licence: CC0-1.0, source: test}}"
        )


@pytest.fixture
def written(story: Path, command: Command) -> Path:
    """The script of the story, which was never spoken."""
    assert command("script", story, *TONE) == 0
    return story.with_suffix(".jsonl")


def test_the_script_says_what_would_be_spoken(story: Path, written: Path, command: Command) -> None:
    head, *lines = lines_of(written)
    assert head["title"] == "A Small Story"
    assert head["authors"] == ["Nobody"]
    assert head["voice"] == "tone"
    assert [chapter["title"] for chapter in head["chapters"]] == [
        "Chapter 1. Out",
        "Chapter 2. Back",
    ]
    assert command(story, *TONE, "--executor", "local") == 0
    work = story.with_name("story.work")
    assert [Segment(**line) for line in lines] == segments(work)


def test_a_script_speaks_nothing_that_its_book_has_spoken(
    story: Path, written: Path, command: Command
) -> None:
    assert command(story, *TONE, "--executor", "local") == 0
    before = spoken(story.with_name("story.work"))
    assert command(written, *LOCAL) == 0
    assert spoken(story.with_name("story.work")) == before


def test_an_edited_line_alone_is_spoken_again_and_replaces_the_file(
    story: Path, written: Path, command: Command
) -> None:
    assert command(story, *TONE, "--executor", "local") == 0
    before = {u.key for u in spoken(story.with_name("story.work"))}
    made = story.with_suffix(".m4b").stat().st_mtime_ns
    lines = lines_of(written)
    lines[2]["text"] = "The door stood open, and nobody had opened it."
    write_lines(written, lines)
    assert command(written, *LOCAL) == 0
    after = {u.key for u in spoken(story.with_name("story.work"))}
    assert len(after - before) == 1
    assert story.with_suffix(".m4b").stat().st_mtime_ns != made


def test_a_file_that_was_changed_since_is_not_replaced_by_a_script(
    story: Path, written: Path, command: Command
) -> None:
    assert command(story, *TONE, "--executor", "local") == 0
    story.with_suffix(".m4b").write_bytes(b"mine")
    assert command(written, *LOCAL) == 5
    assert story.with_suffix(".m4b").read_bytes() == b"mine"


def test_the_work_folder_of_the_book_is_found_from_elsewhere(
    story: Path, command: Command, tmp_path: Path
) -> None:
    assert command(story, *TONE, "--executor", "local") == 0
    before = spoken(story.with_name("story.work"))
    edits = tmp_path / "edits"
    edits.mkdir()
    assert command("script", story, *TONE, "-o", edits / "mine.jsonl") == 0
    assert command(edits / "mine.jsonl", *LOCAL) == 0
    assert (edits / "mine.m4b").exists()
    assert spoken(story.with_name("story.work")) == before


def test_text_is_spoken_as_it_stands_with_voices_and_pauses_of_its_lines(
    written: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_voices(tmp_path, monkeypatch, "low")
    head, *lines = lines_of(written)
    lines[1] |= {"text": "Dr. Who & 3 of 4", "voice": "low", "pause_after_ms": 123}
    lines[2] |= {"text": "One. [pause 800ms] Two. [voice low] Three."}
    lines.insert(3, {"text": "A line without anything else."})
    del lines[4]
    write_lines(written, [head, *lines])
    assert command(written, *LOCAL) == 0
    found = segments(written.with_name("story.work"))
    assert found[1] == Segment("001-0002", 1, "Dr. Who & 3 of 4", "low", 123)
    parts = [(s.id, s.text, s.voice) for s in found[2:5]]
    assert parts == [
        ("001-0003", "One.", "tone"),
        ("001-0003.2", "Two.", "tone"),
        ("001-0003.3", "Three.", "low"),
    ]
    assert found[2].pause_after_ms == 800
    assert found[4].pause_after_ms == lines[2]["pause_after_ms"]
    assert (found[5].text, found[5].voice, found[5].chapter) == (
        "A line without anything else.",
        "tone",
        1,
    )


def test_a_line_that_is_too_long_is_cut_and_an_empty_one_leaves_its_pause(
    written: Path, command: Command
) -> None:
    head, *lines = lines_of(written)
    lines[1]["text"] = "A very long sentence that goes on, " * 30
    lines[2]["text"] = " "
    lines[2]["pause_after_ms"] = 5000
    write_lines(written, [head, *lines])
    assert command(written, *LOCAL) == 0
    found = segments(written.with_name("story.work"))
    parts = [s for s in found if s.id.startswith("001-0002")]
    assert len(parts) > 2
    assert " ".join(s.text for s in parts) == " ".join(lines[1]["text"].split())
    assert parts[-1].pause_after_ms == 5000
    assert "001-0003" not in {s.id for s in found}


def test_title_chapters_and_cover_come_along(command: Command, tmp_path: Path) -> None:
    from mutagen.mp4 import MP4

    assert command("script", SAMPLE, *TONE, "-o", tmp_path / "clock.jsonl") == 0
    assert (tmp_path / "clock.cover.png").exists()
    assert command(tmp_path / "clock.jsonl", *LOCAL) == 0
    assert command(SAMPLE, *TONE, *LOCAL, "-o", tmp_path / "book.m4b") == 0
    script, book = MP4(tmp_path / "clock.m4b"), MP4(tmp_path / "book.m4b")
    assert script.tags.keys() == book.tags.keys()
    for name in ("©nam", "©ART", "©wrt", "covr"):
        assert script.tags[name] == book.tags[name]
    assert [c.title for c in script.chapters] == [c.title for c in book.chapters]


def test_a_cover_that_is_gone_is_told_of(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("script", SAMPLE, *TONE, "-o", tmp_path / "clock.jsonl") == 0
    (tmp_path / "clock.cover.png").unlink()
    assert command(tmp_path / "clock.jsonl", *LOCAL, "--dry-run") == 0
    assert "clock.cover.png cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "x", "text": "Unfinished', "story.jsonl:4: this line of the script is not JSON"),
        ('{"text": "half \\ud83d"}', "story.jsonl:4: this line of the script is not JSON"),
        ('["text"]', "story.jsonl:4: a line of a script is an object"),
        ('{"id": "x"}', "story.jsonl:4: the line has no `text`"),
        ('{"text": 3}', "story.jsonl:4: `text` is 3; it must be a text"),
        (
            '{"text": "x", "pause_ms": 3}',
            "`pause_ms` is no part of a line. Did you mean `pause_after_ms`",
        ),
        ('{"text": "x", "pause_after_ms": -1}', "must be a whole number from 0"),
        ('{"text": "x", "chapter": true}', "must be a whole number from 1"),
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_lost(
    written: Path, command: Command, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    assert command(written, *LOCAL) == 0
    before = spoken(written.with_name("story.work"))
    made = written.with_suffix(".m4b").read_bytes()
    lines = written.read_text().splitlines(keepends=True)
    written.write_text("".join([*lines[:3], f"{line}\n", *lines[4:]]))
    assert command(written, *LOCAL) == 3
    assert message in capsys.readouterr().err
    assert spoken(written.with_name("story.work")) == before
    assert written.with_suffix(".m4b").read_bytes() == made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ('{"script": 1}\n', "no line of it has text"),
        ('{"script": 2}\n', "script of version 1"),
        ('{"script": 1, "authors": "Nobody"}\n{"text": "x"}\n', "`authors` is 'Nobody'"),
        ('{"script": 1, "chapters": [3]}\n{"text": "x"}\n', "not the first line of a script"),
    ],
)
def test_a_file_that_is_no_script_is_refused(
    tmp_path: Path, command: Command, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (tmp_path / "bad.jsonl").write_text(text)
    assert command(tmp_path / "bad.jsonl", *TONE, "--executor", "local") == 3
    assert message in capsys.readouterr().err


def test_a_script_is_not_overwritten_unasked_and_not_named_otherwise(
    story: Path, written: Path, command: Command
) -> None:
    written.write_text("mine")
    assert command("script", story, *TONE) == 5
    assert written.read_text() == "mine"
    assert command("script", story, *TONE, "--overwrite") == 0
    assert command("script", story, *TONE, "-o", story.with_suffix(".json")) == 2
    assert command("script", written, *TONE) == 2


def test_a_script_makes_the_folder_it_is_written_to(story: Path, command: Command) -> None:
    output = story.parent / "new" / "folder" / "story.jsonl"
    assert command("script", story, *TONE, "-o", output) == 0
    assert output.is_file()


@pytest.mark.parametrize("option", ["--dialogue-voice", "--cast", "--lexicon"])
def test_options_that_do_nothing_to_a_script_are_refused(
    written: Path, command: Command, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert command(written, *LOCAL, option, "tone") == 2
    assert f"{option} does nothing to a script" in capsys.readouterr().err


def test_another_narrator_reads_the_lines_of_the_narrator(
    written: Path, command: Command, tmp_path: Path
) -> None:
    assert command(written, "--voice", "heart", *LOCAL, "--dry-run") == 0
    head, *lines = lines_of(written)
    lines[1]["voice"] = "heart"
    write_lines(written, [head, *lines])
    assert command(written, *LOCAL) == 2  # the narrator is of another engine
    assert command(written, "--voice", "heart", *LOCAL, "--dry-run") == 0


def test_a_whole_book_with_a_cast_comes_back_from_its_script_as_it_was(
    corpus: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pocket_batch.config import load_pipeline
    from pocket_batch.data import Choices
    from pocket_batch.jobs.plan import plan_audiobook
    from pocket_batch.jobs.reading import open_reading

    own_voices(tmp_path, monkeypatch, "low", "high")
    cast, script = tmp_path / "alice.yaml", tmp_path / "alice.jsonl"
    cast.write_text("{dialogue: low, cast: {Alice: high}}")
    book = corpus / "epub" / "pg-alice-epub3.epub"
    assert command("script", book, *TONE, "--cast", cast, "-o", script) == 0
    plans = []
    for source, settings in ((book, {"voice": "tone", "cast": str(cast)}), (script, {})):
        pipeline = load_pipeline(None, settings)
        reading = open_reading(source, Choices(), pipeline)
        plans.append(plan_audiobook(source, reading, pipeline))
    assert plans[0].segments == plans[1].segments
    assert plans[0].requests == plans[1].requests
    assert plans[0].script == plans[1].script
    assert {segment.voice for segment in plans[0].segments} == {"tone", "low", "high"}


def test_control_characters_and_line_ends_in_a_text_are_blanks(
    written: Path, command: Command
) -> None:
    head, *lines = lines_of(written)
    lines[1]["text"] = "One\ttwo\u0000three\nfour."
    write_lines(written, [head, *lines])
    written.write_bytes(b"\xef\xbb\xbf" + written.read_bytes().replace(b"\n", b"\r\n"))
    assert command(written, *LOCAL) == 0
    assert segments(written.with_name("story.work"))[1].text == "One two three four."


def test_the_segments_of_a_work_folder_are_a_script_too(story: Path, command: Command) -> None:
    from pocket_batch.settings import ReadSettings
    from pocket_batch.sources.script import read_script

    assert command(story, *TONE, "--executor", "local") == 0
    book = read_script(story.with_name("story.work") / "segments.jsonl", ReadSettings())
    assert (book.title, book.authors) == ("A Small Story", ("Nobody",))
    assert [c.title for c in book.chapters] == ["Chapter 1. Out", "Chapter 2. Back"]
    assert {b.voice for c in book.chapters for b in c.blocks} == {""}


def test_chapters_of_a_script_can_be_chosen(written: Path, command: Command) -> None:
    assert command(written, *LOCAL, "--chapters", "2") == 0
    assert written.with_name("story (chapters 2).m4b").exists()
    assert {s.chapter for s in segments(written.with_name("story.work"))} == {2}


def test_a_chapter_that_the_first_line_does_not_list_is_told_of(
    written: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    text = written.read_text(encoding="utf-8")
    written.write_text(text.replace('"chapter": 1, "text"', '"chapter": 97, "text"', 1))
    assert command(written, *LOCAL, "--dry-run") == 0
    assert "does not list chapter 97" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["/", ".", "..", "x" * 5000, "a/\0.epub"])
def test_a_source_that_no_book_can_be_is_passed_over(
    written: Path, command: Command, source: str
) -> None:
    head, *lines = lines_of(written)
    write_lines(written, [head | {"source": source}, *lines])
    assert command(written, *LOCAL) == 0
    assert written.with_suffix(".work").is_dir()


def test_a_picture_beside_the_script_is_not_replaced_unasked(
    command: Command, tmp_path: Path
) -> None:
    script = tmp_path / "tide.jsonl"
    options = ("script", SAMPLE, *TONE, "-o", script)
    assert command(*options) == 0
    (cover,) = tmp_path.glob("tide.cover.*")
    cover.write_bytes(b"mine")
    script.unlink()
    assert command(*options) == 5
    assert cover.read_bytes() == b"mine"
    assert command(*options, "--overwrite") == 0
    assert cover.read_bytes() != b"mine"
