"""What is wrong with clips, told one line at a time, whatever library made them."""

import io
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.dataset.ids import short_hash
from pocket_batch.outputs.exports import Listed
from pocket_batch.text.groups import text_group

KEY_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
MAX_ROUNDING_S = 0.000_51  # of a duration that is written with three digits or fewer


@dataclass(frozen=True, slots=True)
class Decoded:
    """What an audio file really holds; `error` says why it holds nothing."""

    num_samples: int = 0
    sampling_rate_hz: int = 0
    num_channels: int = 1
    is_silent: bool = False
    error: str = ""


@dataclass(slots=True)
class Findings:
    """What was seen and what of it is wrong: a line each, with its place."""

    problems: list[str] = field(default_factory=list)
    num_clips: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    speakers: set[str] = field(default_factory=set)
    rates_hz: set[int] = field(default_factory=set)


class ClipChecks:
    """Checks clips as they are listed; the audio of some at once.

    Of ids and texts only hashes are kept, so that a million clips fit.
    """

    def __init__(self, findings: Findings, tick: Callable[[float], None]) -> None:
        self._findings = findings
        self._tick = tick
        self._ids: dict[str, str] = {}
        self._split_of_text: dict[str, str] = {}

    def run(self, clips: Iterator[Listed]) -> None:
        """Check all clips."""
        with ThreadPoolExecutor(usable_cores()) as threads:
            waiting: deque[tuple[Listed, Future[Decoded]]] = deque()
            for clip in clips:
                waiting.append((clip, threads.submit(decoded, clip.audio)))
                if len(waiting) > 4 * usable_cores():
                    self._check(*waiting.popleft())
            while waiting:
                self._check(*waiting.popleft())

    def _check(self, clip: Listed, future: Future[Decoded]) -> None:
        audio = future.result()
        found = [*self._id_problems(clip), *_text_problems(clip), *self._leaks(clip)]
        found += audio_problems(clip, audio)
        self._findings.problems += [f"{clip.where}: {problem}" for problem in found]
        seconds = audio.num_samples / audio.sampling_rate_hz if audio.sampling_rate_hz else 0.0
        self._findings.seconds += seconds
        self._findings.num_clips[clip.split or "all"] += 1
        if clip.speaker:
            self._findings.speakers.add(clip.speaker)
        if audio.sampling_rate_hz:
            self._findings.rates_hz.add(audio.sampling_rate_hz)
        self._tick(seconds)

    def _id_problems(self, clip: Listed) -> Iterator[str]:
        if not clip.id:
            yield "no id"
            return
        odd = sorted(set(clip.id) - KEY_LETTERS)
        if odd:
            yield f"the id `{clip.id[:80]}` has `{''.join(odd)[:20]}`, which not every reader takes"
        key = short_hash(clip.id, 16)
        if key in self._ids:
            yield f"the id `{clip.id[:80]}` is also that of {self._ids[key]}"
        else:
            self._ids[key] = clip.where

    def _leaks(self, clip: Listed) -> Iterator[str]:
        """The same text in two splits."""
        if clip.split is None:
            return
        key = short_hash(text_group(clip.text), 16)
        split = self._split_of_text.setdefault(key, clip.split)
        if split != clip.split:
            yield f"its text is in `{split}` too: a leak between splits"


def decoded(audio: bytes | None) -> Decoded:
    """Decode a whole audio file."""
    if audio is None:
        return Decoded(error="the audio is missing")
    if not audio:
        return Decoded(error="the audio file is empty")
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(audio)) as file:
            promised = file.frames
            pcm = file.read(dtype="int16", always_2d=True)  # (S, C)
            rate_hz, num_channels = int(file.samplerate), int(file.channels)
    except (soundfile.LibsndfileError, RuntimeError, OSError) as error:
        return Decoded(error=f"the audio cannot be decoded ({error})")
    if len(pcm) != promised or _is_cut(audio):
        return Decoded(error=f"the audio is cut off: {len(pcm)} of {promised} samples are there")
    return Decoded(len(pcm), rate_hz, num_channels, not pcm.any())


def _is_cut(audio: bytes) -> bool:
    """Whether a WAV file is shorter than its own head says; decoders pass over that."""
    if audio[:4] != b"RIFF":
        return False
    return len(audio) < int.from_bytes(audio[4:8], "little") + 8


def audio_problems(clip: Listed, audio: Decoded) -> Iterator[str]:
    """Where the audio is not what its listing says."""
    if audio.error:
        yield audio.error
        return
    if audio.num_samples == 0:
        yield "the audio has no samples"
    elif audio.is_silent:
        yield "the audio is silence"
    if audio.num_channels != 1:
        yield f"the audio has {audio.num_channels} channels, and mono was expected"
    if clip.sampling_rate_hz not in (None, audio.sampling_rate_hz):
        yield (f"it says {clip.sampling_rate_hz} Hz, and the audio has {audio.sampling_rate_hz} Hz")
        return
    if clip.num_samples not in (None, audio.num_samples):
        yield f"it says {clip.num_samples} samples, and the audio has {audio.num_samples}"
    seconds = audio.num_samples / audio.sampling_rate_hz
    if clip.duration_s is None:
        return
    if not isinstance(clip.duration_s, int | float):
        yield f"its duration is `{clip.duration_s}`"
    elif abs(clip.duration_s - seconds) > _rounding(clip.duration_s):
        yield f"it says {clip.duration_s:g} s, and the audio has {seconds:.4f} s"


def _rounding(seconds: float) -> float:
    """What a duration may be off: nothing, unless it was written with few digits."""
    return MAX_ROUNDING_S if round(seconds, 3) == seconds else 1e-6


def _text_problems(clip: Listed) -> Iterator[str]:
    text = clip.text
    if not text.strip():
        yield "the text is blank"
        return
    if "\ufffd" in text:
        yield "the text is not UTF-8"
    if not unicodedata.is_normalized("NFC", text):
        yield "the text is not in Unicode form NFC"
    control = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs")), "")
    if control:
        yield f"the text has a control character (U+{ord(control):04X})"
