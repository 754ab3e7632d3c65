"""Adds to a finished audiobook what was not asked for when it was made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pocket_batch.config import as_dict
from pocket_batch.errors import DamagedAudioError
from pocket_batch.jobs.extra_records import add_extras, latest_fingerprint
from pocket_batch.jobs.extras import READ_ALONG, Extras, Speech, planned, speech_of
from pocket_batch.jobs.plan import AudiobookPlan, plan_audiobook
from pocket_batch.jobs.prepared import AudiobookJob
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.reading import Reading
from pocket_batch.jobs.redone import Redone
from pocket_batch.jobs.speak import check_spec, finished, voice_ids
from pocket_batch.jobs.voice import Speaker
from pocket_batch.stages.master import Joiner
from pocket_batch.work_folder import WorkFolder


def add_missing(
    job: AudiobookJob,
    reading: Reading,
    redone: Sequence[Redone],
    wanted: str,
    earlier: Mapping[str, Any],
    kinds: Sequence[str],
    reporter: Reporter,
    should_stop: Callable[[], bool],
) -> bool:
    """Make what is missing beside an audiobook that is there; nothing is spoken for it.

    Args:
        job: what was asked for.
        reading: the book.
        redone: what was chosen for single lines.
        wanted: the fingerprint of the audiobook.
        earlier: what was recorded of it.
        kinds: what to make.
        reporter: told of what was written.
        should_stop: asked while encoding.

    Returns:
        False when the work folder has not what it takes: another book was made in it since, or
        its speech was thrown away.

    Raises:
        OutputError: a file cannot be written.
        LockedError: another run holds the work folder.
        StoppedError: while encoding.
    """
    work = WorkFolder(job.work)
    if latest_fingerprint(work) != wanted:
        return False
    plan = None
    if READ_ALONG in kinds:
        plan = plan_audiobook(job.source, reading, job.pipeline, redone)
        if len(finished(work, plan.requests)) < len(plan.requests):
            return False

    def speech() -> Speech:
        assert plan is not None, "read-along was asked for"
        return _speech(job, plan, work, reading.speaker)

    maker = Extras(job.source, job.output, work, job.pipeline, job.choices, reporter, should_stop)
    files = [Path(str(output["path"])) for output in earlier["outputs"]]
    work.acquire()
    try:
        write = as_dict(job.pipeline.write)
        add_extras(work, wanted, planned(job.pipeline, job.output, kinds), write)
        add_extras(work, wanted, maker.make(kinds, files, speech), write)
    except DamagedAudioError as error:
        reporter.note("damaged", str(error), "warning")
        return False
    finally:
        work.release()
    return True


def _speech(job: AudiobookJob, plan: AudiobookPlan, work: WorkFolder, speaker: Speaker) -> Speech:
    """The speech of a finished book, as it was joined for its file."""
    utterances = list(finished(work, plan.requests).values())
    voices: dict[str, str] = {}
    if check_spec(job.pipeline, speaker.engine, speaker.language) is None:
        utterances = [replace(utterance, level_db=None) for utterance in utterances]
    else:
        voices = voice_ids(speaker.voice, plan.requests)
    joiner = Joiner(work, job.pipeline.master, speaker.engine.sampling_rate_hz, voices)
    narrators = list(dict.fromkeys(voice.name for voice in plan.voices))
    return speech_of(plan.book, narrators, plan.script, work, joiner, utterances)
