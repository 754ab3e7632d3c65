"""A finished set becomes what a library loads: cheap, deterministic, as often as is wanted."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pocket_batch.audio.clip import Encoding
from pocket_batch.dataset_settings import ExportSettings, SplitSettings
from pocket_batch.errors import InputError, OutputError, UsageError, writing
from pocket_batch.jobs.dataset.card import write_card
from pocket_batch.jobs.dataset.clips import Census, ClipReader, facts_of
from pocket_batch.jobs.dataset.record import read_run
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.outputs.clip_files import SPLITS
from pocket_batch.outputs.exports import Format, SetFacts, load_format
from pocket_batch.rows import Clip
from pocket_batch.units.store import Store
from pocket_batch.words import duration, plural, size

RECORD = "export.json"
EXPORTS_FOLDER = "exports"


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written. `notes` are sentences about what the format does not hold."""

    folder: Path
    num_clips: dict[str, int]
    audio_s: float
    num_bytes: int
    notes: list[str] = field(default_factory=list)


def export_dataset(
    source: str,
    name: str,
    output: Path | None,
    settings: ExportSettings | None,
    reporter: Reporter,
    should_stop: Callable[[], bool] = lambda: False,
    with_augmented: bool = True,
    is_partial: bool = False,
) -> ExportResult:
    """Write a set in one format; the same set gives the same bytes.

    Args:
        source: the folder or URL of the set.
        name: a key of `EXPORTS`.
        output: a folder; None for `exports/<name>` in the set.
        settings: None for what is usual, with the splits of the set.
        reporter: shows how far it is.
        should_stop: ends it, with nothing written.
        with_augmented: variants of augmentations go in as well.
        is_partial: a set that is not finished gives what there is.

    Raises:
        InputError: it is no set, not finished, or has no clips.
        OutputError: the folder cannot be written, or is not an export of ours.
        UsageError: the format or the audio does not go with the settings.
    """
    store, file_format = Store(source), load_format(name)
    run = _run_of(store, source)
    settings = settings or ExportSettings(splits=splits_of(run))
    folder = _folder(store, name, output)
    _refuse_foreign(folder)
    reader = ClipReader(store, settings.splits, with_augmented, should_stop)
    census = reader.census()
    _refuse_incomplete(source, census, is_partial, run.get("statistics", {}).get("failures", {}))
    encoding = _encoding(file_format, settings, census)
    rate_hz = encoding.sampling_rate_hz or max(census.rates_hz)
    facts = facts_of(run, census, rate_hz)
    part = folder.with_name(f"{folder.name}.part")
    with writing(folder):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            notes = _write(part, file_format, settings, facts, reader, encoding, census, reporter)
            write_card(part, name, run, facts, census, settings)
            record = _record(part, name, settings, facts, census, with_augmented)
            _replace(part, folder)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    num_bytes = sum(found["num_bytes"] for found in record["files"].values())
    seconds = float(sum(census.seconds.values()))
    return ExportResult(folder, dict(census.num_clips), seconds, num_bytes, notes)


def read_clips(source: str) -> Iterator[Clip]:
    """The clips of a finished set, as FLAC, in its order.

    Raises:
        InputError: it is no set, or damaged.
    """
    store = Store(source)
    run = _run_of(store, source)
    reader = ClipReader(store, splits_of(run))
    census = reader.census()
    facts = facts_of(run, census, max(census.rates_hz, default=24_000))
    yield from reader.read(facts, Encoding())


def splits_of(run: dict[str, Any]) -> SplitSettings:
    """The shares of splits that a set was made with."""
    try:
        return SplitSettings(**run["settings"]["splits"])
    except (KeyError, TypeError):
        return SplitSettings()


def tell_export(reporter: Reporter, name: str, result: ExportResult) -> None:
    """What was written, and what the format cannot hold."""
    splits = ", ".join(f"{s} {result.num_clips[s]:,}" for s in SPLITS if s in result.num_clips)
    total = sum(result.num_clips.values())
    reporter.note(
        "exported",
        f"Wrote {result.folder} ({name}): {plural(total, 'clip')}, {duration(result.audio_s)}, "
        f"{size(result.num_bytes)}; {splits}.",
        path=str(result.folder),
        num_clips=result.num_clips,
        audio_s=round(result.audio_s, 3),
    )
    for note in result.notes:
        reporter.note("export_note", note, "warning")


