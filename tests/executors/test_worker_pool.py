"""The pool keeps going whatever happens to workers, on a simulated cluster without processes."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pocket_batch.data import EngineSpec, Failure, Request, Voice
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.errors import ModelUnavailableError, StoppedError, UsageError
from pocket_batch.executors.base import Limits, Plan, Spoken, WorkerEvent, WorkerSpec
from pocket_batch.executors.cluster import ClusterLostError, Reply
from pocket_batch.executors.health import Vitals
from pocket_batch.executors.pool import Pool
from pocket_batch.executors.queue import Feed, Item, RetryQueue
from pocket_batch.stages.synthesize import Synthesize

VOICE = Voice("tone", "fake", "en", "CC0-1.0")
SHARED = Feed(max_items=8, max_characters=None, num_calls=4, num_running=4, max_suspects=4)


@dataclass
class SimulatedCluster:
    """Runs calls when asked to wait. `crash:` and `hang:` in a text do what they say.

    Where several calls of a worker run at the same time, a hang of one holds up all.
    """

    num_running: int = 1
    load_error: Exception | None = None
    never_starts: bool = False
    dead_nodes: set[str] = field(default_factory=set)
    dies: Callable[["SimulatedCluster", int], bool] = lambda cluster, worker: False
    strays: int = 0  # so often the last call of a dying worker goes to the one that replaces it
    num_workers: int = 0
    room: int = 99
    next_call: int = 0
    queues: dict[int, list[tuple[int, list[Item] | None]]] = field(default_factory=dict)
    lost: list[tuple[int, Reply]] = field(default_factory=list)
    call_sizes: list[int] = field(default_factory=list)
    deaths: list[set[str]] = field(default_factory=list)  # keys that ran when a worker was lost
    stage: Synthesize = field(default_factory=lambda: Synthesize(FakeEngine(EngineSpec("fake"))))

    def start(self) -> int:
        self.num_workers += 1
        self.queues[self.num_workers] = []
        return self.num_workers

    def is_lost(self) -> bool:
        return False

    def call_ready(self, worker: int) -> int:
        return self._call(worker, None)

    def call_speak(self, worker: int, items: list[Item]) -> int:
        self.call_sizes.append(len(items))
        return self._call(worker, items)

    def _call(self, worker: int, items: list[Item] | None) -> int:
        self.next_call += 1
        self.queues[worker].append((self.next_call, items))
        return self.next_call

    def wait(self, calls: list[Any], timeout_s: float) -> list[tuple[Any, Reply]]:
        replies, self.lost = self.lost, []
        for worker, queue in self.queues.items():
            if queue and not self.never_starts:
                replies += self._run_one(worker)
        if not replies:
            time.sleep(min(timeout_s, 0.01))
        return [(call, reply) for call, reply in replies if call in calls]

    def _run_one(self, worker: int) -> list[tuple[int, Reply]]:
        running = self.queues[worker][: self.num_running]
        for entry in running:
            if entry[1] is None:
                self.queues[worker].remove(entry)
                return [(entry[0], Reply(f"node-{worker}", self.load_error))]
        text = " ".join(self._texts(worker).values())
        if "crash:" in text or self.dies(self, worker):
            self.kill(worker, restart=True)
            return []
        if "hang:" in text:
            return []
        call, items = running[self.next_call % len(running)]  # they may overtake each other
        self.queues[worker].remove((call, items))
        return [(call, Reply(list(self.stage.run(item.request for item in items or ()))))]

    def _texts(self, worker: int) -> dict[str, str]:
        """What runs now."""
        running = self.queues[worker][: self.num_running]
        requests = [item.request for _, items in running for item in items or ()]
        return {request.key: request.text for request in requests}

    def kill(self, worker: int, restart: bool) -> None:
        if restart:
            self.deaths.append(set(self._texts(worker)))
        stray: list[tuple[int, list[Item] | None]] = []
        if self.strays and len(self.queues[worker]) > 1:
            self.strays -= 1
            stray = [self.queues[worker].pop()]
        self.lost += [(call, Reply(is_lost=True)) for call, _ in self.queues[worker]]
        self.queues[worker] = stray

    def capacity(self) -> int:
        return self.room

    def call_vitals(self, worker: int) -> int:
        return -worker

    def is_node_alive(self, node: str) -> bool:
        return node not in self.dead_nodes

    def resources(self) -> str:
        return "1 CPUs"


@dataclass
class Run:
    results: list[Spoken | Failure]
    events: list[WorkerEvent]
    cluster: SimulatedCluster

    @property
    def failures(self) -> dict[str, str]:
        return {r.text: r.reason for r in self.results if isinstance(r, Failure)}


def run(
    texts: list[str],
    cluster: SimulatedCluster | None = None,
    num_workers: int = 2,
    item_timeout_s: float = 0.05,
    start_timeout_s: float = 5.0,
    should_stop: Callable[[], bool] = lambda: False,
    feed: Feed | None = None,
) -> Run:
    cluster = cluster or SimulatedCluster()
    cluster.num_running = (feed or Feed()).num_running
    events: list[WorkerEvent] = []
    plan = Plan(
        WorkerSpec(EngineSpec("fake"), (VOICE,), 1),
        item_timeout_s=item_timeout_s,
        start_timeout_s=start_timeout_s,
    )
    requests = [Request(f"key-{i}", f"segment-{i}", text, VOICE, i) for i, text in enumerate(texts)]
    queue = RetryQueue(requests, item_timeout_s, feed)
    pool = Pool(cluster, queue, plan, num_workers, events.append)
    return Run(list(pool.run(should_stop)), events, cluster)


def test_every_request_gives_one_result_in_calls_of_many() -> None:
    done = run(["word"] * 500)
    assert len({r.utterance.key for r in done.results if isinstance(r, Spoken)}) == 500
    assert len(done.cluster.call_sizes) < 60


def test_only_the_text_that_crashes_is_given_up() -> None:
    """Case 17."""
    done = run(["word"] * 50 + ["crash: now"] + ["word"] * 50)
    assert done.failures == {"crash: now": "This text crashed its worker 3 times."}
    assert len(done.results) == 101
    assert sum(event.kind == "crashed" for event in done.events) == 3


def test_a_call_that_outlives_its_worker_and_hangs_is_ended_too() -> None:
    texts = ["crash: long text that goes first", "hang: and this one behind it"]
    done = run(texts, SimulatedCluster(strays=3), num_workers=1, start_timeout_s=0.3)
    assert len(done.results) == 2
    assert done.failures.keys() == set(texts)


def test_only_the_text_that_hangs_is_given_up() -> None:
    done = run(["word"] * 50 + ["hang: now"] + ["word"] * 50)
    assert done.failures == {"hang: now": "This text did not end within 0.05 s 3 times."}
    assert len(done.results) == 101
    assert sum(event.kind == "timeout" for event in done.events) == 3


def test_several_bad_texts_do_not_drag_others_along() -> None:
    """Case 18."""
    texts = ["word"] * 30 + ["crash: a", "hang: b", "error: c", "crash: d"] + ["word"] * 30
    done = run(texts, num_workers=3)
    assert sorted(done.failures) == ["crash: a", "crash: d", "error: c", "hang: b"]
    assert len(done.results) == len(texts)


def test_the_death_of_a_machine_is_nobodys_fault() -> None:
    """Case 20."""

    def dies(cluster: SimulatedCluster, worker: int) -> bool:
        cluster.dead_nodes = {"node-1", "node-2"}
        return 5 < len(cluster.call_sizes) < 100

    done = run(["word"] * 40, SimulatedCluster(dies=dies))
    assert done.failures == {}
    assert len(done.results) == 40


def test_stopping_starts_nothing_new_and_takes_what_is_done() -> None:
    stops = iter([False] * 4 + [True] * 1000)
    done = run(["word"] * 500, should_stop=lambda: next(stops))
    assert 0 < len(done.results) < 500


def test_stopping_does_not_wait_for_what_hangs() -> None:
    """Case 26."""
    stops = iter([False] * 4 + [True] * 1000)
    started = time.monotonic()
    run(["hang: on"] * 3, item_timeout_s=60.0, should_stop=lambda: next(stops))
    assert time.monotonic() - started < 3.0


def test_no_more_workers_start_than_there_are_texts() -> None:
    assert run(["word"] * 3, num_workers=8).cluster.num_workers == 3


def test_a_model_that_no_worker_can_load_ends_the_run_with_its_own_message() -> None:
    """Case 19."""
    cluster = SimulatedCluster(load_error=ModelUnavailableError("There is no voice `x`."))
    with pytest.raises(ModelUnavailableError, match="no voice `x`"):
        run(["word"] * 3, cluster)


def test_workers_that_never_start_are_told_with_what_the_cluster_has() -> None:
    with pytest.raises(UsageError, match=r"within 0\.1 s.*needs 1 CPUs; there are 1 CPUs"):
        run(["word"], SimulatedCluster(never_starts=True), start_timeout_s=0.1)


def test_losing_all_workers_later_can_be_gone_on_from() -> None:
    def dies(cluster: SimulatedCluster, worker: int) -> bool:
        cluster.never_starts = len(cluster.call_sizes) > 6
        return cluster.never_starts

    cluster = SimulatedCluster(dies=dies)
    with pytest.raises(StoppedError, match="run the same command again"):
        run(["word"] * 400, cluster, start_timeout_s=0.2)


def test_calls_that_share_a_worker_are_all_suspected_of_its_death() -> None:
    done = run(["word"] * 100 + ["crash: now"] + ["word"] * 100, num_workers=1, feed=SHARED)
    assert done.failures == {"crash: now": "This text crashed its worker 3 times."}
    assert len(done.results) == 201
    company, group, *alone = done.cluster.deaths
    assert len(company) == 4 * 8
    assert len(group) == 4
    assert group < company
    assert alone == [{"key-100"}] * 2


def test_calls_of_one_text_that_share_a_worker_are_suspected_together() -> None:
    feed = Feed(max_items=1, max_characters=None, num_calls=8, num_running=8, max_suspects=4)
    done = run(["word"] * 7 + ["hang: now"], num_workers=1, feed=feed)
    assert done.failures == {"hang: now": "This text did not end within 0.05 s 3 times."}
    assert len(done.results) == 8
    assert [len(keys) for keys in done.cluster.deaths[1:]] == [4, 1, 1]


def test_speeds_are_those_of_all_that_runs_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the first of several calls, which starts with the worker to itself, would seem slow."""
    loads: list[int] = []
    monkeypatch.setattr(RetryQueue, "done", lambda self, load, elapsed_s: loads.append(len(load)))
    run(["word"] * 200, num_workers=1, feed=SHARED)
    assert loads[:10] == [4 * 8] * 10
    loads.clear()
    run(["word"] * 200, num_workers=1)
    assert set(loads) == {1}  # without a known speed all calls are single texts


