"""LJSpeech as lhotse's own recipe reads it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.outputs.ljspeech import read_back
from pocket_batch.rows import Clip

Export = Callable[..., tuple[Path, list[str]]]
Clips = Callable[..., list[Clip]]


def test_lhotse_reads_every_text_as_it_was(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    """Case 1. Case 2."""
    from lhotse.recipes.ljspeech import prepare_ljspeech

    clips = odd_clips("wav")
    folder, _ = export("ljspeech", tmp_path / "LJSpeech-1.1", clips)
    supervisions = prepare_ljspeech(folder, tmp_path / "out")["supervisions"]
    found = {s.id: s.text for s in supervisions}
    assert found == {c.id: c.text.replace("|", " ").replace("\n", " ") for c in clips}


@pytest.mark.parametrize("mark", ["|", "\r\n", "\n", "\t", "\r"])
def test_a_mark_of_the_format_becomes_a_space_and_is_counted(
    tmp_path: Path, export: Export, odd_clips: Clips, mark: str
) -> None:
    """Case 1."""
    folder, told = export("ljspeech", tmp_path / "set", odd_clips("wav", (f"a{mark}b", "c")))
    lines = (folder / "metadata.csv").read_bytes().split(b"\n")
    assert all(line.count(b"|") == 2 for line in lines if line)
    assert len(lines) == 3
    assert any("1 texts got spaces" in note for note in told)


def test_lines_have_three_bare_columns_in_the_order_of_the_corpus(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    """Case 42."""
    folder, _ = export("ljspeech", tmp_path / "set", odd_clips("wav"))
    data = (folder / "metadata.csv").read_bytes()
    assert not data.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in data
    lines = data.decode("utf-8").splitlines()
    assert lines[0] == "test-drive_6|a b c|a b c"
    assert lines[3] == 'test-drive_3|He said "hi, there".|He said "hi, there".'
    ids = [line.split("|")[0] for line in lines]
    assert all((folder / "wavs" / f"{name}.wav").is_file() for name in ids)


def test_many_voices_are_told_of_or_get_a_folder_each(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    _, told = export("ljspeech", tmp_path / "one", odd_clips("wav"))
    assert any("--by-speaker" in note for note in told)
    folder, told = export("ljspeech", tmp_path / "each", odd_clips("wav"), by_speaker=True)
    assert sorted(path.parent.name for path in folder.glob("*/metadata.csv")) == ["dev", "joe"]
    assert not any("--by-speaker" in note for note in told)
    problems: list[str] = []
    assert {c.speaker for c in read_back(folder, problems)} == {"dev", "joe"}
    assert problems == []


def test_what_is_read_back_has_the_splits_and_names_what_is_wrong(
    tmp_path: Path, export: Export, odd_clips: Clips
) -> None:
    clips = odd_clips("wav")
    folder, _ = export("ljspeech", tmp_path / "set", clips)
    problems: list[str] = []
    found = {c.id: (c.split, c.audio) for c in read_back(folder, problems)}
    assert found == {c.id: (c.split, c.audio) for c in clips}
    assert problems == []
    shutil.copy(folder / "wavs" / "test-drive_0.wav", folder / "wavs" / "other.wav")
    with (folder / "metadata.csv").open("ab") as file:
        file.write(b"x|only two\n")
    list(read_back(folder, problems))
    assert problems == [
        "metadata.csv:8: 2 columns, and 3 were wanted",
        "wavs/other.wav: no list has this file",
    ]
