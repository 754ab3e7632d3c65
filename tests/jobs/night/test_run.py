"""Runs of job files from the command to the files, with a voice that is a tone."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.data import Utterance
from pocket_batch.jobs.night import inputs, speaking
from pocket_batch.jobs.night.book import NightBook
from pocket_batch.lock import Lock
from pocket_batch.manifest import Manifest

Command = Callable[..., int]
RAIN = "The rain had stopped an hour ago."


class Place:
    """A folder with an inbox, a job file and a way to run it."""

    def __init__(self, folder: Path, command: Command) -> None:
        self.folder = folder
        self.inbox = folder / "inbox"
        self.inbox.mkdir()
        self._command = command

    def book(self, name: str, text: str = RAIN, title: str = "", age_s: float = 60.0) -> Path:
        path = self.inbox / name
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"Title: {title}\nAuthor: Ann\n\n" if title else ""
        path.write_text(f"{head}{text}\n", encoding="utf-8")
        os.utime(path, (time.time() - age_s,) * 2)
        return path

    def job(self, name: str = "job", **settings: Any) -> Path:
        found = {"inbox": "inbox", "voice": "tone", "output": "out/{stem}.wav"} | settings
        path = self.folder / f"{name}.yaml"
        path.write_text(json.dumps({k: v for k, v in found.items() if v is not None}))
        return path

    def run(self, *words: object, executor: str = "local") -> int:
        jobs = words if any(isinstance(w, Path) for w in words) else (self.job(), *words)
        return self._command("run", *jobs, "--executor", executor, "--log-format", "plain")

    def summary(self, run_dir: str = "out/job.run") -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.folder / run_dir / "summary.json").read_text())
        return loaded

    def statuses(self, run_dir: str = "out/job.run") -> dict[str, str]:
        return {Path(i["input"]).name: i["status"] for i in self.summary(run_dir)["inputs"]}

    def problem(self, name: str) -> str:
        (found,) = (i for i in self.summary()["inputs"] if Path(i["input"]).name == name)
        return str(found["problem"])

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def place(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(inputs, "SETTLE_S", 0.05)
    monkeypatch.setattr(speaking, "WAIT_S", 0.02)
    monkeypatch.setattr("pocket_batch.jobs.night.run.SETTLE_S", 0.05)
    return Place(tmp_path, command)


def test_all_books_of_an_inbox_are_made_and_found_done_afterwards(place: Place) -> None:
    for n in range(2):
        place.book(f"b{n}.txt", f"This is book {n}. {RAIN}")
    assert place.run() == 0
    assert set(place.statuses().values()) == {"done"}
    assert sorted(p.name for p in place.folder.glob("out/*.wav")) == ["b0.wav", "b1.wav"]
    before = {p: p.stat().st_mtime_ns for p in place.folder.glob("out/*.wav")}
    assert place.run() == 0
    assert set(place.statuses().values()) == {"already_done"}
    assert place.summary()["speech_s"] == 0
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_a_bad_book_stops_no_other_and_the_code_is_10(place: Place) -> None:
    """Case 18."""
    place.book("a.txt")
    (place.inbox / "broken.epub").write_bytes(b"PK\x03\x04 no zip")
    place.book("empty.txt", "")
    for path in place.inbox.iterdir():
        os.utime(path, (1, 1))
    assert place.run() == 10
    assert place.statuses() == {"a.txt": "done", "broken.epub": "failed", "empty.txt": "failed"}
    text = (place.folder / "out/job.run/summary.txt").read_text()
    assert "FAILED      broken.epub" in text
    assert "3 inputs: 1 done, 2 failed." in text


def test_a_book_of_which_nothing_can_be_spoken_fails_and_one_that_lacks_something_is_partial(
    place: Place,
) -> None:
    place.book("all.txt", "This error: is all there is.")
    place.book("some.txt", f"This error: is not all.\n\n{RAIN} And it was a long while indeed.")
    place.book("whole.txt")
    assert place.run() == 10
    assert place.statuses() == {"all.txt": "failed", "some.txt": "partial", "whole.txt": "done"}
    assert "nothing could be spoken" in place.problem("all.txt")


@pytest.mark.parametrize("where", ["open", "finish"])
def test_a_bug_that_one_book_shows_stops_no_other_and_is_in_the_log(
    place: Place, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    place.book("a.txt")
    place.book("bad.txt", "Another text of the same length here.")
    original = getattr(NightBook, where)

    def shows(self: NightBook, *args: Any) -> Any:
        if self.source.name == "bad.txt":
            raise ZeroDivisionError("a bug of ours")
        return original(self, *args)

    monkeypatch.setattr(NightBook, where, shows)
    assert place.run() == 10
    assert place.statuses() == {"a.txt": "done", "bad.txt": "failed"}
    assert "this is a bug: ZeroDivisionError" in place.problem("bad.txt")
    log = (place.folder / "out/job.run/run.log").read_text()
    assert "Traceback" in log
    assert "a bug of ours" in log


def test_a_dry_run_writes_nothing_and_tells_what_there_is(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.book("a.txt")
    place.book("b.txt", "Something else is said here.")
    job = place.job()
    before = place.files()
    assert place.run(job, "--dry-run") == 0
    assert place.files() == before
    assert not (place.folder / "out").exists()
    assert "2 inputs, 2 books to make" in capsys.readouterr().err
    assert place.run(job) == 0
    before = place.files()
    assert place.run(job, "--dry-run") == 0
    assert place.files() == before
    assert "2 done before, 0 books to make" in capsys.readouterr().err


def test_a_changed_book_or_voice_is_made_anew(place: Place) -> None:
    place.book("a.txt")
    assert place.run() == 0
    first = (place.folder / "out/a.wav").read_bytes()
    place.book("a.txt", f"{RAIN} It began again, and it went on for long.")
    assert place.run() == 0
    second = (place.folder / "out/a.wav").read_bytes()
    assert len(second) > len(first)
    assert place.run(place.job(set={"seed": 5})) == 0
    assert (place.folder / "out/a.wav").read_bytes() != second


def test_an_output_that_somebody_changed_is_never_replaced(place: Place) -> None:
    place.book("a.txt")
    assert place.run() == 0
    mine = place.folder / "out/a.wav"
    mine.write_bytes(mine.read_bytes() + b"cut by hand")
    place.book("a.txt", "Now it is another text altogether.")
    assert place.run() == 10
    assert mine.read_bytes().endswith(b"cut by hand")
    assert "Remove it, or change `output`." in place.problem("a.txt")
    assert "--overwrite" not in place.problem("a.txt")


def test_another_book_of_the_same_name_does_not_replace_the_first_one_later(place: Place) -> None:
    job = place.job(output="out/{title}.wav")
    place.book("first.txt", title="Poems")
    assert place.run(job) == 0
    made = (place.folder / "out/Poems.wav").read_bytes()
    (place.inbox / "first.txt").unlink()
    place.book("second.txt", "Quite another text is in here.", title="Poems")
    assert place.run(job) == 10
    assert (place.folder / "out/Poems.wav").read_bytes() == made


def test_two_books_of_one_title_are_told_apart_or_the_second_fails(place: Place) -> None:
    place.book("a.txt", title="Poems?")
    place.book("b.txt", "Quite another text is in here.", title="Poems")
    assert place.run(place.job(output="out/{title}.wav")) == 10
    assert place.statuses() == {"a.txt": "done", "b.txt": "failed"}
    assert "a.txt is made into" in place.problem("b.txt")


def test_one_book_by_two_jobs_is_made_in_both_formats_and_refused_for_one_file(
    place: Place,
) -> None:
    place.book("a.txt")
    jobs = place.job("one"), place.job("two", output="out/{stem}.flac")
    assert place.run(*jobs) == 0
    assert {p.name for p in place.folder.glob("out/a.*")} >= {"a.wav", "a.flac"}
    assert place.run(*jobs) == 0
    assert place.summary("out/one.run")["counts"] == {"already_done": 2}
    assert place.run(jobs[0], place.job("three", set={"seed": 3})) == 10
    (failed,) = (i for i in place.summary("out/one.run")["inputs"] if i["status"] == "failed")
    assert "the job" in failed["problem"]


def test_volumes_with_dots_in_their_names_keep_work_folders_of_their_own(place: Place) -> None:
    place.book("v1.txt", title="Vol. 1")
    place.book("v2.txt", "Quite another text is in here.", title="Vol. 2")
    job = place.job(output="out/{title}", set={"write.split_chapters": True, "write.format": "mp3"})
    assert place.run(job) == 0
    assert (place.folder / "out/Vol. 1.work").is_dir()
    assert (place.folder / "out/Vol. 2.work").is_dir()
    assert list((place.folder / "out/Vol. 1").glob("*.mp3"))


def test_a_sentence_of_two_books_is_spoken_once_and_belongs_to_both(place: Place) -> None:
    place.book("a.txt", f"{RAIN}\n\nHere something else is said by somebody.")
    place.book("b.txt", f"First of all something else is said.\n\n{RAIN}")
    assert place.run() == 0
    found = {}
    for name in "ab":
        work = place.folder / f"out/{name}.work"
        lines = Manifest(work / "utterances.jsonl", Utterance).read()
        found[name] = {u.key: u for u in lines}
    (shared,) = found["a"].keys() & found["b"].keys()
    assert found["a"][shared].seed == found["b"][shared].seed
    segments = place.folder / "out/b.work/segments.jsonl"
    ids = {json.loads(line)["id"] for line in segments.read_text().splitlines() if "rain" in line}
    assert found["b"][shared].segment_id in ids


def test_speech_is_removed_when_it_is_not_to_be_kept_and_the_book_stays_done(place: Place) -> None:
    place.book("a.txt")
    job = place.job(keep_speech=False)
    assert place.run(job) == 0
    assert not (place.folder / "out/a.work/audio").exists()
    assert place.run(job) == 0
    assert place.statuses() == {"a.txt": "already_done"}


def test_a_book_that_comes_in_the_middle_is_spoken_in_the_same_run(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.book("a.txt")
    original = NightBook.store

    def store(self: NightBook, result: Any) -> None:
        if not (place.inbox / "late.txt").exists():
            place.book("late.txt", "This one came in the middle of it.")
        original(self, result)

    monkeypatch.setattr(NightBook, "store", store)
    assert place.run() == 0
    assert place.statuses() == {"a.txt": "done", "late.txt": "done"}
    status = json.loads((place.folder / "out/job.run/status.json").read_text())
    assert status["inputs"]["num_inputs"] == 2
    assert status["inputs"]["num_done"] == 2


def test_a_book_that_changes_while_it_is_spoken_is_made_again_afterwards(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.book("a.txt")
    original, changed = NightBook.store, []

    def store(self: NightBook, result: Any) -> None:
        if not changed:
            changed.append(place.book("a.txt", "A newer state that is said instead.", age_s=30))
        original(self, result)

    monkeypatch.setattr(NightBook, "store", store)
    assert place.run() == 0
    assert [i["status"] for i in place.summary()["inputs"]] == ["done", "done"]
    assert place.run() == 0
    assert place.statuses() == {"a.txt": "already_done"}


def test_a_watched_inbox_is_waited_for_until_the_deadline_and_all_done_is_0(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pocket_batch.jobs.deadline.GRACE_S", 0.1)
    monkeypatch.setattr("pocket_batch.jobs.deadline.MARGIN_S", 0.2)
    place.book("a.txt")
    started = time.monotonic()
    assert place.run(place.job(keep_watching=True), "--max-hours", 1.5 / 3600) == 0
    assert 1.0 < time.monotonic() - started < 4.0
    assert place.statuses() == {"a.txt": "done"}


def test_what_is_not_done_by_the_deadline_gives_75_and_the_same_command_goes_on(
    place: Place,
) -> None:
    place.book("a.txt")
    assert place.run(place.job(), "--max-hours", 1 / 3600) == 75
    assert place.summary()["exit_code"] == 75
    assert not list(place.folder.glob("out/*.wav"))
    assert place.run() == 0


def test_a_stop_while_planning_gives_all_work_folders_back(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        place.book(f"{name}.txt", f"{name} is the first letter. {RAIN}")
    original, opened = NightBook.open, []

    def opens(self: NightBook, *args: Any) -> bool:
        opened.append(self)
        return original(self, *args)

    monkeypatch.setattr(NightBook, "open", opens)
    monkeypatch.setattr(
        "pocket_batch.jobs.deadline.Deadline.is_over", lambda deadline: len(opened) == 2
    )
    assert place.run() == 75
    monkeypatch.undo()
    record = json.loads((place.folder / "out/a.work/run.json").read_text())
    assert record["status"] == "stopped"
    lock = Lock(place.folder / "out/a.work/lock")
    lock.take()
    lock.release()


def test_a_second_run_of_a_job_has_its_own_code_and_names_the_first(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case 25."""
    (place.folder / "out/job.run").mkdir(parents=True)
    lock = Lock(place.folder / "out/job.run/lock")
    lock.take()
    place.book("a.txt")
    assert place.run() == 6
    assert f"process {os.getpid()} on" in capsys.readouterr().err
    lock.release()
    assert place.run() == 0


