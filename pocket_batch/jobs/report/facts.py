"""Everything a report tells of, read from a work folder that may be old, damaged or unfinished."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pocket_batch.data import Dropped, Failure, Segment, Suspect, Utterance
from pocket_batch.errors import InputError
from pocket_batch.jobs.report.measured import Measured, read_measured
from pocket_batch.manifest import Manifest
from pocket_batch.records import Checked, MasteredChapter, TimedLine
from pocket_batch.work_folder import WorkFolder

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an utterance is heard. `begin_s` is from the beginning of the book, None if unknown."""

    segment: Segment
    key: str
    begin_s: float | None
    duration_s: float


@dataclass(frozen=True, slots=True)
class Facts:
    """A run as its work folder tells it.

    `run`, `book` and `quality` are the JSON files as they are, empty without. `places` are all
    lines of the script in order, those that were not spoken too; `utterances` and `checked` are by
    key and hold what the script needs, the utterances in the order they were spoken. `damaged`
    names lines that could not be read.
    """

    work: WorkFolder
    run: Mapping[str, Any]
    book: Mapping[str, Any]
    quality: Mapping[str, Any]
    chapters: tuple[MasteredChapter, ...]
    places: tuple[Place, ...]
    utterances: Mapping[str, Utterance]
    checked: Mapping[str, Checked]
    suspects: tuple[Suspect, ...]
    failures: tuple[Failure, ...]
    dropped: tuple[Dropped, ...]
    measured: Measured
    damaged: tuple[str, ...] = ()
    places_of: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)

    @property
    def sampling_rate_hz(self) -> int:
        """That of the speech."""
        return next((u.sampling_rate_hz for u in self.utterances.values()), 24_000)

    @property
    def language(self) -> str:
        """A BCP 47 tag, empty when unknown."""
        return text_at(self.run, "language") or text_at(self.book, "language")


def read_facts(work: WorkFolder) -> Facts:
    """Read a work folder.

    Raises:
        InputError: it is none.
    """
    run = _json(work.file("run.json"))
    damaged: list[str] = []
    segments = _lines(work, "segments.jsonl", Segment, damaged)
    if not run and not segments:
        raise InputError(
            f"{work.path} is no work folder of a book. Give the BOOK.work folder beside a finished "
            "audiobook, or speak the book first."
        )
    utterances = {u.key: u for u in _lines(work, "utterances.jsonl", Utterance, damaged)}
    chapters = tuple(_lines(work, "chapters.jsonl", MasteredChapter, damaged))
    timeline = _lines(work, "timeline.jsonl", TimedLine, damaged)
    rate = next((u.sampling_rate_hz for u in utterances.values()), 24_000)
    failures = tuple(_lines(work, "failures.jsonl", Failure, damaged))
    spoken = {f.segment_id: f.key for f in failures}
    spoken |= {u.segment_id: u.key for u in utterances.values()}
    places = _places(segments, utterances, spoken, timeline, chapters, rate)
    places_of: dict[str, list[Place]] = {}
    for place in places:
        if place.key:
            places_of.setdefault(place.key, []).append(place)
    checked = _lines(work, "scores.jsonl", Checked, damaged)
    return Facts(
        work=work,
        run=run,
        book=_json(work.file("book.json")),
        quality=_json(work.file("quality.json")),
        chapters=chapters,
        places=tuple(places),
        utterances={key: u for key, u in utterances.items() if key in places_of},
        checked={c.key: c for c in checked if c.key in places_of},
        suspects=tuple(_lines(work, "checks.jsonl", Suspect, damaged)),
        failures=failures,
        dropped=tuple(_lines(work, "dropped.jsonl", Dropped, damaged)),
        measured=read_measured(work),
        damaged=tuple(damaged),
        places_of={key: tuple(found) for key, found in places_of.items()},
    )


def at(content: object, *path: str) -> Any:
    """The value at a path of keys, None where there is none."""
    for name in path:
        if not isinstance(content, Mapping):
            return None
        content = content.get(name)
    return content


def text_at(content: object, *path: str) -> str:
    """The text at a path of keys; a number as text; empty where there is nothing."""
    value = at(content, *path)
    return str(value) if isinstance(value, str | int | float) else ""


def number_at(content: object, *path: str) -> float:
    """The number at a path of keys; 0 where there is none."""
    value = at(content, *path)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else 0.0


def _places(
    segments: list[Segment],
    utterances: Mapping[str, Utterance],
    keys: Mapping[str, str],
    timeline: list[TimedLine],
    chapters: tuple[MasteredChapter, ...],
    rate: int,
) -> list[Place]:
    """Every line of the script with its time, as far as it is known.

    `keys` are by segment, for lines that have no time.
    """
    begins, at_sample = {}, 0
    for chapter in chapters:
        begins[chapter.number] = at_sample
        at_sample += chapter.num_samples
    lines = {line.segment_id: line for line in timeline}
    found = []
    for segment in segments:
        line = lines.get(segment.id)
        if line is None or line.chapter not in begins:
            key = line.key if line else keys.get(segment.id, "")
            samples = utterances[key].num_samples if key in utterances else 0
            found.append(Place(segment, key, None, samples / rate))
            continue
        begin_s = (begins[line.chapter] + line.begin) / rate
        found.append(Place(segment, line.key, begin_s, (line.end - line.begin) / rate))
    return found


def _lines(work: WorkFolder, name: str, kind: type[T], damaged: list[str]) -> list[T]:
    return list(Manifest(work.file(name), kind).read(damaged))


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
