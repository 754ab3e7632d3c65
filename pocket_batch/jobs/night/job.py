"""A job file with its pipeline: what is asked for, with all paths as seen from here."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pocket_batch.config import load_dataset_pipeline, load_job, load_pipeline
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.errors import UsageError
from pocket_batch.executors.base import Limits
from pocket_batch.job_settings import JobSettings
from pocket_batch.jobs.deadline import Deadline, make_deadline
from pocket_batch.jobs.night.naming import check_pattern, check_suffix, literal_folder
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.yaml_files import read_yaml

SHIPPED = ("audiobook", "dataset")
# Settings that name a file beside the job file, rather than something by its name.
_FILES = (
    "voice",
    "model",
    "cast",
    "dialogue_voice",
    "normalize.lexicon",
    "check.asr_model",
    "check.voice_model",
)


@dataclass(frozen=True, slots=True)
class NightJob:
    """A job that can be run. `folder` is that of its file, `run_dir` has what tells of its runs."""

    path: Path
    folder: Path
    settings: JobSettings
    pipeline: AudiobookPipeline | DatasetPipeline
    output: str
    run_dir: Path

    @property
    def name(self) -> str:
        """What it is called in summaries."""
        return self.path.stem

    def place(self, name: str) -> Path:
        """A path of the job file, as seen from here."""
        return self.folder / os.path.expanduser(name)

    def limits(self, deadline: Deadline) -> Limits:
        """Until when work is started, and what workers may do."""
        health = self.settings.health
        return Limits(
            is_late=deadline.is_late,
            warn_growth_mb_per_h=health.warn_growth_mb_per_h,
            recycle_growth_mb_per_h=health.recycle_growth_mb_per_h,
            silent_s=health.silent_s,
        )


def open_job(path: Path, overrides: dict[str, Any]) -> NightJob:
    """Read a job file and the pipeline it names.

    Args:
        path: of the job file.
        overrides: settings of the pipeline by dotted names, which win over those of the job.

    Raises:
        UsageError: a file is missing or wrong, or the job asks for what does not go together.
    """
    settings = load_job(path)
    folder = path.absolute().parent
    kind, file = _pipeline_file(settings.pipeline, folder, path)
    pipeline = _pipeline(kind, file, path, _overrides(settings, kind, folder, path), overrides)
    _check(settings, kind, path)
    if isinstance(pipeline, AudiobookPipeline):
        check_suffix(settings.output, pipeline.write, path)
    make_deadline(settings.deadline, settings.max_hours)  # is it one?
    output = _output(settings.output, folder)
    run_dir = folder / os.path.expanduser(settings.run_dir) if settings.run_dir else None
    if run_dir is None:
        pattern = os.path.expanduser(settings.output)
        base = folder if "://" in output else folder / literal_folder(pattern, kind)
        run_dir = base / f"{path.stem}.run"
    return NightJob(path, folder, settings, pipeline, output, run_dir)


def _output(output: str, folder: Path) -> str:
    return output if "://" in output else str(folder / os.path.expanduser(output))


def _pipeline_file(name: str, folder: Path, job: Path) -> tuple[str, Path | None]:
    """The kind of a pipeline, and its file if it is not a shipped one."""
    if name in SHIPPED:
        return name, None
    file = folder / os.path.expanduser(name)
    if not file.is_file():
        known = " or ".join(SHIPPED)
        raise UsageError(f"{job}: `pipeline` is {name}; it must be {known}, or a pipeline file.")
    kind = read_yaml(file).get("pipeline")
    if kind not in SHIPPED:
        raise UsageError(f"{file}: `pipeline` is {kind!r}; it must be {' or '.join(SHIPPED)}.")
    return str(kind), file


def _pipeline(
    kind: str, file: Path | None, job: Path, given: dict[str, Any], overrides: dict[str, Any]
) -> AudiobookPipeline | DatasetPipeline:
    """The pipeline as a job and then the command line change it.

    Raises:
        UsageError: naming the file where the wrong setting is.
    """
    load = load_dataset_pipeline if kind == "dataset" else load_pipeline
    try:
        return load(file, given | overrides)
    except UsageError:
        load(file, {})
        try:
            load(file, given)
        except UsageError as error:
            text = str(error).removeprefix(f"{file or 'settings'}: ")
            raise UsageError(f"{job}: {text}") from error
        raise


def _overrides(settings: JobSettings, kind: str, folder: Path, path: Path) -> dict[str, Any]:
    """What a job file changes in its pipeline, by dotted names."""
    found: dict[str, Any] = {}
    for name, value in settings.set.items():
        is_group = isinstance(value, dict) and name != "voices.voices"
        found |= (
            {f"{name}.{key}": each for key, each in value.items()} if is_group else {name: value}
        )
    if settings.executor is not None:
        values = asdict(settings.executor)
        given = read_yaml(path)["executor"]  # what it does not name stays as the pipeline has it
        found |= {f"executor.{key}": values[key] for key in given}
    if settings.voice and kind == "audiobook":
        found["voice"] = settings.voice
    voices = (settings.voice, *settings.voices) if settings.voice else settings.voices
    if voices and kind == "dataset":
        found["voices.voices"] = {_here(voice, folder): 1.0 for voice in voices}
    for name in _FILES:
        if isinstance(found.get(name), str):
            found[name] = _here(found[name], folder)
    return found


def _here(name: str, folder: Path) -> str:
    """A file beside the job file by its whole path; a name stays what it is."""
    path = folder / os.path.expanduser(name)
    return str(path) if path.is_file() or (os.sep in name and path.exists()) else name


def _check(settings: JobSettings, kind: str, path: Path) -> None:
    """Refuse what would be passed over silently.

    Raises:
        UsageError: naming it.
    """
    if not settings.inputs and not settings.inbox:
        raise UsageError(f"{path}: nothing to do: give `inputs` or `inbox`.")
    for_books = {"voices": settings.voices, "exports": settings.exports}
    for_sets = {
        "inbox": settings.inbox,
        "keep_watching": settings.keep_watching,
        "keep_speech": not settings.keep_speech,
    }
    for name, value in (for_books if kind == "audiobook" else for_sets).items():
        if value:
            other = "data sets" if kind == "audiobook" else "audiobooks"
            raise UsageError(f"{path}: `{name}` is for {other}, and this job makes none.")
    if not settings.output.strip():
        raise UsageError(f"{path}: `output` is empty.")
    if settings.keep_watching and not settings.inbox:
        raise UsageError(f"{path}: `keep_watching` needs an `inbox` to watch.")
    if kind == "audiobook":
        if "://" in settings.output:
            raise UsageError(f"{path}: `output` of audiobooks is a place on this machine, no URL.")
        check_pattern(settings.output, path)
    elif "{" in settings.output:
        raise UsageError(f"{path}: `output` of a data set is one folder or URL, without fields.")