def _run_of(store: Store, source: str) -> dict[str, Any]:
    run = read_run(store)
    if run.get("kind") != "dataset":
        raise InputError(
            f"{source} is not a data set of this program: it has no run.json of one. "
            "Make one with `pocket-batch dataset CORPUS -o DIR`."
        )
    return run


def _folder(store: Store, name: str, output: Path | None) -> Path:
    if output is not None:
        return Path(os.path.abspath(output))  # `.` has no name to put .part behind
    if store.folder is None:
        raise UsageError(f"{store.url} is remote: name a folder for the export with -o.")
    return store.folder / EXPORTS_FOLDER / name


def _refuse_foreign(folder: Path) -> None:
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RECORD).is_file():
        raise OutputError(
            f"{folder} is not an export of this program, and not empty. Name another one with -o."
        )
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file. Name a folder with -o.")


def _refuse_incomplete(
    source: str, census: Census, is_partial: bool, failures: dict[str, int]
) -> None:
    if census.num_missing and not is_partial:
        raise InputError(
            f"{source} is not finished: {plural(census.num_missing, 'utterance')} are missing. "
            "Run its `pocket-batch dataset` command again, or give --partial for what there is."
        )
    if not census.num_clips:
        top = max(failures, key=lambda reason: failures[reason], default="")
        told = f" Most rows came to nothing by {top} ({failures[top]:,})." if top else ""
        raise InputError(
            f"{source}: there are no clips in this set, so nothing was written.{told} "
            "Its rejects.jsonl and failures.jsonl tell why."
        )


def _encoding(file_format: Format, settings: ExportSettings, census: Census) -> Encoding:
    """How audio is written: as asked for, else as the format wants it, else as it is.

    Raises:
        UsageError: the format holds WAV files only.
    """
    kind = settings.audio
    if file_format.NEEDS_WAV:
        if kind == "opus":
            raise UsageError("This format holds WAV files: leave --audio out.")
        kind = "wav"
    rate_hz = settings.sampling_rate_hz or file_format.SAMPLING_RATE_HZ
    if rate_hz is None and len(census.rates_hz) > 1:
        rate_hz = max(census.rates_hz)  # one rate for all clips: readers take it for granted
    return Encoding(kind, rate_hz, settings.loudness_lufs)


def _write(
    part: Path,
    file_format: Format,
    settings: ExportSettings,
    facts: SetFacts,
    reader: ClipReader,
    encoding: Encoding,
    census: Census,
    reporter: Reporter,
) -> list[str]:
    """Feed the exporter one split after the other."""
    exporter = file_format.make_exporter(part, settings, facts)
    total = sum(census.num_clips.values())
    meter = Meter(reporter, "exporting", total, float(sum(census.seconds.values())))
    for split in SPLITS:
        for clip in reader.read(facts, encoding, split) if census.num_clips[split] else ():
            exporter.add(clip)
            meter.add(clip.duration_s)
    notes = exporter.close()
    meter.finish()
    rates = ", ".join(f"{rate:,}" for rate in sorted(census.rates_hz))
    if len(census.rates_hz) > 1 and settings.sampling_rate_hz is None:
        notes.append(
            f"The voices have different sampling rates ({rates} Hz): all clips are at "
            f"{encoding.sampling_rate_hz:,} Hz. --sampling-rate chooses another one."
        )
    return notes


def _record(
    part: Path,
    name: str,
    settings: ExportSettings,
    facts: SetFacts,
    census: Census,
    with_augmented: bool,
) -> dict[str, Any]:
    """Write `export.json`: what is here, with the hash of each file, and no times."""
    files = {}
    for path in sorted(p for p in part.rglob("*") if p.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found = {"num_bytes": path.stat().st_size, "sha256": digest}
        files[path.relative_to(part).as_posix()] = found
    record = {
        "kind": "export",
        "format": name,
        "name": facts.name,
        "language": facts.language,
        "licence": facts.licence,
        "speakers": [asdict(speaker) for speaker in facts.speakers],
        "num_clips": facts.num_clips,
        "audio_s": {split: round(s, 6) for split, s in sorted(census.seconds.items())},
        "settings": asdict(settings),
        "with_augmented": with_augmented,
        "version": version("pocket-batch"),
        "files": files,
    }
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    (part / RECORD).write_text(text, encoding="utf-8")
    return record


def _replace(part: Path, folder: Path) -> None:
    """Give a whole export its name, in place of an older one."""
    old = folder.with_name(f"{folder.name}.replaced.part")  # a name that no person gives
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    part.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
