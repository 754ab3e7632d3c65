"""Stage `master`: the utterances of a chapter become one joined and measured chapter.

Nothing joined is kept: joining is cheap and exact, so it is done once to measure, while the book
is still being spoken, and once more to encode. Long chapters are measured in spans, so that both
cores work and memory stays flat.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from zlib import crc32

from pocket_batch.audio.acx import aimed_at_acx
from pocket_batch.audio.flac import decode_flac
from pocket_batch.audio.levels import utterance_gains_db, voice_gains_db
from pocket_batch.audio.loudness import integrated_lufs, rms_db
from pocket_batch.audio.mastering import silence, utterance_piece
from pocket_batch.audio.measure import Measurement, combined, measure
from pocket_batch.audio.pcm import Pcm
from pocket_batch.audio.quiet import noise_floor_db, silence_at_ends_s
from pocket_batch.data import (
    Failure,
    ScriptChapter,
    ScriptLine,
    Utterance,
)
from pocket_batch.errors import AudioError, DamagedAudioError
from pocket_batch.manifest import Manifest
from pocket_batch.records import MasteredChapter, TimedLine
from pocket_batch.settings import MasterSettings
from pocket_batch.work_folder import WorkFolder

SPAN_LINES = 128  # about ten minutes of speech


@dataclass(frozen=True, slots=True)
class Mastered:
    """A joined chapter with all that was measured on it, before gain."""

    chapter: MasteredChapter
    measurement: Measurement


@dataclass(frozen=True, slots=True)
class _Span:
    """Consecutive lines of one chapter. `index` counts the spans of that chapter."""

    chapter: int
    index: int
    lines: tuple[ScriptLine, ...]


class Joiner:
    """Joins utterances of the work folder into PCM, the same bits each time."""

    def __init__(
        self,
        work: WorkFolder,
        settings: MasterSettings,
        sampling_rate_hz: int,
        voices: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`voices` tells whose voice each key is in, in the order in which they matter.

        Without it nothing is known of levels, and all stay as they are.
        """
        self._voices = voices
        self._levels_db: dict[str, float] = {}
        self._gains_db: dict[tuple[int, str], float] = {}  # by chapter and key
        self._work = work
        self._settings = aimed_at_acx(settings)
        self.sampling_rate_hz = sampling_rate_hz
        self._num_samples: dict[str, int] = {}
        self._num_spoken: dict[str, int] = {}  # without silence at the ends, as joined

    def expect(self, item: Utterance | Failure) -> None:
        """Take note of how long an utterance is; a failed one leaves its pause alone."""
        if isinstance(item, Utterance):
            self._num_samples[item.key] = item.num_samples
            if item.level_db is not None:
                self._levels_db[item.key] = item.level_db

    @property
    def has_voices_to_match(self) -> bool:
        """Whether levels depend on the whole book: there are several voices."""
        return self._settings.match_voices and len(set(self._voices.values())) > 1

    def set_levels(self, chapter: ScriptChapter) -> None:
        """Choose how loud each utterance of a chapter is made, once all of them are there."""
        levels = {k: self._levels_db[k] for k in _keys(chapter) if k in self._levels_db}
        voice_gains: dict[str, float] = {}
        if self.has_voices_to_match:
            order = list(dict.fromkeys(self._voices.values()))
            voice_gains = voice_gains_db(self._levels_db, self._voices, order)
        gains = utterance_gains_db(levels, self._voices, self._settings.level_db)
        for key, gain in gains.items():
            of_voice = voice_gains.get(self._voices.get(key, ""), 0.0)
            self._gains_db[chapter.number, key] = round(gain + of_voice, 2)

    def is_spoken(self, chapter: ScriptChapter) -> bool:
        """Whether there is any speech in a chapter that was joined."""
        return any(self._num_spoken.get(line.key) for line in chapter.lines)

    def timed(self, chapter: ScriptChapter) -> list[TimedLine]:
        """When each line of a chapter is heard, once all its pieces were joined."""
        at = self._lead_in()
        found = []
        for line in chapter.lines:
            speech = self._num_spoken.get(line.key, 0)
            found.append(TimedLine(chapter.number, line.segment_id, line.key, at, at + speech))
            at += speech + len(silence(line.pause_after_ms, self.sampling_rate_hz))
        return found

    def _lead_in(self) -> int:
        return len(silence(self._settings.lead_in_ms, self.sampling_rate_hz))

    def pieces(self, chapter: int, lines: Iterable[ScriptLine], lead_in: bool) -> Iterator[Pcm]:
        """The PCM of some lines of a chapter, shape (num_samples,) each: speech, then its pause.

        Raises:
            DamagedAudioError: the audio of an utterance is damaged; it was removed.
        """
        if lead_in:
            yield silence(self._settings.lead_in_ms, self.sampling_rate_hz, self._settings)
        for line in lines:
            if line.key in self._num_samples:
                yield self._piece(line, self._gains_db.get((chapter, line.key), 0.0))
            else:
                yield silence(line.pause_after_ms, self.sampling_rate_hz, self._settings)

    def _piece(self, line: ScriptLine, gain_db: float) -> Pcm:
        path = self._work.audio(line.key)
        try:
            speech = decode_flac(path)
            if len(speech) != self._num_samples[line.key]:
                raise AudioError(f"{len(speech)} samples, not {self._num_samples[line.key]}")
        except (AudioError, OSError) as error:
            path.unlink(missing_ok=True)
            raise DamagedAudioError(
                f"{path}: the audio of segment {line.segment_id} is damaged ({error}). "
                "It was removed, to be spoken anew."
            ) from error
        rate, pause_ms = self.sampling_rate_hz, line.pause_after_ms
        place = crc32(line.segment_id.encode())  # no two pauses begin alike
        piece = utterance_piece(speech, rate, pause_ms, self._settings, gain_db, place)
        self._num_spoken[line.key] = len(piece) - len(silence(pause_ms, rate))
        return piece


