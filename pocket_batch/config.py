"""The settings of a run: YAML files, overrides, and the checked dataclasses made of them.

Nothing else in the package reads YAML. The classes are plain frozen dataclasses; pydantic checks
them when a file is read, so that importing this module stays cheap.
"""

import difflib
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from pocket_batch.data import Voice
from pocket_batch.errors import UsageError
from pocket_batch.ranges import ranges_of
from pocket_batch.settings import AudiobookPipeline, Casting, DatasetPipeline

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

# What the YAML reader lets through for dates, numbers and nesting that make no sense.
_BAD_SCALARS = (ValueError, TypeError, KeyError, OverflowError, RecursionError)


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
    raw = _read_yaml(file)
    for dotted, value in overrides.items():
        _override(raw, dotted, value)
    origin = str(named or "settings")
    settings = _checked(kind, raw, origin)
    _check_ranges(settings, origin, overrides)
    return settings


def parse_assignment(text: str) -> tuple[str, Any]:
    """`write.format=mp3` -> `("write.format", "mp3")`; the value is read as YAML.

    Raises:
        UsageError: there is no `=`.
    """
    import yaml

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set wants KEY=VALUE, such as write.format=mp3, not `{text:.60}`.")
    try:
        return key.strip(), yaml.safe_load(value)
    except (yaml.YAMLError, *_BAD_SCALARS) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"--set {key}: the value `{value:.60}` is not YAML ({reason}).") from error


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
                voice = _checked(Voice, _read_yaml(path), str(path))
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
    return _checked(kind, _read_yaml(path), str(path))


def load_casting(path: Path) -> Casting:
    """Read a cast file. `Alice: heart` is short for `Alice: {voice: heart}`.

    Raises:
        UsageError: as `read_settings`.
    """
    raw = _read_yaml(path)
    cast = raw.get("cast")
    if isinstance(cast, dict):
        raw["cast"] = {k: {"voice": v} if isinstance(v, str) else v for k, v in cast.items()}
    return _checked(Casting, raw, str(path))


@dataclass(frozen=True, slots=True)
class YamlNode:
    """A value of a YAML file as written: nothing is taken for a number, a date or a truth value.

    `line` counts from 1. `text`, `items` of a list or `pairs` of a map is set, or none of them.
    """

    line: int
    text: str | None = None
    items: "tuple[YamlNode, ...] | None" = None
    pairs: "tuple[tuple[YamlNode, YamlNode], ...] | None" = None


def read_words(path: Path) -> YamlNode:
    """Read a YAML file of words: `no`, `1984` and `12:30` stay what they are.

    Raises:
        UsageError: the file is missing or not YAML, or has aliases.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return _parsed(path, lambda text: _node(yaml.compose(text, Loader=loader), set()))


def _node(node: Any, seen: set[int]) -> YamlNode:
    if node is None:
        return YamlNode(1)
    if id(node) in seen:  # a file of ten lines could stand for a million words
        raise ValueError(f"line {node.start_mark.line + 1} has an alias (*name), not read here")
    seen.add(id(node))
    line = node.start_mark.line + 1
    if node.id == "mapping":
        return YamlNode(line, pairs=tuple((_node(k, seen), _node(v, seen)) for k, v in node.value))
    if node.id == "sequence":
        return YamlNode(line, items=tuple(_node(item, seen) for item in node.value))
    return YamlNode(line, text=node.value if node.value or node.style else None)


def _read_yaml(path: Path) -> dict[str, Any]:
    raw = _parsed(path, _with_keys_once)
    if not isinstance(raw, dict):
        raise UsageError(f"{path.name}: expected settings, one `key: value` a line, found none.")
    return raw


def _with_keys_once(text: str) -> Any:
    """What YAML says. Of equal keys it would silently take the last: they are an error."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node, known = super().compose_mapping_node(anchor), set()
            for key in (key for key, _ in node.value if key.id == "scalar"):
                if key.value in known:
                    raise ValueError(f"line {key.start_mark.line + 1} has `{key.value}` again")
                known.add(key.value)
            return node

    return yaml.load(text, Loader)


def _parsed(path: Path, parse: Callable[[str], T]) -> T:
    """What a parser of YAML makes of a file."""
    import yaml

    try:
        return parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from error
    except (yaml.YAMLError, *_BAD_SCALARS) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path}: not valid YAML ({reason}).") from error


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
