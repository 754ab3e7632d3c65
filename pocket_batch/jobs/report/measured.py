"""What a run measured and no manifest keeps: loudness over time, and the levels of its files."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pocket_batch.audio.acx import AcxLevels
from pocket_batch.audio.loudness import OFFSET_LUFS, SUB_BLOCKS_PER_S, Powers
from pocket_batch.manifest import write_atomic
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.records import MasteredChapter
from pocket_batch.stages.master import Mastered
from pocket_batch.work_folder import WorkFolder

MEASURED_FILE = "measured.json"
STEP_S = 3  # short-term loudness: EBU Tech 3341
QUIETEST_LUFS = -70.0  # of what is shown; pauses are digital silence


@dataclass(frozen=True, slots=True)
class FileLevels:
    """A finished file, as measured on the samples given to its encoder.

    `chapters` are the numbers of those in it; `gain_db` is what brought them to their level. The
    noise floor (below `quiet.FAINTEST_DB` for digital silence) and the seconds of silence at both
    ends come from the chapters, None where an older version measured them.
    """

    name: str
    duration_s: float
    num_bytes: int
    lufs: float
    rms_db: float
    true_peak_dbtp: float
    gain_db: float
    chapters: tuple[int, ...]
    noise_floor_db: float | None = None
    head_s: float | None = None
    tail_s: float | None = None

    @property
    def acx(self) -> AcxLevels:
        """What ACX judges a file by."""
        return AcxLevels(
            self.rms_db,
            self.true_peak_dbtp,
            self.noise_floor_db,
            self.head_s,
            self.tail_s,
            self.duration_s,
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """`curves` are LUFS of each `STEP_S` of a chapter before gain, by its number."""

    files: tuple[FileLevels, ...]
    curves: dict[int, tuple[float, ...]]

    def gain_db(self, chapter: int) -> float | None:
        """The gain of the file that holds a chapter; None when it is not known."""
        return next((f.gain_db for f in self.files if chapter in f.chapters), None)

    def file_of(self, chapter: int) -> FileLevels | None:
        """The file that is this chapter and nothing else; None where there is none."""
        return next((f for f in self.files if f.chapters == (chapter,)), None)


def save_measured(
    work: WorkFolder, mastered: Sequence[Mastered], files: Sequence[WrittenFile]
) -> None:
    """Write `measured.json`, for reports that are made later.

    Raises:
        OutputError: it cannot be written.
    """
    levels = file_levels(mastered, files)
    curves = {m.chapter.number: short_term(m.measurement.block_powers) for m in mastered}
    content = {"files": [asdict(f) for f in levels], "step_s": STEP_S, "curves": curves}
    write_atomic(work.file(MEASURED_FILE), json.dumps(content).encode("utf-8", "backslashreplace"))


def file_levels(
    mastered: Sequence[Mastered], files: Sequence[WrittenFile]
) -> tuple[FileLevels, ...]:
    """The levels of finished files, in their order, from their chapters in order."""
    chapters = [m.chapter for m in mastered]
    is_split = len(files) == len(chapters) and len(files) > 1
    held = [[chapter] for chapter in chapters] if is_split else [chapters] * len(files)
    return tuple(_levels(file, own) for file, own in zip(files, held, strict=True))


def read_measured(work: WorkFolder) -> Measured:
    """What `measured.json` says; nothing where there is none, or one of another form."""
    try:
        content = json.loads(work.file(MEASURED_FILE).read_text(encoding="utf-8"))
        files = tuple(_file(values) for values in content["files"])
        curves = {
            int(number): tuple(float(lufs) for lufs in values)
            for number, values in content["curves"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Measured((), {})
    return Measured(files, curves)


def short_term(powers: Powers) -> tuple[float, ...]:
    """Short-term loudness of what is heard in each `STEP_S`, LUFS; `QUIETEST_LUFS` for a pause.

    A step of which more than half is silence is a pause.

    Args:
        powers: K-weighted power of overlapping blocks, ten a second.

    Source: EBU Tech 3341, section 2.2.
    """
    if not len(powers):
        return ()
    size = STEP_S * SUB_BLOCKS_PER_S
    starts = np.arange(0, len(powers), size)
    lowest = 10 ** ((QUIETEST_LUFS - OFFSET_LUFS) / 10)
    is_loud = powers > lowest
    sums = np.add.reduceat(np.where(is_loud, powers, 0.0).astype(np.float64), starts)
    counts = np.add.reduceat(is_loud.astype(np.int64), starts)
    is_pause = counts * 2 < np.minimum(size, len(powers) - starts)
    means = np.where(is_pause, lowest, sums / np.maximum(counts, 1))
    lufs = OFFSET_LUFS + 10 * np.log10(np.maximum(means, lowest))
    return tuple(round(float(value), 1) for value in lufs)


def _levels(file: WrittenFile, chapters: Sequence[MasteredChapter]) -> FileLevels:
    num_samples = sum(c.num_samples for c in chapters)
    power = sum(c.num_samples * 10 ** (c.rms_db / 10) for c in chapters) / max(1, num_samples)
    is_audible = power > 0 and math.isfinite(file.rms_db)
    gain_db = file.rms_db - 10 * math.log10(power) if is_audible else 0.0
    floors = [c.noise_floor_db for c in chapters if c.noise_floor_db is not None]
    return FileLevels(
        name=file.path.name,
        duration_s=file.duration_s,
        num_bytes=file.num_bytes,
        lufs=file.lufs,
        rms_db=file.rms_db,
        true_peak_dbtp=file.true_peak_dbtp,
        gain_db=gain_db,
        chapters=tuple(c.number for c in chapters),
        noise_floor_db=min(floors) + gain_db if floors else None,
        head_s=chapters[0].head_s if chapters else None,
        tail_s=chapters[-1].tail_s if chapters else None,
    )


def _file(values: dict[str, Any]) -> FileLevels:
    numbers = ("duration_s", "lufs", "rms_db", "true_peak_dbtp", "gain_db")
    later = ("noise_floor_db", "head_s", "tail_s")
    return FileLevels(
        name=str(values["name"]),
        num_bytes=int(values["num_bytes"]),
        chapters=tuple(int(number) for number in values["chapters"]),
        **{name: float(values[name]) for name in numbers},
        **{name: float(values[name]) for name in later if values.get(name) is not None},
    )
