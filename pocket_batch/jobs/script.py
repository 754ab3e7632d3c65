"""Writes the script of a book: every utterance as a line that a person can edit and have spoken."""

import json
import os
import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pocket_batch.config import load_voices
from pocket_batch.data import Choices, Cover, Segment, Voice
from pocket_batch.errors import OutputError, writing
from pocket_batch.jobs import messages
from pocket_batch.jobs.named import POCKET
from pocket_batch.jobs.plan import AudiobookPlan, check_stages, plan_audiobook
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.reading import open_reading
from pocket_batch.jobs.voice import Speaker, fetch
from pocket_batch.manifest import write_atomic
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.sources.base import check_source
from pocket_batch.sources.script import MARK, MEDIA_TYPES, VERSION
from pocket_batch.words import plural

_HEAD = (
    "title authors language date publisher series series_part description subjects identifiers"
).split()


@dataclass(frozen=True, slots=True)
class ScriptJob:
    """What the user asked for."""

    source: Path
    output: Path
    pipeline: AudiobookPipeline
    choices: Choices
    overwrite: bool = False


def write_script(job: ScriptJob, reporter: Reporter) -> None:
    """Write the script of a book, cut for the engine that would read it, and its cover beside it.

    Raises:
        PocketBatchError: the book is refused, the voice is not here, or the script exists.
    """
    check_stages(job.pipeline)
    check_source(job.source)
    if job.output.exists() and not job.overwrite:
        raise OutputError(
            f"{job.output} exists, perhaps with your changes. Give --overwrite to replace it, or "
            "another name with -o."
        )
    reading = open_reading(job.source, job.choices, job.pipeline)
    messages.tell_reading(reporter, reading, job.source, job.pipeline)
    speaker, cover = reading.speaker, reading.book.cover
    fetch(speaker, reporter)
    plan = plan_audiobook(job.source, reading, job.pipeline)
    messages.tell_plan(reporter, plan)
    names = _names(speaker)
    head = _head(job, plan, speaker, names)
    with writing(job.output):
        job.output.parent.mkdir(parents=True, exist_ok=True)
    if cover:
        head["cover"] = _write_cover(job, cover)
    lines = [head, *(asdict(_line(segment, names)) for segment in plan.segments)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_atomic(job.output, text.encode("utf-8", "backslashreplace"))
    reporter.note(
        "script",
        f"Wrote {job.output}: {plural(len(plan.segments), 'line')}. Edit it, and speak it with "
        f"`{shlex.join(['pocket-batch', str(job.output)])}`.",
        path=str(job.output),
        num_lines=len(plan.segments),
    )


def _head(
    job: ScriptJob, plan: AudiobookPlan, speaker: Speaker, names: dict[str, str]
) -> dict[str, Any]:
    """The first line: all that the finished file has besides its words."""
    book = replace(plan.book, language=plan.language)
    spec = speaker.engine.spec
    files = {names[name]: file for name, voice in _by_name(speaker) if (file := _file(voice))}
    chapters = {c.number: c for c in book.chapters}
    facts: dict[str, Any] = {MARK: VERSION}
    facts |= {name: value for name in _HEAD if (value := getattr(book, name))}
    if book.has_gaps:
        facts["has_gaps"] = True
    return facts | {
        "source": _relative(job.source, job.output.parent),
        "voice": names[speaker.voice.name],
        **({"voices": files} if files else {}),
        **({"model": spec.model} if spec.name == POCKET else {}),
        "chapters": [
            {"number": c.number, "title": c.title, "level": chapters[c.number].level}
            for c in plan.script
        ],
    }


def _line(segment: Segment, names: dict[str, str]) -> Segment:
    return replace(segment, voice=names[segment.voice])


def _by_name(speaker: Speaker) -> list[tuple[str, Voice]]:
    """All voices by the names that segments have for them."""
    return [(speaker.voice.name, speaker.voice), *speaker.cast.items()]


def _names(speaker: Speaker) -> dict[str, str]:
    """What the script calls each voice: its name, or its file where two have one name."""
    names: dict[str, str] = {}
    owners: dict[str, Voice] = {}
    for name, voice in _by_name(speaker):
        is_mine = owners.setdefault(voice.name, voice) == voice
        names[name] = voice.name if is_mine else name
    return names


def _file(voice: Voice) -> str:
    """The file of a voice that is no more than a file."""
    if load_voices()[0].get(voice.name) == voice:
        return ""
    return voice.parameters.get("prompt") or voice.parameters.get("state", "")


def _write_cover(job: ScriptJob, cover: Cover) -> str:
    suffixes = {media_type: suffix for suffix, media_type in reversed(MEDIA_TYPES.items())}
    suffix = suffixes.get(cover.media_type, ".img")
    path = job.output.with_name(f"{job.output.stem}.cover{suffix}")
    if path.exists() and not job.overwrite and path.read_bytes() != cover.data:
        raise OutputError(
            f"{path} exists, and is another picture. Give --overwrite, or another -o."
        )
    write_atomic(path, cover.data)
    return path.name


def _relative(path: Path, folder: Path) -> str:
    return os.path.relpath(path.resolve(), folder.resolve())
