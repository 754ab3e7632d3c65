"""The synthesize stage: requests in, spoken utterances out, whatever the engine does."""

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from time import sleep

import numpy as np

from pocket_batch.audio.flac import encode_flac
from pocket_batch.audio.pcm import to_int16
from pocket_batch.data import Failure, Request, Utterance
from pocket_batch.engine.base import Engine, Output
from pocket_batch.errors import AudioError, PocketBatchError
from pocket_batch.quality.levels import measure_levels
from pocket_batch.records import Checked
from pocket_batch.rows import Scores

SILENT = 0.001  # of full scale, -60 dB: speech is louder
BACKOFF_S = 0.25  # after an error that is not of a text; twice as long after the next one
MAX_BACKOFFS = 3  # until the engine speaks again

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spoken:
    """An utterance with its audio as the bytes of a FLAC file (16 bit, mono), perhaps measured.

    `checked` is set where it was checked.
    """

    utterance: Utterance
    flac: bytes = field(repr=False)
    scores: Scores | None = None
    checked: Checked | None = None


class Synthesize:
    """Speaks requests with a loaded engine and encodes what comes of them.

    Every request gives exactly one result. What an engine raises over a text becomes a `Failure`
    of that text alone. With a concurrent engine, `run` may be used by several threads at once.
    """

    name = "synthesize"

    def __init__(self, engine: Engine, is_measured: bool = False) -> None:
        """`is_measured` asks for the scores of every utterance."""
        self.engine = engine
        self._is_measured = is_measured
        self._turns = _Turns()
        self._num_errors = 0  # of the engine, since it last spoke

    def run(self, requests: Iterable[Request]) -> Iterator[Spoken | Failure]:
        """Speak all requests, in any order; read as the engine asks for them.

        An exception of `requests` is raised when all that was read is spoken.
        """
        stream = _Stream(requests)
        while (first := next(stream, None)) is not None:
            with self._turns.shared():
                yield from self._answered(chain((first,), stream), stream.missing)
            if stream.missing:
                with self._turns.alone():  # what others do to a batch is not the fault of these
                    yield from self._run_missing(stream.missing)
            if stream.error is not None:
                raise stream.error

    def _run_missing(self, missing: list[Request]) -> Iterator[Spoken | Failure]:
        """Speak what is missing after an engine ended early, in the end one by one."""
        if self.engine.is_concurrent:
            yield from self._answered(tuple(missing), missing)
        for request in missing:
            yield self._run_alone(request)
        missing.clear()

    def _answered(
        self, requests: Iterable[Request], missing: list[Request]
    ) -> Iterator[Spoken | Failure]:
        """What the engine makes until it ends; whatever is answered is taken out of `missing`."""
        for output in self._outputs(requests):
            yield self._result(_take(missing, output.key), output)

    def _outputs(self, requests: Iterable[Request]) -> Iterator[Output]:
        """What the engine makes until it ends, be it over a text: it does not say over which."""
        try:
            yield from self.engine.generate(requests)
        except Exception as error:
            logger.debug(
                "%s ended early; what is missing is tried again", self.engine.name, exc_info=True
            )
            self._back_off(error)

    def _run_alone(self, request: Request) -> Spoken | Failure:
        """Speak one request by itself, so that what goes wrong is its own fault."""
        try:
            output = next(iter(self.engine.generate((request,))), None)
            if output is None:
                return _failure(request, "The engine returned nothing for this text.")
            return self._result(request, output)
        except PocketBatchError as error:
            return _failure(request, str(error))
        except Exception as error:
            # Any exception of an item is a failure of that item: the contract of an executor.
            logger.debug("%s failed over a text", self.engine.name, exc_info=True)
            self._back_off(error)
            message = f"{type(error).__name__}: {error}".rstrip(": ")
            return _failure(request, f"The engine failed over this text: {message}.")

    def _back_off(self, error: Exception) -> None:
        """Wait before an engine is asked again that failed: memory may be had again by then.

        An error that an engine raises on purpose is of its text, and one that comes again and again
        does not pass: no waiting helps.
        """
        if not isinstance(error, PocketBatchError):
            if self._num_errors < MAX_BACKOFFS:
                sleep(BACKOFF_S * 2**self._num_errors)
            self._num_errors += 1

    def _result(self, request: Request, output: Output) -> Spoken | Failure:
        """Encode what the engine made, unless it cannot be a recording."""
        self._num_errors = 0
        if output.audio.size == 0:
            return _failure(request, "No audio came of this text.")
        if float(np.abs(output.audio).max()) < SILENT:
            return _failure(request, "The engine made nothing but silence of this text.")
        try:
            flac = encode_flac(output.audio, self.engine.sampling_rate_hz)
        except AudioError as error:
            return _failure(request, str(error))
        utterance = Utterance(
            key=request.key,
            segment_id=request.segment_id,
            num_samples=output.audio.size,
            sampling_rate_hz=self.engine.sampling_rate_hz,
            finish_reason=output.finish_reason,
            seed=request.seed,
            attempt=request.attempt,
            num_bytes=len(flac),
            compute_s=output.compute_s,
        )
        if not self._is_measured:
            return Spoken(utterance, flac)
        pcm = to_int16(output.audio)
        return Spoken(
            utterance, flac, measure_levels(pcm, self.engine.sampling_rate_hz, request.text)
        )


class _Stream:
    """Requests on their way to an engine.

    Attributes:
        missing: those that were read; whoever answers one takes it out.
        error: what the source raised, which the engine's caller would take for the engine's.
    """

    def __init__(self, requests: Iterable[Request]) -> None:
        self._source = iter(requests)
        self.missing: list[Request] = []
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[Request]:
        return self

    def __next__(self) -> Request:
        try:
            request = next(self._source)
        except StopIteration:
            raise
        except Exception as error:
            self.error = error
            raise
        self.missing.append(request)
        return request


class _Turns:
    """Many at a time, or one alone, who goes before others that come."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._num_sharing = 0
        self._num_waiting_alone = 0
        self._is_alone = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_alone and not self._num_waiting_alone)
            self._num_sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._num_sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._num_waiting_alone += 1
            self._changed.wait_for(lambda: not self._is_alone and not self._num_sharing)
            self._num_waiting_alone -= 1
            self._is_alone = True
        try:
            yield
        finally:
            with self._changed:
                self._is_alone = False
                self._changed.notify_all()


def _take(requests: list[Request], key: str) -> Request:
    """Remove and return the first request of that key; two of one key are two requests."""
    index = next(i for i, request in enumerate(requests) if request.key == key)
    return requests.pop(index)


def _failure(request: Request, reason: str) -> Failure:
    return Failure(request.key, request.segment_id, request.text, reason, request.attempt + 1)