def test_a_book_that_another_run_holds_waits_for_the_next_one(place: Place) -> None:
    place.book("a.txt")
    place.book("b.txt", "Quite another text is in here.")
    (place.folder / "out/a.work").mkdir(parents=True)
    lock = Lock(place.folder / "out/a.work/lock")
    lock.take()
    assert place.run() == 10
    assert place.statuses() == {"a.txt": "failed", "b.txt": "done"}
    assert "--work" not in place.problem("a.txt")
    lock.release()
    assert place.run() == 0


def test_an_inbox_that_is_not_there_is_told_and_a_glob_without_books_warns(place: Place) -> None:
    place.book("a.txt")
    assert place.run(place.job(inbox="inbx")) == 10
    assert "no such file" in place.problem("inbx")
    assert place.run(place.job(inputs=["more/*.epub"])) == 0
    assert place.summary()["warnings"] == ["`more/*.epub` of `inputs` fits no book."]


def test_nothing_to_do_is_done(place: Place) -> None:
    assert place.run() == 0
    assert place.summary()["headline"] == "Nothing to do: no input was found."


def test_outputs_inside_the_inbox_are_no_inputs(place: Place) -> None:
    place.book("a.txt")
    job = place.job(output="inbox/{stem}.wav", run_dir="inbox/night")
    assert place.run(job) == 0
    assert (place.inbox / "night/summary.txt").is_file()
    assert place.run(job) == 0
    assert place.statuses("inbox/night") == {"a.txt": "already_done"}


