"""One book of a run: planned, fed, finished, and left as it should be."""

import json
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.data import Failure
from pocket_batch.errors import LockedError, OutputError, PartialRunError, StoppedError
from pocket_batch.executors.base import Limits, Spoken
from pocket_batch.executors.local import LocalExecutor
from pocket_batch.jobs.night.book import BookBug, NightBook
from pocket_batch.jobs.night.job import open_job
from pocket_batch.jobs.night.summary import Line
from pocket_batch.jobs.night.taking import Taken
from pocket_batch.lock import Lock


@pytest.fixture
def book(story: Path) -> NightBook:
    return make(story)


def make(source: Path, **settings: Any) -> NightBook:
    path = source.parent / "job.yaml"
    given = {"inputs": [source.name], "voice": "tone", "output": "out/{stem}.wav", **settings}
    path.write_text(json.dumps(given))
    return NightBook(open_job(path, {}), source, Line("job", str(source)))


def opened(book: NightBook, taken: Taken | None = None, **values: Any) -> bool:
    taken = Taken() if taken is None else taken
    return book.open(taken, Limits(), lambda: False, ("pocket-batch",), **values)


def speak(book: NightBook, num: int | None = None) -> None:
    from pocket_batch.executors.base import Plan, WorkerSpec

    prepared = book.prepared
    plan = Plan(WorkerSpec(prepared.engine.spec, prepared.plan.voices, 1))
    requests = list(book.missing.values())[:num]
    for result in LocalExecutor(plan).run(requests, lambda: False, lambda event: None):
        assert isinstance(result, Spoken | Failure)
        book.store(result)


def test_a_book_goes_from_its_plan_to_its_file(book: NightBook) -> None:
    assert opened(book)
    assert book.line.title == "A Small Story"
    assert book.line.num_segments == len(book.missing) > 3
    assert book.missing_audio_s > 5
    speak(book)
    assert not book.missing
    book.finish(lambda: False)
    book.close(None)
    line = book.line
    assert (line.status, line.exit_code, line.num_spoken) == ("done", 0, line.num_segments)
    assert line.audio_s > 5
    assert line.num_bytes == Path(line.output).stat().st_size
    again = make(book.source)
    assert not opened(again)
    assert (again.line.audio_s, again.line.num_bytes) == (line.audio_s, line.num_bytes)


def test_what_was_spoken_is_not_missing_the_next_time(book: NightBook) -> None:
    opened(book)
    speak(book, 2)
    book.close(StoppedError("Now."))
    assert book.line.status == "stopped"
    again = make(book.source)
    assert opened(again)
    assert again.line.num_spoken == 2
    assert again.missing.keys() < {r.key for r in again.prepared.plan.requests}
    record = json.loads(again.prepared.work.file("run.json").read_text())
    assert record["status"] == "running"
    again.close(StoppedError("Now."))


def test_a_book_is_held_until_it_is_closed(book: NightBook) -> None:
    opened(book)
    assert book.is_open
    with pytest.raises(LockedError, match="next run"):
        opened(make(book.source))
    book.close(None)
    assert not book.is_open
    other = make(book.source)
    opened(other)
    other.close(None)


def test_a_dry_plan_holds_and_writes_nothing(book: NightBook) -> None:
    before = set(book.source.parent.rglob("*"))
    assert opened(book, is_dry=True)
    assert book.line.num_segments == len(book.missing) > 3
    book.close(StoppedError("A dry run."))
    assert set(book.source.parent.rglob("*")) == before


def test_a_failure_of_a_shared_text_names_the_segment_of_each_book(book: NightBook) -> None:
    opened(book)
    key, request = next(iter(book.missing.items()))
    book.store(Failure(key, "segment of another book", request.text, "It crashed.", 3))
    speak(book)
    with pytest.raises(PartialRunError) as error:
        book.finish(lambda: False)
    book.close(error.value)
    assert (book.line.status, book.line.num_failures) == ("partial", 1)
    work = Path(book.line.output).with_suffix(".work")
    (failure,) = (work / "failures.jsonl").read_text().splitlines()
    assert json.loads(failure)["segment_id"] == request.segment_id


def test_damaged_audio_is_spoken_again_once(book: NightBook) -> None:
    opened(book)
    speak(book)
    work = book.prepared.work
    flac = next(work.file("audio").rglob("*.flac"))
    flac.write_bytes(b"x" * flac.stat().st_size)
    with pytest.raises(OutputError):
        book.finish(lambda: False)
    assert book.again()
    assert list(book.missing) == [flac.stem]
    speak(book)
    book.finish(lambda: False)
    assert not book.again()
    book.close(None)
    assert book.line.status == "done"


def test_outputs_of_one_run_are_taken_once(book: NightBook) -> None:
    taken = Taken()
    opened(book, taken)
    other = make(book.source.with_name("story.md"))
    other.source.write_text("Another text.")
    with pytest.raises(OutputError, match=r"story\.txt is made into"):
        opened(other, taken)
    book.close(None)
    later = make(book.source)  # its file has changed since
    assert opened(later, taken)
    later.close(None)


def test_a_bug_names_its_kind_and_where_to_look() -> None:
    bug = BookBug(KeyError("x"))
    assert str(bug) == "this is a bug: KeyError: 'x'. See run.log."
    assert bug.exit_code == 1


def test_a_lock_of_a_work_folder_is_free_after_a_plan_that_failed(book: NightBook) -> None:
    opened(book)
    book.close(OutputError("The disk is full."))
    assert (book.line.status, book.line.exit_code) == ("failed", 5)
    lock = Lock(Path(book.line.output).with_suffix(".work") / "lock")
    lock.take()
    lock.release()
