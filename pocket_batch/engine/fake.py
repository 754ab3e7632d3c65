"""An engine that says nothing: a tone per request, so cheap that it shows the cost of all else.

Words anywhere in a text make it misbehave, for tests: `crash:` kills the process, `hang:` never
returns, `oom:` raises MemoryError, `error:` raises EngineError, `noeos:` ends at the length limit,
`silent:` gives digital silence, `nan:` gives samples that are not numbers, `empty:` gives none,
`loud:` is 18 dB louder in its first attempt.
"""

import hashlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from pocket_batch.data import EngineSpec, FinishReason, Request, Voice
from pocket_batch.engine.base import EngineError, Output, Progress, Samples

SAMPLES_PER_CHARACTER = 1440  # 60 ms at 24 kHz, about 1,000 characters a minute as in read speech
SILENCE_SAMPLES = 2400  # 100 ms at each end
AMPLITUDE = 0.1  # RMS of a sine at this peak is -23 dB, the level of a mastered voice
LOWEST_HZ = 90
NUM_PITCHES = 160  # 90 to 249 Hz, the range of voices


class FakeEngine:
    """A tone whose length follows the text and whose pitch follows the seed.

    `Voice.parameters` may hold `sleep_s_per_audio_s`, to imitate an engine of a given speed
    without taking any CPU time.
    """

    name = "fake"
    version = "1"
    language = ""
    sampling_rate_hz = 24_000
    max_tokens = 350
    batch_size = 1
    is_concurrent = False
    varies = True
    takes_ipa = False
    x_realtime = 4_000.0  # FLAC encoding is what takes the time
    memory_bytes = 180_000_000

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec  # no setting changes a tone

    def identity(self) -> dict[str, str]:
        """Nothing but the version."""
        return {"version": self.version}

    def count_tokens(self, text: str) -> int:
        """Length of a text in characters."""
        return len(text)

    def check(self, voices: Iterable[Voice]) -> None:
        """Nothing to miss."""

    def fetch(self, voices: Iterable[Voice], progress: Progress) -> None:
        """Nothing to fetch."""

    def voice_key(self, voice: Voice) -> str:
        """All voices sound the same; the key only tells them apart."""
        return hashlib.sha256(f"fake {voice.name}".encode()).hexdigest()

    def load(self, voices: Iterable[Voice], num_threads: int) -> None:
        """Nothing to load."""

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        """One tone per request, in order."""
        for request in requests:
            started = time.perf_counter()
            _misbehave(request.text)
            audio = _tone(request)
            speed = float(request.voice.parameters.get("sleep_s_per_audio_s", "0"))
            if speed > 0:
                time.sleep(speed * len(audio) / self.sampling_rate_hz)
            reason: FinishReason = "length" if "noeos:" in request.text else "eos"
            yield Output(request.key, audio, reason, time.perf_counter() - started)


def _misbehave(text: str) -> None:
    """Do what a word in the text asks for, see the head of this file."""
    if "crash:" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    while "hang:" in text:
        time.sleep(3600)
    if "oom:" in text:
        raise MemoryError
    if "error:" in text:
        raise EngineError("The fake engine was asked to fail.")


def _tone(request: Request) -> Samples:
    """Silence, tone, silence; shape (num_samples,), 60 ms per character and at least 300 ms."""
    num_samples = max(len(request.text) * SAMPLES_PER_CHARACTER, 3 * SILENCE_SAMPLES)
    audio = np.zeros(num_samples, np.float32)  # (S,)
    if "empty:" in request.text:
        return audio[:0]
    if "nan:" in request.text:
        audio[0] = np.nan
    elif "silent:" not in request.text:
        inside = audio[SILENCE_SAMPLES:-SILENCE_SAMPLES]
        inside[:] = np.resize(_one_second(LOWEST_HZ + request.seed % NUM_PITCHES), len(inside))
        if "loud:" in request.text and request.attempt == 0:
            inside *= 8
    return audio


@lru_cache(maxsize=NUM_PITCHES)
def _one_second(pitch_hz: int) -> Samples:
    """A sine of a whole number of periods, so that repeating it makes no click; shape (24000,)."""
    phase = np.arange(24_000) * (2 * np.pi * pitch_hz / 24_000)
    return np.asarray(AMPLITUDE * np.sin(phase), np.float32)