@pytest.mark.parametrize("feed", [Feed(), SHARED])
def test_a_worker_that_is_ready_first_leaves_the_others_their_share(feed: Feed) -> None:
    taken: dict[int, int] = {}

    class Late(SimulatedCluster):
        def _run_one(self, worker: int) -> list[tuple[int, Reply]]:
            return [] if worker == 2 and len(taken) < 1 else super()._run_one(worker)

        def call_speak(self, worker: int, items: list[Item]) -> int:
            taken[worker] = taken.get(worker, 0) + len(items)
            return super().call_speak(worker, items)

    done = run(["word"] * 30, Late(), feed=feed)
    assert len(done.results) == 30
    assert max(taken.values()) <= 20


def test_what_is_lost_from_a_batch_is_tried_again_in_few_calls() -> None:
    deaths = iter([False] * 9 + [True] + [False] * 10_000)
    cluster = SimulatedCluster(dies=lambda cluster, worker: next(deaths))
    done = run(["word"] * 300, cluster, num_workers=1, feed=SHARED)
    assert done.failures == {}
    assert len(done.results) == 300
    assert len(cluster.deaths) == 1
    undisturbed = run(["word"] * 300, num_workers=1, feed=SHARED).cluster.call_sizes
    assert len(cluster.call_sizes) <= len(undisturbed) + 4 + 4 * 8 / 4


