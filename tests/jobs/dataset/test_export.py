"""Exports of a finished set: the same bytes, never half of one, and clear refusals."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.audio.clip import decode
from pocket_batch.cli.main import main
from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.errors import InputError, OutputError, StoppedError, UsageError
from pocket_batch.jobs.dataset.export import ExportResult, export_dataset, read_clips
from pocket_batch.jobs.progress import Silent
from pocket_batch.outputs.exports import EXPORTS, load_format

MakeSet = Callable[..., Path]


def _export(source: Path, name: str, **options: Any) -> ExportResult:
    output, settings = options.pop("output", None), options.pop("settings", None)
    return export_dataset(str(source), name, output, settings, Silent(), **options)


def _bytes(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("name", EXPORTS)
def test_every_format_gives_each_clip_back_and_the_same_bytes_again(
    finished_set: MakeSet, name: str
) -> None:
    """Case 2."""
    source = finished_set()
    result = _export(source, name)
    assert result.folder == source / "exports" / name
    assert result.num_clips == {"train": 3, "test": 1}
    problems: list[str] = []
    listed = list(load_format(name).read_back(result.folder, problems))
    assert problems == []
    assert sorted(c.text for c in listed) == ["007", "NA", "One.", "Two."]
    before = _bytes(result.folder)
    assert "README.md" in before
    _export(source, name)
    assert _bytes(result.folder) == before
    assert [path.name for path in (source / "exports").iterdir()] == [name]


def test_flac_is_passed_on_as_it_is(finished_set: MakeSet) -> None:
    source = finished_set()
    result = _export(source, "audiofolder")
    audio = {path.stem: path.read_bytes() for path in result.folder.rglob("*.flac")}
    assert audio == {clip.id: clip.audio for clip in read_clips(str(source))}


def test_the_record_has_the_hash_of_each_file_and_no_time(finished_set: MakeSet) -> None:
    result = _export(finished_set(), "parquet")
    record = json.loads((result.folder / "export.json").read_bytes())
    assert set(record["files"]) == set(_bytes(result.folder)) - {"export.json"}
    assert record["num_clips"] == {"train": 3, "test": 1}
    assert record["licence"] == "CC-BY-4.0"
    assert not {"started_at", "finished_at", "time"} & set(record)


def test_voices_of_two_rates_come_out_at_the_greater_one(finished_set: MakeSet) -> None:
    result = _export(finished_set(voices=("heart", "joe")), "audiofolder")
    rates = {decode(path.read_bytes())[1] for path in result.folder.rglob("*.flac")}
    assert rates == {24_000}
    assert any("22,050, 24,000" in note for note in result.notes)


def test_rows_without_audio_are_left_out_and_no_shard_is_empty(finished_set: MakeSet) -> None:
    """Case 9."""
    result = _export(finished_set(filtered=("Two.",)), "parquet")
    names = [path.name for path in (result.folder / "data").iterdir()]
    assert names == ["train-00000-of-00001.parquet"]
    assert "test" not in result.num_clips


def test_a_set_without_clips_is_refused_with_the_top_reason(finished_set: MakeSet) -> None:
    """Case 10."""
    source = finished_set(("a", "b"), filtered=("a", "b"))
    with pytest.raises(InputError, match=r"no clips.*too_quiet \(2\)"):
        _export(source, "parquet")
    assert not (source / "exports" / "parquet").exists()


def test_a_set_that_is_not_finished_is_refused_unless_part_of_it_is_wanted(
    finished_set: MakeSet,
) -> None:
    source = finished_set(voices=("heart", "joe"), undone=("joe",))
    with pytest.raises(InputError, match=r"4 utterances are missing.*--partial"):
        _export(source, "parquet")
    assert sum(_export(source, "parquet", is_partial=True).num_clips.values()) == 4


def test_a_stopped_export_leaves_the_one_before_and_nothing_else(finished_set: MakeSet) -> None:
    """Case 41."""
    source = finished_set()
    folder = _export(source, "webdataset").folder
    before = _bytes(folder)
    calls = iter(range(100))
    with pytest.raises(StoppedError):
        _export(source, "webdataset", should_stop=lambda: next(calls) > 5)
    assert _bytes(folder) == before
    with pytest.raises(StoppedError):
        _export(source, "nemo", should_stop=lambda: True)
    assert [path.name for path in folder.parent.iterdir()] == ["webdataset"]


def test_what_a_killed_export_left_is_replaced(finished_set: MakeSet) -> None:
    """Case 41."""
    source = finished_set()
    part = source / "exports" / "nemo.part"
    part.mkdir(parents=True)
    (part / "half.wav").write_bytes(b"RIFF")
    folder = _export(source, "nemo").folder
    assert "half.wav" not in _bytes(folder)
    assert not part.exists()


def test_a_folder_of_someone_else_is_never_touched(finished_set: MakeSet, tmp_path: Path) -> None:
    source = finished_set()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "novel.txt").write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match="not an export"):
        _export(source, "parquet", output=mine)
    assert [path.name for path in mine.iterdir()] == ["novel.txt"]
    backup = tmp_path / "out.old"
    backup.mkdir()
    _export(source, "parquet", output=tmp_path / "out")
    _export(source, "parquet", output=tmp_path / "out")
    assert backup.exists()


def test_the_folder_one_is_in_can_be_the_output(
    finished_set: MakeSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = finished_set()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    _export(source, "parquet", output=Path("."))
    assert (tmp_path / "here" / "export.json").is_file()


def test_columns_of_the_corpus_never_take_the_place_of_ours(finished_set: MakeSet) -> None:
    columns: dict[str, Any] = {"text": "x", "duration": 9, "seed": "s", "heard": "h", "big": 2**70}
    source = finished_set(columns=columns)
    for name in ("nemo", "parquet", "webdataset"):
        result = _export(source, name)
        listed = list(load_format(name).read_back(result.folder, []))
        assert {c.text for c in listed} == {"One.", "Two.", "007", "NA"}
        assert all(c.duration_s is not None and c.duration_s < 1 for c in listed)
    first = next(iter(read_clips(str(source))))
    own = {name: first.columns[name] for name in ("text_", "duration_", "seed_", "heard_", "big")}
    assert own == {
        "text_": "x", "duration_": 9, "seed_": "s", "heard_": "h", "big": str(2**70)
    }  # fmt: skip
    assert isinstance(first.columns["seed"], int)


@pytest.mark.parametrize("name", EXPORTS)
def test_values_that_no_table_or_json_can_hold_do_not_end_an_export(
    finished_set: MakeSet, name: str
) -> None:
    source = finished_set(("One.",), columns={"half": "x\ud83d", "none": float("nan")})
    folder = _export(source, name).folder
    assert all(b"NaN" not in path.read_bytes() for path in folder.rglob("*.json*"))
    first = next(iter(read_clips(str(source))))
    assert (first.columns["half"], first.columns["none"]) == ("x?", None)


def test_what_does_not_go_together_is_refused(finished_set: MakeSet, tmp_path: Path) -> None:
    source = finished_set()
    with pytest.raises(UsageError, match="WAV"):
        _export(source, "ljspeech", settings=ExportSettings(audio="opus"))
    with pytest.raises(InputError, match=r"no run\.json"):
        _export(tmp_path / "nothing", "parquet")


def test_the_command_tells_what_it_wrote(
    finished_set: MakeSet, capsys: pytest.CaptureFixture[str]
) -> None:
    source = finished_set(voices=("heart", "joe"))
    assert main(["export", str(source), "--format", "ljspeech", "--sampling-rate", "16000"]) == 0
    told = "".join(capsys.readouterr())
    assert "8 clips" in told
    assert "train 6, test 2" in told
    assert "--by-speaker" in told
    assert main(["export", str(source), "--format", "ljspech"]) == 2
    assert main(["export", str(source), "--format", "parquet", "--shard-size", "9" * 400]) == 2


def test_the_locale_and_the_hash_seed_change_no_byte(finished_set: MakeSet, tmp_path: Path) -> None:
    """Case 34. Case 42."""
    source = finished_set(("Ünïcode — ok…", "“Zwei”", "три"))
    found = []
    for number, locale in enumerate(("C", "C.UTF-8")):
        output = tmp_path / str(number)
        own = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        command = [sys.executable, "-m", "pocket_batch", "export", str(source), "-o", str(output)]
        subprocess.run(
            [*command, "--format", "ljspeech"],
            env=os.environ | own | {"PYTHONHASHSEED": str(number)},
            check=True,
            capture_output=True,
        )
        found.append(_bytes(output))
    assert found[0] == found[1]
    assert "|три|три\n".encode() in found[0]["metadata.csv"]


@pytest.mark.usefixtures("torchcodec")
@pytest.mark.parametrize("name", ["parquet", "audiofolder", "webdataset"])
def test_the_library_loads_an_export_with_its_card(
    finished_set: MakeSet, tmp_path: Path, name: str
) -> None:
    """Case 2. Case 3."""
    from datasets import load_dataset

    folder = _export(finished_set(voices=("heart", "joe")), name).folder
    found = load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert {split: found[split].num_rows for split in found} == {"train": 6, "test": 2}
    if name != "webdataset":
        assert sorted(set(found["train"]["text"])) == ["007", "NA", "One."]
