"""What a run will do, before it does it: text, script, requests, and an estimate."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType

from pocket_batch.audio.acx import tail_ms
from pocket_batch.config import nearest
from pocket_batch.data import (
    Book,
    Dropped,
    Request,
    ScriptChapter,
    ScriptLine,
    Segment,
    Voice,
)
from pocket_batch.engine.base import Engine
from pocket_batch.errors import InputError, UsageError
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.casting import words_by_voice
from pocket_batch.jobs.lines import lines_as_segments
from pocket_batch.jobs.reading import Reading
from pocket_batch.jobs.redone import Redone, place
from pocket_batch.manifest import Manifest, content_key, request_seed, write_atomic
from pocket_batch.outputs.formats import output_format
from pocket_batch.settings import AudiobookPipeline, CheckSettings, MasterSettings
from pocket_batch.stages.base import STAGES
from pocket_batch.stages.normalize import Normalize
from pocket_batch.stages.segment import SegmentText
from pocket_batch.stages.write import bit_rate_kbps
from pocket_batch.work_folder import WorkFolder

# Estimates: English speech of the embedded voice; FLAC of it, and AAC 64 kbit/s.
PROSE_LETTERS_PER_S = 16.0  # with pauses
LETTERS_PER_S = 18.4  # characters with spaces, without pauses; measured on a novel
WORK_BYTES_PER_S = 26_000
OUTPUT_BYTES_PER_S = {"m4b": 8_500, "mp3": 8_500, "opus": 4_500, "flac": 24_000, "wav": 48_000}
READ_ALONG_BYTES_PER_S = OUTPUT_BYTES_PER_S["m4b"]  # its audio is AAC, whatever the output is
BYTES_PER_S_OF_KBPS = 133  # with the container
LISTEN_X_REALTIME = 30.0  # Whisper tiny.en on two cores
WRITE_X_REALTIME = 300.0  # joining, measuring and encoding, on two cores


@dataclass(frozen=True, slots=True)
class AudiobookPlan:
    """A book ready to be spoken. `book` has its chapters' text removed, to save memory.

    `voices` are those that have lines, who speaks the most words first. `audio_s` is an estimate of
    the length, pauses included. `redone` are lines that are as a person chose them, `stale` choices
    whose lines are gone.
    """

    book: Book
    voices: tuple[Voice, ...]
    language: str
    segments: tuple[Segment, ...]
    script: tuple[ScriptChapter, ...]
    requests: tuple[Request, ...]
    audio_s: float
    redone: tuple[Redone, ...] = ()
    stale: tuple[Redone, ...] = ()

    def missing_audio_s(self, done: Collection[str]) -> float:
        """Estimated seconds of speech that are not among the done keys; equal texts count once."""
        return expected_audio_s(r for r in self.requests if r.key not in done)


def x_realtime(engine: Engine, check: CheckSettings) -> float:
    """Seconds of speech that a worker of two cores makes a second, roughly, listening included."""
    share = {"off": 0.0, "sample": check.sample_fraction, "all": 1.0}[check.listen]
    return 1 / (1 / engine.x_realtime + share / LISTEN_X_REALTIME)


def expected_audio_s(requests: Iterable[Request]) -> float:
    """Estimated seconds of speech that come of some requests."""
    return sum(len(request.text) for request in requests) / LETTERS_PER_S


def output_bytes_per_s(pipeline: AudiobookPipeline) -> float:
    """Estimated size of a second of speech in what is written: the audio, and a read-along EPUB.

    Subtitles are text, and too small to count.
    """
    write, kbps = pipeline.write, bit_rate_kbps(pipeline)
    is_lossy = output_format(write.format).bit_rate_kbps is not None
    audio = kbps * BYTES_PER_S_OF_KBPS if kbps and is_lossy else OUTPUT_BYTES_PER_S[write.format]
    return audio + READ_ALONG_BYTES_PER_S * write.read_along


def check_stages(pipeline: AudiobookPipeline) -> None:
    """Refuse an order of stages that cannot run.

    Raises:
        UsageError: naming the stage.
    """
    for stage in pipeline.stages:
        if stage not in STAGES:
            raise UsageError(f"`{stage}` is not a stage. {nearest(stage, list(STAGES))}")
    wanted = tuple(s for s in STAGES if s in pipeline.stages or s != "check")
    if pipeline.stages != wanted:
        raise UsageError(
            f"An audiobook needs the stages {', '.join(wanted)}, in this order, not "
            f"{', '.join(pipeline.stages)}. Only `check` may be left out."
        )


def plan_audiobook(
    source: Path,
    reading: Reading,
    pipeline: AudiobookPipeline,
    redone: Iterable[Redone] = (),
) -> AudiobookPlan:
    """Cut a book into requests, with lines as `redone` has them; nothing is spoken or written.

    Raises:
        InputError: nothing in it can be spoken.
        ModelUnavailableError: what the speaker needs is not on this machine.
        UsageError: the normaliser that was asked for is not installed.
    """
    book, speaker = reading.book, reading.speaker
    segments = _segments(reading, pipeline)
    if not segments:
        raise InputError(
            f"{source.name}: no text to speak in the chosen chapters. "
            f"`pocket-batch inspect {source.name}` shows what is in it and what is left out."
        )
    placed = place(segments, redone)
    segments = list(placed.segments)
    requests = make_requests(
        segments, pipeline.seed, speaker.voice, speaker.engine, speaker.cast, placed.takes
    )
    # two recordings may have one name
    by_origin = {repr(request.voice): request.voice for request in requests}
    voices = words_by_voice((repr(request.voice), request.text) for request in requests)
    return AudiobookPlan(
        book=replace(book, chapters=tuple(replace(c, blocks=()) for c in book.chapters)),
        voices=tuple(by_origin[origin] for origin in voices),
        language=speaker.language,
        segments=tuple(segments),
        script=_script(book, segments, requests, pipeline.master),
        requests=_unique(requests),
        audio_s=sum(len(s.text) / LETTERS_PER_S + s.pause_after_ms / 1000 for s in segments),
        redone=placed.redone,
        stale=placed.stale,
    )


def _segments(reading: Reading, pipeline: AudiobookPipeline) -> list[Segment]:
    """The utterances of a book, or of a script as its lines are."""
    speaker, engine = reading.speaker, reading.speaker.engine
    stage = SegmentText(
        pipeline.segment,
        speaker.voice.name,
        speaker.language,
        engine.max_tokens,
        engine.count_tokens,
    )
    if reading.is_script:
        return list(lines_as_segments(reading.book.chapters, speaker, pipeline.segment, stage))
    normalizer = pipeline.normalize.normalizer
    normalize = Normalize(speaker.language, reading.lexicon, normalizer, usable_cores())
    return list(stage.run(normalize.run(reading.book.chapters)))


def save_plan(plan: AudiobookPlan, work: WorkFolder, is_script: bool) -> None:
    """Write what was read, left out and planned: book.json, dropped.jsonl, segments.jsonl.

    A script leaves nothing out, and what its book did stays known.
    """
    facts = asdict(replace(plan.book, chapters=(), dropped=(), cover=None))
    facts["chapters"] = [{"number": c.number, "title": c.title} for c in plan.book.chapters]
    text = json.dumps(facts, ensure_ascii=False, indent=1)
    write_atomic(work.file("book.json"), text.encode("utf-8", "backslashreplace"))
    if not is_script:
        Manifest(work.file("dropped.jsonl"), Dropped).replace(list(plan.book.dropped))
    Manifest(work.file("segments.jsonl"), Segment).replace(list(plan.segments))


def make_requests(
    segments: Iterable[Segment],
    job_seed: int,
    narrator: Voice,
    engine: Engine,
    cast: Mapping[str, Voice] = MappingProxyType({}),
    takes: Mapping[str, int] = MappingProxyType({}),
) -> list[Request]:
    """One request a segment, named by all that its sound depends on.

    `cast` are voices by the names that segments have for them; all else is the narrator's. `takes`
    are by segment, 0 where there is none: another take has other noise.
    """
    identity, narrator_key = engine.identity(), engine.voice_key(narrator)
    keys = {name: engine.voice_key(voice) for name, voice in cast.items()}
    requests = []
    for segment in segments:
        voice = cast.get(segment.voice, narrator)
        seed = request_seed(job_seed, segment.text, voice.name, takes.get(segment.id, 0))
        key = content_key(
            text=segment.text,
            voice=keys.get(segment.voice, narrator_key),
            engine=engine.name,
            seed=seed,
            **identity,
        )
        requests.append(Request(key, segment.id, segment.text, voice, seed))
    return requests


def _script(
    book: Book, segments: list[Segment], requests: list[Request], settings: MasterSettings
) -> tuple[ScriptChapter, ...]:
    lines: dict[int, list[ScriptLine]] = {}
    for segment, request in zip(segments, requests, strict=True):
        line = ScriptLine(request.key, segment.id, segment.pause_after_ms)
        lines.setdefault(segment.chapter, []).append(line)
    for found in lines.values():
        found[-1] = replace(found[-1], pause_after_ms=tail_ms(found[-1].pause_after_ms, settings))
    titles = {chapter.number: chapter.title for chapter in book.chapters}
    return tuple(ScriptChapter(n, titles[n], tuple(found)) for n, found in lines.items())


def _unique(requests: list[Request]) -> tuple[Request, ...]:
    """The same text is spoken once, wherever it stands."""
    found: dict[str, Request] = {}
    for request in requests:
        found.setdefault(request.key, request)
    return tuple(found.values())
