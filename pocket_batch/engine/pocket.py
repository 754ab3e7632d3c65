"""The engine on Kyutai Pocket TTS, batched: every step makes one frame of all running utterances.

The life of a request: `generate -> TextReader.read (prompt, tokens), draw_noise -> Lanes.run ->
Batch.add -> Batch.step: Scheduler.admit (slot) -> _prefill (voice state, text) -> _decode_step
(backbone -> EOS head, flow head -> latent) ... -> Scheduler.finish at EOS + frames_after_eos, or
max_frames -> Batch.output: _decode_audio (Mimi, the whole utterance) -> Output`. What has tensors
is in `engine/batch.py`; here is what needs none.
"""

import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pocket_batch.config import cache_folder
from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.base import Output, Progress, Samples
from pocket_batch.engine.lanes import Lanes
from pocket_batch.engine.memory import keep_freed_memory
from pocket_batch.engine.pocket_text import MAX_TOKENS, TextReader
from pocket_batch.engine.states import VoiceStates, find_origin
from pocket_batch.models import files, hub
from pocket_batch.models.presets import find_model

if TYPE_CHECKING:
    from pocket_batch.engine.batch import Batch, Speech
    from pocket_batch.engine.voice import VoiceState

VERSION = "2"  # counts up when the same request gives other samples
DEFAULT_MODEL = "english"
NUM_SLOTS = 32  # utterances of a lane at a time
DEFAULT_PARAMETERS = 100_000_000
NUM_LANES = 2  # of a worker, for estimates
BASE_BYTES = 700_000_000  # of a worker with neither weights nor slots
X_REALTIME = {"fp32": 13.0, "bf16": 22.0, "mixed": 26.0}  # of 100 million parameters
BYTES = {"fp32": 4, "bf16": 2, "mixed": 2}  # of a number
ENCODER_PARAMETERS = 10_000_000  # which `num_parameters` does not count


