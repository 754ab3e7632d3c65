"""Parquet shards as the library `datasets` loads them, and as viewers need them."""

from collections.abc import Callable
from pathlib import Path

from pocket_batch.outputs.parquet import read_back
from pocket_batch.rows import Clip

Export = Callable[..., tuple[Path, list[str]]]
Clips = Callable[..., list[Clip]]


def test_the_library_finds_audio_and_every_text_as_it_was(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    """Case 1. Case 2. Case 3."""
    from datasets import Audio, load_dataset

    clips = odd_clips()
    folder, _ = export("parquet", tmp_path / "set", clips)
    found = load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert isinstance(found["train"].features["audio"], Audio)
    found = found.cast_column("audio", Audio(decode=False))
    rows = {row["id"]: row for split in found for row in found[split]}
    assert {key: row["text"] for key, row in rows.items()} == {c.id: c.text for c in clips}
    assert {c.id: row["audio"]["bytes"] for c in clips for row in [rows[c.id]]} == {
        c.id: c.audio for c in clips
    }
    assert rows["test-drive_1"]["audio"]["path"] == "test-drive_1.flac"
    assert rows["test-drive_1"]["wer"] is None


def test_audio_is_stored_plain_and_all_else_is_packed(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    from pyarrow.parquet import ParquetFile

    folder, _ = export("parquet", tmp_path / "set", odd_clips())
    file = ParquetFile(folder / "data" / "train-00000-of-00001.parquet")
    group = file.metadata.row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert columns["audio.bytes"].compression == "UNCOMPRESSED"
    assert "PLAIN" in columns["audio.bytes"].encodings
    assert "RLE_DICTIONARY" not in columns["audio.bytes"].encodings
    assert columns["text"].compression == "SNAPPY"
    assert str(file.schema_arrow.field("rms_db").type) == "float"
    assert str(file.schema_arrow.field("duration").type) == "double"


def test_shards_are_numbered_without_a_gap_and_none_is_empty(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    """Case 9."""
    folder, _ = export("parquet", tmp_path / "set", odd_clips(), shard_bytes=1)
    names = sorted(path.name for path in (folder / "data").iterdir())
    train = [f"train-{number:05d}-of-00006.parquet" for number in range(6)]
    assert names == ["test-00000-of-00001.parquet", *train]
    problems: list[str] = []
    assert len(list(read_back(folder, problems))) == 7
    assert problems == []
    (folder / "data" / train[2]).unlink()
    list(read_back(folder, problems))
    assert problems


def test_the_same_clips_give_the_same_bytes(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    first, _ = export("parquet", tmp_path / "a", odd_clips())
    second, _ = export("parquet", tmp_path / "b", odd_clips())
    for path in first.rglob("*.parquet"):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes()