def test_suspects_have_a_shared_worker_to_themselves() -> None:
    """Or else the next death could not be theirs alone, and other texts would be drawn in."""
    seen: list[tuple[set[str], set[str]]] = []

    class Watching(SimulatedCluster):
        def call_speak(self, worker: int, items: list[Item]) -> int:
            before = set(self._texts(worker))
            seen.append((before, {i.request.key for i in items if i.is_suspect}))
            return super().call_speak(worker, items)

    run(["word"] * 60 + ["crash: a", "crash: b"] + ["word"] * 60, Watching(), feed=SHARED)
    suspects: set[str] = set()
    for before, new in seen:
        suspects |= new
        assert not (before and new)
        assert not before & suspects


@settings(max_examples=30, deadline=None)
@given(
    num_words=st.integers(0, 120),
    bad=st.lists(st.sampled_from(["crash: x", "hang: y", "error: z", "oom: w"]), max_size=4),
    seed=st.integers(0, 1000),
    num_workers=st.integers(1, 3),
    feed=st.sampled_from([Feed(), SHARED, Feed(3, None, 2, 2, 2)]),
    strays=st.integers(0, 2),
    death=st.integers(0, 40),
)
def test_whatever_happens_every_text_gives_one_result_and_only_bad_ones_fail(
    num_words: int,
    bad: list[str],
    seed: int,
    num_workers: int,
    feed: Feed,
    strays: int,
    death: int,
) -> None:
    texts = [f"word {n}" for n in range(num_words)] + [f"{t} {n}" for n, t in enumerate(bad)]
    random.Random(seed).shuffle(texts)
    turns = iter(range(10**9))
    cluster = SimulatedCluster(dies=lambda cluster, worker: next(turns) == death, strays=strays)
    if not texts:
        return
    done = run(texts, cluster, num_workers, item_timeout_s=0.02, start_timeout_s=0.1, feed=feed)
    keys = [r.key if isinstance(r, Failure) else r.utterance.key for r in done.results]
    assert sorted(keys) == sorted(f"key-{n}" for n in range(len(texts)))
    assert done.failures.keys() == {text for text in texts if not text.startswith("word")}
    for n, text in enumerate(texts):
        if text.startswith(("crash", "hang")):
            assert done.cluster.deaths.count({f"key-{n}"}) >= 2 or not feed.is_shared


