"""A whole run, from a text to a file, on the engine that only hums."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pocket_batch.audio.ffmpeg import decode
from pocket_batch.config import load_pipeline
from pocket_batch.data import Failure, Suspect, Utterance
from pocket_batch.errors import StoppedError
from pocket_batch.jobs.audiobook import AudiobookJob, run_audiobook
from pocket_batch.jobs.progress import Progress, Silent
from pocket_batch.manifest import Manifest

Command = Callable[..., int]
TONE = ("--voice", "tone", "--executor", "local", "--log-format", "plain")


def utterances(work: Path) -> list[Utterance]:
    return list(Manifest(work / "utterances.jsonl", Utterance).read())


def test_a_text_becomes_an_audiobook_and_its_work_is_kept(story: Path, command: Command) -> None:
    assert command(story, *TONE) == 0
    record = json.loads((story.parent / "story.work" / "run.json").read_text())
    assert record["status"] == "done"
    assert [Path(o["path"]).name for o in record["outputs"]] == ["story.m4b"]
    assert record["settings"]["master"]["target_lufs"] == -23
    assert record["versions"]["pocket-batch"]
    assert not list(story.parent.rglob("*.part"))


def test_the_finished_file_has_the_loudness_that_was_asked_for(
    story: Path, command: Command
) -> None:
    from pyloudnorm import Meter

    for target in (-23.0, -18.0):
        output = story.with_name(f"story{target}.flac")
        assert command(story, *TONE, "--target-lufs", target, "-o", output) == 0
        samples = decode(output).astype(np.float64) / 32768
        assert Meter(24_000).integrated_loudness(samples) == pytest.approx(target, abs=0.1)


def test_a_repeated_sentence_is_spoken_once_and_heard_twice(story: Path, command: Command) -> None:
    command(story, *TONE, "--format", "wav")
    script = (story.parent / "story.work" / "segments.jsonl").read_text().splitlines()
    assert len(script) == 7
    assert len(utterances(story.parent / "story.work")) == 6


def test_the_same_command_again_does_nothing(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    command(story, *TONE)
    made = (story.parent / "story.m4b").stat().st_mtime_ns
    assert command(story, *TONE) == 0
    assert "already done" in capsys.readouterr().err
    assert (story.parent / "story.m4b").stat().st_mtime_ns == made


def test_another_format_speaks_nothing_again_and_forgets_nothing(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    command(story, *TONE)
    before = utterances(story.parent / "story.work")
    assert command(story, *TONE, "--format", "flac") == 0
    assert utterances(story.parent / "story.work") == before
    assert command(story, *TONE) == 0
    assert command(story, *TONE, "--format", "flac") == 0
    assert capsys.readouterr().err.count("already done") == 2


def test_a_changed_sentence_alone_is_spoken_again(story: Path, command: Command) -> None:
    command(story, *TONE)
    before = {u.key for u in utterances(story.parent / "story.work")}
    story.write_text(story.read_text().replace("The door was open", "The door was shut"))
    assert command(story, *TONE, "--overwrite") == 0
    after = {u.key for u in utterances(story.parent / "story.work")}
    assert len(after - before) == 1


def test_an_output_of_other_settings_is_not_replaced_unasked(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    command(story, *TONE)
    assert command(story, *TONE, "--target-lufs", "-20") == 5
    assert "--overwrite" in capsys.readouterr().err
    assert command(story, *TONE, "--target-lufs", "-20", "--overwrite") == 0


def test_a_segment_that_fails_is_left_out_listed_and_tried_again(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    story.write_text(story.read_text().replace("The rain", "The error: rain"))
    assert command(story, *TONE) == 10
    assert "not whole" in capsys.readouterr().err
    failures = list(Manifest(story.parent / "story.work" / "failures.jsonl", Failure).read())
    assert [f.text for f in failures] == ["The error: rain had stopped an hour ago."]
    assert (story.parent / "story.m4b").exists()
    assert command(story, *TONE) == 10


def test_a_book_of_which_nothing_can_be_spoken_is_not_written(
    tmp_path: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    book = tmp_path / "bad.txt"
    book.write_text("Everything here ends with an error: nothing else.\n")
    assert command(book, *TONE) == 5
    assert "nothing could be spoken" in capsys.readouterr().err
    assert not (tmp_path / "bad.m4b").exists()


def test_an_utterance_that_was_cut_off_is_reported(story: Path, command: Command) -> None:
    story.write_text(story.read_text().replace("The door", "The noeos: door"))
    assert command(story, *TONE) == 10
    assert command(story, *TONE) == 10  # "already done" is not "whole"
    suspects = list(Manifest(story.parent / "story.work" / "checks.jsonl", Suspect).read())
    assert [s.text.startswith("The noeos") for s in suspects] == [True]


def test_damaged_audio_is_found_and_spoken_again(story: Path, command: Command) -> None:
    command(story, *TONE, "--format", "wav")
    calm = decode(story.parent / "story.wav")
    flac = next((story.parent / "story.work" / "audio").rglob("*.flac"))
    data = bytearray(flac.read_bytes())
    data[len(data) // 2] ^= 0xFF
    flac.write_bytes(bytes(data))
    words = (story, *TONE, "--format", "wav", "--overwrite", "--target-lufs")
    assert command(*words, "-22") == 0
    assert command(*words, "-23") == 0
    np.testing.assert_array_equal(decode(story.parent / "story.wav"), calm)


def test_fresh_speaks_everything_again(story: Path, command: Command) -> None:
    command(story, *TONE)
    flac = next((story.parent / "story.work" / "audio").rglob("*.flac"))
    made = flac.stat().st_mtime_ns
    assert command(story, *TONE, "--fresh", "--overwrite") == 0
    assert flac.stat().st_mtime_ns != made


def test_fresh_does_not_touch_what_is_not_its_own(story: Path, command: Command) -> None:
    mine = story.parent / "precious"
    (mine / "audio").mkdir(parents=True)
    (mine / "audio" / "song.mp3").touch()
    story.with_suffix(".m4b").write_text("my own file")
    assert command(story, *TONE, "--fresh") == 5
    assert story.with_suffix(".m4b").read_text() == "my own file"
    assert command(story, *TONE, "--fresh", "--work", mine, "-o", story.with_name("x.m4b")) == 5
    assert (mine / "audio" / "song.mp3").exists()


def test_silence_is_never_shipped_as_speech(story: Path, command: Command) -> None:
    story.write_text(story.read_text().replace("The door", "The silent: door"))
    assert command(story, *TONE) == 10
    failures = list(Manifest(story.parent / "story.work" / "failures.jsonl", Failure).read())
    assert ["silence" in f.reason for f in failures] == [True]


def test_a_text_in_another_language_is_refused_unless_the_user_knows_better(
    tmp_path: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    book = tmp_path / "german.txt"
    book.write_text(
        "Sie wartete, bis das Segel klein war, und dann setzte sie sich an den Tisch und begann, "
        "einen Brief an die Stadt auf der anderen Seite der Bucht zu schreiben.\n",
        encoding="utf-8",
    )
    assert command(book, *TONE) == 4
    assert "seems to be written in `de`" in capsys.readouterr().err
    assert command(book, *TONE, "--language", "en") == 0


def test_a_name_that_is_no_text_and_one_that_is_a_link_work_as_any(
    story: Path, command: Command
) -> None:
    odd = story.rename(story.parent / os.fsdecode(b"caf\xe9 'x' \xf0\x9f\x8c\x8a.txt"))
    assert command(odd, *TONE) == 0
    assert command(odd, *TONE) == 0
    assert odd.with_suffix(".m4b").exists()


def test_a_reader_of_the_log_that_leaves_does_not_end_the_run(story: Path) -> None:
    shell = f"{sys.executable} -m pocket_batch {story} {' '.join(TONE[:4])} --log-format json"
    done = subprocess.run(
        ["bash", "-c", f"{shell} | head -1; exit ${{PIPESTATUS[0]}}"],
        env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == 0
    assert b"BrokenPipe" not in done.stderr
    assert story.with_suffix(".m4b").exists()


def test_title_author_and_cover_can_be_given(story: Path, command: Command) -> None:
    from mutagen.mp4 import MP4
    from PIL import Image

    cover = story.with_name("cover.webp")
    Image.new("RGB", (32, 32), "red").save(cover)
    own = ("--title", "Mine", "--author", "Ann", "--author", "Bob", "--cover", cover)
    assert command(story, *TONE, *own) == 0
    tags = MP4(story.with_suffix(".m4b")).tags
    assert tags["©nam"] == ["Mine"]
    assert "Ann" in tags["©ART"][0]
    assert "Bob" in tags["©ART"][0]
    assert len(tags["covr"]) == 1
    assert command(story, *TONE) == 5  # other tags make another file
    assert command(story, *TONE, "--cover", story) == 3


def test_a_dry_run_leaves_nothing_behind(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(story, *TONE, "--dry-run") == 0
    assert "Nothing was spoken or written" in capsys.readouterr().err
    assert [path.name for path in story.parent.iterdir()] == ["story.txt"]


def test_workers_can_be_as_many_as_fit_whatever_the_pipeline_file_says(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    many = (story, *TONE, "--dry-run", "--set", "executor.workers=777")
    assert command(*many) == 0
    assert "777 workers" in capsys.readouterr().err
    assert command(*many, "--workers", "auto") == 0
    assert "777 workers" not in capsys.readouterr().err


def test_chosen_chapters_alone_are_spoken(story: Path, command: Command) -> None:
    assert command(story, *TONE, "--chapters", "2") == 0
    assert (story.parent / "story (chapters 2).m4b").exists()
    script = (story.parent / "story.work" / "segments.jsonl").read_text()
    assert '"chapter": 2' in script
    assert '"chapter": 1' not in script


def spawn(*words: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "pocket_batch", *map(str, words)],
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(path: Path, count: int) -> None:
    for _ in range(600):
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    pytest.fail(f"{path} never had {count} lines")


@pytest.fixture
def slow_voice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A tone that takes its time, so that a run can be caught in the middle."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    voices = tmp_path / "config" / "pocket-batch" / "voices"
    voices.mkdir(parents=True)
    (voices / "slow.yaml").write_text(
        "{name: slow, engine: fake, language: en, licence: CC0-1.0, description: slow,"
        " source: test, parameters: {sleep_s_per_audio_s: '0.05'}}"
    )
    return "slow"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_stopped_goes_on_and_ends_with_the_same_samples(
    story: Path, command: Command, slow_voice: str, how: signal.Signals
) -> None:
    options = ("--voice", slow_voice, "--executor", "local", "--format", "wav")
    run = spawn(story, *options)
    wait_for_lines(story.parent / "story.work" / "utterances.jsonl", 2)
    os.kill(run.pid, how)
    _, messages = run.communicate(timeout=20)
    assert run.returncode == (-9 if how == signal.SIGKILL else 75)
    if how != signal.SIGKILL:
        assert f"To go on: {sys.executable} -m pocket_batch {story}" in messages
        assert json.loads((story.parent / "story.work/run.json").read_text())["status"] == "stopped"
    before = len(utterances(story.parent / "story.work"))
    assert before < 6
    assert command(story, *options) == 0
    assert len(utterances(story.parent / "story.work")) == 6

    calm = story.parent / "calm.wav"
    assert command(story, *options, "-o", calm) == 0
    np.testing.assert_array_equal(decode(story.parent / "story.wav"), decode(calm))


@pytest.mark.parametrize("split", [False, True])
def test_a_run_that_is_stopped_while_encoding_may_replace_what_it_had_begun(
    story: Path, split: bool
) -> None:
    overrides = {"voice": "tone", "executor.name": "local", "write.split_chapters": split}
    pipeline = load_pipeline(None, {**overrides, "write.format": "flac"})
    output = story.with_name("story" if split else "story.flac")
    job = AudiobookJob(story, output, story.with_name("story.work"), pipeline)
    stopping = EncodingStopper()
    with pytest.raises(StoppedError):
        run_audiobook(job, stopping, stopping.is_encoding)
    if split:
        (output / "01 - Chapter 1. Out.flac").touch()
    else:
        output.touch()  # killed between naming the file and recording it
    run_audiobook(job, Silent())
    made = sorted(output.glob("*.flac")) if split else [output]
    assert len(made) == (2 if split else 1)
    assert all(len(decode(path)) > 24_000 for path in made)


class EncodingStopper(Silent):
    """Asks to stop as soon as the encoder has begun."""

    def __init__(self) -> None:
        self._phase = ""

    def progress(self, snapshot: Progress) -> None:
        self._phase = snapshot.phase

    def is_encoding(self) -> bool:
        return self._phase == "encoding"


def test_a_second_run_on_the_same_work_folder_is_refused(
    story: Path, command: Command, slow_voice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--voice", slow_voice, "--executor", "local")
    run = spawn(story, *options)
    wait_for_lines(story.parent / "story.work" / "utterances.jsonl", 1)
    assert command(story, *options) == 6
    assert f"process {run.pid}" in capsys.readouterr().err
    run.communicate(timeout=30)
    assert run.returncode == 0
