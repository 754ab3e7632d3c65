"""The settings of a run: YAML files, overrides, and the checked dataclasses made of them.

The classes are plain frozen dataclasses; pydantic checks them when a file is read, so that
importing this module stays cheap.
"""

import difflib
import os
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from pocket_batch.data import Voice
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.errors import UsageError
from pocket_batch.job_settings import JobSettings
from pocket_batch.ranges import ranges_of
from pocket_batch.settings import AudiobookPipeline, Casting
from pocket_batch.yaml_files import read_yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_OPTIONS = {  # what people type for a setting
    "sampling.temperature": "--temperature",
    "master.target_lufs": "--target-lufs",
    "executor.workers": "--workers",
    "executor.cores_per_worker": "--cores-per-worker",
}

_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")  # keys, as pydantic calls it
T = TypeVar("T")
P = TypeVar("P", AudiobookPipeline, DatasetPipeline)

SCHEMAS: dict[str, type[Any]] = {
    "job": JobSettings,
    "audiobook": AudiobookPipeline,
    "dataset": DatasetPipeline,
}


def load_pipeline(path: Path | None, overrides: dict[str, Any]) -> AudiobookPipeline:
    """Read a pipeline file, or the shipped `audiobook.yaml`, and apply overrides.

    Args:
        path: the file, or None for the shipped one.
        overrides: dotted key -> value, such as `{"write.format": "mp3"}`.

    Raises:
        UsageError: the file is missing or not YAML, a key is unknown or a value does not fit.
    """
    return _load(
        AudiobookPipeline, path or shipped("pipelines") / "audiobook.yaml", path, overrides
    )


def load_dataset_pipeline(path: Path | None, overrides: dict[str, Any]) -> DatasetPipeline:
    """Likewise for data sets; the shipped file is `dataset.yaml`.

    Raises:
        UsageError: as `load_pipeline`.
    """
    return _load(DatasetPipeline, path or shipped("pipelines") / "dataset.yaml", path, overrides)


def _load(kind: type[P], file: Path, named: Path | None, overrides: dict[str, Any]) -> P:
    raw = read_yaml(file)
    for dotted, value in overrides.items():
        _override(raw, dotted, value)
    origin = str(named or "settings")
    settings = _checked(kind, raw, origin)
    _check_ranges(settings, origin, overrides)
    return settings


def load_voices(extra_folder: Path | None = None) -> tuple[dict[str, Voice], list[str]]:
    """All voices by name: the shipped ones, then those of the user's folder, which win.

    Returns:
        The voices, and a sentence about each file that is not valid: it hurts only who asks for it.
    """
    voices: dict[str, Voice] = {}
    problems: list[str] = []
    for folder in (shipped("voices"), extra_folder or user_folder() / "voices"):
        for path in sorted(folder.glob("*.yaml")) if os.access(folder, os.R_OK | os.X_OK) else ():
            try:
                voice = _checked(Voice, read_yaml(path), str(path))
                voices[voice.name] = voice
            except UsageError as error:
                problems.append(str(error))
    return voices, problems


def user_folder() -> Path:
    """`pocket-batch` in the user's configuration folder (XDG_CONFIG_HOME, else ~/.config)."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path(os.path.expanduser("~/.config"))) / "pocket-batch"


def cache_folder() -> Path:
    """`pocket-batch` in the user's cache folder (XDG_CACHE_HOME, else ~/.cache)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(os.path.expanduser("~/.cache"))) / "pocket-batch"


def shipped(kind: str) -> Path:
    """The folder of shipped data files (`pipelines` or `voices`), installed or in a checkout."""
    package = Path(__file__).parent
    installed = package / "_shipped" / kind
    return installed if installed.is_dir() else package.parent / kind


def as_dict(settings: object) -> dict[str, Any]:
    """Settings as plain types, for `run.json`."""
    return asdict(settings)  # type: ignore[call-overload, no-any-return]


def nearest(word: str, known: list[str]) -> str:
    """A sentence that names the nearest known word, or all of them when none is near."""
    match = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean `{match[0]}`?" if match else f"Known here: {', '.join(sorted(known))}."


def read_settings(path: Path, kind: type[T]) -> T:
    """Read a YAML file into a dataclass, strictly.

    Raises:
        UsageError: the file is missing or not YAML, a key is unknown or a value does not fit.
    """
    return _checked(kind, read_yaml(path), str(path))


