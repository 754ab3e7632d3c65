"""What the results of a job are called: patterns such as `{author}/{title}.m4b`."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from pocket_batch.config import nearest
from pocket_batch.errors import UsageError
from pocket_batch.jobs.reading import Reading
from pocket_batch.settings import AudiobookPipeline, FileFormat, WriteSettings

MAX_NAME_BYTES = 180  # of one part of a path: 255 less what is added for work folders and parts
MIN_FIELD_BYTES = 16
_FIELD = re.compile(r"\{([^{}]*)\}")  # {title} -> title
# What file systems and shells do not take: "A/B: C?" -> "A B C"
_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|]+')
# Marks that turn the order of letters around, so that "m4b.exe" may look like "exe.b4m" -> nothing
_TURNS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
# Names that Windows, and so some network shares, do not take: "con" -> "con_"
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)

FIELDS: dict[str, Callable[[Path, Reading], str]] = {
    "stem": lambda source, reading: source.stem,
    "folder": lambda source, reading: source.parent.name,
    "title": lambda source, reading: reading.book.title,
    "author": lambda source, reading: ", ".join(reading.book.authors[:2]) or "Unknown",
    "series": lambda source, reading: reading.book.series or "No series",
    "series_part": lambda source, reading: reading.book.series_part or "0",
    "year": lambda source, reading: reading.book.date[:4] or "Undated",
    "language": lambda source, reading: reading.speaker.language,
    "voice": lambda source, reading: reading.speaker.voice.name,
}


def check_pattern(pattern: str, job: Path) -> None:
    """Refuse a pattern that gives all inputs one name, or has fields that nobody knows.

    Raises:
        UsageError: with what is known.
    """
    names = _FIELD.findall(pattern)
    for name in names:
        if name not in (*FIELDS, "format"):
            raise UsageError(f"{job}: `output` has no field `{name}`. {nearest(name, [*FIELDS])}")
    if not {"stem", "title"} & set(names):
        raise UsageError(
            f"{job}: `output` is {pattern}; it needs {{stem}} or {{title}}, so that each input has "
            "a file of its own, such as audiobooks/{stem}.m4b."
        )
    rest = _FIELD.sub("", pattern)
    if "{" in rest or "}" in rest:
        raise UsageError(f"{job}: `output` is {pattern}; a brace there belongs to no field.")


def check_suffix(pattern: str, write: WriteSettings, job: Path) -> None:
    """Refuse the name of a file for what is to be a folder.

    Raises:
        UsageError: with what to write instead.
    """
    suffix = _suffix(pattern)
    if write.split_chapters and suffix in get_args(FileFormat):
        raise UsageError(
            f"{job}: `output` is {pattern}, and `write.split_chapters` makes a folder of each "
            f"book. Leave .{suffix} away, and give `write.format: {suffix}`."
        )


def _suffix(pattern: str) -> str:
    """`{title}.M4A` -> `m4b`; empty where it has none of its own."""
    suffix = Path(_FIELD.sub("x", pattern)).suffix.lower().lstrip(".")
    return "m4b" if suffix == "m4a" else suffix


def literal_folder(output: str, kind: str) -> Path:
    """The folder that a pattern names before its first field, or the one that holds a data set."""
    if kind == "dataset":
        return Path(output).parent
    return Path(f"{output.partition('{')[0]}x").parent


def output_of(
    pattern: str, source: Path, reading: Reading, pipeline: AudiobookPipeline
) -> tuple[Path, AudiobookPipeline]:
    """Where the result of a book goes, and the pipeline with the format that its suffix asks for.

    Raises:
        UsageError: the suffix does not fit, or nothing is left of a name.
    """
    from dataclasses import replace

    suffix, write = _suffix(pattern), pipeline.write
    if suffix in get_args(FileFormat) and not write.split_chapters:
        write = replace(write, format=suffix)  # type: ignore[arg-type]

    values = {name: find(source, reading) for name, find in FIELDS.items()}
    values["format"] = write.format
    path = Path("/".join(_filled(part, values) for part in pattern.split("/")))
    if not write.split_chapters and suffix not in get_args(FileFormat):
        path = path.with_name(f"{path.name}.{write.format}") if suffix != "x" else path
    return path, replace(pipeline, write=write)


def _filled(part: str, values: dict[str, str]) -> str:
    """One part of a path with its fields filled in, all of them cut to the same size if need be."""
    limit = MAX_NAME_BYTES
    while True:
        name = _FIELD.sub(lambda match, limit=limit: fit(values[match[1]], limit), part)  # type: ignore[misc]
        if _num_bytes(name) <= MAX_NAME_BYTES + 8 or limit <= MIN_FIELD_BYTES:  # 8: of a suffix
            return name
        limit = limit * 3 // 4


def fit(text: str, max_bytes: int = MAX_NAME_BYTES) -> str:
    """A text as part of a file name: "A/B: C?" -> "A B C"."""
    text = " ".join(_UNFIT.sub(" ", _TURNS.sub("", text[: 4 * max_bytes])).split()).strip(". ")
    text = text[:max_bytes]
    while _num_bytes(text) > max_bytes:
        text = text[:-1]
    text = text.strip(". ")
    return f"{text}_" if _DEVICES.fullmatch(text) else text or "Untitled"


def _num_bytes(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))
