"""A night speaks again what is unlike the rest of a book, before the book is finished."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from threading import Event
from typing import Any, ClassVar, cast

import pytest

from pocket_batch.data import Failure, Request, Utterance
from pocket_batch.executors.base import Spoken
from pocket_batch.jobs.night import speaking, speech
from pocket_batch.jobs.progress import Silent
from pocket_batch.jobs.speak import choose_executor
from pocket_batch.jobs.watchers import Held
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.repair import CheckSpec

Command = Callable[..., int]
RAIN = "The rain had stopped an hour ago. Nobody had opened the door since then."


class OneRound:
    """Outliers: the first two texts of each book, once a work folder."""

    commits: list[tuple[str, list[str]]]

    def __init__(self, work: Any, requests: Any, *_: Any) -> None:
        self._work = work
        self._all = list(requests)[:2]
        self._got: list[str] = []

    def requests(self) -> list[Request]:
        is_new = self._work.path.name not in [name for name, _ in OneRound.commits]
        return [replace(request, tried=1) for request in self._all] if is_new else []

    def take(self, result: Spoken | Failure) -> bool:
        assert isinstance(result, Spoken)
        self._got.append(result.utterance.key)
        return len(self._got) == len(self._all)

    def commit(self) -> list[Utterance]:
        assert sorted(self._got) == sorted(request.key for request in self._all)
        OneRound.commits.append((self._work.path.name, self._got))
        return []


@pytest.fixture
def run(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """A night of two books with sentences in common, whose tones are taken for speech."""
    spec = CheckSpec(CheckSettings(), "en")
    monkeypatch.setattr("pocket_batch.jobs.audiobook.check_spec", lambda *args: spec)
    monkeypatch.setattr(speech, "Outliers", OneRound)
    monkeypatch.setattr(OneRound, "commits", [], raising=False)
    monkeypatch.setattr(speaking, "choose_executor", _without_check)
    for name in ("one", "two"):
        path = tmp_path / f"{name}.txt"
        path.write_text(f"{RAIN} This is the book {name} of them.\n")
        os.utime(path, (1, 1))
    job = tmp_path / "job.yaml"
    job.write_text('{inputs: ["*.txt"], voice: tone, output: "out/{stem}.wav"}')
    return lambda: command("run", job, "--executor", "local", "--log-format", "plain")


def _without_check(*args: Any, **words: Any) -> Any:
    return choose_executor(*args, **words | {"check": None})


def lines(folder: Path) -> list[dict[str, Any]]:
    loaded = json.loads((folder / "out/job.run/summary.json").read_text())
    return list(loaded["inputs"])


def test_outliers_of_every_book_are_spoken_before_it_is_finished(
    run: Callable[[], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 0
    assert sorted(name for name, _ in OneRound.commits) == ["one.work", "two.work"]
    assert [line["status"] for line in lines(tmp_path)] == ["done", "done"]
    assert all(line["num_spoken"] == line["num_segments"] for line in lines(tmp_path))
    told = capsys.readouterr().err
    assert told.index("one.txt: 2 utterances unlike") < told.index("s, one.wav")
    assert run() == 0
    assert len(OneRound.commits) == 2


def test_a_night_whose_time_is_up_makes_books_of_what_is_there(
    run: Callable[[], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late:
        def __init__(self, executor: Any) -> None:
            self._executor = executor

        def run(self, work: Any, *args: Any) -> Any:
            return self._executor.run(takewhile(lambda r: not r.tried, work), *args)

    def choose(*args: Any, **words: Any) -> Any:
        name, executor = _without_check(*args, **words)
        return name, Late(executor)

    monkeypatch.setattr(speaking, "choose_executor", choose)
    assert run() == 0
    assert OneRound.commits == []
    assert [line["status"] for line in lines(tmp_path)] == ["done", "done"]


def test_what_a_book_turns_out_to_lack_is_spoken_after_it_was_taken_back() -> None:
    """It is told by the thread that finishes books, while the others are spoken."""
    begun, may_end = Event(), Event()

    class Book:
        missing: ClassVar[dict[str, int]] = {}
        missing_audio_s = 1.0
        notes = Held()

        def finish(self, should_stop: Any) -> None:
            Book.missing = {"a": 1}
            begun.set()
            may_end.wait(10)

    found = speaking.Speaking(Silent(), lambda: False, list, lambda: False, lambda *args: None)
    found._add([cast(Any, Book())])
    begun.wait(10)
    assert found._todo() == []
    may_end.set()
    found._await_finished()
    assert len(found._todo()) == 1
