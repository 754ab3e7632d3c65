"""What is unlike the rest of a book is spoken again before the book is joined."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pocket_batch.data import EngineSpec, Failure, Request, Utterance, Voice
from pocket_batch.engine.base import Output
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.executors.base import Spoken
from pocket_batch.jobs import audiobook
from pocket_batch.jobs.outliers import Outliers
from pocket_batch.jobs.speak import Spoke, finished, read_checked
from pocket_batch.jobs.speaking import Speaking
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.repair import CheckSpec, Repair
from pocket_batch.stages.synthesize import Synthesize
from pocket_batch.work_folder import WorkFolder

VOICE = Voice("tone", "fake", "en", "CC0-1.0")
# A tone repeats itself, has one pitch and no timbre; its level is what these tests are about.
LEVEL_ALONE = CheckSettings(
    max_repetition=1.0,
    max_level_jump_db=99.0,
    max_click=1e4,
    max_noise_s=60.0,
    rate_mads=0,
    voice_mads=0,
    max_repetition_over=0,
)
SPEC = CheckSpec(LEVEL_ALONE, "en")


def requests(*marked: str) -> list[Request]:
    """Fourteen texts of one voice, the last of them with marks in them."""
    texts = [f"The tide came in {n} times, and nobody had asked it to." for n in range(14)]
    for place, mark in enumerate(reversed(marked), 1):
        texts[-place] = f"{mark} {texts[-place]}"
    return [
        Request(f"k{n:02d}", f"001-{n:04d}", text, VOICE, n + 20) for n, text in enumerate(texts)
    ]


class LoudForLong(FakeEngine):
    """`loud:` is loud in every attempt."""

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        for request in requests:
            (output,) = super().generate([replace(request, attempt=0)])
            yield output


class Worker:
    """Speaks and checks as a worker does, and remembers which attempts it was asked for."""

    def __init__(self, engine: FakeEngine | None = None, spec: CheckSpec = SPEC) -> None:
        self._repair = Repair(Synthesize(engine or FakeEngine(EngineSpec("fake"))), spec)

    def speak(self, asked: Iterable[Request]) -> list[Spoken | Failure]:
        return list(self._repair.run(asked))


@pytest.fixture
def work(tmp_path: Path) -> WorkFolder:
    return WorkFolder(tmp_path)


def speak_all(work: WorkFolder, asked: list[Request], worker: Worker) -> None:
    with Spoke(work, {}) as spoke:
        for result in worker.speak(asked):
            assert isinstance(result, Spoken)
            spoke.take(result)


def rounds(
    work: WorkFolder, asked: list[Request], worker: Worker, spec: CheckSpec = SPEC
) -> list[tuple[list[str], list[str]]]:
    """Which keys were spoken again in each round, and which of them changed."""
    found = []
    outliers = Outliers(work, asked, spec, VOICE)
    while again := outliers.requests():
        for result in worker.speak(again):
            outliers.take(result)
        assert outliers.is_whole
        found.append(([r.key for r in again], [u.key for u in outliers.commit()]))
    return found


def test_one_that_is_louder_than_its_voice_is_spoken_again_and_replaced(work: WorkFolder) -> None:
    asked, worker = requests("loud:"), Worker()
    speak_all(work, asked, worker)
    before = finished(work, asked)["k13"]
    assert rounds(work, asked, worker) == [(["k13"], ["k13"])]
    after, checked = finished(work, asked)["k13"], read_checked(work)["k13"]
    assert (after.attempt, checked.attempt, checked.num_attempts) == (1, 1, 2)
    assert before.level_db is not None
    assert after.level_db == pytest.approx(before.level_db - 18, abs=0.5)
    assert rounds(work, asked, worker) == []  # and it is known


def test_one_that_stays_loud_is_tried_as_often_as_any_and_stays(work: WorkFolder) -> None:
    asked, worker = requests("loud:"), Worker(LoudForLong(EngineSpec("fake")))
    speak_all(work, asked, worker)
    before = work.audio("k13").read_bytes()
    assert rounds(work, asked, worker) == [(["k13"], [])] * 3
    assert read_checked(work)["k13"].num_attempts == LEVEL_ALONE.max_attempts
    assert work.audio("k13").read_bytes() == before
    assert rounds(work, asked, worker) == []


def test_an_engine_that_does_not_vary_is_asked_once_more_in_parts(work: WorkFolder) -> None:
    spec = CheckSpec(LEVEL_ALONE, "en", varies=False)
    asked, worker = requests("loud:"), Worker(spec=spec)
    speak_all(work, asked, worker)
    assert rounds(work, asked, worker, spec) == [(["k13"], ["k13"])]
    assert read_checked(work)["k13"].is_split


def test_an_engine_that_fails_over_it_loses_nothing(work: WorkFolder) -> None:
    asked = requests("loud:")
    speak_all(work, asked, Worker())
    outliers = Outliers(work, asked, SPEC, VOICE)
    (again,) = outliers.requests()
    assert outliers.take(Failure(again.key, again.segment_id, again.text, "It broke.", 3))
    assert outliers.commit() == []
    assert len(finished(work, asked)) == len(asked)
    assert Outliers(work, asked, SPEC, VOICE).requests() == []


def test_a_round_that_is_not_whole_leaves_everything_as_it_was(work: WorkFolder) -> None:
    asked, worker = requests("loud:", "loud:"), Worker()
    speak_all(work, asked, worker)
    outliers = Outliers(work, asked, SPEC, VOICE)
    before = {path: path.read_bytes() for path in work.path.rglob("*") if path.is_file()}
    first = outliers.requests()
    assert not outliers.take(worker.speak(first[:1])[0])
    assert {p: p.read_bytes() for p in work.path.rglob("*") if p.is_file()} == before
    assert [r.key for r in Outliers(work, asked, SPEC, VOICE).requests()] == ["k12", "k13"]


def test_what_a_person_chose_stays(work: WorkFolder) -> None:
    asked, worker = requests("loud:", "loud:"), Worker()
    speak_all(work, asked, worker)
    outliers = Outliers(work, asked, SPEC, VOICE, ["001-0013"])
    assert [request.key for request in outliers.requests()] == ["k12"]


def test_two_recordings_of_one_name_are_two_voices(work: WorkFolder) -> None:
    """Half of the texts are loud, but all of one voice: none of them is unlike its own."""
    other = replace(VOICE, parameters={"prompt": "another.wav"})
    asked = requests(*["loud:"] * 7)
    asked += [replace(r, key=f"o{r.key}", segment_id=f"o{r.segment_id}") for r in asked]
    asked = [replace(r, voice=other) if "loud:" in r.text else r for r in asked]
    speak_all(work, asked, Worker())
    assert Outliers(work, asked, SPEC, VOICE).requests() == []


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """A text with one line that is loud in its first attempt, and options to speak it."""
    monkeypatch.setattr(audiobook, "check_spec", lambda *_: SPEC)
    text = "\n\n".join(request.text for request in requests("loud:"))
    book = tmp_path / "book.txt"
    book.write_text(text)
    options = ["--voice", "tone", "--executor", "local", "--log-format", "plain"]
    for name, value in {
        "max_repetition": 1,
        "max_level_jump_db": 99,
        "max_click": 10_000,
        "max_noise_s": 60,
    }.items():
        options += ["--set", f"check.{name}={value}"]
    for name in ("rate_mads", "voice_mads", "max_repetition_over"):
        options += ["--set", f"check.{name}=0"]
    return book, *options, "--format", "wav"


def test_a_book_is_made_of_the_better_attempts(
    tmp_path: Path, command: Callable[..., int], book: tuple[object, ...]
) -> None:
    """The finished file, its timeline and its levels are those of the audio that was kept."""
    assert command(*book) == 0
    work = WorkFolder(tmp_path / "book.work")
    records = {
        record["key"]: record
        for record in map(json.loads, (work.path / "utterances.jsonl").read_text().splitlines())
    }
    assert sorted(record["attempt"] for record in records.values()) == [0] * 13 + [1]
    assert not (work.path / "checks.jsonl").read_text()
    before = (tmp_path / "book.wav").read_bytes()
    assert command(*book, "--overwrite") == 0
    assert (tmp_path / "book.wav").read_bytes() == before


def test_a_round_that_cannot_be_is_no_reason_to_have_no_book(
    tmp_path: Path,
    command: Callable[..., int],
    book: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise ModelUnavailableError("The model is gone.")

    monkeypatch.setattr(Speaking, "_speak_again", fail)
    assert command(*book) == 0
    assert "They stay as they are: The model is gone." in capsys.readouterr().err
    assert (tmp_path / "book.wav").exists()
    assert "Louder" in (tmp_path / "book.work" / "checks.jsonl").read_text()


def test_records_are_those_of_the_kept_audio(work: WorkFolder) -> None:
    asked, worker = requests("loud:"), Worker()
    speak_all(work, asked, worker)
    rounds(work, asked, worker)
    kept: Utterance = finished(work, asked)["k13"]
    assert work.audio("k13").stat().st_size == kept.num_bytes
    assert kept.segment_id == "001-0013"
