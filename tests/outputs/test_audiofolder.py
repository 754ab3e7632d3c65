"""AudioFolder as the library `datasets` loads it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.outputs import clip_files
from pocket_batch.outputs.audiofolder import read_back
from pocket_batch.rows import Clip

Export = Callable[..., tuple[Path, list[str]]]
Clips = Callable[..., list[Clip]]
CARD = """---
configs: [{"config_name": "default", "data_files": [{"split": "train", "path": "train/**"},
 {"split": "test", "path": "test/**"}]}]
---
"""


pytestmark = pytest.mark.usefixtures("torchcodec")


def _loaded(folder: Path, cache: Path) -> Any:
    from datasets import Audio, load_dataset

    (folder / "README.md").write_text(CARD, encoding="utf-8")
    found = load_dataset(str(folder), cache_dir=str(cache))
    return found.cast_column("audio", Audio(decode=False))


def test_the_library_reads_every_text_and_split_as_it_was(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    """Case 2. Case 3."""
    clips = odd_clips()
    folder, told = export("audiofolder", tmp_path / "set", clips)
    found = _loaded(folder, tmp_path / "cache")
    assert told == []
    assert sorted(found) == ["test", "train"]
    rows = {row["id"]: (row, split) for split in found for row in found[split]}
    assert {key: (row["text"], split) for key, (row, split) in rows.items()} == {
        c.id: (c.text, c.split) for c in clips
    }
    row, _ = rows["test-drive_1"]
    assert row["speaker"] == "joe"
    assert row["source_id"] == "test-drive.1"
    assert row["duration"] == 801 / 16_000
    assert Path(row["audio"]["path"]).read_bytes() == {c.id: c.audio for c in clips}[row["id"]]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_other_metadata_is_written_with_a_warning(
    tmp_path: Path, export: Export, odd_clips: Clips, kind: str
) -> None:
    folder, told = export("audiofolder", tmp_path / "set", odd_clips(), metadata=kind)
    assert any("007" in note for note in told)
    assert not list(folder.rglob("*.parquet"))
    problems: list[str] = []
    assert {c.text for c in read_back(folder, problems)} == {c.text for c in odd_clips()}
    assert problems == []


def test_no_folder_has_more_files_than_hubs_take(
    tmp_path: Path, export: Export, odd_clips: Clips, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 35."""
    assert clip_files.audio_name(9_999, odd_clips()[0]).startswith("000/")
    assert clip_files.audio_name(10_000, odd_clips()[0]).startswith("001/")
    monkeypatch.setattr(clip_files, "MAX_FILES", 2)
    folder, _ = export("audiofolder", tmp_path / "set", odd_clips())
    audio = folder / "train" / "audio"
    assert [len(list(path.iterdir())) for path in sorted(audio.iterdir())] == [2, 2, 2]
    found = _loaded(folder, tmp_path / "cache")
    assert len(found["train"]) == 6


def test_what_is_wrong_is_named(tmp_path: Path, export: Export, odd_clips: Clips) -> None:
    folder, _ = export("audiofolder", tmp_path / "set", odd_clips())
    (folder / "train" / "audio" / "000" / "more.flac").write_bytes(b"")
    (folder / "test" / "metadata.parquet").write_bytes(b"PAR1")
    problems: list[str] = []
    assert len(list(read_back(folder, problems))) == 6
    assert any("more.flac: no list has this file" in problem for problem in problems)
    assert any("not a whole Parquet file" in problem for problem in problems)
