"""The protocol of a speech engine, and the table of engines.

An engine knows nothing of books, files or Ray. Making one is cheap and tells whether it can work
on this machine; weights are loaded by the first `generate`, or earlier by `load`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pocket_batch.data import EngineSpec, FinishReason, Request, Voice
from pocket_batch.errors import ModelUnavailableError, PocketBatchError

Samples = NDArray[np.float32]
Progress = Callable[[str, int, int], None]  # a file's name, its bytes so far, all its bytes or 0

ENGINES = {
    "fake": "pocket_batch.engine.fake:FakeEngine",
    "hibari": "pocket_batch.engine.hibari:HibariEngine",
    "piper": "pocket_batch.engine.piper:PiperEngine",
    "pocket": "pocket_batch.engine.pocket:PocketEngine",
}


class EngineError(PocketBatchError):
    """The engine could not speak one text; another text may well succeed."""


@dataclass(frozen=True, slots=True)
class Output:
    """What an engine made of one request.

    `audio` has shape (num_samples,), mono float32 at the engine's sampling rate, full scale 1.0.
    `compute_s` is the wall time this request took.
    """

    key: str
    audio: Samples
    finish_reason: FinishReason
    compute_s: float


class Engine(Protocol):
    """A batched text-to-speech model.

    Attributes:
        spec: what it was made with; `make_engine(spec)` elsewhere makes the same one.
        name: the key in `ENGINES`.
        version: of the model and its code, for people to read.
        language: the BCP 47 tag that its model reads, or empty when that depends on the voice.
        sampling_rate_hz: of all its output.
        max_tokens: the longest text of one request, counted by `count_tokens`.
        batch_size: requests that it speaks at a time on each core.
        is_concurrent: `generate` may run several times at once, in threads; these share a batch.
        varies: another seed speaks a text otherwise, so that trying again is worth it.
        takes_ipa: it reads pronunciations inside a text, `[word](/ˈwɜːd/)`.
        x_realtime: seconds of audio per second on two cores, roughly; used for estimates only.
        memory_bytes: resident size of one loaded worker, roughly; limits the number of workers.
    """

    spec: EngineSpec
    name: str
    version: str
    language: str
    sampling_rate_hz: int
    max_tokens: int
    batch_size: int
    is_concurrent: bool
    varies: bool
    takes_ipa: bool
    x_realtime: float
    memory_bytes: int

    def identity(self) -> dict[str, str]:
        """All that the sound depends on besides text, voice and seed; part of every content key.

        Raises:
            ModelUnavailableError: the weights are not on this machine.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Length of a text in the unit of `max_tokens`; needs no weights."""
        ...

    def check(self, voices: Iterable[Voice]) -> None:
        """Make sure that the weights and these voices are on this machine; uses no network.

        Raises:
            ModelUnavailableError: something is not here.
        """
        ...

    def fetch(self, voices: Iterable[Voice], progress: Progress) -> None:
        """Put the weights and these voices on this machine, unless they are here already.

        Raises:
            ModelUnavailableError: they cannot be had; the message says what to do.
        """
        ...

    def voice_key(self, voice: Voice) -> str:
        """A hash of everything the sound of this voice depends on; needs no loaded weights.

        Raises:
            ModelUnavailableError: the voice or its weights are not on this machine.
        """
        ...

    def load(self, voices: Iterable[Voice], num_threads: int) -> None:
        """Load weights and voice states, for `num_threads` cores, so `generate` starts at once."""
        ...

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        """Speak all requests, in any order; a result depends on its own request alone.

        A text without anything to say gives empty audio. An exception ends the iterator, and
        nothing else stays of it: whoever asked asks again for each request that is missing, and
        gets what a new engine would give. Samples that are not numbers come back as they are,
        or raise EngineError, and reach no other request.
        """
        ...


def make_engine(spec: EngineSpec) -> Engine:
    """The engine of that name with those settings, not yet loaded.

    Raises:
        ModelUnavailableError: no such engine or model, or its package is not installed.
    """
    if spec.name not in ENGINES:
        raise ModelUnavailableError(
            f"There is no engine `{spec.name}`. The engines are {', '.join(sorted(ENGINES))}."
        )
    module, _, attribute = ENGINES[spec.name].partition(":")
    engine: Engine = getattr(import_module(module), attribute)(spec)
    return engine
