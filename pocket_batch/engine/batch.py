"""A loaded Pocket TTS model at work: every step makes one frame of all running utterances.

The half of the engine `pocket` that has tensors. `engine/pocket.py` imports it when the first text
is to be spoken: torch takes seconds to import, and most commands can do without.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from pocket_batch.data import Precision
from pocket_batch.engine.base import Output, Samples
from pocket_batch.engine.scheduler import Row, Scheduler, Settings
from pocket_batch.engine.voice import VoiceState
from pocket_batch.models.architecture import ModelConfig
from pocket_batch.models.cached_attention import ROWS_STEP
from pocket_batch.models.kv_cache import Prefix, make_prefix
from pocket_batch.models.weights import PocketModel, load_model

FRAMES_STEP = 32  # room for frames grows by so many
MAX_PREFILL = 256  # tokens at a time; more in one product are no faster
MAX_PREFIXES = 16  # voices at hand at a time
FADE_IN_MS = 5  # the codec starts with a small step. Source: pocket-tts 4.0.1
PARTS = ("prefill", "backbone", "attention", "flow head", "codec", "other")


@dataclass(slots=True, kw_only=True)
class Speech(Row):
    """One utterance: what it is made from."""

    voice: VoiceState
    tokens: list[int]
    noise: Tensor  # (max_frames, latent), all of it drawn before the first frame
    latents: Tensor | None = None  # (F, latent), once it is over


class Batch:
    """Slots in which a model speaks; for one thread at a time, while batches may share a model.

    Running utterances are in the first slots always, so that a step has no more rows than it needs.

    Attributes:
        num_slots: utterances spoken at a time.
        cpu_s: processor time of each part of the work so far, see `PARTS`.
        num_steps, num_frames: steps of the model, and frames they made.
    """

    def __init__(self, model: PocketModel, settings: Settings, num_slots: int) -> None:
        self.num_slots = num_slots
        self._model = model
        self._settings = settings
        self._latent_dim = model.config.mimi.quantizer.dimension
        self._prefixes: dict[int, tuple[VoiceState, Prefix]] = {}
        self.cpu_s = dict.fromkeys(PARTS, 0.0)
        self.num_steps = self.num_frames = 0
        self.reset()

    def reset(self) -> None:
        """Forget all utterances, whatever became of them: nothing that a step writes is kept.

        When there is no memory for that, it has to be called again before the next step.
        """
        self._scheduler: Scheduler[Speech] = Scheduler(self.num_slots)
        max_rows = _whole(self.num_slots, ROWS_STEP)
        self._cache = self._model.flow_lm.make_cache(max_rows)
        self._last = torch.zeros(max_rows, self._latent_dim)  # what the next step starts from
        # Of each slot, latents as far as they are made, and the noise of those to come.
        self._frames = torch.zeros(self.num_slots, 0, self._latent_dim)  # (B, F, latent)

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

    def step(self) -> list[Speech]:
        """Start what waits, make one frame of all that runs; those that are over come back."""
        torch.get_num_threads()  # a new thread would use all cores for its first product otherwise
        started, counted = time.thread_time(), sum(self.cpu_s.values())
        with torch.inference_mode():
            self._start(list(self._scheduler.admit()))
            for source, target in self._scheduler.compact():
                self._move(source, target)
            if self._scheduler.running:
                self._decode_step(list(self._scheduler.running.values()))
            over = self._finish(self._scheduler.finish())
        elapsed_s = time.thread_time() - started
        self.cpu_s["other"] += elapsed_s - (sum(self.cpu_s.values()) - counted)
        return over

    def output(self, speech: Speech) -> Output:
        """The audio of an utterance that is over, be it one of another batch on this model."""
        assert speech.latents is not None
        started = time.perf_counter()
        with torch.inference_mode(), self._timed("codec"):
            audio = self._decode_audio(speech.latents)
        elapsed_s = speech.compute_s + time.perf_counter() - started
        return Output(speech.request.key, audio, speech.finish_reason, elapsed_s)

    def encode_prompt(self, samples: Samples, num_threads: int) -> VoiceState:
        """The state of a voice from a prepared recording, (num_samples,) at 24 kHz."""
        features = self._model.mimi.encode(torch.from_numpy(samples), num_threads)  # (F, voice)
        return VoiceState(self._model.flow_lm.voice_state(features))

    def draw_noise(self, seed: int, num_frames: int, calm: float = 1.0) -> Tensor:
        """The noise of a whole utterance, (F, latent): what the reference draws after
        `torch.manual_seed(seed)`. It draws one frame more, for the text, and does not use it.
        `calm` scales the temperature."""
        generator = torch.Generator().manual_seed(seed)
        noise = torch.empty(num_frames + 1, self._latent_dim)
        std, clamp = math.sqrt(calm * self._settings.temperature), self._settings.noise_clamp
        for frame in noise:  # one by one, as torch draws a large tensor in another order
            if clamp is None or std == 0:
                frame.normal_(0.0, std, generator=generator)
            else:
                torch.nn.init.trunc_normal_(frame, 0.0, std, -clamp, clamp, generator=generator)
        return noise[1:]

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        """Count what is done inside as that part, but for attention, which is one of its own."""
        started, attention_s = time.thread_time(), self._cache.attention_s
        yield
        attention_s = self._cache.attention_s - attention_s
        self.cpu_s["attention"] += attention_s
        self.cpu_s[part] += time.thread_time() - started - attention_s

    def _start(self, admitted: list[tuple[int, Speech]]) -> None:
        """Put voices, noise and texts into slots; several texts are read together."""
        group: list[tuple[int, Speech]] = []
        for slot, speech in admitted:
            self._make_room(speech.max_frames)
            self._cache.put(slot, self._prefix(speech.voice))
            self._last[slot] = self._model.flow_lm.bos_emb
            self._frames[slot, : speech.max_frames] = speech.noise
            if sum(len(other.tokens) for _, other in group) + len(speech.tokens) > MAX_PREFILL:
                self._prefill(group)
                group = []
            group.append((slot, speech))
        self._prefill(group)

    def _prefill(self, group: list[tuple[int, Speech]]) -> None:
        """Read some texts, each in its slot."""
        if not group:
            return
        started = time.perf_counter()
        language_model = self._model.flow_lm
        num_tokens = [len(speech.tokens) for _, speech in group]
        tokens = torch.tensor([token for _, speech in group for token in speech.tokens])  # (N,)
        with self._timed("prefill"):
            texts = language_model.conditioner(tokens).split(num_tokens)  # (T, C) each
            language_model.prefill_many(texts, self._cache, [slot for slot, _ in group])
        each_s = (time.perf_counter() - started) / len(tokens)
        for _, speech in group:
            speech.compute_s += each_s * len(speech.tokens)

    def _make_room(self, num_frames: int) -> None:
        missing = _whole(num_frames, FRAMES_STEP) - self._frames.shape[1]
        if missing > 0:
            self._frames = F.pad(self._frames, (0, 0, 0, missing))

    def _prefix(self, voice: VoiceState) -> Prefix:
        """A voice in the form that its rows share; the last ones used are kept."""
        if id(voice) not in self._prefixes:
            while len(self._prefixes) >= MAX_PREFIXES:
                del self._prefixes[next(iter(self._prefixes))]
            self._prefixes[id(voice)] = voice, make_prefix(voice.cache, self._model.flow_lm.dtype)
        self._prefixes[id(voice)] = self._prefixes.pop(id(voice))  # the last one used is last
        return self._prefixes[id(voice)][1]

    def _move(self, source: int, target: int) -> None:
        """What is in one slot goes to a lower one."""
        self._cache.move(source, target)
        self._last[target] = self._last[source]
        self._frames[target] = self._frames[source]
        self._last[source] = 0

    def _decode_step(self, running: list[Speech]) -> None:
        """One frame more for every running utterance, those in the first slots.

        Empty slots go along, so many that kernels round alike whatever the number of utterances.
        """
        started = time.perf_counter()
        language_model, settings = self._model.flow_lm, self._settings
        num_running = len(running)
        num_rows = _whole(num_running, ROWS_STEP)
        place = torch.arange(num_running), torch.tensor([row.num_frames for row in running])
        noise = F.pad(self._frames[place], (0, 0, 0, num_rows - num_running))  # (B, latent)
        with self._timed("backbone"):
            hidden, eos_logits = language_model.decode_step(self._last[:num_rows], self._cache)
        with self._timed("flow head"):
            latents = language_model.sample(hidden, noise, settings.decode_steps)  # (B, latent)
        self._frames[place] = self._last[:num_running] = latents[:num_running]
        self.num_steps += 1
        self.num_frames += num_running
        is_eos = (eos_logits > settings.eos_threshold).tolist()
        elapsed_s = (time.perf_counter() - started) / num_running
        for speech, says_eos in zip(running, is_eos, strict=False):
            speech.compute_s += elapsed_s
            speech.take(says_eos)

    def _finish(self, over: list[tuple[int, Speech]]) -> list[Speech]:
        """Empty the slots of utterances that are over, which keep their latents."""
        for slot, speech in over:
            speech.latents = self._frames[slot, : speech.num_frames].clone()
            self._cache.clear(slot)
            self._last[slot] = 0
        return [speech for _, speech in over]

    def _decode_audio(self, latents: Tensor) -> Samples:
        """The samples of an utterance, (num_samples,), float32, of its latents (F, latent).

        Their first milliseconds fade in.
        """
        if not len(latents):
            return np.zeros(0, np.float32)
        model = self._model
        audio = model.mimi.decode(model.flow_lm.denormalise(latents))  # (S,)
        samples: Samples = audio.numpy()
        num_fade = model.config.mimi.sample_rate * FADE_IN_MS // 1000
        samples[:num_fade] *= np.linspace(0, 1, num_fade, dtype=np.float32)
        return samples


def _whole(number: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-number // step) * step


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
