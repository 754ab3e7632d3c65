"""Machines of a cluster come and go; what is made is what a calm run on this machine makes."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.data import EngineSpec, Request, Utterance, Voice
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.errors import StoppedError, UsageError
from pocket_batch.executors import crew, pool
from pocket_batch.executors.base import Plan, Spoken, WorkerEvent, WorkerSpec, make_executor
from pocket_batch.jobs.speak import finished, speak
from pocket_batch.manifest import content_key, request_seed
from pocket_batch.rows import UnitDone, UnitTask
from pocket_batch.stages.unit import UnitSpec
from pocket_batch.work_folder import WorkFolder

pytestmark = pytest.mark.slow
SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
TONE = Voice("tone", "fake", "en", "CC0-1.0")
SLOW = replace(TONE, parameters={"sleep_s_per_audio_s": "0.025"})  # 0.15 s a text
ROWS_PER_UNIT = 3
START_S = 12.0

KINDS = ("requests",) if SHORT else ("requests", "units")
anything = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """For machines that joined, and to tell how workers are."""
    monkeypatch.setattr(crew, "GROW_S", 0.5)
    monkeypatch.setattr(pool, "WORKING_S", 0.2)


@dataclass
class Run:
    """What a run made by key, as bytes, and what happened; `again` is what came twice."""

    made: dict[str, bytes] = field(default_factory=dict)
    again: list[str] = field(default_factory=list)
    events: list[WorkerEvent] = field(default_factory=list)

    def told(self, kind: str) -> int:
        """How often something was told."""
        return sum(event.kind == kind for event in self.events)

    def items(self) -> dict[int, int]:
        """How many texts or units each worker made, by its number, as far as it was told."""
        found: dict[int, int] = {}
        for event in self.events:
            found.update({each.number: each.num_items for each in event.health})
        return found


def make_requests(num: int, voice: Voice) -> list[Request]:
    texts = [f"Text {i} " + "word " * 18 for i in range(num)]
    keys = [content_key(text=text) for text in texts]
    return [
        Request(key, "", text, voice, request_seed(0, text, "tone", 0))
        for key, text in zip(keys, texts, strict=True)
    ]


def make_tasks(num: int, voice: Voice) -> list[UnitTask]:
    tasks = []
    rows = make_requests(num, voice)
    for start in range(0, num, ROWS_PER_UNIT):
        unit = tuple(sorted(rows[start : start + ROWS_PER_UNIT], key=lambda row: row.key))
        tasks.append(UnitTask(content_key(keys=" ".join(r.key for r in unit)), "tone", unit))
    return tasks


def run(
    kind: str,
    num: int,
    folder: Path,
    address: str = "",
    on_result: Callable[[int], None] = lambda num: None,
    start_timeout_s: float = 60.0,
    num_workers: int | None = None,
) -> Run:
    """Speak so many texts, on the cluster at an address or, quickly, in this process."""
    voice = SLOW if address else TONE
    units = UnitSpec(str(folder), FilterSettings(), "en", item_timeout_s=30.0)
    work: Iterable[Any] = make_requests(num, voice)
    if kind == "units":
        work = make_tasks(num, voice)
    spec = WorkerSpec(EngineSpec("fake"), (voice,), 1, units=units if kind == "units" else None)
    plan = Plan(spec, num_workers, address, start_timeout_s=start_timeout_s)
    executor = make_executor("ray" if address else "local", plan)
    found = Run()
    for count, result in enumerate(executor.run(work, lambda: False, found.events.append), 1):
        assert isinstance(result, Spoken | UnitDone), result
        key = result.utterance.key if isinstance(result, Spoken) else result.id
        found.again += [key] * (key in found.made)
        found.made[key] = result.flac if isinstance(result, Spoken) else b""
        on_result(count)
    if kind == "units":
        found.made = {path.stem: path.read_bytes() for path in folder.glob("units/*/*.tar")}
        assert not list(folder.glob("units/*/*.part*")), "something half-written is left"
    return found


def at(steps: dict[int, Callable[[], None]]) -> Callable[[int], None]:
    """Do something when so many results are there."""
    return lambda count: steps.get(count, lambda: None)()


@anything
def test_a_machine_that_joins_late_is_used(machines: Any, tmp_path: Path, kind: str) -> None:
    machines.add()
    found = run(kind, 120, tmp_path / "a", machines.address, at({3: machines.add}))
    assert found.made == run(kind, 120, tmp_path / "calm").made
    assert not found.again
    assert found.told("ready") == 2
    assert found.items()[2] > 0


@anything
def test_machines_that_leave_cost_nothing(machines: Any, tmp_path: Path, kind: str) -> None:
    """Case 20, with three machines of which two die."""
    for _ in range(3):
        machines.add()
    steps = at({6: machines.lose, 20: machines.lose})
    found = run(kind, 150, tmp_path / "a", machines.address, steps)
    assert found.made == run(kind, 150, tmp_path / "calm").made
    assert not found.again
    assert found.told("ready") == 3


@pytest.mark.skipif(SHORT, reason="the test of a machine that joins late does nearly the same")
@anything
def test_a_machine_that_comes_back_is_used(machines: Any, tmp_path: Path, kind: str) -> None:
    for _ in range(2):
        machines.add()
    steps = at({6: machines.lose, 14: machines.add})
    found = run(kind, 150, tmp_path / "a", machines.address, steps)
    assert found.made == run(kind, 150, tmp_path / "calm").made
    assert not found.again
    assert found.told("ready") == 3
    assert all(found.items().values())


@pytest.mark.skipif(SHORT, reason="it takes a while until a machine is given up")
def test_a_machine_that_comes_back_after_it_was_given_up_is_used(
    machines: Any, tmp_path: Path
) -> None:
    for _ in range(2):
        machines.add()
    is_back = False
    found = Run()

    def on_result(count: int) -> None:
        nonlocal is_back
        if count == 6:
            machines.lose()
        if not is_back and any(event.kind == "lost" for event in events):
            is_back = True
            machines.add()

    events = found.events
    plan = Plan(
        WorkerSpec(EngineSpec("fake"), (SLOW,), 1),
        address=machines.address,
        start_timeout_s=START_S,
    )
    requests = make_requests(240, SLOW)
    results = make_executor("ray", plan).run(requests, lambda: False, events.append)
    keys = []
    for count, result in enumerate(results, 1):
        assert isinstance(result, Spoken)
        keys.append(result.utterance.key)
        on_result(count)
    assert sorted(keys) == sorted(request.key for request in requests)
    assert found.told("lost") == 1
    assert found.told("ready") == 3
    assert found.items()[3] > 0


@pytest.mark.skipif(SHORT, reason="it takes a while until machines are given up")
def test_when_all_machines_leave_all_that_was_spoken_is_kept(machines: Any, tmp_path: Path) -> None:
    for _ in range(2):
        machines.add()
    work = WorkFolder(tmp_path / "work")
    work.acquire()
    requests = make_requests(150, SLOW)
    spec = WorkerSpec(EngineSpec("fake"), (SLOW,), 1)
    plan = Plan(spec, address=machines.address, start_timeout_s=START_S)
    kept: list[str] = []

    def speak_on(voice: Voice, done: dict[str, Utterance], name: str, plan: Plan) -> None:
        wanted = [replace(request, voice=voice) for request in requests]
        executor = make_executor(name, plan)
        for item in speak(wanted, done, lambda: executor, work, lambda: False, lambda event: None):
            assert isinstance(item, Utterance), item
            kept.append(item.key)
            if len(kept) == 10:
                machines.lose_all()

    with pytest.raises(StoppedError, match="All workers were lost"):
        speak_on(SLOW, {}, "ray", plan)
    done = finished(work, requests)
    assert sorted(done) == sorted(kept)
    speak_on(TONE, done, "local", Plan(replace(spec, voices=(TONE,))))
    assert {path.stem: path.read_bytes() for path in work.path.glob("audio/*/*")} == run(
        "requests", 150, tmp_path
    ).made
    work.release()


@pytest.mark.skipif(SHORT, reason="it takes a while until machines are given up")
def test_when_all_machines_leave_the_units_in_work_go_on_later(
    machines: Any, tmp_path: Path
) -> None:
    for _ in range(2):
        machines.add()
    with pytest.raises(StoppedError, match="All workers were lost"):
        run(
            "units",
            150,
            tmp_path / "set",
            machines.address,
            at({5: machines.lose_all}),
            start_timeout_s=START_S,
        )
    assert 5 <= len(list((tmp_path / "set").glob("units/*/*.tar"))) < 50
    assert run("units", 150, tmp_path / "set").made == run("units", 150, tmp_path / "calm").made


@pytest.mark.skipif(SHORT, reason="it waits for machines that do not come")
def test_cores_on_different_machines_make_no_worker(machines: Any, tmp_path: Path) -> None:
    """Two machines of one core each are no room for a worker of two."""
    for _ in range(2):
        machines.add()
    spec = WorkerSpec(EngineSpec("fake"), (TONE,), num_cores=2)
    plan = Plan(spec, address=machines.address, start_timeout_s=5.0)
    with pytest.raises(UsageError, match="Each needs 2 CPUs"):
        list(make_executor("ray", plan).run(make_requests(2, TONE), lambda: False, print))
