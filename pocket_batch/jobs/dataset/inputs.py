"""The files of a corpus, and what of them a run remembers."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pocket_batch.errors import InputError
from pocket_batch.sources.base import sha256_of_file
from pocket_batch.sources.corpus import expand_inputs

STDIN = Path("-")


@contextmanager
def opened_inputs(patterns: Sequence[str]) -> Iterator[tuple[list[Path], list[dict[str, object]]]]:
    """The files of some patterns, with path, hash and size of each for `run.json`.

    Standard input is copied to a file, as it is read more than once.

    Raises:
        UsageError: a pattern leads to nothing.
        InputError: a file cannot be read.
    """
    paths = expand_inputs(patterns)
    with TemporaryDirectory(prefix="pocket-batch-") as folder:
        files = [_spooled(Path(folder)) if path == STDIN else path for path in paths]
        found = [_described(path, file) for path, file in zip(paths, files, strict=True)]
        yield files, found


def _spooled(folder: Path) -> Path:
    """Standard input as a file; one that begins as JSON is taken for JSON Lines."""
    path = folder / "stdin.txt"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with path.open("rb") as file:
        is_json = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return path.rename(folder / "stdin.jsonl") if is_json else path


def _described(path: Path, file: Path) -> dict[str, object]:
    try:
        return {
            "path": str(path),
            "sha256": sha256_of_file(file),
            "num_bytes": file.stat().st_size,
        }
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from error
