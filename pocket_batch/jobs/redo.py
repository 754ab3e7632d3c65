"""Single lines of a finished audiobook are spoken again, and the audiobook is made anew of all."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pocket_batch.audio.flac import decode_flac
from pocket_batch.audio.pcm import to_float
from pocket_batch.data import Segment
from pocket_batch.errors import (
    AudioError,
    InputError,
    LockedError,
    ModelUnavailableError,
    UsageError,
)
from pocket_batch.jobs.audiobook import prepare
from pocket_batch.jobs.fingerprint import fingerprint
from pocket_batch.jobs.finished import Finished, is_of_a_job, read_finished, whole_path
from pocket_batch.jobs.making import Making
from pocket_batch.jobs.prepared import Prepared
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.reading import Reading, open_reading
from pocket_batch.jobs.redone import Redone, read_redone, with_redone, with_voices
from pocket_batch.jobs.report.facts import read_facts
from pocket_batch.jobs.report.suspects import list_suspects
from pocket_batch.jobs.status import status_kept
from pocket_batch.manifest import Manifest
from pocket_batch.words import plural
from pocket_batch.work_folder import WorkFolder

SAME_BELOW_DB = -30.0  # a change that is so much fainter than the speech is not heard


@dataclass(frozen=True, slots=True)
class RedoJob:
    """What is to be spoken again: one of segments, `suspects` or `chapter`.

    `text` and `voice` replace those of the line, empty for another take of it as it is. `undo` goes
    back to what the book has. `source` is where the book is now, if it was moved.
    """

    work: Path
    segments: tuple[str, ...] = ()
    suspects: bool = False
    chapter: int | None = None
    text: str = ""
    voice: str = ""
    undo: bool = False
    source: Path | None = None
    overwrite: bool = False


def run_redo(
    job: RedoJob, reporter: Reporter, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Speak lines again, and make the audiobook anew.

    Raises:
        PocketBatchError: each kind has its exit code; nothing changes before all is known.
    """
    work = WorkFolder(job.work)
    finished = read_finished(work, job.source)
    _check_free(work)
    chosen = choose(job, work)
    started = time.monotonic()
    reading = open_reading(finished.job.source, finished.job.choices, finished.job.pipeline)
    _check_same(finished, reading, work)
    before = _audio(work, [choice.segment_id for choice in chosen])
    asked = replace(finished.job, redo=chosen, overwrite=job.overwrite, replaces_own=True)
    _check_length(chosen, reading)
    prepared = prepare(asked, reading, reporter, should_stop)
    del reading  # its text
    if prepared is None:
        return  # as it was: what was undone had not been done
    prepared.record.times_s["plan"] = time.monotonic() - started
    try:
        _make(prepared, reporter, should_stop)
    finally:  # also where the book is not whole for another reason
        if not (job.text or job.voice or job.undo) and prepared.record.outputs:
            _tell_same(reporter, prepared, before, _audio(work, list(before)))


def _make(prepared: Prepared, reporter: Reporter, should_stop: Callable[[], bool]) -> None:
    try:
        with status_kept(prepared.work.path, "audiobook", reporter) as told:
            Making(prepared, told, should_stop).make()
    finally:
        prepared.work.release()


def choose(job: RedoJob, work: WorkFolder) -> tuple[Redone, ...]:
    """The choices that a job comes to, for all lines that have the same sound.

    Raises:
        UsageError: there is no such line or chapter, or options do not go together.
        InputError: the folder is no work folder.
    """
    segments = list(Manifest(work.file("segments.jsonl"), Segment).read())
    wanted = _wanted(job, work, segments)
    known = {choice.segment_id: choice for choice in read_redone(work)}
    sounds = {_sound(s, known) for s in segments if s.id in wanted}
    if job.text and len(sounds) > 1:
        raise UsageError(
            f"--text is for one line, and {plural(len(sounds), 'line')} are chosen. Name one with "
            "--segment."
        )
    text = " ".join(job.text.split())
    return tuple(
        _choice(job, s, known.get(s.id), text) for s in segments if _sound(s, known) in sounds
    )


def _wanted(job: RedoJob, work: WorkFolder, segments: Iterable[Segment]) -> set[str]:
    """Ids of the lines that were asked for."""
    ids = {segment.id for segment in segments}
    if job.suspects:
        found = list_suspects(read_facts(work))
        if not found:
            raise UsageError(f"{work.path}: nothing in it is suspect. Name a line with --segment.")
        return {place.segment.id for item in found for place in item.places}
    if job.chapter is not None:
        found_ids = {s.id for s in segments if s.chapter == job.chapter}
        if not found_ids:
            numbers = sorted({s.chapter for s in segments})
            raise UsageError(
                f"{work.path}: there is no chapter {job.chapter} in it. Its chapters are "
                f"{', '.join(map(str, numbers[:20]))}."
            )
        return found_ids
    for name in job.segments:
        if name not in ids:
            raise UsageError(
                f"{work.path}: there is no segment `{name:.60}`. Their names are in segments.jsonl "
                f"and in the report, such as {min(ids, default='001-0001')}."
            )
    return set(job.segments)


