"""What is missing of a book: what was never spoken, then what is unlike the rest of it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.data import Failure, Request, Utterance
from pocket_batch.executors.base import Limits, Spoken
from pocket_batch.jobs.night import speech
from pocket_batch.jobs.night.book import NightBook
from pocket_batch.jobs.night.job import open_job
from pocket_batch.jobs.night.speech import BookSpeech
from pocket_batch.jobs.night.summary import Line
from pocket_batch.jobs.night.taking import Taken
from pocket_batch.jobs.prepared import Prepared
from pocket_batch.manifest import Manifest
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.repair import CheckSpec

Result = Spoken | Failure


class TwoRounds:
    """Outliers: the first two texts, then the first one, then none."""

    def __init__(self, work: Any, requests: Any, *_: Any) -> None:
        self.left = [list(requests)[:2], list(requests)[:1], []]
        self.waits: set[str] = set()
        self.commits: list[set[str]] = []
        self.taken: set[str] = set()

    def requests(self) -> list[Request]:
        found = [replace(r, tried=3 - len(self.left)) for r in self.left.pop(0)]
        self.waits, self.taken = {r.key for r in found}, set()
        return found

    def take(self, result: Result) -> bool:
        self.taken.add(result.utterance.key if isinstance(result, Spoken) else result.key)
        return self.taken == self.waits

    def commit(self) -> list[Utterance]:
        self.commits.append(self.taken)
        return []


@pytest.fixture
def prepared(story: Path) -> Iterator[Prepared]:
    """A planned book whose speech is checked."""
    path = story.parent / "job.yaml"
    path.write_text(json.dumps({"inputs": [story.name], "voice": "tone", "output": "o/{stem}.wav"}))
    book = NightBook(open_job(path, {}), story, Line("job", str(story)))
    book.open(Taken(), Limits(), lambda: False, ("pocket-batch",))
    yield replace(book.prepared, check=CheckSpec(CheckSettings(), "en"))
    book.close(None)


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "Outliers", TwoRounds)


def spoken(request: Request, attempt: int = 0) -> Spoken:
    flac = b"x" * (100 + attempt)
    utterance = Utterance(
        request.key, "of another book", 10, 24_000, "eos", 7 + attempt, attempt, len(flac), 0.1
    )
    return Spoken(utterance, flac)


def speak_all(found: BookSpeech, make: Callable[[Request], Result] = spoken) -> None:
    for key in list(found.missing):
        found.store(make(found.request(key)))


@pytest.mark.usefixtures("rounds")
def test_what_is_unlike_the_rest_is_missing_again_until_no_attempt_is_left(
    prepared: Prepared,
) -> None:
    found = BookSpeech(prepared)
    keys = list(found.missing)
    assert found.variant(keys[0]) == (0, 0, 0)
    speak_all(found)
    assert list(found.missing) == keys[:2]
    assert found.variant(keys[0]) == (1, 0, 0)
    assert found.variant(keys[3]) is None
    assert found.num_spoken == found.num_segments
    speak_all(found)
    assert list(found.missing) == keys[:1]
    speak_all(found)
    assert not found.missing
    assert found.num_spoken == found.num_segments


@pytest.mark.usefixtures("rounds")
def test_a_round_that_is_not_whole_changes_nothing_and_may_be_left(prepared: Prepared) -> None:
    found = BookSpeech(prepared)
    assert not found.make_do()
    speak_all(found)
    found.store(spoken(found.request(next(iter(found.missing))), 1))
    assert len(found.missing) == 1
    assert isinstance(found._outliers, TwoRounds)
    assert found._outliers.commits == []
    assert found.make_do()
    assert not found.missing


@pytest.mark.usefixtures("rounds")
def test_the_failure_of_an_outlier_leaves_the_book_whole(prepared: Prepared) -> None:
    found = BookSpeech(prepared)
    speak_all(found)
    speak_all(found, lambda request: Failure(request.key, "", request.text, "It crashed.", 1))
    assert found.failures == []


@pytest.mark.usefixtures("rounds")
def test_a_book_of_which_all_is_spoken_begins_with_what_is_unlike_the_rest(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        speech, "finished", lambda work, requests, *check: {r.key: 1 for r in requests}
    )
    assert len(BookSpeech(prepared).missing) == 2
    assert not BookSpeech(prepared, is_dry=True).missing
    assert not BookSpeech(replace(prepared, check=None)).missing


def test_what_nobody_checked_is_asked_for_with_its_audio_and_is_no_text_to_share(
    prepared: Prepared,
) -> None:
    first = BookSpeech(prepared)
    one, other = list(first.missing)[:2]
    first.store(spoken(first.request(one), attempt=2))
    first.close()
    found = BookSpeech(prepared)
    assert found.variant(one) == (0, 2, 102)
    assert found.variant(other) == (0, 0, 0)
    request = found.request(one)
    assert (request.attempt, request.spoken) == (2, b"x" * 102)
    assert found.request(other).spoken == b""


def test_the_seed_that_is_recorded_is_that_of_the_attempt_that_is_stored(
    prepared: Prepared,
) -> None:
    """Also where the audio is checked only: what checks it does not know its seed."""
    first = BookSpeech(prepared)
    key = next(iter(first.missing))
    first.store(spoken(first.request(key), attempt=2))
    first.close()
    found = BookSpeech(prepared)
    checked = spoken(found.request(key), attempt=2)
    found.store(replace(checked, utterance=replace(checked.utterance, seed=0, level_db=-20.0)))
    found.close()
    records = list(Manifest(prepared.work.file("utterances.jsonl"), Utterance).read())
    assert [(u.seed, u.attempt, u.level_db) for u in records] == [(9, 2, None), (9, 2, -20.0)]
