"""The list that Piper's training reads."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.exports import SetFacts
from pocket_batch.outputs.piper import make_exporter, read_back
from pocket_batch.rows import Clip


def test_several_voices_have_a_column_and_every_file_is_there(
    tmp_path: Path,
    export: Callable[..., tuple[Path, list[str]]],
    odd_clips: Callable[..., list[Clip]],
) -> None:
    """Case 1. Case 2."""
    clips = odd_clips("wav")
    folder, told = export("piper", tmp_path / "set", clips)
    lines = (folder / "metadata.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "test-drive_6.wav|dev|a b c"
    assert lines[-1] == "test-drive_0.wav|dev|NA"
    assert all((folder / "wav" / line.split("|")[0]).is_file() for line in lines)
    assert any("no splits" in note for note in told)
    problems: list[str] = []
    found = {c.id: c.speaker for c in read_back(folder, problems)}
    assert found == {c.id: c.speaker for c in clips}
    assert problems == []


def test_one_voice_has_no_column(
    tmp_path: Path, odd_clips: Callable[..., list[Clip]], odd_facts: SetFacts
) -> None:
    facts = replace(odd_facts, speakers=odd_facts.speakers[:1])
    exporter = make_exporter(tmp_path, ExportSettings(), facts)
    exporter.add(odd_clips("wav", ("007",))[0])
    assert exporter.close() == []
    assert (tmp_path / "metadata.csv").read_bytes() == b"test-drive_0.wav|007\n"
