"""What the doctor looks at: a job with its voices, or an audiobook that names none."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pocket_batch.config import load_pipeline
from pocket_batch.data import EngineSpec, Voice
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.errors import InputError, ModelUnavailableError, UsageError
from pocket_batch.jobs.casting import find_casting
from pocket_batch.jobs.dataset.speakers import choose_speakers
from pocket_batch.jobs.doctor.checks import Check, ok, problem, warning
from pocket_batch.jobs.language import BookLanguage
from pocket_batch.jobs.named import named_voice
from pocket_batch.jobs.night.inputs import Inputs
from pocket_batch.jobs.night.job import NightJob, open_job
from pocket_batch.jobs.night.naming import literal_folder
from pocket_batch.jobs.voice import Speaker, choose_speaker
from pocket_batch.settings import AudiobookPipeline, ExecutorSettings
from pocket_batch.sources.corpus import expand_inputs
from pocket_batch.words import plural

MAX_NAMED = 3
HERE = "this folder"  # where results go when no job says so
REFUSALS = (ModelUnavailableError, UsageError, InputError)

Group = tuple[EngineSpec, tuple[Voice, ...]]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at.

    `speakers` is empty when nobody can speak; the check of the voice says why then. `folders` are
    written to, by what they are for.
    """

    executor: ExecutorSettings
    speakers: tuple[Speaker, ...]
    folders: dict[str, Path]
    system_ffmpeg: bool = False

    @property
    def memory_bytes(self) -> int:
        """Of one worker, which has one engine at a time; 0 when unknown."""
        return max((s.engine.memory_bytes for s in self.speakers), default=0)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Each engine with all its voices."""
        found: dict[EngineSpec, dict[str, Voice]] = {}
        for speaker in self.speakers:
            voices = {voice.name: voice for voice in speaker.voices}
            found.setdefault(speaker.engine.spec, {}).update(voices)
        return tuple((spec, tuple(voices.values())) for spec, voices in found.items())


def make_subject(path: Path | None) -> tuple[Subject, list[Check]]:
    """What a job file asks for, and how it is; without one, what a book would get here."""
    if path is None:
        pipeline = load_pipeline(None, {})
        speakers, checks = _speakers(pipeline)
        return Subject(pipeline.executor, speakers, {HERE: Path.cwd()}), checks
    try:
        job = open_job(path, {})
    except UsageError as error:
        subject, checks = make_subject(None)
        return subject, [problem("job", str(error)), *checks]
    speakers, checks = _speakers(job.pipeline)
    is_book = isinstance(job.pipeline, AudiobookPipeline)
    what = "audiobooks" if is_book else "a data set"
    checks = [ok("job", f"{path} is valid: {what} at {job.output}"), *_inputs(job), *checks]
    use_system = isinstance(job.pipeline, AudiobookPipeline) and job.pipeline.write.system_ffmpeg
    return Subject(job.pipeline.executor, speakers, _folders(job), use_system), checks


def _folders(job: NightJob) -> dict[str, Path]:
    """Where a job writes; a store that is no folder is not looked at."""
    folders = {"run folder": job.run_dir}
    if "://" in job.output:
        return folders
    is_dataset = isinstance(job.pipeline, DatasetPipeline)
    pattern = os.path.expanduser(job.settings.output)  # as written: the folder may have a brace
    literal = job.folder / literal_folder(pattern, "audiobook")
    output = Path(job.output) if is_dataset else literal
    return {"output": output, **folders}


def _inputs(job: NightJob) -> Iterator[Check]:
    """Whether the inputs of a job are there."""
    if isinstance(job.pipeline, DatasetPipeline):
        yield _corpus(job)
        return
    inbox = job.settings.inbox
    if inbox is not None and not job.place(inbox).is_dir():
        yield problem("inbox", f"there is no folder {job.place(inbox)}", "make it, or correct it")
    box = None if inbox is None else job.place(inbox)
    found = [path for path in Inputs(job).first() if path != box]  # a missing one is told above
    missing = [path for path in found if not path.exists()]
    if missing:
        names = ", ".join(map(str, missing[:MAX_NAMED])) + ", ..." * (len(missing) > MAX_NAMED)
        found_text = f"{len(missing)} of {plural(len(found), 'input')} not there: {names}"
        yield problem("inputs", found_text, "correct `inputs` of the job file")
    elif found:
        yield ok("inputs", f"{plural(len(found), 'book')} found")
    elif inbox is not None:
        yield warning("inputs", f"no book is in the inbox {inbox} now", "put some there in time")
    else:
        yield problem("inputs", "no book was found", "correct `inputs` of the job file")


def _corpus(job: NightJob) -> Check:
    """Likewise those of a data set; an address on the net is not looked at."""
    names = [name for name in job.settings.inputs if "://" not in name]
    try:
        found = expand_inputs([name if name == "-" else str(job.place(name)) for name in names])
    except UsageError as error:
        return problem("inputs", str(error))
    others = len(job.settings.inputs) - len(names)
    more = f", {others} elsewhere not looked at" if others else ""
    return ok("inputs", f"{plural(len(found), 'file')} found{more}")


def _speakers(
    pipeline: AudiobookPipeline | DatasetPipeline,
) -> tuple[tuple[Speaker, ...], list[Check]]:
    """Who would speak, and whether each of them can speak here, without the network."""
    try:
        if isinstance(pipeline, DatasetPipeline):
            speakers = tuple(choose_speakers(pipeline).by_name.values())
        else:
            speaker = choose_speaker(pipeline, BookLanguage("", "The book's language is"))
            speakers = (replace(speaker, cast=_cast(pipeline)),)
    except REFUSALS as error:
        return (), [problem("voice", str(error))]
    return speakers, [_voice(speaker) for speaker in speakers]


def _cast(pipeline: AudiobookPipeline) -> dict[str, Voice]:
    """The other voices that a pipeline names; a cast beside a book is not known yet."""
    casting = find_casting(Path("book"), pipeline)
    roles = [role.voice for role in casting.cast.values()]
    names = [casting.dialogue, *roles, *(rule.voice for rule in casting.lines)]
    return {name: named_voice(name, pipeline.model) for name in names if name}


def _voice(speaker: Speaker) -> Check:
    spec = speaker.engine.spec
    model = f"{spec.name} {spec.model} {spec.precision}" if spec.model else spec.name
    names = ", ".join(voice.name for voice in speaker.voices)
    try:
        for voice in speaker.voices:
            if voice.engine != spec.name:
                return problem("voice", f"{voice.name} is of {voice.engine}, and not of {model}")
        speaker.engine.check(speaker.voices)
    except REFUSALS as error:
        return problem("voice", f"{names} ({model}) cannot speak: {error}")
    return ok("voice", f"{names} ({model}) can speak here", speaker.hint)
