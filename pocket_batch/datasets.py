"""Speech data sets from a program: make one, export it, check it, read it.

from pocket_batch import datasets

datasets.make("sentences.txt", "my-set", voices=["heart"])
datasets.export("my-set", "parquet")
for clip in datasets.read("my-set"):
    print(clip.id, clip.text, clip.duration_s)
"""

from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from pocket_batch.config import load_dataset_pipeline
from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.jobs.dataset.export import ExportResult, export_dataset, read_clips
from pocket_batch.jobs.dataset.job import DatasetJob
from pocket_batch.jobs.dataset.record import SetStatistics
from pocket_batch.jobs.dataset.run import run_dataset
from pocket_batch.jobs.dataset.validate import validate_dataset
from pocket_batch.jobs.progress import Reporter, Silent
from pocket_batch.outputs.exports import check_format
from pocket_batch.rows import Clip

Place = str | PathLike[str]


def make(
    corpus: Place | Sequence[Place],
    output: Place,
    *,
    voices: Sequence[str] = (),
    settings: dict[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> SetStatistics:
    """Make a data set, or go on with it; see `pocket-batch dataset --help`.

    Args:
        corpus: a file, a glob or a folder, or several.
        output: a folder, or a URL that fsspec knows.
        voices: names from `pocket-batch voices`; by default what suits the language.
        settings: others by their dotted names in `pipelines/dataset.yaml`, such as
            `{"corpus.text_column": "sentence", "seed": 1}`.
        reporter: shows how far it is; by default nothing is shown.

    Returns:
        What the set holds.

    Raises:
        PartialRunError: all was tried, and some texts could not be spoken.
        PocketBatchError: each kind says what is wrong and what to do.
    """
    inputs = [corpus] if isinstance(corpus, str | PathLike) else list(corpus)
    overrides = dict(settings or {})
    if voices:
        overrides["voices.voices"] = dict.fromkeys(voices, 1.0)
    job = DatasetJob(
        inputs=tuple(fspath(path) for path in inputs),
        output=fspath(output),
        pipeline=load_dataset_pipeline(None, overrides),
    )
    return run_dataset(job, reporter or Silent()).statistics


def export(
    source: Place,
    file_format: str,
    output: Place | None = None,
    *,
    settings: ExportSettings | None = None,
    reporter: Reporter | None = None,
) -> ExportResult:
    """Write a finished set in the format of a library.

    Args:
        source: the folder or URL of the set.
        file_format: a key of `pocket_batch.outputs.exports.EXPORTS`.
        output: a folder; by default `exports/<format>` in the set.
        settings: encoding, sampling rate, loudness, splits, size of shards.
        reporter: shows how far it is.

    Raises:
        UsageError: there is no such format.
        InputError: the set is not finished, or has nothing in it.
        OutputError: the folder cannot be written.
    """
    check_format(file_format)
    folder = Path(output) if output is not None else None
    return export_dataset(
        fspath(source), file_format, folder, settings, reporter or Silent(), lambda: False
    )


def validate(source: Place, *, reporter: Reporter | None = None) -> list[str]:
    """Look at every clip of a set, or of an export; returns a line for each problem found.

    Raises:
        InputError: it is neither.
    """
    return validate_dataset(fspath(source), reporter or Silent()).problems


def read(source: Place, *, splits: Sequence[str] = ()) -> Iterator[Clip]:
    """The clips of a set in its order, with text, speaker and FLAC file.

    Args:
        source: the folder or URL of the set.
        splits: only these of train, validation, test; by default all.

    Raises:
        InputError: it is no set, or damaged.
    """
    for clip in read_clips(fspath(source)):
        if not splits or clip.split in splits:
            yield clip