def test_shards_are_disjoint_and_together_whole(place: Place) -> None:
    names = {place.book(f"book {n}.txt", f"This is book number {n}.").name for n in range(5)}
    found: list[str] = []
    for part in range(3):
        assert place.run(place.job(), "--shard", f"{part}/3") == 0
        found += place.statuses(f"out/job.run/{part}-of-3")
    assert sorted(found) == sorted(names)
    assert len(list(place.folder.glob("out/*.wav"))) == 5


def test_books_and_a_data_set_are_one_run_with_one_summary(place: Place) -> None:
    place.book("a.txt")
    (place.folder / "lines.txt").write_text("One line of text.\nAnother line of it.\n" * 2)
    corpus = place.job(
        "set",
        pipeline="dataset",
        inbox=None,
        inputs=["lines.txt"],
        output="corpus",
        exports=["ljspeech"],
    )
    assert place.run(place.job(), corpus) == 0
    assert [i["status"] for i in place.summary()["inputs"]] == ["done", "done"]
    assert place.summary()["jobs"] == ["job", "set"]
    assert list(place.folder.glob("corpus*/**/metadata.csv"))
    assert place.run(corpus, "--dry-run") == 0
    assert place.run(place.job(), corpus) == 0
    assert place.summary()["inputs"][1]["problem"] == ""


