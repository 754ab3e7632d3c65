"""Speaks, measures, listens, and tries again what is wrong: what a worker does with each text.

An utterance that fails is tried with other noise, then calmer, then in two parts; the best attempt
is kept. All of it happens inside the running batch, and depends on the text and its seed alone.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from pocket_batch.audio.flac import decode_flac, encode_flac, rate_of_flac
from pocket_batch.audio.mastering import speech_bounds
from pocket_batch.audio.pcm import Pcm
from pocket_batch.data import Failure, Request, Utterance
from pocket_batch.errors import AudioError
from pocket_batch.manifest import request_seed
from pocket_batch.quality.checks import badness, find_problems, measure
from pocket_batch.records import Checked
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings, MasterSettings
from pocket_batch.stages.listen import Listener
from pocket_batch.stages.synthesize import Spoken, Synthesize
from pocket_batch.text.cuts import cut_in_two

CALM = 0.5  # of the temperature, in the attempt that is to be safe
JOIN_PAUSE_MS = 120  # between the parts of a text that is spoken in two
_IPA = re.compile(r"(?<=\])\(/[^()]*/\)")  # `[Siobhan](/ʃɪˈvɔːn/)` -> `[Siobhan]`
MAX_READY = 8  # results that wait while more of earlier runs is only checked
PART = "\n"  # in the keys of parts; in no other key


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """How a worker checks what it speaks. `language` is that of the text, a BCP 47 tag."""

    settings: CheckSettings
    language: str


@dataclass(frozen=True, slots=True)
class _Judged:
    """An attempt with what is known of it."""

    spoken: Spoken
    scores: Scores
    problems: tuple[str, ...]
    words: tuple[tuple[str, float, float], ...] = ()


@dataclass(slots=True)
class _Tries:
    """What came of one request so far; `parts` are those of the attempt in two parts."""

    request: Request
    spoken: list["_Judged"] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    parts: list[Spoken | None] = field(default_factory=list)


class Repair:
    """`Synthesize`, with a check of each utterance and further attempts at those that fail."""

    name = "synthesize"

    def __init__(self, synthesize: Synthesize, spec: CheckSpec) -> None:
        """The model that listens is loaded when it is first needed."""
        self.engine = synthesize.engine
        self._synthesize = synthesize
        self._settings = spec.settings
        self._language = spec.language
        fraction = 1.0 if spec.settings.listen == "all" else spec.settings.sample_fraction
        model = None if spec.settings.listen == "off" else spec.settings.asr_model
        self._listener = Listener(model, fraction, spec.language)

    def load(self) -> None:
        """Load the model that listens, if one does.

        Raises:
            ModelUnavailableError: it is not on this machine.
        """
        self._listener.load()

    def run(self, requests: Iterable[Request]) -> Iterator[Spoken | Failure]:
        """One result for each request, in any order; see `Synthesize.run`."""
        work = _Work(iter(requests))
        while True:
            for result in self._synthesize.run(self._feed(work)):
                self._take(work, result)
                yield from work.take_ready()
            yield from work.take_ready()
            if work.is_read and not work.again:
                return

    def _feed(self, work: "_Work") -> Iterator[Request]:
        """What is to be spoken next: further attempts before other texts."""
        while len(work.ready) < MAX_READY:
            if work.again:
                yield work.again.popleft()
                continue
            request = next(work.source, None)
            if request is None:
                work.is_read = True
                return
            spoken = _as_spoken(request) if request.spoken else None
            if request.spoken and spoken is None:  # its audio is damaged: as if it were not there
                request = replace(request, attempt=0)
            work.tries[request.key] = _Tries(replace(request, spoken=b""))
            if spoken is not None:
                self._take(work, spoken)
            else:
                yield work.tries[request.key].request

    def _take(self, work: "_Work", result: Spoken | Failure) -> None:
        """Judge one attempt: the text is done, or gets another one."""
        key = result.utterance.key if isinstance(result, Spoken) else result.key
        key, _, part = key.partition(PART)
        tries = work.tries.get(key)
        if tries is None:
            return  # a part whose other part failed, after the text was given up
        if part:
            joined = self._joined(tries, int(part), result)
            if joined is None:
                return  # its other part is still to come
            result = joined
        if isinstance(result, Failure):
            tries.failures.append(result)
        else:
            tries.spoken.append(self._judged(tries.request, result))
            if not tries.spoken[-1].problems:
                work.ready.append(self._best(tries))
                return
        self._try_again(work, tries)

    def _judged(self, request: Request, spoken: Spoken) -> _Judged:
        text = plain(request.text)
        pcm = decode_flac(spoken.flac)
        rate_hz, reason = spoken.utterance.sampling_rate_hz, spoken.utterance.finish_reason
        scores = measure(pcm, rate_hz, text)
        words: tuple[tuple[str, float, float], ...] = ()
        if self._listener.listens_to(request.key):
            scores, times = self._listener.listen(pcm, rate_hz, text, scores)
            words = tuple((t.word, round(t.begin_s, 3), round(t.end_s, 3)) for t in times)
        problems = find_problems(scores, reason, text, self._settings, self._language)
        return _Judged(spoken, scores, problems, words)

    def _try_again(self, work: "_Work", tries: _Tries) -> None:
        """Ask for the next attempt, or take the best one when all are used."""
        request, number = tries.request, len(tries.spoken) + len(tries.failures)
        attempt = request.attempt + number
        halves = cut_in_two(request.text, self._language)
        if number >= self._settings.max_attempts:
            work.ready.append(self._best(tries))
        elif number < self._settings.max_attempts - 1 or len(halves) < 2:
            work.again.append(_attempt(request, request.text, request.key, attempt))
        else:
            tries.parts = [None, None]
            for index, text in enumerate(halves):
                work.again.append(_attempt(request, text, f"{request.key}{PART}{index}", attempt))

    def _joined(
        self, tries: _Tries, index: int, result: Spoken | Failure
    ) -> Spoken | Failure | None:
        """The utterance of two parts once both are there; the failure of one is that of both."""
        if isinstance(result, Failure):
            other = tries.parts
            tries.parts = []
            return replace(result, key=tries.request.key) if other else None
        if not tries.parts:
            return None  # the other part failed
        tries.parts[index] = result
        parts = [part for part in tries.parts if part is not None]
        return _join(tries.request, parts) if len(parts) == 2 else None

    def _best(self, tries: _Tries) -> Spoken | Failure:
        """The attempt that is kept: the least bad, of equal ones the first."""
        if not tries.spoken:
            return replace(tries.failures[-1], attempts=len(tries.failures))
        best = min(tries.spoken, key=lambda each: badness(each.problems, each.scores))
        spoken = best.spoken
        checked = Checked(
            key=tries.request.key,
            attempt=spoken.utterance.attempt,
            num_attempts=tries.request.attempt + len(tries.spoken) + len(tries.failures),
            problems=best.problems,
            is_split=spoken.is_joined,
            scores=asdict(best.scores),
            words=best.words,
            asr_model=self._settings.asr_model if best.scores.wer is not None else "",
        )
        utterance = replace(spoken.utterance, level_db=best.scores.speech_db)
        return replace(spoken, utterance=utterance, checked=checked)


@dataclass(slots=True)
class _Work:
    """What one `run` has in hand."""

    source: Iterator[Request]
    again: deque[Request] = field(default_factory=deque)
    ready: deque[Spoken | Failure] = field(default_factory=deque)
    tries: dict[str, _Tries] = field(default_factory=dict)
    is_read: bool = False  # nothing is left in `source`

    def take_ready(self) -> Iterator[Spoken | Failure]:
        """What is done by now."""
        while self.ready:
            result = self.ready.popleft()
            key = result.utterance.key if isinstance(result, Spoken) else result.key
            del self.tries[key]
            yield result


def _attempt(request: Request, text: str, key: str, attempt: int) -> Request:
    """The same text with other noise, after the second time calmer."""
    seed = request_seed(request.seed, text, request.voice.name, attempt)
    calm = CALM if attempt >= 2 else 1.0
    return replace(request, key=key, text=text, seed=seed, attempt=attempt, calm=calm)


def _as_spoken(request: Request) -> Spoken | None:
    """What an earlier run spoke, as if it had been spoken now; None when it is damaged."""
    try:
        num_samples = len(decode_flac(request.spoken))
    except AudioError:
        return None
    utterance = Utterance(
        key=request.key,
        segment_id=request.segment_id,
        num_samples=num_samples,
        sampling_rate_hz=rate_of_flac(request.spoken),
        finish_reason="eos",
        seed=request.seed,
        attempt=request.attempt,
        num_bytes=len(request.spoken),
        compute_s=0.0,
    )
    return Spoken(utterance, request.spoken)


def _join(request: Request, parts: list[Spoken]) -> Spoken:
    """Two parts as one utterance, with a breath between them."""
    rate_hz = parts[0].utterance.sampling_rate_hz
    first, second = (_trimmed(decode_flac(part.flac), rate_hz) for part in parts)
    pause = np.zeros(rate_hz * JOIN_PAUSE_MS // 1000, np.int16)
    pcm = np.concatenate([first, pause, second])  # (S,)
    flac = encode_flac(pcm.astype(np.float32) / np.float32(32_768), rate_hz)
    last = parts[-1].utterance
    reasons = {part.utterance.finish_reason for part in parts}
    utterance = replace(
        last,
        key=request.key,
        num_samples=len(pcm),
        finish_reason="length" if "length" in reasons else "eos",
        num_bytes=len(flac),
        compute_s=sum(part.utterance.compute_s for part in parts),
    )
    return Spoken(utterance, flac, is_joined=True)


def _trimmed(pcm: Pcm, rate_hz: int) -> Pcm:
    begin, end = speech_bounds(pcm, rate_hz, MasterSettings())
    return pcm[begin:end] if begin < end else pcm


def plain(text: str) -> str:
    """A text without the pronunciations in it."""
    return _IPA.sub("", text)
