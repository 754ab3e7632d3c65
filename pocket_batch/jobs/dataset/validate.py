"""Looks at every clip of a set or of an export again: what the libraries let through is told."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pocket_batch.errors import InputError, StoppedError
from pocket_batch.jobs.dataset.export import EXPORTS_FOLDER, RECORD
from pocket_batch.jobs.dataset.problems import ClipChecks, Findings
from pocket_batch.jobs.dataset.record import read_run
from pocket_batch.jobs.dataset.validate_set import check_set
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.outputs.exports import check_format, load_format
from pocket_batch.units.store import Store

CARD = "README.md"
_COUNTS = re.compile(r"^num_clips: (\{.*\})$", re.MULTILINE)  # as `card.py` writes it
# What tells a format: a file of it, looked for in this order.
_SIGNS = (
    ("nemo-tarred", "*/tarred_audio_manifest.json"),
    ("lhotse-shar", "*/cuts.*.jsonl.gz"),
    ("lhotse", "*recordings_*.jsonl.gz"),
    ("nemo", "*_manifest.json"),
    ("parquet", "data/*.parquet"),
    ("audiofolder", "*/metadata.parquet"),
    ("audiofolder", "*/metadata.csv"),
    ("audiofolder", "*/metadata.jsonl"),
    ("webdataset", "*.tar"),
    ("parquet", "*.parquet"),
)


@dataclass(slots=True)
class Report:
    """What was looked at and what is wrong, a line each."""

    problems: list[str] = field(default_factory=list)
    num_clips: int = 0
    seconds: float = 0.0
    speakers: set[str] = field(default_factory=set)
    looked_at: list[str] = field(default_factory=list)

    def add(self, findings: Findings, what: str, before: str = "") -> None:
        """Take over what was found in one place."""
        self.problems += [f"{before}{problem}" for problem in findings.problems]
        self.num_clips += findings.num_clips.total()
        self.seconds += findings.seconds
        self.speakers |= findings.speakers
        self.looked_at.append(what)


def validate_dataset(
    source: str,
    reporter: Reporter,
    should_stop: Callable[[], bool] = lambda: False,
    file_format: str | None = None,
) -> Report:
    """Look at a set of ours with all its exports, or at one export of anybody.

    Args:
        source: a folder; of a set of ours also a URL.
        reporter: shows how far it is.
        should_stop: ends it.
        file_format: of an export, if its files do not tell.

    Raises:
        InputError: it is neither a set nor an export that is known here.
        UsageError: there is no such format.
        StoppedError: `should_stop()` turned true.
    """
    store = Store(source)
    if store.folder is not None and not store.folder.is_dir():
        raise InputError(f"{source}: there is no such folder.")
    report = Report()
    meter = Meter(reporter, "validating", 0, 0.0, per_s=2.0)

    def tick(seconds: float) -> None:
        meter.add(seconds)
        if should_stop():
            raise StoppedError("Stopped. Nothing was changed.")

    if file_format is None and read_run(store).get("kind") == "dataset":
        report.add(check_set(store, tick), "units")
        exports = [] if store.folder is None else sorted((store.folder / EXPORTS_FOLDER).glob("*"))
        for folder in exports:
            if folder.is_dir() and folder.suffix != ".part":
                name = f"{EXPORTS_FOLDER}/{folder.name}"
                if not _record(folder):
                    report.problems.append(f"{name}/{RECORD}: missing or damaged")
                report.add(check_export(folder, None, tick), name, f"{name}/")
    elif store.folder is None:
        raise InputError(f"{source} is not a data set of this program: it has no run.json of one.")
    else:
        report.add(check_export(store.folder, file_format, tick), "export")
    meter.finish()
    return report


def check_export(folder: Path, name: str | None, tick: Callable[[float], None]) -> Findings:
    """Look at one export.

    Raises:
        InputError: its format cannot be told.
        UsageError: there is no such format.
    """
    record = _record(folder)
    name = name or format_of(folder)
    check_format(name)
    findings = Findings()
    if (folder / RECORD).exists() and not record:
        findings.problems.append(f"{RECORD}: damaged, so that nothing can be compared with it")
    _check_hashes(folder, record, findings.problems)
    problems: list[str] = []
    try:
        clips = load_format(name).read_back(folder, problems)
        ClipChecks(findings, tick).run(clips)
    except OSError as error:
        problems.append(f"{error.filename or folder}: cannot be read ({error.strerror})")
    findings.problems[:0] = problems
    _check_counts(folder, record, findings)
    if not findings.num_clips:
        findings.problems.append("there are no clips")
    if len(findings.rates_hz) > 1:
        rates = ", ".join(str(rate) for rate in sorted(findings.rates_hz))
        findings.problems.append(f"the clips have different sampling rates: {rates} Hz")
    return findings


def format_of(folder: Path) -> str:
    """The format of an export, by its record or by its files.

    Raises:
        InputError: it cannot be told.
    """
    return str(_record(folder).get("format") or _guessed(folder))


def _record(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get("kind") == "export" else {}


def _guessed(folder: Path) -> str:
    """The format of somebody else's files."""
    if (folder / "metadata.csv").is_file():
        with (folder / "metadata.csv").open(encoding="utf-8", errors="replace") as file:
            first = file.readline()
        is_file = first.partition("|")[0].lower().endswith(".wav")
        return "piper" if is_file else "ljspeech"
    for name, pattern in _SIGNS:
        if next(iter(folder.glob(pattern)), None) is not None:
            return name
    if next(iter(folder.glob("*/metadata.csv")), None) is not None:
        return "ljspeech"
    raise InputError(
        f"{folder} is neither a data set of this program nor an export that can be told by its "
        "files. Name its format with --format."
    )


def _check_hashes(folder: Path, record: dict[str, Any], problems: list[str]) -> None:
    """Every file as it was written, none missing, none new."""
    files = record.get("files")
    if not isinstance(files, dict):
        return
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{name}: the file is missing")
            continue
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != expected.get("sha256"):
            problems.append(f"{name}: the file is not as it was written (SHA-256 differs)")
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if name not in files and name != RECORD:
            problems.append(f"{name}: the file is not one of this export")


def _check_counts(folder: Path, record: dict[str, Any], findings: Findings) -> None:
    """Counts and licences of the record and of the card."""
    found = dict(findings.num_clips)
    promised = {"export.json": record.get("num_clips"), CARD: _card_counts(folder)}
    for where, counts in promised.items():
        if not isinstance(counts, dict):
            continue
        has_no_splits = "all" in found
        if (sum(counts.values()) if has_no_splits else counts) != (found.get("all") or found):
            findings.problems.append(f"{where}: it counts {counts}, and there are {found}")
    speakers = record.get("speakers")
    if isinstance(speakers, list):
        licences = {s.get("name"): s.get("licence") for s in speakers if isinstance(s, dict)}
        for name in sorted(findings.speakers):
            if not licences.get(name):
                findings.problems.append(f"export.json: no licence of the speaker `{name}`")


def _card_counts(folder: Path) -> dict[str, int] | None:
    try:
        match = _COUNTS.search((folder / CARD).read_text(encoding="utf-8"))
        counts = json.loads(match[1]) if match else None
    except (OSError, ValueError):
        return None
    return counts if isinstance(counts, dict) else None
