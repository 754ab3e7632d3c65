"""A night that is shot at, stopped, cut short and starved ends with the bytes of a calm one.

The rounds are told of in chaos.py, which also runs by hand and prints a table. Here besides: what
can be hit in this process, without Ray.
"""

import json
import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from chaos import KINDS, Chaos
from chaos_faults import TORN, leave_other_lock
from chaos_place import Calm, Place, judge, small_disk

from pocket_batch.cli.main import main
from pocket_batch.lock import Lock

SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
SEEDS = (0, 12) if SHORT else range(50)
Run = Callable[..., int]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS, ids=lambda n: f"{n} {KINDS[n % len(KINDS)].name}")
def test_a_night_of_chaos_ends_as_a_calm_one(rounds: Chaos, seed: int) -> None:
    """Cases 10, 11, 12, 14, 17, 21."""
    report = rounds.round(seed)
    print(report.row())
    assert report.verdict.is_well, report.row()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Calm, Path]:
    """Three small books that were made in peace, and a copy of all that came of them."""
    folder = tmp_path_factory.mktemp("night")
    place = Place(folder / "place", voice="tone", executor="local", num_paragraphs=1)
    assert main(["run", str(place.job), "--log-format", "plain"]) == 0
    keys = {book: set(counts) for book, counts in place.keys().items()}
    shutil.copytree(place.output, folder / "copy")
    return place, Calm(place.hashes(), keys, place.names()), folder / "copy"


@pytest.fixture
def place(made: tuple[Place, Calm, Path]) -> Place:
    """The books as they were made in peace."""
    place, _, copy = made
    shutil.rmtree(place.output, ignore_errors=True)
    shutil.copytree(copy, place.output)
    return place


@pytest.fixture
def calm(made: tuple[Place, Calm, Path]) -> Calm:
    """What was made in peace."""
    return made[1]


@pytest.fixture
def run(command: Run, place: Place) -> Run:
    """Give the command in this process."""
    return lambda *words: command("run", place.job, "--log-format", "plain", *words)


def assert_as_calm(place: Place, calm: Calm) -> None:
    verdict = judge(place, calm)
    assert verdict.is_well, verdict


@pytest.mark.parametrize("is_made", [True, False], ids=["books are there", "books are not"])
@pytest.mark.parametrize("seed", range(3))
def test_files_that_end_anywhere_cost_nothing_but_time(
    run: Run, place: Place, calm: Calm, seed: int, is_made: bool
) -> None:
    """Case 11."""
    rng = random.Random(seed)
    for path in sorted(path for path in place.output.rglob("*.json*") if path.name in TORN):
        content = path.read_bytes()
        last = rng.choice((0, len(content) - 1, rng.randrange(len(content))))
        path.write_bytes(content[:last])
    if is_made:
        assert run() == 0
        assert place.hashes() == calm.hashes
        return
    for book in place.output.glob("*.flac"):
        book.unlink()
    assert run() == 0
    assert_as_calm(place, calm)


def test_a_torn_record_and_a_missing_book_are_made_good_together(
    run: Run, place: Place, calm: Calm
) -> None:
    """As after a loss of power in the middle of the last lines."""
    work = place.output / "two.work"
    for name in ("run.json", "utterances.jsonl"):
        content = (work / name).read_bytes()
        (work / name).write_bytes(content[: len(content) // 3])
    (place.output / "two.flac").unlink()
    assert run() == 0
    assert_as_calm(place, calm)


def test_a_second_run_names_who_works_there(
    run: Run, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case 17."""
    lock = Lock(place.run_dir / "lock")
    lock.take()
    assert run() == 6
    said = capsys.readouterr().err
    assert f"process {os.getpid()} on {socket.gethostname()} for 0 s." in said
    lock.release()
    assert run() == 0


def test_a_machine_that_died_holds_nothing_for_more_than_a_minute(
    run: Run, place: Place, calm: Calm, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = place.run_dir / "lock"
    leave_other_lock(lock, silent_s=20.0)
    assert run() == 6
    said = capsys.readouterr().err
    assert "process 4711 on another.example for " in said
    assert "Its last sign of life is 2" in said
    assert run() == 6, "to ask keeps no dead owner alive"
    assert "of life is 2" in capsys.readouterr().err
    for left in place.output.glob("*/lock"):
        leave_other_lock(left, silent_s=61.0)
    assert run() == 0
    assert_as_calm(place, calm)


def test_a_disk_that_is_full_stops_a_run_until_there_is_room(
    run: Run, place: Place, calm: Calm
) -> None:
    """Case 14."""
    place.forget()
    try:
        with small_disk(place.output, 600_000) as disk:
            assert run() == 5
            summary = json.loads((place.run_dir / "summary.json").read_text())
            assert summary["exit_code"] == 5
            assert "free some space" in summary["stop"]
            remount = ["mount", "-o", "remount,size=300m", str(disk)]
            subprocess.run(remount, check=True)
            assert run() == 0
            assert_as_calm(place, calm)
    except PermissionError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("jump_s", [-90_000, 90_000])
def test_a_clock_that_is_set_meanwhile_changes_nothing_without_a_time_of_day(
    run: Run, place: Place, calm: Calm, clock: Callable[[float], None], jump_s: float
) -> None:
    place.forget()
    clock(jump_s)
    assert run("--max-hours", "1") == 0
    assert_as_calm(place, calm)


def test_a_time_of_day_is_that_of_the_clock_as_it_is_set(
    run: Run, place: Place, calm: Calm, clock: Callable[[float], None]
) -> None:
    place.forget()
    at = time.localtime(time.time() + 7_200)
    deadline = ("--deadline", f"{at.tm_hour:02}:{at.tm_min:02}")
    clock(90_000)
    assert run(*deadline) == 75, "it is over, by the clock that people see"
    clock(-7_200)
    assert run(*deadline) == 0
    assert_as_calm(place, calm)


@pytest.fixture
def clock(place: Place, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets the clock of this process jump as soon as the first utterance of a run is stored."""
    real = time.time

    def jumping(seconds: float) -> None:
        folder = place.output

        def now() -> float:
            has_begun = any(folder.glob("*.work/utterances.jsonl"))
            return real() + (seconds if has_begun else 0.0)

        monkeypatch.setattr(time, "time", now)

    return jumping
