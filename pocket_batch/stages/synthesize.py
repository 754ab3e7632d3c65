"""The synthesize stage: requests in, spoken utterances out, whatever the engine does."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from pocket_batch.audio.flac import encode_flac
from pocket_batch.data import Failure, Request, Utterance
from pocket_batch.engine.base import Engine, Output
from pocket_batch.errors import AudioError, PocketBatchError

SILENT = 0.001  # of full scale, -60 dB: speech is louder

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spoken:
    """An utterance with its audio as the bytes of a FLAC file (16 bit, mono)."""

    utterance: Utterance
    flac: bytes = field(repr=False)


class Synthesize:
    """Speaks requests with a loaded engine and encodes what comes of them.

    Every request gives exactly one result. What an engine raises over a text becomes a `Failure`
    of that text alone.
    """

    name = "synthesize"

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def run(self, requests: Iterable[Request]) -> Iterator[Spoken | Failure]:
        """Speak all requests, in any order."""
        missing = list(requests)
        for output in self._outputs(tuple(missing)):
            yield self._result(_take(missing, output.key), output)
        for request in missing:
            yield self._run_alone(request)

    def _outputs(self, requests: Iterable[Request]) -> Iterator[Output]:
        """What the engine makes until it ends, be it over a text: it does not say over which."""
        try:
            yield from self.engine.generate(requests)
        except Exception:
            logger.debug(
                "%s ended early, the rest goes one by one", self.engine.name, exc_info=True
            )

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
            message = f"{type(error).__name__}: {error}".rstrip(": ")
            return _failure(request, f"The engine failed over this text: {message}.")

    def _result(self, request: Request, output: Output) -> Spoken | Failure:
        """Encode what the engine made, unless it cannot be a recording."""
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
        return Spoken(utterance, flac)


def _take(requests: list[Request], key: str) -> Request:
    """Remove and return the first request of that key; two of one key are two requests."""
    index = next(i for i, request in enumerate(requests) if request.key == key)
    return requests.pop(index)


def _failure(request: Request, reason: str) -> Failure:
    return Failure(request.key, request.segment_id, request.text, reason, request.attempt + 1)
