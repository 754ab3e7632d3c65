"""A loaded Pocket TTS model at work: every step makes one frame of all running utterances.

The half of the engine `pocket` that has tensors. `engine/pocket.py` imports it when the first text
is to be spoken: torch takes seconds to import, and most commands can do without.
"""

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from pocket_batch.data import Precision
from pocket_batch.engine.base import Output, Samples
from pocket_batch.engine.scheduler import Row, Scheduler, Settings
from pocket_batch.engine.voice import VoiceState
from pocket_batch.models.architecture import ModelConfig
from pocket_batch.models.kv_cache import SlotCache
from pocket_batch.models.weights import load_model

NUM_SLOTS = 8  # with fewer rows in a product, some kernels round otherwise
FADE_IN_MS = 5  # the codec starts with a small step. Source: pocket-tts 4.0.1


@dataclass(slots=True, kw_only=True)
class Speech(Row):
    """One utterance: what it is made from, and its latents so far."""

    voice: VoiceState
    tokens: list[int]
    noise: Tensor  # (max_frames, latent), all of it drawn before the first frame
    latents: list[Tensor] = field(default_factory=list)  # each (latent,)


class Batch:
    """The weights, and the slots in which they speak.

    Attributes:
        num_slots: utterances spoken at a time.
    """

    def __init__(
        self,
        config: ModelConfig,
        weights: Path,
        precision: Precision,
        settings: Settings,
        num_slots: int = NUM_SLOTS,
    ) -> None:
        """Load the weights.

        Raises:
            ModelUnavailableError: the file is damaged, or of another model.
        """
        self.num_slots = num_slots
        self._model = load_model(config, weights, precision)
        self._settings = settings
        self._latent_dim = config.mimi.quantizer.dimension

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
        if clamp is None or std == 0:
            noise.normal_(0.0, std, generator=generator)
        else:
            for frame in noise:
                torch.nn.init.trunc_normal_(frame, 0.0, std, -clamp, clamp, generator=generator)
        return noise[1:]

    def run(self, items: Iterable[Speech | Output]) -> Iterator[Output]:
        """Speak everything, as it ends; what is an output already is passed on.

        `items` is read when a slot is free.
        """
        waiting = iter(items)
        scheduler: Scheduler[Speech] = Scheduler(self.num_slots)
        cache = self._model.flow_lm.make_cache(self.num_slots)
        while True:
            for item in islice(waiting, scheduler.num_wanted):
                if isinstance(item, Output):
                    yield item
                else:
                    scheduler.add(item)
            for slot, speech in scheduler.admit():
                self._prefill(cache, slot, speech)
            if not scheduler.running:
                return
            self._decode_step(cache, scheduler.running)
            for slot, speech in scheduler.finish():
                cache.clear(slot)
                yield self._output(speech)

    def _prefill(self, cache: SlotCache, slot: int, speech: Speech) -> None:
        """Put voice and text into a slot, with room for all frames that may come."""
        started = time.perf_counter()
        language_model = self._model.flow_lm
        num_prompt = speech.voice.num_positions + len(speech.tokens)
        cache.reserve(num_prompt + speech.max_frames)
        cache.put(slot, speech.voice.cache)
        text = language_model.conditioner(torch.tensor(speech.tokens))  # (T, C)
        language_model.prefill(text, cache, slot)
        speech.compute_s += time.perf_counter() - started

    def _decode_step(self, cache: SlotCache, running: dict[int, Speech]) -> None:
        """One frame more for every running utterance; empty slots go along, so that the number
        of rows, and with it the rounding, is always the same."""
        started = time.perf_counter()
        language_model, settings = self._model.flow_lm, self._settings
        last = torch.zeros(self.num_slots, self._latent_dim)  # (B, latent)
        noise = torch.zeros_like(last)
        for slot, speech in running.items():
            last[slot] = speech.latents[-1] if speech.latents else language_model.bos_emb
            noise[slot] = speech.noise[speech.num_frames]
        hidden, eos_logits = language_model.decode_step(last, cache)
        latents = language_model.sample(hidden, noise, settings.decode_steps)  # (B, latent)
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
        audio = model.mimi.decode(model.flow_lm.denormalise(torch.stack(latents)))  # (S,)
        samples: Samples = audio.numpy()
        num_fade = model.config.mimi.sample_rate * FADE_IN_MS // 1000
        samples[:num_fade] *= np.linspace(0, 1, num_fade, dtype=np.float32)
        return samples


def set_num_threads(num_threads: int) -> None:
    """How many threads torch uses in this process."""
    torch.set_num_threads(num_threads)
