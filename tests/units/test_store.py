"""A store is a folder or a URL, and a name in it never holds half a file."""

import errno
import hashlib
import os
from pathlib import Path
from uuid import uuid4

import pytest

from pocket_batch.errors import InputError, OutputError, UsageError
from pocket_batch.rows import Sample
from pocket_batch.units.names import unit_file
from pocket_batch.units.store import Store
from pocket_batch.units.unit import read_unit, write_unit


@pytest.fixture(params=["folder", "file url", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    places = {
        "folder": str(tmp_path / "set"),
        "file url": f"file://{tmp_path}/set",
        "memory": f"memory://{uuid4().hex}/set",
    }
    return Store(places[request.param])


def test_what_was_written_is_read(store: Store, tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_bytes(b"moved")
    store.write("run.json", b"one")
    store.write("run.json", b"first")
    store.put(local, "units/ab/x.tar")
    assert not local.exists()
    assert store.read("run.json") == b"first"
    assert store.size("units/ab/x.tar") == 5
    with store.open("units/ab/x.tar") as file:
        file.seek(2)
        assert file.read() == b"ved"
    assert store.exists("run.json")
    assert not store.exists("units/ab")
    assert not store.exists("no.json")


def test_unfinished_files_are_not_listed(store: Store) -> None:
    for name in ("units/b/1.tar", "units/a/2.tar", "units/a/2.x-0.partial", "units/a/3.part"):
        store.write(name, b"")
    assert store.list("units") == ["units/a/2.tar", "units/b/1.tar"]
    assert store.list("nothing") == []
    assert store.list("") == ["units/a/2.tar", "units/b/1.tar"]


def test_a_removed_file_is_gone_and_may_be_removed_again(store: Store) -> None:
    store.write("x", b"")
    store.remove("x")
    store.remove("x")
    assert not store.exists("x")


def test_a_missing_file_is_told_by_its_place(store: Store) -> None:
    for ask in (store.read, store.size, store.open):
        with pytest.raises(InputError, match=r"set/run\.json cannot be read"):
            ask("run.json")


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 27."""
    store = Store(tmp_path)
    store.write("x", b"before")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pocket_batch.units.store.os.fsync", full)
    with pytest.raises(OutputError, match="no space is left"):
        store.write("x", b"after")
    assert store.read("x") == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_file_comes_from_another_disk_too(tmp_path: Path) -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no second file system here")
    local = Path("/dev/shm") / uuid4().hex
    local.write_bytes(b"moved")
    Store(tmp_path).put(local, "x/y")
    assert (tmp_path / "x/y").read_bytes() == b"moved"
    assert not local.exists()
    assert len(list((tmp_path / "x").iterdir())) == 1


def test_an_unknown_kind_of_place_is_a_mistake_of_the_command() -> None:
    with pytest.raises(UsageError, match="nowhere://bucket"):
        Store("nowhere://bucket/set")


def test_a_bucket_is_a_store(s3: str, tmp_path: Path) -> None:
    store = Store(s3)
    test_what_was_written_is_read(store, tmp_path)
    assert store.list("") == ["run.json", "units/ab/x.tar"]
    audio = b"sound"
    sample = Sample("ef" * 32, "kept", audio_sha256=hashlib.sha256(audio).hexdigest())
    _, num_bytes = write_unit(store, tmp_path, "cd" * 32, [(sample, audio)])
    assert list(read_unit(store, "cd" * 32)) == [(sample, audio)]
    assert store.size(unit_file("cd" * 32, "tar")) == num_bytes
    assert not list(tmp_path.iterdir())
    test_a_removed_file_is_gone_and_may_be_removed_again(store)
    test_a_missing_file_is_told_by_its_place(Store("s3://bucket/other-set"))
    with pytest.raises(OutputError, match="could not be written"):
        Store("s3://no-such-bucket/set").write("x", b"")


def test_a_store_that_is_not_reached_is_not_an_empty_one(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)
    store = Store("s3://bucket/elsewhere")
    store._fs = type(store._fs)(skip_instance_cache=True)
    with pytest.raises(InputError, match="cannot be read"):
        store.exists("run.json")
    with pytest.raises(OutputError, match="could not be written"):
        store.write("run.json", b"")
