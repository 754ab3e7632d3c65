"""For programs: an engine with its voices, from a name to samples in three calls."""

from typing import get_args

import numpy as np

from pocket_batch.config import load_pipeline
from pocket_batch.data import Block, Chapter, EngineSpec, Precision, Sampling, Segment, Voice
from pocket_batch.engine.auto_precision import resolved
from pocket_batch.engine.base import Engine, EngineError, Progress, Samples, make_engine
from pocket_batch.errors import InputError, UsageError
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.plan import make_requests
from pocket_batch.jobs.voice import named_voice
from pocket_batch.models.presets import model_for_language
from pocket_batch.settings import PrecisionChoice
from pocket_batch.stages.normalize import Normalize
from pocket_batch.stages.segment import SegmentText

MAX_THREADS = 2  # one text at a time gains nothing from more


def engine_spec(
    name: str, language: str, model: str, precision: PrecisionChoice, sampling: Sampling | None
) -> EngineSpec:
    """What `pocket_batch.load_engine` was asked for.

    Raises:
        UsageError: there is no such precision; a language, model or precision for an engine that
            has only one; or a language and a model at once.
        ModelUnavailableError: no model reads that language.
    """
    choices = ("auto", *get_args(Precision))
    if precision not in choices:
        raise UsageError(f"There is no precision `{precision}`. Choose {', '.join(choices)}.")
    if name != "pocket":
        if language or model or precision != "auto":
            raise UsageError(f"The engine `{name}` has one model, and one precision of it.")
        return EngineSpec(name)
    if language and model:
        raise UsageError("Give `language` or `model`, not both: the model reads one language.")
    by_language = model_for_language(language) if language else None
    model = model or (by_language.name if by_language else language)
    return EngineSpec(name, model, resolved(precision), sampling or Sampling())


def silent(name: str, num_bytes: int, total_bytes: int) -> None:
    """A `Progress` that tells nobody."""


class LoadedEngine:
    """An engine in this process, one text at a time. `pocket_batch.load_engine` makes it.

    Attributes:
        engine: what does the work; see `pocket_batch.engine.base.Engine`.
    """

    def __init__(self, spec: EngineSpec, progress: Progress = silent) -> None:
        """Find the model; weights come with the first voice."""
        self.engine: Engine = make_engine(spec)
        self._progress = progress

    @property
    def sampling_rate_hz(self) -> int:
        """Of everything it says."""
        return self.engine.sampling_rate_hz

    def voice(self, name: str) -> Voice:
        """A voice of this engine by name, or by the path of a recording or of a state file.

        It is loaded, and downloaded before if it is not on this machine.

        Raises:
            ModelUnavailableError: there is no such voice, or it cannot be had.
            UsageError: it is a voice of another engine.
        """
        voice = named_voice(name, self.engine.spec.model or None)
        if voice.engine != self.engine.name:
            raise UsageError(
                f"The voice `{name}` is of the engine `{voice.engine}`, and this is "
                f"`{self.engine.name}`. `pocket-batch voices` lists them."
            )
        self.engine.fetch([voice], self._progress)
        self.engine.load([voice], min(MAX_THREADS, usable_cores()))
        return voice

    def say(self, text: str, voice: Voice | str, seed: int = 0) -> Samples:
        """Speak a text of any length.

        It is normalised ("3 p.m." -> "three PM") and cut into sentences as for an audiobook;
        blank lines separate paragraphs, and between pieces there is a pause.

        Args:
            text: at least one word.
            voice: from `voice`, or its name.
            seed: another seed is another take; the same one gives the same samples.

        Returns:
            Shape (num_samples,), mono float32 at `sampling_rate_hz`, full scale is 1.0.

        Raises:
            InputError: there is nothing to speak in the text.
            EngineError: the engine cannot speak it.
            ModelUnavailableError, UsageError: as `voice`.
        """
        voice = self.voice(voice) if isinstance(voice, str) else voice
        segments = segment_text(text, voice, self.engine)
        if not segments:
            raise InputError(f"There is nothing to speak in `{text:.60}`.")
        requests = make_requests(segments, seed, voice, self.engine)
        unique = {request.key: request for request in requests}
        spoken = {output.key: output.audio for output in self.engine.generate(unique.values())}
        pieces = [spoken[requests[0].key]]
        for before, request in zip(segments, requests[1:], strict=False):
            num_pause = before.pause_after_ms * self.sampling_rate_hz // 1000
            pieces += [np.zeros(num_pause, np.float32), spoken[request.key]]
        audio = np.concatenate(pieces)
        if not np.isfinite(audio).all():
            raise EngineError(f"The engine made samples of `{text:.60}` that are not numbers.")
        return audio


def segment_text(text: str, voice: Voice, engine: Engine, language: str = "") -> list[Segment]:
    """A text in pieces that the engine can speak; blank lines separate its paragraphs."""
    settings = load_pipeline(None, {}).segment
    language = language or engine.language or voice.language or "en"
    blocks = tuple(Block("paragraph", " ".join(part.split())) for part in text.split("\n\n"))
    stage = SegmentText(settings, voice.name, language, engine.max_tokens, engine.count_tokens)
    return list(stage.run(Normalize(language).run([Chapter(1, "", blocks)])))
