"""Speaks, measures, listens, and tries again what is wrong: what a worker does with each text.

An utterance that fails is tried with other noise, then calmer, then in two parts; the best attempt
is kept. All of it happens inside the running batch, and depends on the text and its seed alone.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace

from pocket_batch.audio.flac import decode_flac
from pocket_batch.data import Failure, Request
from pocket_batch.quality.checks import badness, find_problems, measure
from pocket_batch.records import Checked
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.attempts import (
    PART,
    as_spoken,
    attempt,
    join,
    numbers_of,
    plain,
)
from pocket_batch.stages.later import Later
from pocket_batch.stages.listen import NUM_THREADS, Listener
from pocket_batch.stages.synthesize import Spoken, Synthesize

MAX_READY = 8  # results that wait while more of earlier runs is only checked


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """How a worker checks what it speaks.

    `language` is that of the text, a BCP 47 tag; `varies` is that of the engine.
    """

    settings: CheckSettings
    language: str
    varies: bool = True

    def attempts(self, text: str) -> tuple[int, ...]:
        """The numbers of all attempts that there are at a text."""
        return numbers_of(text, self.language, self.varies, self.settings.max_attempts)


@dataclass(frozen=True, slots=True)
class _Judged:
    """An attempt with what is known of it."""

    spoken: Spoken
    scores: Scores
    problems: tuple[str, ...]
    words: tuple[tuple[str, float, float], ...] = ()


@dataclass(slots=True)
class _Tries:
    """What came of one request so far, and which attempts are `left`.

    `num_before` are those of earlier runs; `parts` are those of the attempt in two parts.
    """

    request: Request
    left: deque[int]
    num_before: int
    num_all: int
    spoken: list["_Judged"] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    parts: list[Spoken | None] = field(default_factory=list)

    @property
    def num_made(self) -> int:
        """Attempts that were made, in this run and before."""
        made = self.num_before + len(self.spoken) + len(self.failures)
        return min(made, self.num_all)


class Repair:
    """`Synthesize`, with a check of each utterance and further attempts at those that fail."""

    name = "synthesize"

    def __init__(self, synthesize: Synthesize, spec: CheckSpec) -> None:
        """The model that listens is loaded when it is first needed."""
        self.engine = synthesize.engine
        self._synthesize = synthesize
        self._spec = spec
        settings = spec.settings
        fraction = 1.0 if settings.listen == "all" else settings.sample_fraction
        model = None if settings.listen == "off" else settings.asr_model
        # A concurrent engine is called by several threads, each of which listens by itself.
        self._num_ears = 1 if self.engine.is_concurrent or model is None else NUM_THREADS
        self._listener = Listener(model, fraction, spec.language, self._num_ears)

    def load(self) -> None:
        """Load the model that listens, if one does.

        Raises:
            ModelUnavailableError: it is not on this machine.
        """
        self._listener.load()

    def run(self, requests: Iterable[Request]) -> Iterator[Spoken | Failure]:
        """One result for each request, in any order; see `Synthesize.run`."""
        judging: Later[_Judged] = Later(self._num_ears)
        with judging:
            work = _Work(iter(requests), judging)
            while True:
                for result in self._synthesize.run(self._feed(work)):
                    self._take(work, result)
                    self._settle(work)
                    yield from work.take_ready()
                self._settle(work, wait=True)
                yield from work.take_ready()
                if work.is_read and not work.again and not judging:
                    return

    def _feed(self, work: "_Work") -> Iterator[Request]:
        """What is to be spoken next: further attempts before other texts."""
        while len(work.ready) < MAX_READY:
            self._settle(work)
            if work.again:
                yield work.again.popleft()
                continue
            request = next(work.source, None)
            if request is None:
                work.is_read = True
                return
            spoken = as_spoken(request) if request.spoken else None
            tries = self._tries(request, spoken)
            work.tries[request.key] = tries
            if spoken is not None:
                self._take(work, spoken)
            else:
                self._try_again(work, tries)

    def _tries(self, request: Request, spoken: Spoken | None) -> _Tries:
        """What is left to do for a request, of which an earlier run perhaps kept one attempt."""
        bare = replace(request, spoken=b"")
        numbers = self._spec.attempts(request.text)
        if spoken is None:
            tried = 0 if request.spoken else request.tried  # its audio is damaged: from the first
            return _Tries(bare, deque(numbers[tried:] or numbers[:1]), tried, len(numbers))
        kept = request.attempt
        # Those before it failed then; they may be better now, but come last.
        left = [*(n for n in numbers if n > kept), *(n for n in numbers if n < kept)]
        before = numbers.index(kept) if kept in numbers else 0
        return _Tries(bare, deque(left), before, len(numbers))

    def _take(self, work: "_Work", result: Spoken | Failure) -> None:
        """Have one attempt judged; a text that failed gets another one."""
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
            self._try_again(work, tries)
        else:
            work.judging.submit(self._judged, tries.request, result)

    def _settle(self, work: "_Work", wait: bool = False) -> None:
        """What was judged meanwhile is done, or gets another attempt; `wait` for one at least."""
        for judged in work.judging.done(wait):
            tries = work.tries[judged.spoken.utterance.key]
            tries.spoken.append(judged)
            if judged.problems:
                self._try_again(work, tries)
            else:
                work.ready.append(self._best(tries))

    def _judged(self, request: Request, spoken: Spoken) -> _Judged:
        text = plain(request.text)
        pcm = decode_flac(spoken.flac)
        rate_hz, reason = spoken.utterance.sampling_rate_hz, spoken.utterance.finish_reason
        scores = measure(pcm, rate_hz, text)
        words: tuple[tuple[str, float, float], ...] = ()
        if self._listener.listens_to(request.key):
            scores, times = self._listener.listen(pcm, rate_hz, text, scores)
            words = tuple((t.word, round(t.begin_s, 3), round(t.end_s, 3)) for t in times)
        problems = find_problems(scores, reason, text, self._spec.settings, self._spec.language)
        return _Judged(spoken, scores, problems, words)

    def _try_again(self, work: "_Work", tries: _Tries) -> None:
        """Ask for the next attempt, or take the best one when all are made."""
        if not tries.left:
            work.ready.append(self._best(tries))
            return
        asked = attempt(tries.request, tries.left.popleft(), self._spec.language)
        tries.parts = [None] * len(asked) if len(asked) > 1 else []
        work.again.extend(asked)

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
        return join(tries.request, parts) if len(parts) == 2 else None

    def _best(self, tries: _Tries) -> Spoken | Failure:
        """The attempt that is kept: the least bad, of equal ones the first."""
        if not tries.spoken:
            return replace(tries.failures[-1], attempts=len(tries.failures))
        best = min(
            tries.spoken,
            key=lambda each: (badness(each.problems, each.scores), each.spoken.utterance.attempt),
        )
        number = best.spoken.utterance.attempt
        settings = self._spec.settings
        checked = Checked(
            key=tries.request.key,
            attempt=number,
            num_attempts=tries.num_made,
            problems=best.problems,
            is_split=len(attempt(tries.request, number, self._spec.language)) > 1,
            scores=asdict(best.scores),
            words=best.words,
            asr_model=settings.asr_model if best.scores.wer is not None else "",
        )
        utterance = replace(best.spoken.utterance, level_db=best.scores.speech_db)
        return replace(best.spoken, utterance=utterance, checked=checked)


@dataclass(slots=True)
class _Work:
    """What one `run` has in hand."""

    source: Iterator[Request]
    judging: Later["_Judged"]
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
