"""Subtitles and read-along books of a run: with the audiobook, or at any time after it."""

import json
import os
import zipfile
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pysubs2
import pytest

from pocket_batch.config import load_pipeline
from pocket_batch.data import Utterance
from pocket_batch.jobs.audiobook import AudiobookJob, run_audiobook
from pocket_batch.jobs.progress import Silent
from pocket_batch.jobs.record import earlier_results
from pocket_batch.jobs.subtitles import write_subtitles
from pocket_batch.manifest import Manifest
from pocket_batch.outputs.readalong_check import find_faults
from pocket_batch.records import MasteredChapter, TimedLine
from pocket_batch.work_folder import WorkFolder

Command = Callable[..., int]
TONE = ("--voice", "tone", "--executor", "local", "--log-format", "plain")


def record(story: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((story.parent / "story.work" / "run.json").read_text())
    return found


def test_subtitles_have_the_times_of_the_timeline(story: Path, command: Command) -> None:
    assert command(story, *TONE, "--subtitles", "srt", "--subtitles", "ass") == 0
    work = story.parent / "story.work"
    timed = list(Manifest(work / "timeline.jsonl", TimedLine).read())
    chapters = list(Manifest(work / "chapters.jsonl", MasteredChapter).read())
    offsets = dict(
        zip((c.number for c in chapters), accumulate([0, *(c.num_samples for c in chapters)]),
            strict=False)
    )  # fmt: skip
    subs = pysubs2.load(str(story.with_suffix(".srt")))
    begins = [round((offsets[t.chapter] + t.begin) / 24) for t in timed]
    assert [event.start for event in subs] == pytest.approx(begins, abs=1)
    assert subs[1].plaintext.split() == "The door was open, and nobody had opened it.".split()
    assert len(pysubs2.load(str(story.with_suffix(".ass")))) == len(subs)
    names = [Path(o["path"]).name for o in record(story)["outputs"]]
    assert names == ["story.m4b", "story.srt", "story.ass"]


def test_each_file_of_a_split_book_has_its_own(story: Path, command: Command) -> None:
    assert command(story, *TONE, "--split-chapters", "--format", "mp3", "--subtitles", "vtt") == 0
    folder = story.with_name("story")
    audio = sorted(folder.glob("*.mp3"))
    assert len(audio) == 2
    for path in audio:
        subs = pysubs2.load(str(path.with_suffix(".vtt")))
        assert subs[0].start == 500  # the lead-in: times count from the beginning of the file


def test_the_text_is_that_of_the_book_and_not_its_spoken_form(
    tmp_path: Path, command: Command
) -> None:
    story = tmp_path / "story.txt"
    story.write_text("It was 5:30 when Dr. Gray [pause 800ms] paid $5 to her.\n\nNo one saw it.\n")
    assert command(story, *TONE, "--subtitles", "srt") == 0
    text = " ".join(
        e.plaintext.replace("\n", " ") for e in pysubs2.load(str(tmp_path / "story.srt"))
    )
    assert "It was 5:30 when Dr. Gray" in text
    assert "paid $5 to her." in text
    assert "pause" not in text


def test_what_is_added_later_costs_no_speech_and_no_encoding(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(story, *TONE) == 0
    output, speech = story.with_suffix(".m4b"), story.parent / "story.work" / "utterances.jsonl"
    before = output.stat().st_mtime_ns, speech.read_bytes()
    capsys.readouterr()
    assert command(story, *TONE, "--subtitles", "srt", "--read-along") == 0
    assert (output.stat().st_mtime_ns, speech.read_bytes()) == before
    shown = "".join(capsys.readouterr())
    assert "Wrote subtitles" in shown
    assert "to read along with" in shown
    assert "Speaking" not in shown
    assert find_faults(story.with_name("story (read-along).epub")) == []
    run = record(story)
    assert [o.get("kind") for o in run["outputs"]] == [None, "srt", "read-along"]
    assert run["settings"]["write"]["subtitles"] == ["srt"]  # for a run that makes it anew
    assert run["settings"]["write"]["read_along"] is True


def test_the_same_command_again_writes_nothing(story: Path, command: Command) -> None:
    words = (story, *TONE, "--subtitles", "srt", "--read-along")
    assert command(*words) == 0
    paths = [story.with_suffix(".srt"), story.with_name("story (read-along).epub")]
    before = [path.stat().st_mtime_ns for path in paths]
    assert command(*words) == 0
    assert [path.stat().st_mtime_ns for path in paths] == before
    paths[0].unlink()
    assert command(*words) == 0
    assert paths[0].exists()
    assert paths[1].stat().st_mtime_ns == before[1]


def test_a_file_of_the_user_is_never_replaced(story: Path, command: Command) -> None:
    mine = story.with_suffix(".srt")
    mine.write_text("mine")
    assert command(story, *TONE, "--subtitles", "srt") == 5
    assert mine.read_text() == "mine"
    assert not story.with_suffix(".m4b").exists()
    assert command(story, *TONE, "--subtitles", "srt", "--overwrite") == 0
    assert mine.read_text() != "mine"
    mine.write_text("changed by hand")
    assert command(story, *TONE, "--subtitles", "srt") == 5
    assert mine.read_text() == "changed by hand"


def test_a_run_that_was_killed_over_its_extras_makes_them_at_last(
    story: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*arguments: object, **more: object) -> None:
        raise KeyboardInterrupt

    extras = {"write.subtitles": ["srt"], "write.read_along": True}
    pipeline = load_pipeline(None, {"voice": "tone", "executor.name": "local"} | extras)
    output = story.with_suffix(".m4b")
    job = AudiobookJob(story, output, story.parent / "story.work", pipeline)
    with monkeypatch.context() as patch:
        patch.setattr("pocket_batch.jobs.readalong.write_file", killed)
        with pytest.raises(KeyboardInterrupt):
            run_audiobook(job, Silent())
    before = story.with_suffix(".m4b").stat().st_mtime_ns
    assert command(story, *TONE, "--subtitles", "srt", "--read-along") == 0
    assert story.with_suffix(".m4b").stat().st_mtime_ns == before
    assert story.with_name("story (read-along).epub").exists()
    assert not (story.parent / "story.work" / "read-along.part").exists()


def test_when_the_speech_is_gone_subtitles_can_still_be_made(story: Path, command: Command) -> None:
    assert command(story, *TONE) == 0
    audio = story.parent / "story.work" / "audio"
    os.rename(audio, story.parent / "gone")
    assert command(story, *TONE, "--subtitles", "srt") == 0
    assert not audio.exists()


def test_another_format_does_not_forget_the_subtitles_of_the_first(
    story: Path, command: Command
) -> None:
    assert command(story, *TONE, "--subtitles", "srt") == 0
    assert command(story, *TONE, "--subtitles", "srt", "--format", "flac") == 0
    assert len(earlier_results(WorkFolder(story.parent / "story.work"))) == 2


def test_times_of_words_count_from_the_audio_of_their_utterance(
    story: Path, command: Command
) -> None:
    assert command(story, *TONE) == 0
    work = WorkFolder(story.parent / "story.work")
    first = next(
        u for u in Manifest(work.file("utterances.jsonl"), Utterance).read()
        if u.segment_id == "001-0002"
    )  # fmt: skip
    times = {first.key: (("The", 0.0, 0.2), ("door", 0.5, 0.6), ("was", 0.7, 0.9))}
    pipeline = load_pipeline(None, {"voice": "tone"})
    output = story.with_suffix(".m4b")
    made = write_subtitles(story, work, [output], pipeline, ["vtt"], word_times=times)
    assert list(made.values()) == ["vtt"]
    text = output.with_suffix(".vtt").read_text()
    assert text.count(">door") == 1
    assert text.count(">was") == 1


def test_an_epub_keeps_its_name_beside_the_read_along_one(
    tmp_path: Path, corpus: Path, command: Command
) -> None:
    source = tmp_path / "book.epub"
    source.write_bytes((corpus / "epub-micro" / "w3c-footnote.epub").read_bytes())
    before = source.read_bytes()
    assert command(source, *TONE, "--read-along") in (0, 10)
    assert source.read_bytes() == before
    made = tmp_path / "book (read-along).epub"
    assert find_faults(made) == []
    with zipfile.ZipFile(made) as archive:
        assert any(name.endswith(".m4a") for name in archive.namelist())


def test_subtitles_of_an_audiobook_that_is_made_anew_are_made_anew_as_well(
    story: Path, command: Command
) -> None:
    """Though nobody asks for them again; those that somebody changed are left alone."""
    assert command(story, *TONE, "--subtitles", "srt", "--subtitles", "vtt") == 0
    srt, vtt = story.with_suffix(".srt"), story.with_suffix(".vtt")
    before = srt.read_text()
    vtt.write_text("mine")
    longer = ("--overwrite", "--set", "segment.pauses.paragraph_ms=3000")
    assert command(story, *TONE, *longer) == 0
    assert srt.read_text() != before
    assert vtt.read_text() == "mine"
