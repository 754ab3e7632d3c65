"""A run that ended, read back from its work folder: enough to make the same again."""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pocket_batch.config import load_pipeline
from pocket_batch.data import Choices, Cover
from pocket_batch.errors import InputError, UsageError
from pocket_batch.jobs.prepared import AudiobookJob
from pocket_batch.jobs.record import COVER_FILE
from pocket_batch.sources.base import check_source
from pocket_batch.work_folder import WorkFolder

_FILES = ("voice", "model", "cast", "dialogue_voice")  # settings that may name a file


@dataclass(frozen=True, slots=True)
class Finished:
    """A run as its `run.json` tells it; `results` are the fingerprints of what was finished."""

    run: Mapping[str, Any]
    job: AudiobookJob
    results: frozenset[str]

    @property
    def command(self) -> str:
        """The command that made it, as it was typed."""
        return shlex.join(self.job.command)


def read_finished(work: WorkFolder, source: Path | None = None) -> Finished:
    """What a run was asked for.

    Args:
        work: its folder.
        source: where the book is now, if not where it was.

    Raises:
        InputError: the folder has no finished run, or its book is gone.
    """
    if not work.file("lock").is_file():
        raise InputError(f"{work.path} is no work folder of a book. Give the BOOK.work folder.")
    try:
        run = json.loads(work.file("run.json").read_text(encoding="utf-8"))
        folder, target = Path(run["folder"]), Path(run["target"])
        book = source or Path(run["source"]["path"])
        choices, results = _choices(run["choices"], work), frozenset(run["results"])
        settings = dict(run["settings"])
        command = tuple(shlex.split(run["command"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{work.path}: there is no run to go on from (run.json is missing, damaged or of an "
            "older version). Speak the book with its command first."
        ) from error
    if not book.is_file():
        raise InputError(
            f"{book}: the book that {work.path.name} was made from is not there any more. Put it "
            "back, or name it with --source FILE."
        )
    check_source(book)
    if not work.file("audio").is_dir():
        raise InputError(
            f"{work.path}: its speech was not kept, so that all of it would be spoken again. "
            + (
                f"Remove {target} for that, and run its job: {shlex.join(command)}"
                if is_of_a_job(command)
                else f"Do that with the command itself: {shlex.join(command)} --fresh"
            )
        )
    try:
        pipeline = load_pipeline(None, _with_whole_paths(settings, folder))
    except UsageError as error:
        raise InputError(
            f"{work.path}: it was made by another version of this program ({error}) Run its "
            f"command first: {shlex.join(command)}"
        ) from error
    here = replace(pipeline.executor, name="auto", address="")  # it is little work
    pipeline = replace(pipeline, executor=here)
    made = AudiobookJob(book, target, work.path, pipeline, choices, command=command)
    return Finished(run, made, results)


def is_of_a_job(command: Sequence[str]) -> bool:
    """Whether a command made many books: it takes no options for one of them."""
    return list(command[1:2]) == ["run"]


def _choices(values: Mapping[str, Any], work: WorkFolder) -> Choices:
    """What the user said about the book."""
    kind = str(values["cover_type"])
    cover = Cover(work.file(COVER_FILE).read_bytes(), kind) if kind else None
    return Choices(
        chapters=frozenset(int(number) for number in values["chapters"]),
        language=str(values["language"]),
        title=str(values["title"]),
        authors=tuple(str(name) for name in values["authors"]),
        cover=cover,
    )


def _with_whole_paths(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Settings whose files are found from anywhere: they were named from `folder`."""
    found = dict(settings)
    for name in _FILES:
        found[name] = whole_path(found.get(name), folder)
    for part, name in (("normalize", "lexicon"), ("check", "voice_model"), ("check", "asr_model")):
        values = dict(found.get(part) or {})
        if values.get(name):
            found[part] = values | {name: whole_path(values[name], folder)}
    return found


def whole_path(name: Any, folder: Path | None = None) -> Any:
    """A file by its whole path, from `folder` or from here; a name that is no file stays."""
    if not isinstance(name, str) or not name:
        return name
    path = (folder or Path.cwd()) / os.path.expanduser(name)
    return str(path) if path.exists() and (path.suffix or os.sep in name) else name
