"""A finished unit is read back as it was written, or not at all."""

import hashlib
import tarfile
from pathlib import Path

import pytest

from pocket_batch.errors import InputError
from pocket_batch.rows import AttemptReject, Sample, Scores, UnitDone
from pocket_batch.units.names import unit_file
from pocket_batch.units.store import Store
from pocket_batch.units.unit import (
    done_ids,
    read_done,
    read_samples,
    read_unit,
    sample_json,
    sample_of,
    write_done,
    write_unit,
)

UNIT = "cd" * 32
SCORES = Scores(4.5, -3.0, -23.25, 0.00012, 0.0, 0.1, 0.2, 0.3, 14.5, 2.5, 0.1, 0.05, "wör\u2028ds")


def content() -> list[tuple[Sample, bytes | None]]:
    rejects = (AttemptReject(0, 1, "no_eos", 9.5), AttemptReject(1, 2, "error"))
    found: list[tuple[Sample, bytes | None]] = []
    for number in range(4):
        audio = bytes([number]) * 700
        digest = hashlib.sha256(audio).hexdigest()
        key = f"{number:064x}"
        found.append((Sample(key, "kept", 7, 24_000, audio_sha256=digest, scores=SCORES), audio))
    found[2] = (Sample(f"{2:064x}", "filtered", rejects=rejects), None)
    found.append((Sample(f"{9:064x}", "error", error="It said “no”."), None))
    return found


def write(folder: Path) -> Store:
    store = Store(folder)
    write_unit(store, folder / "scratch", UNIT, content())
    return store


def make_done(num_bytes: int) -> UnitDone:
    return UnitDone(UNIT, "tone", 5, 3, 1, 1, 21, 24_000, {}, {}, "aa", num_bytes, 1.0, "here")


def test_a_unit_is_read_as_it_was_written(tmp_path: Path) -> None:
    store = write(tmp_path)
    assert list(read_unit(store, UNIT)) == content()
    assert list(read_samples(store, UNIT)) == [sample for sample, _ in content()]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = Store(tmp_path / "a"), Store(tmp_path / "b")
    one = write_unit(first, tmp_path / "scratch", UNIT, content())
    two = write_unit(second, tmp_path / "b" / "x", UNIT, iter(content()))
    data = first.read(unit_file(UNIT, "tar"))
    assert one == two == (hashlib.sha256(data).hexdigest(), len(data))
    assert data == second.read(unit_file(UNIT, "tar"))
    assert not list((tmp_path / "scratch").iterdir())


def test_every_reader_of_tars_can_read_a_unit(tmp_path: Path) -> None:
    write(tmp_path)
    with tarfile.open(tmp_path / unit_file(UNIT, "tar")) as tar:
        members = tar.getmembers()
    names = [member.name[60:] for member in members]
    assert names == "0000.flac 0000.json 0001.flac 0001.json 0002.json 0003.flac 0003.json " \
        "0009.json".split()  # fmt: skip
    assert {(m.mtime, m.uid, m.gid, m.uname, m.mode) for m in members} == {(0, 0, 0, "", 0o644)}


def test_a_record_survives_being_written(tmp_path: Path) -> None:
    for sample, _ in content():
        assert sample_of(sample_json(sample)) == sample


@pytest.mark.parametrize("damage", ["cut", "cut_at_a_member", "zeros", "flipped", "audio", "empty"])
def test_a_damaged_unit_is_refused(tmp_path: Path, damage: str) -> None:
    store = write(tmp_path)
    path = tmp_path / unit_file(UNIT, "tar")
    data = bytearray(path.read_bytes())
    match damage:
        case "cut":
            del data[3000:]
        case "cut_at_a_member":
            del data[512 + 1024 + 512 + 1024 :]
        case "zeros":
            data[3072:4096] = bytes(1024)
        case "flipped":
            data[512 + 1024 + 3] ^= 1  # in the header of the second member
        case "audio":
            data[520] ^= 1
        case "empty":
            data.clear()
    path.write_bytes(data)
    with pytest.raises(InputError, match="is damaged"):
        list(read_unit(store, UNIT))


def test_a_missing_unit_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{UNIT}.tar cannot be read"):
        list(read_samples(Store(tmp_path), UNIT))


def test_a_unit_is_done_when_its_tar_is_what_its_record_says(tmp_path: Path) -> None:
    store = write(tmp_path)
    num_bytes = store.size(unit_file(UNIT, "tar"))
    assert read_done(store, UNIT) is None
    assert done_ids(store) == set()
    write_done(store, make_done(num_bytes))
    assert read_done(store, UNIT) == make_done(num_bytes)
    assert done_ids(store) == {UNIT}
    write_done(store, make_done(num_bytes - 1))
    assert read_done(store, UNIT) is None
    store.write(unit_file(UNIT, "done.json"), b'{"id": "x"')
    assert read_done(store, UNIT) is None


def test_scores_that_data_sets_do_not_have_are_not_in_their_units() -> None:
    sample = Sample("k", "kept", scores=SCORES)
    assert b"timbre" not in sample_json(sample)
    assert sample_of(sample_json(sample)) == sample
