"""Every export is loaded by the library it is for, and gives the same clips."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.errors import UsageError
from pocket_batch.jobs.dataset.export import export_dataset
from pocket_batch.jobs.dataset.loading import load_with
from pocket_batch.jobs.dataset.validate import validate_dataset
from pocket_batch.jobs.progress import Silent

MakeSet = Callable[..., Path]
# What looks like something else to a reader that guesses.
TEXTS = ("NA", "007", "2024-01-01", 'He said "hi, there".', "Ünïcode — ok…", "a|b")
LOADS = [
    ("datasets", "audiofolder"),
    ("datasets", "parquet"),
    ("datasets", "webdataset"),
    ("webdataset", "webdataset"),
    ("lhotse", "lhotse"),
    ("lhotse", "lhotse-shar"),
    ("lhotse", "ljspeech"),
    ("nemo", "nemo"),
    ("nemo", "nemo-tarred"),
]


@pytest.mark.parametrize(("library", "name"), LOADS)
def test_a_library_gives_texts_speakers_and_samples_as_they_are_in_the_set(
    finished_set: MakeSet, library: str, name: str
) -> None:
    """Case 2."""
    pytest.importorskip(library)
    source = finished_set(TEXTS, voices=("heart", "joe"))
    folder = export_dataset(str(source), name, None, None, Silent()).folder
    assert load_with(str(folder), library, None, Silent()) == []
    assert validate_dataset(str(folder), Silent()).problems == []


def test_a_difference_is_told_with_its_place(finished_set: MakeSet) -> None:
    pytest.importorskip("lhotse")
    source = finished_set()
    folder = export_dataset(str(source), "ljspeech", None, None, Silent()).folder
    wavs = sorted((folder / "wavs").glob("*.wav"))
    wavs[0].write_bytes(wavs[1].read_bytes()[:-200] + bytes(200))
    problems = load_with(str(folder), "lhotse", None, Silent())
    assert problems == []  # both read the same file; the hash tells
    assert any(wavs[0].name in line for line in validate_dataset(str(folder), Silent()).problems)


def test_a_library_is_asked_only_for_formats_that_it_reads(finished_set: MakeSet) -> None:
    source = finished_set()
    folder = export_dataset(str(source), "piper", None, None, Silent()).folder
    pytest.importorskip("lhotse")
    with pytest.raises(UsageError, match="does not read piper"):
        load_with(str(folder), "lhotse", None, Silent())


def test_a_library_that_is_missing_is_named_with_its_package(
    finished_set: MakeSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pocket_batch.jobs.dataset.loading.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"nemo_toolkit\[asr\]"):
        load_with(str(finished_set()), "nemo", None, Silent())
