"""Lanes for a model that speaks one text at a time and holds no state between calls."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

from pocket_batch.data import Request, Voice
from pocket_batch.engine.base import Output, Progress


class ThreadedEngine(ABC):
    """The half of an engine that has one such model per voice, and fetches nothing.

    The models are shared by lanes that each speak one text at a time. A model itself runs on one
    thread, because lanes use the cores better than threads inside the model do. As nothing is kept
    between calls, there is nothing to reset after an error.
    """

    version: str
    _num_threads = 1

    @abstractmethod
    def check(self, voices: Iterable[Voice]) -> None:
        """Look for the files of each voice; see `Engine.check`."""

    @abstractmethod
    def _model(self, voice: Voice) -> object:
        """The model of a voice, loaded now if it is not yet."""

    @abstractmethod
    def _speak(self, request: Request) -> Output:
        """Speak one text in the calling thread."""

    def identity(self) -> dict[str, str]:
        """The version of the package; the model file is in the key of the voice."""
        return {"version": self.version}

    def count_tokens(self, text: str) -> int:
        """Length of a text in characters."""
        return len(text)

    def fetch(self, voices: Iterable[Voice], progress: Progress) -> None:
        """Nothing is fetched: voices are files of the user or in a package.

        Raises:
            ModelUnavailableError: as `check`.
        """
        self.check(voices)

    def load(self, voices: Iterable[Voice], num_threads: int) -> None:
        """Load the model of each voice, for `num_threads` lanes.

        Raises:
            ModelUnavailableError: as `check`, or a model cannot be used.
        """
        self._num_threads = num_threads
        for voice in voices:
            self._model(voice)

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        """Speak all requests, as they finish; `requests` is read two per lane ahead."""
        return speak_in_threads(self._loaded(requests), self._speak, self._num_threads)

    def _loaded(self, requests: Iterable[Request]) -> Iterator[Request]:
        for request in requests:
            self._model(request.voice)  # in the caller's thread: lanes must not race for it
            yield request


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