def test_a_bug_in_a_data_set_stops_no_other(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.folder / "lines.txt").write_text("One line of text.\n")
    settings = {"pipeline": "dataset", "inbox": None, "inputs": ["lines.txt"]}
    jobs = [place.job(n, output=f"{n}-set", **settings) for n in ("one", "two")]
    from pocket_batch.jobs.night import sets

    original = sets.run_dataset

    def run_dataset(job: Any, *args: Any) -> Any:
        if job.output.endswith("one-set"):
            raise ZeroDivisionError
        return original(job, *args)

    monkeypatch.setattr(sets, "run_dataset", run_dataset)
    assert place.run(*jobs) == 10
    found = place.summary("one.run")["inputs"]
    assert [i["status"] for i in found] == ["failed", "done"]


def test_a_voice_that_cannot_speak_fails_its_books_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pocket_batch.errors import ModelUnavailableError
    from pocket_batch.jobs.night.speaking import Speaking

    place.book("a.txt")
    (place.folder / "other").mkdir()
    os.rename(place.book("b.txt", "Quite another text is in here."), place.folder / "other/b.txt")
    original = Speaking._speak

    def speak(self: Speaking, group: Any) -> None:
        if group[1].item_timeout_s == 7.0:
            raise ModelUnavailableError("The model is gone.")
        original(self, group)

    monkeypatch.setattr(Speaking, "_speak", speak)
    second = place.job("two", inbox="other", set={"executor.item_timeout_s": 7.0})
    assert place.run(place.job(), second) == 10
    assert place.statuses() == {"a.txt": "done", "b.txt": "failed"}
    assert place.problem("b.txt") == "The model is gone."