def make_pool(
    cluster: SimulatedCluster,
    texts: list[str],
    num_workers: int,
    limits: Limits,
    num_asked: int | None = None,
) -> tuple[Pool, list[WorkerEvent]]:
    events: list[WorkerEvent] = []
    plan = Plan(WorkerSpec(EngineSpec("fake"), (VOICE,), 1), num_asked, limits=limits)
    requests = [Request(f"key-{i}", f"segment-{i}", text, VOICE, i) for i, text in enumerate(texts)]
    return Pool(cluster, RetryQueue(requests, 120.0), plan, num_workers, events.append), events


def test_near_the_deadline_nothing_is_started_and_all_that_is_in_work_is_returned() -> None:
    calls: list[float] = []

    def is_late(seconds: float) -> bool:
        calls.append(seconds)
        return len(calls) > 10

    cluster = SimulatedCluster()
    pool, _ = make_pool(cluster, ["word"] * 500, 2, Limits(is_late=is_late))
    results = list(pool.run(lambda: False))
    assert len(results) == sum(cluster.call_sizes)
    assert 10 <= len(results) < 500
    assert all(isinstance(result, Spoken) for result in results)


def test_a_deadline_that_is_past_starts_nothing_at_all() -> None:
    cluster = SimulatedCluster()
    pool, _ = make_pool(cluster, ["word"] * 50, 2, Limits(is_late=lambda seconds: True))
    assert list(pool.run(lambda: False)) == []
    assert cluster.call_sizes == []


def test_room_that_comes_later_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocket_batch.executors.crew.GROW_S", 0.0)

    class Growing(SimulatedCluster):
        def call_speak(self, worker: int, items: list[Item]) -> int:
            self.room = 3
            return super().call_speak(worker, items)

    cluster = Growing(room=1)
    pool, events = make_pool(cluster, ["word"] * 300, 1, Limits())
    assert len(list(pool.run(lambda: False))) == 300
    assert cluster.num_workers == 3
    assert max(event.num_workers for event in events) == 3