def load_job(path: Path) -> JobSettings:
    """Read a job file.

    Raises:
        UsageError: as `read_settings`, or a value makes no sense.
    """
    job = read_settings(path, JobSettings)
    hours, health = job.max_hours, job.health
    positive = {
        "max_hours": 1.0 if hours is None else hours,
        "health.warn_growth_mb_per_h": health.warn_growth_mb_per_h,
        "health.recycle_growth_mb_per_h": health.recycle_growth_mb_per_h,
        "health.silent_s": health.silent_s,
    }
    for name, value in positive.items():
        if not value > 0:
            raise UsageError(f"{path}: `{name}` is {value}; it must be more than 0.")
    return job


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of YAML file, a key of `SCHEMAS`, for editors."""
    from pydantic import ConfigDict, TypeAdapter

    found: Any = _forbid_extra(SCHEMAS[kind], ConfigDict(extra="forbid"))
    schema = TypeAdapter(found).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def load_casting(path: Path) -> Casting:
    """Read a cast file. `Alice: heart` is short for `Alice: {voice: heart}`.

    Raises:
        UsageError: as `read_settings`.
    """
    raw = read_yaml(path)
    cast = raw.get("cast")
    if isinstance(cast, dict):
        raw["cast"] = {k: {"voice": v} if isinstance(v, str) else v for k, v in cast.items()}
    return _checked(Casting, raw, str(path))


def _override(raw: dict[str, Any], dotted: str, value: Any) -> None:
    """Set one dotted key in nested dictionaries, making the inner ones as needed."""
    *parents, last = dotted.split(".")
    for name in parents:
        inner = raw.setdefault(name, {})
        if not isinstance(inner, dict):
            raise UsageError(f"`{dotted}` is not a setting: `{name}` holds a value, not settings.")
        raw = inner
    raw[last] = value


def _checked(kind: type[T], raw: dict[str, Any], origin: str) -> T:
    """Build a dataclass from plain values, strictly: an unknown key is an error."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    adapter = TypeAdapter(_forbid_extra(kind, ConfigDict(extra="forbid")))
    try:
        return adapter.validate_python(raw)
    except RecursionError as error:
        raise UsageError(f"{origin}: its values are nested too deeply.") from error
    except ValidationError as error:
        # a key that is unknown says more than the one that is missing for it
        errors = sorted(error.errors(), key=lambda found: found["type"] not in _UNKNOWN)
        raise UsageError(_sentence(errors[0], kind, origin)) from error


def _forbid_extra(kind: type[T], config: Any) -> type[T]:
    """Mark a dataclass and all dataclasses inside it to refuse unknown keys."""
    kind.__pydantic_config__ = config  # type: ignore[attr-defined]
    for hint in get_type_hints(kind).values():
        for inner in filter(is_dataclass, (hint, *get_args(hint))):
            _forbid_extra(inner, config)  # type: ignore[arg-type]
    return kind


def _sentence(error: "ErrorDetails", kind: type, origin: str) -> str:
    location = [str(part) for part in error["loc"]]
    dotted = ".".join(location)
    if error["type"] in _UNKNOWN:
        known = [f.name for f in fields(_inner(kind, location[:-1]))]
        return f"{origin}: `{dotted}` is not a setting. {nearest(location[-1], known)}"
    if error["type"] == "missing":
        return f"{origin}: `{dotted}` is missing."
    found = f"{error.get('input')!r:.60}"
    if error["type"] == "tuple_type":
        return f"{origin}: `{dotted}` is {found}, and should be a list, such as [{found}]."
    is_truth = isinstance(error.get("input"), bool)
    hint = " In YAML, `no`, `off` and `yes` are truth values: quote them." * is_truth
    return f"{origin}: `{dotted}` is {found}. {error['msg']}.{hint}"


def _inner(kind: type, path: list[str]) -> Any:
    """The dataclass that holds the key at `path`, passing over places in lists and tables."""
    for name in path:
        hint = get_type_hints(kind).get(name)
        kind = next(filter(is_dataclass, (hint, *get_args(hint))), kind)  # type: ignore[assignment]
    return kind


def _check_ranges(
    settings: AudiobookPipeline | DatasetPipeline, origin: str, overrides: dict[str, Any]
) -> None:
    """Refuse values that would give nonsense, each with the range that makes sense."""
    for name, value, low, high in ranges_of(settings):
        if value is not None and not low <= value <= high:
            where = (name in overrides and _OPTIONS.get(name)) or f"{origin}: `{name}`"
            raise UsageError(f"{where} is {value}; it must be from {low} to {high}.")
