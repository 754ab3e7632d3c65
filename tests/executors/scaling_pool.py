"""What the pool itself costs with many workers: `python tests/executors/scaling_pool.py 1000`.

Workers are entries of a list that answer when their time has come: no Ray, no files, no audio. The
cost is processor time of this process, so that a busy machine changes little.
"""

import heapq
import itertools
import random
import sys
import time
from typing import Any

from pocket_batch.data import EngineSpec, Request, Utterance, Voice
from pocket_batch.executors.base import Plan, Spoken, WorkerSpec
from pocket_batch.executors.cluster import Reply
from pocket_batch.executors.health import Vitals
from pocket_batch.executors.pool import Pool
from pocket_batch.executors.queue import Item, RetryQueue

VOICE = Voice("tone", "fake", "en", "CC0-1.0")
LETTERS = 94  # of a segment, as in books
SEGMENT_S = 0.38  # 5.6 s of speech at 15 times real time
WARM_S, MEASURE_S = 20.0, 20.0
MAX_REPLIES = 16  # as Ray's cluster returns them


class Clockwork:
    """A `Cluster` whose workers answer by the clock, each one call after the other."""

    def __init__(self, num_workers: int) -> None:
        self._num_workers = num_workers
        self._calls = itertools.count(1)
        self._workers = itertools.count(1)
        self._answers: list[tuple[float, int, Reply]] = []
        self._free: dict[int, float] = {}
        self._rng = random.Random(0)

    def start(self) -> int:
        return next(self._workers)

    def call_ready(self, worker: int) -> int:
        return self._call(0.0, Reply("node"))

    def call_vitals(self, worker: int) -> int:
        return self._call(0.0, Reply(Vitals("host", worker, 1, 1.0)))

    def call_speak(self, worker: int, items: list[Item[Request]]) -> int:
        spoken = [Spoken(_utterance(item.request), b"") for item in items]
        took_s = SEGMENT_S * len(items) * self._rng.uniform(0.5, 1.5)
        self._free[worker] = max(time.monotonic(), self._free.get(worker, 0.0)) + took_s
        return self._call(self._free[worker], Reply(spoken))

    def _call(self, at: float, reply: Reply) -> int:
        number = next(self._calls)
        heapq.heappush(self._answers, (at, number, reply))
        return number

    def wait(self, calls: list[Any], timeout_s: float) -> list[tuple[Any, Reply]]:
        now = time.monotonic()
        at = min(now + timeout_s, self._answers[0][0] if self._answers else now + timeout_s)
        time.sleep(max(0.0, at - now))
        done: list[tuple[Any, Reply]] = []
        while len(done) < MAX_REPLIES and self._answers and self._answers[0][0] <= at:
            _, number, reply = heapq.heappop(self._answers)
            done.append((number, reply))
        return done

    def capacity(self) -> int:
        return self._num_workers

    def is_lost(self) -> bool:
        return False

    def is_node_alive(self, node: str) -> bool:
        return True

    def ask_to_stop(self, worker: int) -> None: ...

    def kill(self, worker: int, restart: bool) -> None: ...

    def resources(self) -> str:
        return ""


def _utterance(request: Request) -> Utterance:
    return Utterance(request.key, request.segment_id, 135_000, 24_000, "eos", 0, 0, 157_000, 0.4)


def main() -> None:
    """Measure once all workers are fed, and print one line."""
    num_workers = int(sys.argv[1])
    plan = Plan(WorkerSpec(EngineSpec("fake"), (VOICE,), 1), num_workers)
    requests = (Request(f"{i}", "", "x" * LETTERS, VOICE, i) for i in itertools.count())
    cluster: Any = Clockwork(num_workers)
    began = time.monotonic()
    end = began + WARM_S + MEASURE_S
    pool = Pool(cluster, RetryQueue(requests, 600.0), plan, num_workers, lambda event: None)
    num, cpu_s, since = 0, 0.0, 0.0
    for _ in pool.run(lambda: time.monotonic() > end):
        if not since and time.monotonic() > began + WARM_S:
            num, cpu_s, since = 0, -time.process_time(), time.monotonic()
        num += 1
        if since and time.monotonic() > end - 0.1:
            break
    wall_s, cpu_s = time.monotonic() - since, cpu_s + time.process_time()
    print(
        f"{num_workers} workers: {num / wall_s:.0f} segments/s, {100 * cpu_s / wall_s:.1f} % of one"
        f" core, {1000 * cpu_s / num:.3f} ms each"
    )


if __name__ == "__main__":
    main()
