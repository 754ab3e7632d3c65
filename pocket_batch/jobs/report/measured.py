"""What a run measured and no manifest keeps: loudness over time, and the levels of its files."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pocket_batch.audio.loudness import OFFSET_LUFS, SUB_BLOCKS_PER_S, Powers
from pocket_batch.manifest import write_atomic
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.stages.master import Mastered
from pocket_batch.work_folder import WorkFolder

MEASURED_FILE = "measured.json"
STEP_S = 3  # short-term loudness: EBU Tech 3341
QUIETEST_LUFS = -70.0  # of what is shown; pauses are digital silence


@dataclass(frozen=True, slots=True)
class FileLevels:
    """A finished file, as measured on the samples given to its encoder.

    `chapters` are the numbers of those in it; `gain_db` is what brought them to their level.
    """

    name: str
    duration_s: float
    num_bytes: int
    lufs: float
    rms_db: float
    true_peak_dbtp: float
    gain_db: float
    chapters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """`curves` are LUFS of each `STEP_S` of a chapter before gain, by its number."""

    files: tuple[FileLevels, ...]
    curves: dict[int, tuple[float, ...]]

    def gain_db(self, chapter: int) -> float | None:
        """The gain of the file that holds a chapter; None when it is not known."""
        return next((f.gain_db for f in self.files if chapter in f.chapters), None)


def save_measured(
    work: WorkFolder, mastered: Sequence[Mastered], files: Sequence[WrittenFile]
) -> None:
    """Write `measured.json`, for reports that are made later.

    Raises:
        OutputError: it cannot be written.
    """
    numbers = [m.chapter.number for m in mastered]
    is_split = len(files) == len(mastered) and len(files) > 1
    held = [(number,) for number in numbers] if is_split else [tuple(numbers)] * len(files)
    levels = [_levels(f, c, mastered) for f, c in zip(files, held, strict=True)]
    curves = {m.chapter.number: short_term(m.measurement.block_powers) for m in mastered}
    content = {"files": [asdict(f) for f in levels], "step_s": STEP_S, "curves": curves}
    write_atomic(work.file(MEASURED_FILE), json.dumps(content).encode("utf-8", "backslashreplace"))


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


def _levels(
    file: WrittenFile, chapters: tuple[int, ...], mastered: Sequence[Mastered]
) -> FileLevels:
    held = [m.chapter for m in mastered if m.chapter.number in chapters]
    num_samples = sum(c.num_samples for c in held)
    power = sum(c.num_samples * 10 ** (c.rms_db / 10) for c in held) / max(1, num_samples)
    is_audible = power > 0 and math.isfinite(file.rms_db)
    return FileLevels(
        name=file.path.name,
        duration_s=file.duration_s,
        num_bytes=file.num_bytes,
        lufs=file.lufs,
        rms_db=file.rms_db,
        true_peak_dbtp=file.true_peak_dbtp,
        gain_db=file.rms_db - 10 * math.log10(power) if is_audible else 0.0,
        chapters=chapters,
    )


def _file(values: dict[str, Any]) -> FileLevels:
    numbers = ("duration_s", "lufs", "rms_db", "true_peak_dbtp", "gain_db")
    return FileLevels(
        name=str(values["name"]),
        num_bytes=int(values["num_bytes"]),
        chapters=tuple(int(number) for number in values["chapters"]),
        **{name: float(values[name]) for name in numbers},
    )
