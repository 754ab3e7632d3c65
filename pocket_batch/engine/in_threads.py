"""Lanes for a model that speaks one text at a time and holds no state between calls."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

from pocket_batch.data import Request
from pocket_batch.engine.base import Output


def speak_in_threads(
    requests: Iterable[Request], speak: Callable[[Request], Output], num_threads: int
) -> Iterator[Output]:
    """Call `speak` for every request; results as they come, requests read two per thread ahead."""
    waiting = iter(requests)
    with ThreadPoolExecutor(num_threads) as lanes:
        running: set[Future[Output]] = {
            lanes.submit(speak, request) for request in islice(waiting, 2 * num_threads)
        }
        try:
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                running |= {lanes.submit(speak, request) for request in islice(waiting, len(done))}
                yield from (future.result() for future in done)
        finally:
            for future in running:
                future.cancel()
