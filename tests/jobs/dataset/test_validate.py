"""Faults that libraries let through are named with their places, and nothing else is."""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from pocket_batch.cli.main import main
from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.errors import InputError
from pocket_batch.jobs.dataset.export import export_dataset
from pocket_batch.jobs.dataset.validate import validate_dataset
from pocket_batch.jobs.progress import Silent
from pocket_batch.outputs.exports import EXPORTS

MakeSet = Callable[..., Path]


@pytest.fixture
def foreign(finished_set: MakeSet) -> Callable[..., Path]:
    """An export without our record, as if somebody else had written it."""

    def make(name: str, **settings: object) -> Path:
        source = finished_set()
        chosen = ExportSettings(**settings)  # type: ignore[arg-type]
        folder = export_dataset(str(source), name, None, chosen, Silent()).folder
        (folder / "export.json").unlink()
        return folder

    return make


def problems_of(folder: Path) -> str:
    return "\n".join(validate_dataset(str(folder), Silent()).problems)


def change_json(path: Path, change: Callable[[dict[str, object]], None], line: int = 0) -> None:
    """Change one object of a JSON Lines file, packed or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    values = json.loads(lines[line])
    change(values)
    lines[line] = json.dumps(values)
    with opener(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", EXPORTS)
def test_a_faultless_export_has_no_problems(foreign: MakeSet, name: str) -> None:
    folder = foreign(name)
    report = validate_dataset(str(folder), Silent())
    assert report.problems == []
    assert report.num_clips == 4


def test_a_set_and_all_its_exports_are_looked_at(finished_set: MakeSet) -> None:
    source = finished_set()
    for name in EXPORTS:
        export_dataset(str(source), name, None, None, Silent())
    report = validate_dataset(str(source), Silent())
    assert report.problems == []
    assert report.num_clips == 4 * (1 + len(EXPORTS))


def test_a_rate_that_the_file_does_not_have_is_named(foreign: MakeSet) -> None:
    """Case 31."""
    folder = foreign("nemo")
    change_json(folder / "train_manifest.json", lambda v: v.update(sampling_rate=16_000), line=1)
    assert "train_manifest.json:2: it says 16000 Hz, and the audio has 24000 Hz" in problems_of(
        folder
    )


def test_a_length_that_the_file_does_not_have_is_named(foreign: MakeSet) -> None:
    folder = foreign("lhotse")
    path = folder / "pb_recordings_train.jsonl.gz"
    change_json(path, lambda v: v.update(num_samples=12_000, duration=0.5))
    found = problems_of(folder)
    assert "it says 12000 samples" in found
    assert "it says 0.5 s" in found


@pytest.mark.parametrize("name", ["ljspeech", "piper"])
def test_a_wav_file_that_is_cut_off_is_named(foreign: MakeSet, name: str) -> None:
    """Case 32."""
    folder = foreign(name)
    wav = sorted(folder.rglob("*.wav"))[0]
    wav.write_bytes(wav.read_bytes()[:-50])
    assert "the audio is cut off" in problems_of(folder)


@pytest.mark.parametrize("name", ["ljspeech", "piper", "audiofolder", "nemo", "lhotse"])
def test_files_that_are_missing_or_in_no_list_are_named(foreign: MakeSet, name: str) -> None:
    folder = foreign(name)
    clips = sorted(p for p in folder.rglob("*") if p.suffix in (".wav", ".flac"))
    shutil.copy(clips[0], clips[0].with_name(f"orphan{clips[0].suffix}"))
    clips[0].unlink()
    found = problems_of(folder)
    assert "the audio is missing" in found
    assert "orphan" in found


@pytest.mark.parametrize("name", ["nemo-tarred", "lhotse-shar", "webdataset"])
def test_a_tar_file_that_is_cut_off_is_named(foreign: MakeSet, name: str) -> None:
    folder = foreign(name)
    tar = sorted(folder.rglob("*train*.tar")) or sorted((folder / "train").glob("*.tar"))
    tar[0].write_bytes(tar[0].read_bytes()[:1200])
    assert tar[0].name in problems_of(folder)


@pytest.mark.parametrize("name", ["nemo-tarred", "lhotse-shar", "webdataset", "parquet"])
def test_a_shard_that_is_missing_is_named(foreign: MakeSet, name: str) -> None:
    folder = foreign(name, shard_bytes=100 if name == "parquet" else 1500)
    kind = "*.parquet" if name == "parquet" else "*.tar"
    shards = sorted(p for p in folder.rglob(kind) if "train" in str(p.relative_to(folder)))
    assert len(shards) > 1
    shards[0].unlink()
    found = problems_of(folder)
    assert "number 0 is missing" in found or "shard 0 has no" in found


def test_two_clips_of_one_id_and_a_text_in_two_splits_are_named(foreign: MakeSet) -> None:
    """Case 30."""
    folder = foreign("nemo")
    test = json.loads((folder / "test_manifest.json").read_text(encoding="utf-8"))
    change_json(
        folder / "train_manifest.json", lambda v: v.update(id=test["id"], text=test["text"])
    )
    found = problems_of(folder)
    assert "is also that of" in found
    assert "a leak between splits" in found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the text is blank"),
        ("a\u0007b", "control character (U+0007)"),
        ("e\u0301te", "not in Unicode form NFC"),
    ],
)
def test_texts_that_trip_readers_are_named(foreign: MakeSet, text: str, problem: str) -> None:
    folder = foreign("nemo")
    change_json(folder / "train_manifest.json", lambda v: v.update(text=text))
    assert problem in problems_of(folder)


def test_a_parquet_shard_without_rows_or_features_is_named(foreign: MakeSet) -> None:
    folder = foreign("parquet")
    path = folder / "data" / "test-00000-of-00001.parquet"
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.slice(0, 0).replace_schema_metadata(None), path)
    found = problems_of(folder)
    assert "no rows" in found
    assert "audio loads as bytes" in found


def test_a_card_that_counts_wrongly_is_named(foreign: MakeSet) -> None:
    folder = foreign("parquet")
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8").replace('{"train": 3', '{"train": 5')
    card.write_text(text, encoding="utf-8")
    assert "README.md: it counts" in problems_of(folder)


def test_one_changed_byte_anywhere_in_an_export_of_ours_is_named(finished_set: MakeSet) -> None:
    source = finished_set()
    folder = export_dataset(str(source), "webdataset", None, None, Silent()).folder
    tar = folder / "train-000000.tar"
    data = bytearray(tar.read_bytes())
    data[-1] ^= 1
    tar.write_bytes(bytes(data))
    assert "train-000000.tar: the file is not as it was written" in problems_of(folder)


def test_a_voice_without_a_licence_is_named(finished_set: MakeSet) -> None:
    source = finished_set()
    run = json.loads((source / "run.json").read_text(encoding="utf-8"))
    run["speakers"][0]["licence"] = ""
    (source / "run.json").write_text(json.dumps(run), encoding="utf-8")
    assert "no licence of the voice `heart`" in problems_of(source)


def test_a_damaged_unit_is_named(finished_set: MakeSet) -> None:
    source = finished_set()
    tar = next((source / "units").rglob("*.tar"))
    data = bytearray(tar.read_bytes())
    data[700] ^= 255
    tar.write_bytes(bytes(data))
    assert "SHA-256 differs" in problems_of(source)


def test_problems_give_an_exit_code_and_many_of_a_kind_are_counted(
    finished_set: MakeSet, capsys: pytest.CaptureFixture[str]
) -> None:
    source = finished_set(tuple(f"Text number {i} of many." for i in range(40)))
    folder = export_dataset(str(source), "ljspeech", None, None, Silent()).folder
    assert main(["validate", str(folder)]) == 0
    shutil.rmtree(folder / "wavs")
    assert main(["validate", str(folder)]) == 10
    told = capsys.readouterr().err
    assert "more like" in told
    assert len(told.splitlines()) < 60


def test_what_is_no_set_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="--format"):
        validate_dataset(str(tmp_path), Silent())
    with pytest.raises(InputError, match="no such folder"):
        validate_dataset(str(tmp_path / "nothing"), Silent())