def test_a_cluster_that_does_not_answer_is_told_once_with_its_own_code(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.book("a.txt")
    place.book("b.txt", "Quite another text is in here.")
    assert place.run(place.job(), "--address", "127.0.0.1:9", executor="ray") == 2
    assert set(place.statuses().values()) == {"stopped"}
    assert place.summary()["stop"].startswith("No Ray cluster answers at 127.0.0.1:9")


def test_all_that_a_folder_holds_is_planned_with_few_threads(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    for n in range(6):
        place.book(f"{n}.txt", f"Number {n} is this.")
    most = [0]
    original = NightBook.store

    def store(self: NightBook, result: Any) -> None:
        most[0] = max(most[0], sum(t.name == "pulse" for t in threading.enumerate()))
        original(self, result)

    monkeypatch.setattr(NightBook, "store", store)
    assert place.run(place.job(output="out/{stem}.wav")) == 0
    assert most[0] == 1


def test_workers_in_processes_make_the_same_files(place: Place) -> None:
    place.book("a.txt", f"{RAIN} And nobody had opened the door.")
    place.book("b.txt", f"{RAIN} She went out all the same.")
    assert place.run() == 0
    here = {p.name: p.read_bytes() for p in place.folder.glob("out/*.wav")}
    assert place.run(place.job(output="ray/{stem}.wav"), executor="ray") == 0
    assert {p.name: p.read_bytes() for p in place.folder.glob("ray/*.wav")} == here
    assert place.summary("ray/job.run")["num_workers"] >= 1
