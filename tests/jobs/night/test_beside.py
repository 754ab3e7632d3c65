"""Nights with what is made beside an audiobook, with lines that were chosen, and with verdicts."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.jobs import making
from pocket_batch.jobs.quality import Quality

Command = Callable[..., int]
RAIN = "The rain had stopped an hour ago. Nobody had opened the door since then."


class Place:
    """A job with two books, and a way to run it."""

    def __init__(self, folder: Path, command: Command) -> None:
        self.folder, self._command = folder, command
        (folder / "in").mkdir()
        for name in ("one", "two"):
            path = folder / "in" / f"{name}.txt"
            path.write_text(f"Chapter 1. Of {name}\n\n{RAIN} This is {name}.\n")
            os.utime(path, (1, 1))

    def run(self, *words: str, subtitles: tuple[str, ...] = (), **settings: Any) -> int:
        given: dict[str, Any] = {"inputs": ["in/*"], "voice": "tone", "output": "out/{stem}.wav"}
        given |= {"set": {"write.subtitles": list(subtitles)}} | settings
        path = self.folder / "job.yaml"
        path.write_text(json.dumps(given))
        return self("run", path, "--executor", "local", "--log-format", "plain", *words)

    def __call__(self, *words: object) -> int:
        return self._command(*words)

    def lines(self) -> dict[str, dict[str, Any]]:
        loaded = json.loads((self.folder / "out/job.run/summary.json").read_text())
        return {Path(line["input"]).stem: line for line in loaded["inputs"]}

    def statuses(self) -> list[str]:
        return [line["status"] for line in self.lines().values()]

    def out(self, name: str) -> Path:
        return self.folder / "out" / name

    def files(self) -> dict[Path, int]:
        return {p: p.stat().st_mtime_ns for p in self.folder.rglob("*") if p.is_file()}


@pytest.fixture
def place(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(sys, "argv", ["pocket-batch", "run", "job.yaml"])
    return Place(tmp_path, command)


def test_what_is_asked_for_later_is_made_beside_what_is_there_and_nothing_is_spoken(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.run(subtitles=("srt",)) == 0
    assert place.lines()["one"]["extras"] == [str(place.out("one.srt"))]
    audio = place.out("one.wav").stat().st_mtime_ns
    before = place.files()
    assert place.run("--dry-run", subtitles=("srt", "vtt")) == 0
    told = capsys.readouterr().err
    assert "to be made beside it: vtt" in told
    assert "2 books to add files to, 0 books to make" in told
    assert {p: t for p, t in place.files().items() if p.name != "job.yaml"} == {
        p: t for p, t in before.items() if p.name != "job.yaml"
    }
    assert place.run(subtitles=("srt", "vtt")) == 0
    assert place.statuses() == ["done", "done"]
    assert "one.txt: was done; made beside it: vtt." in capsys.readouterr().err
    assert place.out("two.vtt").is_file()
    assert place.out("one.wav").stat().st_mtime_ns == audio
    assert place.run(subtitles=("srt", "vtt")) == 0
    assert place.statuses() == ["already_done", "already_done"]
    assert len(place.lines()["one"]["extras"]) == 2


def test_what_was_removed_is_made_again_and_what_was_changed_is_left_alone(place: Place) -> None:
    assert place.run(subtitles=("srt",)) == 0
    place.out("one.srt").unlink()
    place.out("two.srt").write_text("corrected by hand")
    assert place.run(subtitles=("srt",)) == 10
    lines = place.lines()
    assert (lines["one"]["status"], lines["two"]["status"]) == ("done", "failed")
    assert place.out("one.srt").is_file()
    assert place.out("two.srt").read_text() == "corrected by hand"
    assert lines["two"]["problem"].endswith("Move it away.")


def test_a_book_whose_speech_was_not_kept_gets_subtitles_but_is_spoken_for_a_read_along(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.run(keep_speech=False) == 0
    assert place.run(keep_speech=False, subtitles=("srt",)) == 0
    assert place.statuses() == ["done", "done"]
    assert not place.out("one.work/audio").exists()
    capsys.readouterr()
    assert place("redo", place.out("one.work"), "--segment", "001-0001") == 3
    assert f"Remove {place.out('one.wav')} for that, and run its job:" in capsys.readouterr().err
    wanted = {"write.subtitles": ["srt"], "write.read_along": True}
    capsys.readouterr()
    assert place.run("--dry-run", set=wanted, keep_speech=False) == 0
    assert "2 books to make" in capsys.readouterr().err
    assert place.run(set=wanted, keep_speech=False) == 0
    assert place.out("one (read-along).epub").is_file()
    assert place.run(set=wanted, keep_speech=False) == 0
    assert place.statuses() == ["already_done", "already_done"]


def test_speech_that_turns_out_damaged_is_spoken_for_what_is_made_beside(place: Place) -> None:
    assert place.run() == 0
    flac = next(place.out("one.work/audio").rglob("*.flac"))
    flac.write_bytes(b"x" * flac.stat().st_size)
    assert place.run(set={"write.read_along": True}) == 0
    assert place.out("one (read-along).epub").is_file()
    assert place.statuses() == ["done", "done"]
    assert place.run(set={"write.read_along": True}) == 0
    assert place.statuses() == ["already_done", "already_done"]


def test_lines_that_were_spoken_again_stay_and_a_night_finds_nothing_to_do(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.run(subtitles=("srt",)) == 0
    work = place.out("one.work")
    assert place("redo", work, "--segment", "001-0002", "--text", "Quite another thing.") == 0
    made = place.out("one.wav").read_bytes()
    capsys.readouterr()
    assert place.run("--dry-run", subtitles=("srt",)) == 0
    assert "2 done before, 0 books to make" in capsys.readouterr().err
    assert place.run(subtitles=("srt",)) == 0
    assert place.statuses() == ["already_done", "already_done"]
    assert place.out("one.wav").read_bytes() == made
    assert place.run("--dry-run", set={"seed": 3}) == 0
    assert place.run(set={"seed": 3}) == 0
    segments = (work / "segments.jsonl").read_text()
    assert "Quite another thing." in segments


def test_what_was_made_to_read_along_is_no_book_of_the_next_night(place: Place) -> None:
    wanted = {"write.read_along": True}
    for inputs in (["in"], ["in/*"], ["in/**/*.epub", "in/*.txt"]):
        assert (
            place.run(set=wanted, inputs=inputs, output="in/{stem}.wav", run_dir="out/job.run") == 0
        )
        assert list(place.lines()) == ["one", "two"]


def test_two_files_of_a_book_do_not_share_what_is_made_beside_them(place: Place) -> None:
    first = {"inputs": ["in/one.txt"], "output": "out/{stem}.wav", "voice": "tone"}
    first |= {"set": {"write.subtitles": ["srt"]}}
    jobs = [place.folder / "a.yaml", place.folder / "b.yaml"]
    jobs[0].write_text(json.dumps(first))
    jobs[1].write_text(json.dumps(first | {"output": "out/{stem}.flac"}))
    assert place("run", *jobs, "--executor", "local", "--run-dir", place.out("job.run")) == 10
    loaded = json.loads(place.out("job.run/summary.json").read_text())["inputs"]
    assert [line["status"] for line in loaded] == ["done", "failed"]
    assert "one.srt is made beside one.wav as well" in loaded[1]["problem"]


@pytest.fixture
def critical(monkeypatch: pytest.MonkeyPatch) -> None:
    """Book one is judged to be heard wrong."""
    original = making.write_quality

    def judged(work: Any, *args: Any, **words: Any) -> Quality:
        quality = original(work, *args, **words)
        if work.path.name != "one.work":
            return quality
        path = work.file("quality.json")
        problem = "4.0 % of the words were heard otherwise than written."
        changed = {"level": "critical", "wer": 0.04, "num_suspects": 2, "problem": problem}
        path.write_text(json.dumps(json.loads(path.read_text()) | changed))
        return replace(quality, **changed)  # type: ignore[arg-type]

    monkeypatch.setattr(making, "write_quality", judged)


@pytest.mark.usefixtures("critical")
def test_a_book_that_is_badly_spoken_is_10_and_told_from_one_that_lacks_something(
    place: Place,
) -> None:
    metrics = {"file": "out/m.prom"}
    for _ in range(2):  # as well when it is there
        assert place.run(metrics=metrics) == 10
        one, two = place.lines().values()
        assert (one["status"], one["exit_code"], one["quality"]) == ("partial", 10, "critical")
        assert (one["wer"], one["num_suspects"], one["is_badly_spoken"]) == (0.04, 2, True)
        assert (two["quality"], two["wer"], two["is_badly_spoken"]) == ("ok", None, False)
        text = place.out("job.run/summary.txt").read_text()
        assert "NOT GOOD    one.txt" in text
        assert "1 not good." in text
        assert "2 segments to look at" in text
        assert f"pocket-batch listen {place.out('one.work')}" in text
        assert 'pocket_batch_inputs{job_name="job",status="partial"} 1.0' in (
            place.out("m.prom").read_text()
        )
    assert place.run(subtitles=("srt",)) == 10
    one, two = place.lines().values()
    assert (one["status"], two["status"]) == ("partial", "done")
    assert one["extras"] == [str(place.out("one.srt"))]
