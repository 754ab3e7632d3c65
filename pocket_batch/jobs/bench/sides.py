"""The two sides of a measurement, each in a process of its own: our engine, and pocket-tts.

Lengths are forced on both, text by text: no text ends before it has its frames, so that the same
work is done whatever the weights say.
"""

import logging
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pocket_batch.data import EngineSpec, Precision, Request, Sampling, Voice
from pocket_batch.engine.base import Output
from pocket_batch.engine.pocket import PocketEngine
from pocket_batch.errors import ModelUnavailableError, PocketBatchError
from pocket_batch.executors.queue import longest_first
from pocket_batch.jobs.bench.texts import Line

if TYPE_CHECKING:
    from pocket_batch.engine.batch import Batch, Speech

NEVER = 1000.0  # an EOS threshold that no logit passes
REFERENCE = "pocket-tts==4.0.1"
NUM_MEMORY_SAMPLES = 10
STATUS = Path("/proc/self/status")

Told = Callable[[int], None]  # how many texts are done


@dataclass(slots=True)
class Pass:
    """All texts spoken once.

    Attributes:
        audio_s, wall_s, cpu_s: seconds; the processor's are of all threads.
        parts_s: seconds of processor time of each part that counts its own.
        num_frames, num_steps: of the batches; 0 where there is none.
        memory_bytes: resident at the start, and after each tenth of the texts.
    """

    audio_s: float
    wall_s: float
    cpu_s: float
    parts_s: dict[str, float] = field(default_factory=dict)
    num_frames: int = 0
    num_steps: int = 0
    memory_bytes: list[int] = field(default_factory=list)


def added(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    """The sums by name; what one of them has not is 0."""
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in {**a, **b}}


class Side(Protocol):
    """A loaded model that speaks lines."""

    def speak(self, lines: list[Line], told: Told) -> Pass:
        """Speak all lines; those done are told as they end.

        Raises:
            PocketBatchError: one is not as long as it should be.
        """
        ...


class ForcedEngine(PocketEngine):
    """Our engine, whose texts end where `num_frames` says."""

    num_frames: dict[str, int]

    def _prepared(self, request: Request, batch: "Batch") -> "Speech | Output":
        speech = super()._prepared(request, batch)
        if isinstance(speech, Output):
            return speech
        # As if EOS had been there already: all that depends on the limit stays as it is in earnest.
        speech.eos_frame = self.num_frames[request.key] - speech.frames_after_eos
        return speech


class Ours:
    """The engine `pocket`."""

    def __init__(
        self, model: str, state: str, precision: Precision, lanes: int, rows: int | None
    ) -> None:
        """Load it."""
        self._engine = ForcedEngine(
            EngineSpec("pocket", model, precision, Sampling(eos_threshold=NEVER))
        )
        if rows:
            self._engine.batch_size = rows
        self._voice = Voice("noise", "pocket", "en", "CC0-1.0", parameters={"state": state})
        self._engine.load([self._voice], lanes)
        self._frame_samples = self._engine.source.config.mimi.frame_samples

    def speak(self, lines: list[Line], told: Told) -> Pass:
        """Speak all lines, in the order in which a worker gets them."""
        requests = [Request(str(n), "", line.text, self._voice, n) for n, line in enumerate(lines)]
        self._engine.num_frames = {str(n): line.num_frames for n, line in enumerate(lines)}
        before, memory = self._counts(), [resident_bytes()]
        started, started_cpu = time.perf_counter(), time.process_time()
        num_samples = 0
        for done, output in enumerate(self._engine.generate(longest_first(requests)), 1):
            check_length(lines[int(output.key)], len(output.audio) / self._frame_samples)
            num_samples += len(output.audio)
            told(done)
            while done * NUM_MEMORY_SAMPLES // len(lines) >= len(memory):
                memory.append(resident_bytes())
        wall_s, cpu_s = time.perf_counter() - started, time.process_time() - started_cpu
        spent = {name: total - before.get(name, 0.0) for name, total in self._counts().items()}
        return Pass(
            num_samples / self._engine.sampling_rate_hz,
            wall_s,
            cpu_s,
            num_frames=int(spent.pop("frames")),
            num_steps=int(spent.pop("steps")),
            parts_s=spent,
            memory_bytes=memory,
        )

    @property
    def num_slots(self) -> int:
        """Of one lane."""
        return self._engine.batches[0].num_slots

    def _counts(self) -> dict[str, float]:
        """What all lanes have counted so far: seconds of each part, frames and steps."""
        counts = {"frames": 0.0, "steps": 0.0}
        for batch in self._engine.batches:
            own = {**batch.cpu_s, "frames": batch.num_frames, "steps": batch.num_steps}
            counts = added(counts, own)
        return counts


class Reference:
    """The package pocket-tts, one text at a time, as it speaks by itself."""

    def __init__(self, config: str, state: str, is_int8: bool) -> None:
        """Load it."""
        logging.disable(logging.WARNING)  # it warns of every text that ends without EOS
        warnings.simplefilter("ignore")  # torch of the operators that its int8 uses
        from pocket_tts.models.tts_model import TTSModel

        self._model: Any = TTSModel.load_model(
            config=Path(config), eos_threshold=NEVER, quantize=is_int8
        )
        self._state = self._model.get_state_for_audio_prompt(Path(state))
        self._frame_samples = round(self._model.sample_rate / self._model.mimi.frame_rate)

    def speak(self, lines: list[Line], told: Told) -> Pass:
        """Speak all lines."""
        started, started_cpu, memory = time.perf_counter(), time.process_time(), [resident_bytes()]
        num_samples = 0
        for done, line in enumerate(lines, 1):
            # With EOS out of reach, the limit is the length.
            self._model._estimate_max_gen_len = lambda _tokens, num=line.num_frames: num
            # No text is cut: it would then be two, each with that length.
            audio = self._model.generate_audio(self._state, line.text, max_tokens=len(line.text))
            check_length(line, len(audio) / self._frame_samples)
            num_samples += len(audio)
            told(done)
        wall_s, cpu_s = time.perf_counter() - started, time.process_time() - started_cpu
        memory.append(resident_bytes())
        return Pass(num_samples / self._model.sample_rate, wall_s, cpu_s, memory_bytes=memory)


def check_reference() -> None:
    """Make sure that the package is installed, without importing it.

    Raises:
        ModelUnavailableError: it is not.
    """
    if find_spec("pocket_tts") is None:
        raise ModelUnavailableError(
            f"The reference is the package pocket-tts, which is not installed. "
            f"Run `pip install {REFERENCE}`, or leave out --against."
        )


def check_length(line: Line, num_frames: float) -> None:
    """Refuse a text that is not as long as both sides should make it.

    Raises:
        PocketBatchError: it is shorter or longer, so figures would not compare.
    """
    if num_frames != line.num_frames:
        raise PocketBatchError(
            f"`{line.text:.60}` should have been {line.num_frames} frames long and is "
            f"{num_frames:g}, so the two sides would not do the same work. This is a bug of the "
            "measurement: report it with the versions of pocket-batch and pocket-tts."
        )


def resident_bytes() -> int:
    """Memory of this process now; its peak where the system tells nothing else."""
    return _status("VmRSS") or peak_bytes()


def peak_bytes() -> int:
    """The most memory that this process ever had."""
    scale = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def _status(name: str) -> int:
    lines: Iterator[list[str]] = iter(())
    try:
        lines = (line.split() for line in STATUS.read_text().splitlines())
    except OSError:
        return 0
    return next((int(words[1]) * 1024 for words in lines if words[0] == f"{name}:"), 0)
