"""Every export is loaded by the library it is for, and gives the same clips."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pocket_batch.errors import UsageError
from pocket_batch.jobs.dataset import loading
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


def test_a_difference_is_told_with_its_place(
    finished_set: MakeSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lhotse")
    source = finished_set(("One of them.", "Two of them.", "Three of them."))
    folder = export_dataset(str(source), "lhotse", None, None, Silent()).folder
    good = loading._LOADERS["lhotse"]

    def wrong(folder: Path) -> Iterator[loading.Loaded]:
        first, second, third = sorted(good(folder), key=lambda clip: clip.id)
        yield replace(first, text="Something else.")
        yield replace(second, samples=second.samples * 0.5)
        yield replace(third, id="another", speaker="nobody")

    monkeypatch.setitem(loading._LOADERS, "lhotse", wrong)
    told = "\n".join(load_with(str(folder), "lhotse", None, Silent()))
    assert "lhotse gives the text `Something else.`" in told
    assert "lhotse gives other samples" in told
    assert "lhotse gives `another`, which is not in the files" in told
    assert "lhotse does not give it" in told


def test_a_library_that_fails_over_a_damaged_export_is_a_problem(finished_set: MakeSet) -> None:
    pytest.importorskip("lhotse")
    folder = export_dataset(str(finished_set()), "lhotse", None, None, Silent()).folder
    next((folder / "audio").rglob("*.flac")).write_bytes(b"nothing")
    assert "lhotse cannot load it" in "\n".join(load_with(str(folder), "lhotse", None, Silent()))


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