class PocketEngine:
    """One model and its voices."""

    name = "pocket"
    version = VERSION
    max_tokens = MAX_TOKENS
    batch_size = NUM_SLOTS
    is_concurrent = True
    varies = True
    takes_ipa = False

    def __init__(self, spec: EngineSpec) -> None:
        """Find the model by its name or folder; nothing is loaded.

        Raises:
            ModelUnavailableError: there is no such model.
            UsageError: its configuration is not valid.
        """
        self.spec = spec
        self.source = find_model(spec.model or DEFAULT_MODEL)
        self.language = self.source.language
        self._reader = TextReader(self.source, spec.sampling)
        self.memory_bytes = self._estimated_bytes()
        self.x_realtime = X_REALTIME[spec.precision]
        self.sampling_rate_hz = self.source.config.mimi.sample_rate
        self._num_lanes = 1
        self._batches: list[Batch] = []
        self._lanes: Lanes[Speech] | None = None
        self._can_clone = False
        self._loading = threading.RLock()

    def identity(self) -> dict[str, str]:
        """Version, model, tokenizer, precision and sampling.

        Raises:
            ModelUnavailableError: the weights or the tokenizer are not on this machine.
        """
        sampling = json.dumps(asdict(self._reader.settings), sort_keys=True)
        return {
            "version": VERSION,
            "weights": self._weights_identity,
            "tokenizer": files.tokenizer_identity(self.source),
            "precision": self.spec.precision,
            "sampling": sampling,
        }

    def count_tokens(self, text: str) -> int:
        """Length of a text in tokens, as it will be prompted.

        Raises:
            ModelUnavailableError: the tokenizer is not on this machine.
        """
        return self._reader.count_tokens(text)

    def check(self, voices: Iterable[Voice]) -> None:
        """Look for weights, tokenizer and voices on this machine, and at recordings of voices.

        Raises:
            ModelUnavailableError: one of them is not here, or not for this model.
            InputError: a recording is damaged or not usable.
        """
        voices = tuple(voices)
        self._weights(self._needs_cloning(voices))
        if hub.find(self.source.tokenizer) is None:
            raise files.not_here(self.source, "tokenizer")
        for voice in voices:
            self.states.check(voice)

    def fetch(self, voices: Iterable[Voice], progress: Progress) -> None:
        """Download weights, tokenizer and voice states, unless they are here.

        Raises:
            ModelUnavailableError: they cannot be had; the message says what to do.
        """
        voices = tuple(voices)
        files.fetch_weights(self.source, progress, self._needs_cloning(voices))
        hub.fetch(self.source.tokenizer, progress, model=self.source.name)
        for voice in voices:
            self.states.fetch(voice, progress)

    def voice_key(self, voice: Voice) -> str:
        """SHA-256 of the voice's state, or of the recording it is made from.

        Raises:
            ModelUnavailableError: it is not on this machine, or not for this model.
        """
        return self.states.key(voice)

    def load(self, voices: Iterable[Voice], num_threads: int) -> None:
        """Load the weights and these voices, for `num_threads` lanes of one thread each.

        Raises:
            ModelUnavailableError: something is not on this machine, or damaged.
        """
        from pocket_batch.engine.batch import set_num_threads

        keep_freed_memory(num_threads)
        set_num_threads(1)
        if num_threads != self._num_lanes:
            self._num_lanes, self._batches = num_threads, []
        voices = tuple(voices)
        self._loaded(self._needs_cloning(voices))
        for voice in voices:
            self._state(voice)

    def encode_prompt(self, samples: Samples) -> "VoiceState":
        """The state of a voice from a prepared recording, (num_samples,) at 24 kHz.

        Raises:
            ModelUnavailableError: the weights on this machine are those without voice cloning.
        """
        return self._loaded(cloning=True)[0].encode_prompt(samples, self._num_lanes)

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        """Speak all requests, as they finish; `requests` is read as slots become free.

        Calls at the same time, from several threads, share the lanes.
        """
        batches = self._loaded()
        assert self._lanes is not None
        yield from self._lanes.run(self._prepared(request, batches[0]) for request in requests)

    @property
    def batches(self) -> "list[Batch]":
        """One a lane, once loaded; they count what they do."""
        return self._batches

    @cached_property
    def states(self) -> VoiceStates:
        """The voices of this model."""
        backbone = self.source.config.flow_lm.transformer
        return VoiceStates(
            self.source,
            f"{self._weights_identity} {self.spec.precision} {VERSION}",
            self.encode_prompt,
            (backbone.num_layers, backbone.kv_heads, backbone.head_dim),
            cache_folder() / "states",
        )

    @cached_property
    def _weights_identity(self) -> str:
        return files.model_identity(self.source)

    def _state(self, voice: Voice) -> "VoiceState":
        with self._loading:
            return self.states.get(voice)

    def _needs_cloning(self, voices: Iterable[Voice]) -> bool:
        return any(find_origin(self.source, voice).kind == "prompt" for voice in voices)

    def _weights(self, cloning: bool) -> Path:
        path = files.find_weights(self.source, cloning)
        if path is None:
            raise files.not_here(self.source, "cloning weights" if cloning else "weights")
        return path

    def _loaded(self, cloning: bool = False) -> "list[Batch]":
        """The lanes' batches, on weights for cloning if they are asked for."""
        from pocket_batch.engine.batch import load_batches

        with self._loading:
            if not self._batches or (cloning and not self._can_clone):
                path = self._weights(cloning)
                batches = load_batches(
                    self.source.config,
                    path,
                    self.spec.precision,
                    self._reader.settings,
                    self._num_lanes,
                    self.batch_size,
                )
                self._lanes = Lanes(list(batches))
                self._can_clone = path == files.find_weights(self.source, cloning=True)
                self._batches = batches  # last, as others look at it first
        return self._batches

    def _prepared(self, request: Request, batch: "Batch") -> "Speech | Output":
        """A request with its tokens, limits and noise; empty audio when it has nothing to say.

        Raises:
            EngineError: the text is longer than the model can speak in one go.
        """
        from pocket_batch.engine.batch import Speech

        asked = self._reader.read(request.text)
        if asked is None:
            return Output(request.key, np.zeros(0, np.float32), "eos", 0.0)
        return Speech(
            request=request,
            max_frames=asked.max_frames,
            frames_after_eos=asked.frames_after_eos,
            voice=self._state(request.voice),
            tokens=asked.tokens,
            noise=batch.draw_noise(request.seed, asked.max_frames, request.calm),
        )

    def _estimated_bytes(self) -> int:
        """Size of a worker: libraries, weights, and keys and values of all slots."""
        backbone = self.source.config.flow_lm.transformer
        num_positions = MAX_TOKENS + self._reader.max_frames(MAX_TOKENS)
        per_slot = 2 * backbone.num_layers * backbone.kv_heads * backbone.head_dim * num_positions
        num_parameters = (self.source.num_parameters or DEFAULT_PARAMETERS) + ENCODER_PARAMETERS
        numbers = num_parameters + NUM_LANES * self.batch_size * per_slot
        return BASE_BYTES + numbers * BYTES[self.spec.precision]