def _sound(segment: Segment, known: Mapping[str, Redone]) -> tuple[str, str, int]:
    """Lines that are equal in this share one utterance."""
    choice = known.get(segment.id)
    return segment.text, segment.voice, choice.take if choice else 0


def _choice(job: RedoJob, segment: Segment, before: Redone | None, text: str) -> Redone:
    before = before or Redone(segment.id, segment.text)
    if job.undo:
        return Redone(segment.id, before.planned)
    return replace(
        before,
        text=("" if text == before.planned else text) if text else before.text,
        voice=whole_path(job.voice) if job.voice else before.voice,
        take=before.take if text or job.voice else before.take + 1,
    )


def _check_free(work: WorkFolder) -> None:
    """Say at once that another run holds the folder.

    Raises:
        LockedError: naming it.
    """
    if not work.file("lock").is_file():
        raise InputError(f"{work.path} is no work folder of a book. Give the BOOK.work folder.")
    try:
        work.acquire()
    except LockedError as error:
        raise LockedError(
            f"{str(error).removesuffix(' Wait for it, or choose another with --work.')} Nothing "
            "was changed; try again when that run has ended."
        ) from error
    work.release()


def _check_same(finished: Finished, reading: Reading, work: WorkFolder) -> None:
    """Refuse to make another book than was made.

    Raises:
        InputError: the book, its lexicon or cast, a voice, or this program is another one.
    """
    pipeline, choices = finished.job.pipeline, finished.job.choices
    redone = read_redone(work)
    known = {fingerprint(reading, pipeline, choices)}
    with suppress(ModelUnavailableError):  # a voice that was chosen is gone, and may be undone
        now = fingerprint(with_voices(reading, redone, pipeline), pipeline, choices)
        known.add(with_redone(now, redone))
    if not known & finished.results:
        option = " (with --overwrite where it asks for that)"
        raise InputError(
            f"{finished.job.source.name} was not finished as it is now: the book, its lexicon or "
            "cast, a voice, or this program has changed since, or the run was stopped. Run its "
            f"command first{option * (not is_of_a_job(finished.job.command))}: {finished.command}"
        )


def _check_length(chosen: Iterable[Redone], reading: Reading) -> None:
    """Refuse texts that the engine cannot speak in one go.

    Raises:
        UsageError: with the limit.
    """
    engine = reading.speaker.engine
    for text in {choice.text for choice in chosen if choice.text}:
        found = engine.count_tokens(text)
        if found > engine.max_tokens:
            raise UsageError(
                f"--text is too long for one utterance: {found} tokens, and {engine.name} takes "
                f"{engine.max_tokens}. Shorten it."
            )
        if not any(character.isalnum() for character in text):
            raise UsageError("--text has nothing in it that can be spoken.")


def _audio(work: WorkFolder, segment_ids: Iterable[str]) -> dict[str, bytes]:
    """The audio of lines as it is now, by segment; empty where there is none."""
    keys = {place.segment.id: place.key for place in read_facts(work).places}
    found = {}
    for segment_id in segment_ids:
        try:
            found[segment_id] = work.audio(keys.get(segment_id, "")).read_bytes()
        except OSError:
            found[segment_id] = b""
    return found


def _tell_same(
    reporter: Reporter, prepared: Prepared, before: dict[str, bytes], now: dict[str, bytes]
) -> None:
    """Some engines speak a text always the same: another take is none."""
    same = [name for name, flac in now.items() if _sounds_same(flac, before.get(name, b""))]
    if same:
        verb = "sounds" if len(same) == 1 else "sound"
        text = (
            f"{plural(len(same), 'line')} {verb} as before: the engine {prepared.engine.name} "
            "speaks a text always the same. Give another --text or --voice to hear it differently."
        )
        reporter.note("redo_same", text, "warning", segments=same)


def _sounds_same(flac: bytes, before: bytes) -> bool:
    """Whether two takes are equal but for faint noise."""
    if not flac or not before:
        return False
    try:
        one, other = to_float(decode_flac(flac)), to_float(decode_flac(before))
    except AudioError:
        return False
    if len(one) != len(other):
        return False
    change = float(np.square(one - other).sum())
    return change <= 10 ** (SAME_BELOW_DB / 10) * float(np.square(other).sum())