def test_no_more_workers_than_asked_for_start_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocket_batch.executors.crew.GROW_S", 0.0)
    cluster = SimulatedCluster(room=1)
    pool, _ = make_pool(cluster, ["word"] * 200, 1, Limits(), num_asked=2)
    cluster.room = 99
    assert len(list(pool.run(lambda: False))) == 200
    assert cluster.num_workers == 2


@pytest.mark.parametrize("num_workers", [1, 3])
def test_a_worker_that_leaks_gets_a_new_process_after_its_work_and_nothing_is_lost(
    num_workers: int,
) -> None:
    cluster = SimulatedCluster()
    pool, events = make_pool(cluster, ["word"] * 200, num_workers, Limits())
    results = []
    for result in pool.run(lambda: False):
        results.append(result)
        if len(results) == 20:
            pool._crew.workers[0].is_recycling = True
    assert sorted(r.utterance.key for r in results if isinstance(r, Spoken)) == sorted(
        f"key-{n}" for n in range(200)
    )
    assert [event.kind for event in events].count("recycled") == 1
    assert "crashed" not in [event.kind for event in events]
    assert pool._crew.workers[0].history.num_recycled == 1
    assert cluster.deaths == [set()]


def test_the_health_of_all_workers_comes_while_they_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocket_batch.executors.pool.WORKING_S", 0.0)
    monkeypatch.setattr("pocket_batch.executors.watch.LOOK_S", 0.0)

    class Answering(SimulatedCluster):
        def wait(self, calls: list[Any], timeout_s: float) -> list[tuple[Any, Reply]]:
            looks = [call for call in calls if call < 0]
            vitals = [(c, Reply(Vitals("node", 100 - c, 50_000_000, 1.0))) for c in looks]
            return super().wait(calls, timeout_s) + vitals

    pool, events = make_pool(Answering(), ["word"] * 100, 2, Limits())
    assert len(list(pool.run(lambda: False))) == 100
    health = [event.health for event in events if event.kind == "working"][-1]
    assert [worker.number for worker in health] == [1, 2]
    assert {worker.pid for worker in health} == {101, 102}
    assert sum(worker.num_items for worker in health) > 50
    assert all(not event.health for event in events if event.kind != "working")


def test_a_deadline_ends_work_in_this_process_too() -> None:
    from pocket_batch.executors.local import LocalExecutor

    requests = [Request(f"key-{i}", f"s-{i}", "word", VOICE, i) for i in range(100)]
    asked: list[float] = []

    def is_late(seconds: float) -> bool:
        asked.append(seconds)
        return len(asked) > 5

    def results(limits: Limits) -> int:
        plan = Plan(WorkerSpec(EngineSpec("fake"), (VOICE,), 1), limits=limits)
        return len(list(LocalExecutor(plan).run(requests, lambda: False, lambda event: None)))

    assert 1 <= results(Limits(is_late=is_late)) <= 6
    assert asked[-1] > 0
    assert results(Limits(is_late=lambda seconds: True)) == 0
    assert results(Limits()) == 100


def test_when_the_cluster_is_lost_all_that_has_no_result_waits_again() -> None:
    """Then another cluster can do the rest, with the same queue."""

    class Lost(SimulatedCluster):
        def is_lost(self) -> bool:
            return len(self.call_sizes) > 6

    plan = Plan(WorkerSpec(EngineSpec("fake"), (VOICE,), 1))
    requests = [Request(f"key-{i}", f"segment-{i}", "word", VOICE, i) for i in range(200)]
    queue = RetryQueue(requests, 120.0)
    results: list[Any] = []
    pool = Pool(Lost(), queue, plan, 2, lambda event: None)
    with pytest.raises(ClusterLostError, match="What is done is saved"):
        results.extend(pool.run(lambda: False))
    assert 0 < len(results) < 200
    results += Pool(SimulatedCluster(), queue, plan, 2, lambda event: None).run(lambda: False)
    keys = [result.utterance.key for result in results if isinstance(result, Spoken)]
    assert sorted(keys) == sorted(request.key for request in requests)
