"""A loaded Pocket TTS model at work: every step makes one frame of all running utterances.

The half of the engine `pocket` that has tensors. `engine/pocket.py` imports it when the first text
is to be spoken: torch takes seconds to import, and most commands can do without.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pocket_batch.data import Precision
from pocket_batch.engine.base import Output, Samples
from pocket_batch.engine.scheduler import Row, Scheduler, Settings
from pocket_batch.engine.voice import VoiceState
from pocket_batch.models.architecture import ModelConfig
from pocket_batch.models.kv_cache import Prefix, make_prefix
from pocket_batch.models.weights import PocketModel, load_model

ROWS_STEP = 8  # with fewer rows in a product, some kernels round otherwise
MAX_PREFIXES = 16  # voices at hand at a time
FADE_IN_MS = 5  # the codec starts with a small step. Source: pocket-tts 4.0.1


@dataclass(slots=True, kw_only=True)
class Speech(Row):
    """One utterance: what it is made from, and its latents so far."""

    voice: VoiceState
    tokens: list[int]
    noise: Tensor  # (max_frames, latent), all of it drawn before the first frame
    latents: list[Tensor] = field(default_factory=list)  # each (latent,)


class Batch:
    """Slots in which a model speaks; for one thread at a time, while batches may share a model.

    Attributes:
        num_slots: utterances spoken at a time.
        cpu_s: processor time of each part of the work so far.
        num_steps, num_frames: steps of the model, and frames they made.
    """

    def __init__(self, model: PocketModel, settings: Settings, num_slots: int) -> None:
        self.num_slots = num_slots
        self._model = model
        self._settings = settings
        self._latent_dim = model.config.mimi.quantizer.dimension
        self._prefixes: dict[int, tuple[VoiceState, Prefix]] = {}
        self.cpu_s: dict[str, float] = {}
        self.num_steps = self.num_frames = 0
        self.reset()

    def reset(self) -> None:
        """Forget all utterances."""
        self._scheduler: Scheduler[Speech] = Scheduler(self.num_slots)
        self._cache = self._model.flow_lm.make_cache(self.num_slots)

    @property
    def num_wanted(self) -> int:
        """How many utterances more could run now."""
        return self._scheduler.num_wanted

    @property
    def is_idle(self) -> bool:
        """Nothing runs or waits."""
        return not self._scheduler.running and self._scheduler.num_wanted == self.num_slots

    def add(self, speech: Speech) -> None:
        """Let an utterance wait for a slot."""
        self._scheduler.add(speech)

    def step(self) -> list[tuple[Speech, Output]]:
        """Start what waits, make one frame of all that runs, and give back what is finished."""
        for slot, speech in self._scheduler.admit():
            self._prefill(slot, speech)
        if not self._scheduler.running:
            return []
        self._decode_step(self._scheduler.running)
        finished = []
        for slot, speech in self._scheduler.finish():
            self._cache.clear(slot)
            finished.append((speech, self._output(speech)))
        return finished

    def encode_prompt(self, samples: Samples) -> VoiceState:
        """The state of a voice from a prepared recording, (num_samples,) at 24 kHz."""
        features = self._model.mimi.encode(torch.from_numpy(samples))  # (F, voice)
        return VoiceState(self._model.flow_lm.voice_state(features))

    def draw_noise(self, seed: int, num_frames: int) -> Tensor:
        """The noise of a whole utterance, (F, latent): what the reference draws after
        `torch.manual_seed(seed)`. It draws one frame more, for the text, and does not use it."""
        generator = torch.Generator().manual_seed(seed)
        noise = torch.empty(num_frames + 1, self._latent_dim)
        std, clamp = math.sqrt(self._settings.temperature), self._settings.noise_clamp
        for frame in noise:  # one by one, as torch draws a large tensor in another order
            if clamp is None or std == 0:
                frame.normal_(0.0, std, generator=generator)
            else:
                torch.nn.init.trunc_normal_(frame, 0.0, std, -clamp, clamp, generator=generator)
        return noise[1:]

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        started = time.thread_time()
        yield
        self.cpu_s[part] = self.cpu_s.get(part, 0.0) + time.thread_time() - started

    def _prefill(self, slot: int, speech: Speech) -> None:
        """Put voice and text into a slot."""
        started = time.perf_counter()
        language_model = self._model.flow_lm
        self._cache.put(slot, self._prefix(speech.voice))
        text = language_model.conditioner(torch.tensor(speech.tokens))  # (T, C)
        with self._timed("prefill"):
            language_model.prefill(text, self._cache, slot)
        speech.compute_s += time.perf_counter() - started

    def _prefix(self, voice: VoiceState) -> Prefix:
        """A voice in the form that its rows share; the last ones used are kept."""
        if id(voice) not in self._prefixes:
            while len(self._prefixes) >= MAX_PREFIXES:
                del self._prefixes[next(iter(self._prefixes))]
            self._prefixes[id(voice)] = voice, make_prefix(voice.cache, self._model.flow_lm.dtype)
        self._prefixes[id(voice)] = self._prefixes.pop(id(voice))  # the last one used is last
        return self._prefixes[id(voice)][1]

    def _decode_step(self, running: dict[int, Speech]) -> None:
        """One frame more for every running utterance.

        Empty slots below the last running one go along, and as many more as make a number of rows
        with which all kernels round alike.
        """
        started = time.perf_counter()
        language_model, settings = self._model.flow_lm, self._settings
        num_rows = min(-(-(max(running) + 1) // ROWS_STEP) * ROWS_STEP, self.num_slots)
        last = torch.zeros(num_rows, self._latent_dim)  # (B, latent)
        noise = torch.zeros_like(last)
        for slot, speech in running.items():
            last[slot] = speech.latents[-1] if speech.latents else language_model.bos_emb
            noise[slot] = speech.noise[speech.num_frames]
        with self._timed("backbone"):
            hidden, eos_logits = language_model.decode_step(last, self._cache)
        with self._timed("flow head"):
            latents = language_model.sample(hidden, noise, settings.decode_steps)  # (B, latent)
        self.num_steps += 1
        self.num_frames += len(running)
        is_eos = (eos_logits > settings.eos_threshold).tolist()
        elapsed_s = (time.perf_counter() - started) / len(running)
        for slot, speech in running.items():
            speech.compute_s += elapsed_s
            if speech.take(is_eos[slot]):
                speech.latents.append(latents[slot])

    def _output(self, speech: Speech) -> Output:
        started = time.perf_counter()
        audio = self._decode_audio(speech.latents)
        elapsed_s = speech.compute_s + time.perf_counter() - started
        return Output(speech.request.key, audio, speech.finish_reason, elapsed_s)

    def _decode_audio(self, latents: list[Tensor]) -> Samples:
        """The samples of an utterance, (num_samples,), float32; its first milliseconds fade in."""
        if not latents:
            return np.zeros(0, np.float32)
        model = self._model
        with self._timed("codec"):
            audio = model.mimi.decode(model.flow_lm.denormalise(torch.stack(latents)))  # (S,)
        samples: Samples = audio.numpy()
        num_fade = model.config.mimi.sample_rate * FADE_IN_MS // 1000
        samples[:num_fade] *= np.linspace(0, 1, num_fade, dtype=np.float32)
        return samples


def load_batches(
    config: ModelConfig,
    weights: Path,
    precision: Precision,
    settings: Settings,
    num_lanes: int,
    num_slots: int,
) -> list[Batch]:
    """A batch a lane, all on one copy of the weights.

    Raises:
        ModelUnavailableError: the file is damaged, or of another model.
    """
    model = load_model(config, weights, precision)
    return [Batch(model, settings, num_slots) for _ in range(num_lanes)]


def set_num_threads(num_threads: int) -> None:
    """How many threads each product of torch uses, in this process."""
    torch.set_num_threads(num_threads)
