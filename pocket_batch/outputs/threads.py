"""Encoding several files at a time: the first failure ends all of them."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from pocket_batch.audio.pcm import Pcm

Result = TypeVar("Result")


class AbandonedError(Exception):
    """This task ended because another one failed."""


class Tasks:
    """Runs tasks in `num_threads` threads. The work is done by ffmpeg, one process a thread."""

    def __init__(self, num_threads: int) -> None:
        self._num_threads = num_threads
        self._is_failed = threading.Event()

    def run(self, tasks: Sequence[Callable[[], Result]]) -> list[Result]:
        """Run all tasks and return their results in order, or raise the first error.

        Tasks that run then end with the next piece that they take from `stoppable`.
        """
        with ThreadPoolExecutor(max(self._num_threads, 1), "encode") as pool:
            jobs = [pool.submit(task) for task in tasks]
            try:
                wait(jobs, return_when=FIRST_EXCEPTION)
                failed = _first_failure(jobs)
            except BaseException:  # such as Ctrl-C
                self._stop(jobs)
                raise
            if failed is not None:
                self._stop(jobs)
                raise failed
        return [job.result() for job in jobs]

    def stoppable(self, pieces: Iterable[Pcm]) -> Iterator[Pcm]:
        """The same pieces, until a task fails."""
        for piece in pieces:
            if self._is_failed.is_set():
                raise AbandonedError
            yield piece

    def _stop(self, jobs: Iterable[Future[Result]]) -> None:
        self._is_failed.set()
        for job in jobs:
            job.cancel()


def _first_failure(jobs: Iterable[Future[Result]]) -> BaseException | None:
    for job in jobs:
        if job.done() and (error := job.exception()) is not None:
            return error
    return None
