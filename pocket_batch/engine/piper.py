"""The engine on the PyPI package piper-tts: voices of Piper, one of them in a package.

A voice is one VITS model. `Voice.parameters["model"]` is the path of its .onnx file; without one
it is `joe`. `EngineSpec.model` is the same path, for models differ in their sampling rate.
"""

import hashlib
import threading
import time
from collections.abc import Iterable
from importlib import metadata
from typing import Any

import numpy as np

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.base import EngineError, Output, Samples
from pocket_batch.engine.in_threads import ThreadedEngine
from pocket_batch.engine.piper_files import INSTALL, PiperFiles, piper_files
from pocket_batch.engine.piper_graph import NOISE, load_graph
from pocket_batch.errors import ModelUnavailableError

CHANNELS = 192  # of the latent frames; more than this many would only use noise twice
FRAMES_PER_PHONEME = 16  # ids are spread by pads, so half of this is a slow voice already
SENTENCE_GAP_S = 0.15  # between the sentences of one text, as the model makes each by itself
_ESPEAK = threading.Lock()  # espeak-ng holds one voice for the whole process


class PiperEngine(ThreadedEngine):
    """The models are sessions of onnxruntime, which hold no state between calls."""

    name = "piper"
    language = ""
    max_tokens = 350
    batch_size = 1
    is_concurrent = False
    varies = True
    takes_ipa = False
    x_realtime = 20.0
    memory_bytes = 700_000_000

    def __init__(self, spec: EngineSpec) -> None:
        for package in ("piper-tts", "onnx", "onnxruntime"):
            try:
                metadata.version(package)
            except metadata.PackageNotFoundError as error:
                raise ModelUnavailableError(
                    f"The engine `piper` needs the package {package}, which is not installed. "
                    f"Run `{INSTALL}`."
                ) from error
        self.spec = spec
        self.version = metadata.version("piper-tts")
        self.sampling_rate_hz = piper_files(spec.model).sampling_rate_hz
        self._models: dict[str, _Model] = {}

    def check(self, voices: Iterable[Voice]) -> None:
        """Look for the files of each voice.

        Raises:
            ModelUnavailableError: one is not here, or has another sampling rate than the engine.
        """
        for voice in voices:
            self._files(voice)

    def voice_key(self, voice: Voice) -> str:
        """SHA-256 of the voice's model and its settings.

        Raises:
            ModelUnavailableError: as `check`.
        """
        path = self._files(voice).model
        digest = hashlib.sha256(path.read_bytes())
        digest.update(path.with_name(path.name + ".json").read_bytes())
        return digest.hexdigest()

    def _speak(self, request: Request) -> Output:
        started = time.perf_counter()
        audio = self._model(request.voice).speak(request.text, request.seed)
        return Output(request.key, audio, "eos", time.perf_counter() - started)

    def _model(self, voice: Voice) -> "_Model":
        path = voice.parameters.get("model", "")
        if path not in self._models:
            self._models[path] = _Model(self._files(voice))
        return self._models[path]

    def _files(self, voice: Voice) -> PiperFiles:
        files = piper_files(voice.parameters.get("model", ""))
        if files.sampling_rate_hz != self.sampling_rate_hz:
            raise ModelUnavailableError(
                f"The voice `{voice.name}` has {files.sampling_rate_hz} Hz, and the engine was "
                f"made for {self.sampling_rate_hz} Hz. Make one for EngineSpec('piper', model)."
            )
        return files


class _Model:
    """A loaded voice. It holds no state between calls; several threads may use it."""

    def __init__(self, files: PiperFiles) -> None:
        import onnxruntime
        from piper import PiperVoice
        from piper.config import PiperConfig

        graph, self._num_noises = load_graph(files.model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # lanes use the cores better
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            graph, sess_options=options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {entry.name for entry in session.get_inputs()}
        self._gap = np.zeros(round(SENTENCE_GAP_S * files.sampling_rate_hz), np.float32)
        self._voice: Any = PiperVoice(session=session, config=PiperConfig.from_dict(files.settings))

    def speak(self, text: str, seed: int) -> Samples:
        """The audio of a text, shape (num_samples,); empty when nothing in it has a sound.

        Raises:
            EngineError: the model made something that is no audio.
        """
        noise = np.random.Generator(np.random.PCG64(seed))
        parts: list[Samples] = []
        for phonemes in self._phonemes(text):
            if parts:
                parts.append(self._gap)
            parts.append(self._sentence(self._voice.phonemes_to_ids(phonemes), noise))
        audio = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        if not np.isfinite(audio).all():
            raise EngineError("The model of this Piper voice made samples that are no numbers.")
        return np.clip(audio, -1.0, 1.0)

    def _phonemes(self, text: str) -> list[list[str]]:
        """Of each sentence that has a sound. `[[` would be phonemes to the package."""
        with _ESPEAK:
            sentences = self._voice.phonemize(text.replace("[[", "[ ["))
        return [s for s in sentences if any(c.isalpha() for phoneme in s for c in phoneme)]

    def _sentence(self, ids: list[int], noise: np.random.Generator) -> Samples:
        config = self._voice.config
        feed = {
            "input": np.array([ids], np.int64),  # (1, P)
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array(
                [config.noise_scale, config.length_scale, config.noise_w_scale], np.float32
            ),
        }
        if "sid" in self._inputs:
            feed["sid"] = np.array([config.default_speaker_id or 0], np.int64)
        size = CHANNELS * FRAMES_PER_PHONEME * len(ids)
        for i in range(self._num_noises):
            feed[f"{NOISE}{i}"] = noise.standard_normal(size, np.float32)
        return np.asarray(self._voice.session.run(None, feed)[0], np.float32).reshape(-1)
