"""`run.json`: what made a result, and whether a result is already there."""

import json
import os
import platform
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pocket_batch.config import as_dict
from pocket_batch.data import Choices
from pocket_batch.engine.base import Engine
from pocket_batch.errors import OutputError, writing
from pocket_batch.jobs.voice import Speaker
from pocket_batch.manifest import write_atomic
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.sources.base import sha256_of_file
from pocket_batch.work_folder import WorkFolder

_PACKAGES = (
    "pocket-batch", "faster-whisper", "hibari-tts", "huggingface-hub", "imageio-ffmpeg", "lxml",
    "mutagen", "num2words", "numpy", "onnxruntime", "piper-tts", "pyarrow", "pyloudnorm", "pydub",
    "ray", "safetensors", "scipy", "sentencepiece", "sentencex", "soundfile", "soxr", "tokenizers",
    "torch",
)  # fmt: skip

COVER_FILE = "cover"
WRITING = "writing"  # the status of a result that may exist, unfinished


@dataclass(slots=True)
class RunRecord:
    """The content of `run.json` while a run goes on. Times are seconds."""

    fingerprint: str
    source: Path
    source_sha256: str
    pipeline: AudiobookPipeline
    speaker: Speaker
    command: list[str]
    target: Path
    choices: Choices = field(default_factory=Choices)
    status: str = "running"
    started_at: str = field(default_factory=lambda: _now())
    times_s: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    extras: list[dict[str, Any]] = field(default_factory=list)  # subtitles and the like
    executor: str = ""
    is_writing: bool = False  # the output may exist, unfinished
    problem: str = ""  # what a finished output lacks
    result: str = ""  # the status of a finished output, whatever comes after it
    earlier: dict[str, Any] = field(default_factory=dict)  # results of other runs, see `_results`

    def write(self, work: WorkFolder) -> None:
        """Write `run.json` as it stands."""
        content = {
            "status": self.status,
            "fingerprint": self.fingerprint,
            "command": shlex.join(self.command),
            "folder": os.getcwd(),
            "target": str(self.target.resolve()),
            "source": {"path": os.path.abspath(self.source), "sha256": self.source_sha256},
            "choices": _choices(self.choices),
            "language": self.speaker.language,
            "voice": as_dict(self.speaker.voice),
            "cast": {name: as_dict(voice) for name, voice in self.speaker.cast.items()},
            "engine": _engine(self.speaker.engine),
            "executor": self.executor,
            "seed": self.pipeline.seed,
            "settings": as_dict(self.pipeline),
            "versions": package_versions(),
            "started_at": self.started_at,
            "finished_at": "" if self.status == "running" else _now(),
            "times_s": {name: round(seconds, 2) for name, seconds in self.times_s.items()},
            "counts": self.counts,
            "outputs": [*self.outputs, *(e for e in self.extras if e.get("sha256"))],
            "results": self._results(),
        }
        text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        write_atomic(work.file("run.json"), text.encode("utf-8", "backslashreplace"))

    def _results(self) -> dict[str, Any]:
        """Finished files by fingerprint, so that making an MP3 does not forget the M4B."""
        results = dict(self.earlier)
        if self.outputs or self.is_writing:
            results[self.fingerprint] = {
                "status": (self.result or self.status) if self.outputs else WRITING,
                "target": str(self.target.resolve()),
                "problem": self.problem,
                "outputs": self.outputs,
                "extras": self.extras,
            }
        return results


def describe_outputs(files: list[WrittenFile]) -> list[dict[str, Any]]:
    """Path, size, hash and length of finished files, for `run.json`."""
    return [
        {
            "path": str(file.path.resolve()),
            "num_bytes": file.path.stat().st_size,
            "sha256": sha256_of_file(file.path),
            "audio_s": round(file.duration_s, 3),
        }
        for file in files
    ]


