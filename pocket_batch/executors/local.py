"""Everything in this process: for debugging, small jobs and the smallest machines.

The same results as the other executors, but no second chance: a text that crashes the engine
takes this process with it, and one that never ends holds it for ever.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, takewhile
from typing import Any, cast

from pocket_batch.data import Request
from pocket_batch.executors.base import Plan, Result, Spoken, Work, WorkerEvent, make_stage
from pocket_batch.executors.cores import check_workers, cores_per_worker, usable_cores
from pocket_batch.executors.health import History, own_vitals
from pocket_batch.executors.queue import longest_first
from pocket_batch.executors.workers import audio_s

WORKING_S = 1.0


class LocalExecutor:
    """One engine with as many threads as all the workers of the plan have cores."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._history = History(1)

    def run(
        self,
        work: Iterable[Work],
        should_stop: Callable[[], bool],
        on_event: Callable[[WorkerEvent], None],
    ) -> Iterator[Result]:
        """Yield one result for every request or unit, until stopped; see `Executor`."""
        is_units = self.plan.spec.units is not None
        source = iter(work) if is_units else longest_first(cast(Iterable[Request], work))
        first = next(source, None)
        if first is None or should_stop() or self.plan.limits.is_late(0.0):
            return
        spec = replace(self.plan.spec, num_cores=self._num_threads())
        on_event(WorkerEvent("starting", 0, "Loading the voice."))
        self._history = History(1)
        is_stopped = self._telling(should_stop, on_event)
        stage: Any = make_stage(spec, is_stopped)
        cores = f"{spec.num_cores} core{'s' * (spec.num_cores != 1)}"
        on_event(WorkerEvent("ready", 1, f"Speaking on {cores}."))
        # One stream: the engine reads on as it gets free, and is never empty between two calls.
        slowest_s = 0.0
        on_time = takewhile(lambda _: not self.plan.limits.is_late(slowest_s), source)
        for result in stage.run(chain((first,), on_time)):
            self._history.num_items += 1
            self._history.audio_s += audio_s(result)
            if isinstance(result, Spoken):
                slowest_s = max(slowest_s, result.utterance.compute_s)
            yield result
            if is_stopped():
                return

    def _num_threads(self) -> int:
        """Threads of the engine: the cores of all workers together.

        Raises:
            UsageError: the plan asks for more workers than there are cores for.
        """
        cores = cores_per_worker(self.plan.spec.num_cores)
        if self.plan.num_workers is None:
            return usable_cores()
        check_workers(self.plan.num_workers, cores)
        return cores * self.plan.num_workers

    def _telling(
        self, should_stop: Callable[[], bool], on_event: Callable[[WorkerEvent], None]
    ) -> Callable[[], bool]:
        """`should_stop`, which also tells about once a second that work goes on, and how."""
        told = began = time.monotonic()

        def asked() -> bool:
            nonlocal told
            is_main = threading.current_thread() is threading.main_thread()
            if is_main and time.monotonic() - told >= WORKING_S:
                told = time.monotonic()
                self._history.busy_s = told - began
                self._history.see(own_vitals())
                on_event(WorkerEvent("working", 1, "", (self._history.health("busy"),)))
            return should_stop()

        return asked
