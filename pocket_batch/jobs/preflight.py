"""What would stop a run late is looked at early: output, encoder, space."""

import os
import shutil
from pathlib import Path

from pocket_batch.audio.ffmpeg import find_ffmpeg
from pocket_batch.errors import OutputError
from pocket_batch.jobs.plan import (
    READ_ALONG_BYTES_PER_S,
    WORK_BYTES_PER_S,
    AudiobookPlan,
    output_bytes_per_s,
)
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.words import size


def check_output(output: Path, work: Path, split_chapters: bool) -> None:
    """Make sure that the output and the work folder can be written, without writing.

    Raises:
        OutputError: they cannot.
    """
    if output.is_dir() != split_chapters and output.exists():
        kind = "a folder" if output.is_dir() else "a file"
        raise OutputError(f"{output} is {kind} already. Give another name with -o.")
    for path in (output, work):
        parent = _nearest_folder(path)
        if not os.access(parent, os.W_OK | os.X_OK):
            option = "--work" if path == work else "-o"
            raise OutputError(
                f"{path}: no permission to write in {parent}. Choose another place with {option}."
            )


def check_encoder(use_system: bool) -> None:
    """Make sure that there is an ffmpeg.

    Raises:
        OutputError: there is none; the message says how to get it.
    """
    find_ffmpeg(use_system)


def check_space(
    work: Path,
    output: Path,
    pipeline: AudiobookPipeline,
    plan: AudiobookPlan,
    missing_audio_s: float,
) -> None:
    """Make sure that the disks have room for what is still to be made.

    Of a book to read along with, the audio is in the work folder while its EPUB is made.

    Raises:
        OutputError: naming what is needed and what is free.
    """
    work_bytes = missing_audio_s * WORK_BYTES_PER_S
    if pipeline.write.read_along:
        work_bytes += plan.audio_s * READ_ALONG_BYTES_PER_S
    needs = {work: work_bytes, output: plan.audio_s * output_bytes_per_s(pipeline)}
    by_disk: dict[int, list[Path]] = {}
    for path in needs:
        by_disk.setdefault(_nearest_folder(path).stat().st_dev, []).append(path)
    for paths in by_disk.values():
        needed = sum(needs[path] for path in paths)
        free = shutil.disk_usage(_nearest_folder(paths[0])).free
        if free < needed:
            raise OutputError(
                f"{paths[0]}: the book needs about {size(needed)}, and {size(free)} are free. "
                "Make room, or choose another disk with --work and -o."
            )


def _nearest_folder(path: Path) -> Path:
    """The deepest folder above `path` that exists."""
    for parent in path.absolute().parents:
        if parent.is_dir():
            return parent
    return Path("/")