class Master:
    """Measures chapters as soon as all their utterances are there, in `num_threads` threads."""

    name = "master"

    def __init__(
        self,
        work: WorkFolder,
        joiner: Joiner,
        script: tuple[ScriptChapter, ...],
        num_threads: int,
    ) -> None:
        self._manifest = Manifest(work.file("chapters.jsonl"), MasteredChapter)
        self._timeline = Manifest(work.file("timeline.jsonl"), TimedLine)
        self._joiner = joiner
        self._script = script
        self._num_threads = num_threads
        self._measured: dict[tuple[int, int], Future[Measurement]] = {}  # by chapter and span

    def run(self, items: Iterable[Utterance | Failure]) -> Iterator[Mastered]:
        """Consume the utterances of the whole script, in any order; yield chapters in order.

        A key may come again, with other audio: `wait` before that is stored. A chapter of which
        nothing could be spoken is left out.
        """
        waiting = {chapter.number: set(_keys(chapter)) for chapter in self._script}
        chapters_of: dict[str, list[ScriptChapter]] = {}
        for chapter in self._script:
            for key in waiting[chapter.number]:
                chapters_of.setdefault(key, []).append(chapter)
        changed: set[int] = set()  # chapters that were measured too early
        with _pool(self._num_threads) as pool:
            for item in items:
                self._joiner.expect(item)
                for chapter in chapters_of.get(item.key, ()):
                    waiting[chapter.number].discard(item.key)
                    if (chapter.number, 0) in self._measured:
                        changed.add(chapter.number)
                    elif not waiting[chapter.number] and not self._joiner.has_voices_to_match:
                        self._start(chapter, pool)
            for chapter in self._script:
                if chapter.number in changed or (chapter.number, 0) not in self._measured:
                    self._start(chapter, pool)
            chapters = [self._chapter(chapter) for chapter in self._script]
        numbers = {chapter.number for chapter in self._script if self._joiner.is_spoken(chapter)}
        found = [mastered for mastered in chapters if mastered.chapter.number in numbers]
        self._manifest.replace([mastered.chapter for mastered in found])
        heard = [chapter for chapter in self._script if chapter.number in numbers]
        self._timeline.replace([line for chapter in heard for line in self._joiner.timed(chapter)])
        yield from found

    def wait(self) -> None:
        """Return when nobody reads audio."""
        wait(self._measured.values())

    def _start(self, chapter: ScriptChapter, pool: ThreadPoolExecutor) -> None:
        """Measure a chapter that is complete, in parts."""
        self._joiner.set_levels(chapter)
        for span in _spans(chapter):
            self._measured[span.chapter, span.index] = pool.submit(self._measure, span)

    def _measure(self, span: _Span) -> Measurement:
        pieces = self._joiner.pieces(span.chapter, span.lines, lead_in=span.index == 0)
        return measure(pieces, self._joiner.sampling_rate_hz)

    def _chapter(self, chapter: ScriptChapter) -> Mastered:
        """Put the measurements of a chapter's spans together."""
        spans = sorted(key for key in self._measured if key[0] == chapter.number)
        whole = combined([self._measured.pop(key).result() for key in spans])
        head_s, tail_s = silence_at_ends_s(whole.quiet, whole.mean_square)
        record = MasteredChapter(
            number=chapter.number,
            title=chapter.title,
            num_samples=whole.num_samples,
            lufs=integrated_lufs(whole.block_powers),
            rms_db=rms_db(whole.mean_square),
            true_peak=whole.true_peak,
            noise_floor_db=noise_floor_db(whole.quiet),
            head_s=head_s,
            tail_s=tail_s,
        )
        return Mastered(record, whole)


@contextmanager
def _pool(num_threads: int) -> Iterator[ThreadPoolExecutor]:
    """A thread pool that, when the run is stopped or fails, does not finish its queue first."""
    pool = ThreadPoolExecutor(num_threads, "master")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _spans(chapter: ScriptChapter) -> list[_Span]:
    return [
        _Span(chapter.number, start // SPAN_LINES, chapter.lines[start : start + SPAN_LINES])
        for start in range(0, len(chapter.lines), SPAN_LINES)
    ]


def _keys(chapter: ScriptChapter) -> list[str]:
    """The keys of a chapter, each once."""
    return list(dict.fromkeys(line.key for line in chapter.lines))
