"""The card of an export, as a hub's machine and as a person read it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.jobs.dataset.export import export_dataset
from pocket_batch.jobs.progress import Silent
from pocket_batch.outputs.exports import EXPORTS


def _card(source: Path, name: str, settings: ExportSettings | None = None) -> tuple[Any, str]:
    folder = export_dataset(str(source), name, None, settings, Silent()).folder
    _, head, body = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


@pytest.mark.parametrize("name", EXPORTS)
def test_the_head_is_yaml_that_hubs_know(finished_set: Callable[..., Path], name: str) -> None:
    head, body = _card(finished_set(), name)
    assert head["license"] == "cc-by-4.0"
    assert head["language"] == ["en"]
    assert "synthetic" in head["tags"]
    assert head["size_categories"] == ["n<1K"]
    assert "task_categories" in head
    assert "All audio in this set is synthetic" in body


def test_files_of_each_split_are_named_and_none_of_a_split_without_clips(
    finished_set: Callable[..., Path],
) -> None:
    head, _ = _card(finished_set(filtered=("Two.",)), "audiofolder")
    (config,) = head["configs"]
    assert config["data_files"] == [{"split": "train", "path": "train/**"}]


def test_speakers_rejects_and_the_way_to_make_it_again_are_told(
    finished_set: Callable[..., Path],
) -> None:
    settings = ExportSettings(sampling_rate_hz=16_000, loudness_lufs=-23.0)
    _, body = _card(finished_set(voices=("heart", "joe")), "parquet", settings)
    assert "| joe | CC0-1.0 | en | a\\|b |" in body
    assert "| text: empty_text | 3 |" in body
    assert "| attempt: no_eos | 2 |" in body
    assert "pocket-batch dataset c.txt -o set" in body
    assert "--format parquet --sampling-rate 16000 --loudness -23" in body
    assert "Seed 7" in body
