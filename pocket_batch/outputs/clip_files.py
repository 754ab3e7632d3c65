"""What the formats share: where clips lie in folders, and lists of them."""

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pocket_batch.rows import Clip, Value

SPLITS = ("train", "validation", "test")
MAX_FILES = 10_000  # in a folder: the limit of model hubs


def audio_name(number: int, clip: Clip) -> str:
    """`000/<id>.flac`: a thousand folders of ten thousand files each, `number` from 0."""
    return f"{number // MAX_FILES:03d}/{clip.id}.{clip.suffix}"


def write_clip(folder: Path, name: str, clip: Clip) -> None:
    """Write the audio of a clip below a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(clip.audio)


def common_values(clip: Clip) -> dict[str, Value]:
    """What every table says of a clip, then its own columns."""
    return {
        "id": clip.id,
        "text": clip.text,
        "normalized_text": clip.normalized_text,
        "speaker": clip.speaker,
        "language": clip.language,
        "duration": clip.duration_s,
        "sampling_rate": clip.sampling_rate_hz,
        **clip.columns,
    }


def json_line(values: dict[str, Any]) -> bytes:
    """One object on a line, the same bytes for the same values."""
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write lines, packed without a time if the name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, _packed(file, path) as out:
        for line in lines:
            out.write(line)


def _packed(file: BinaryIO, path: Path) -> Any:
    if path.suffix != ".gz":
        return file
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


def read_lines(path: Path, problems: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON Lines file, packed or not, each with its place."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                where = f"{path.name}:{number}"
                values = _object(line)
                if values is None:
                    problems.append(f"{where}: not a JSON object")
                else:
                    yield where, values
    except (OSError, EOFError) as error:
        problems.append(f"{path.name}: cannot be read to its end ({error})")


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def read_audio(path: Path) -> bytes | None:
    """A whole audio file; None when it is missing."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def orphans(folder: Path, listed: set[str], problems: list[str]) -> None:
    """Name audio files that no list has, with their paths below the folder."""
    kinds = (".wav", ".flac", ".opus", ".mp3", ".ogg")
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in kinds and path.relative_to(folder).as_posix() not in listed:
            problems.append(f"{path.relative_to(folder).as_posix()}: no list has this file")


def text_of(values: dict[str, Any], name: str) -> str | None:
    """A value that should be text; None when it is missing."""
    value = values.get(name)
    return value if value is None or isinstance(value, str) else str(value)