def earlier_result(
    work: WorkFolder, output: Path, wanted: str, overwrite: bool, replaces_own: bool = False
) -> dict[str, Any] | None:
    """What an earlier run made at `output` with these settings, or None when there is nothing.

    Args:
        wanted: the fingerprint of this run.
        overwrite: whatever is there may be replaced.
        replaces_own: what this work folder made, and nobody changed since, may be replaced; also
            when the record of it is torn.

    Returns:
        Its entry in `results`: `status` is `done`, or `partial` when some segments failed.

    Raises:
        OutputError: something else is there, and `overwrite` is not set.
    """
    results = earlier_results(work)
    result = results.get(wanted)
    with writing(output):
        if result and _unchanged(result["outputs"], output):
            return dict(result)
        if result and result["status"] == WRITING and result["target"] == str(output.resolve()):
            return None  # a run that was stopped in the middle of these files: they are ours
        if replaces_own and any(_unchanged(r["outputs"], output) for r in results.values()):
            return None
        if replaces_own and lost_its_record(output, work):
            return None
        if output.exists() and not overwrite:
            raise OutputError(
                f"{output} exists, and is not what this command would make (another book, voice "
                "or setting). Give --overwrite to replace it, or another name with -o."
            )
    return None


def lost_its_record(output: Path, work: WorkFolder) -> bool:
    """Whether a record that a loss of power left torn is all that is missing of an output: it was
    written after it, and nobody changed the output since."""
    record = work.file("run.json")
    if not record.is_file() or _read(record) is not None or not output.exists():
        return False
    files = [path for path in output.rglob("*") if path.is_file()] if output.is_dir() else [output]
    return all(path.stat().st_mtime <= record.stat().st_mtime for path in files)


def _read(record: Path) -> dict[str, Any] | None:
    """The content of `run.json`, None when it is not JSON of this kind."""
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _unchanged(outputs: list[dict[str, Any]], target: Path) -> bool:
    """All recorded files are there as they were written, and belong to `target`."""
    paths = [Path(str(output.get("path"))) for output in outputs]
    mine = [p for p in paths if p == target.resolve() or target.resolve() in p.parents]
    return bool(mine) and all(is_as_written(Path(str(o.get("path"))), o) for o in outputs)


def is_as_written(path: Path, output: Mapping[str, Any]) -> bool:
    """Whether a file is there as an entry of `run.json` describes it."""
    return (
        path.is_file()
        and path.stat().st_size == output.get("num_bytes")
        and sha256_of_file(path) == output.get("sha256")
    )


def earlier_results(work: WorkFolder) -> dict[str, Any]:
    """The results that earlier runs recorded in this work folder, by fingerprint."""
    try:
        record = json.loads(work.file("run.json").read_text(encoding="utf-8"))
        return {key: result for key, result in record["results"].items() if _is_result(result)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def earlier_source(work: WorkFolder) -> Path | None:
    """The file whose speech is in a work folder; None when it is not known for sure."""
    try:
        record = json.loads(work.file("run.json").read_text(encoding="utf-8"))
        path = Path(record["source"]["path"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return path if path.is_absolute() else None


def _is_result(value: object) -> bool:
    """Whether a value of `results` has the form that `RunRecord` gives it."""
    return (
        isinstance(value, dict)
        and {"status", "target", "problem", "outputs"} <= set(value)
        and isinstance(value["outputs"], list)
        and all(isinstance(output, dict) for output in value["outputs"])
    )


def save_cover(work: WorkFolder, choices: Choices) -> None:
    """Keep the cover that the user gave, for when the book is made again from its work folder."""
    if choices.cover is not None:
        write_atomic(work.file(COVER_FILE), choices.cover.data)


def _choices(choices: Choices) -> dict[str, Any]:
    """What the user said about the book; of a cover, its kind; see `save_cover`."""
    return {
        "chapters": sorted(choices.chapters),
        "language": choices.language,
        "title": choices.title,
        "authors": list(choices.authors),
        "cover_type": choices.cover.media_type if choices.cover else "",
    }


def _engine(engine: Engine) -> dict[str, Any]:
    """What the sound depends on, and the name of the model for people to read."""
    names = {"name": engine.name, "version": engine.version, "model": engine.spec.model}
    return names | {"identity": engine.identity()}


def package_versions() -> dict[str, str]:
    """Of this program, of what it depends on, and of the system."""
    found = {"python": platform.python_version(), "system": platform.platform()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
