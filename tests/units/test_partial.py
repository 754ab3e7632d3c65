"""The log of a unit in work loses nothing whole, whatever happened to it."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from pocket_batch.errors import DamagedAudioError, OutputError
from pocket_batch.rows import Sample
from pocket_batch.units.partial import PartialLog

UNIT = "ab" * 32


def attempt(number: int) -> tuple[Sample, bytes]:
    audio = bytes((number * 37 + i) % 256 for i in range(60))
    digest = hashlib.sha256(audio).hexdigest()
    return Sample(f"{number:064x}", "kept", audio_sha256=digest), audio


def write(folder: Path, num: int) -> tuple[bytes, list[int]]:
    """A log of `num` attempts, left without a word, and where each ends in it."""
    log = PartialLog(folder, UNIT).__enter__()
    ends = []
    for number in range(num):
        log.append(*attempt(number))
        ends.append(own(folder).stat().st_size)
    log._close()  # as the kernel does
    return own(folder).read_bytes(), ends


def own(folder: Path) -> Path:
    (path,) = folder.glob(f"{UNIT}.*-0.partial")
    return path


def check_whole(log: PartialLog, num: int) -> None:
    """The first `num` attempts are there, and no others."""
    assert sorted(log.attempts) == [(f"{n:064x}", 0) for n in range(num)]
    assert [log.attempts[f"{n:064x}", 0].audio() for n in range(num)] == [
        attempt(n)[1] for n in range(num)
    ]


def test_a_cut_at_any_byte_loses_no_whole_sample(tmp_path: Path) -> None:
    """Case 12."""
    data, ends = write(tmp_path, 3)
    for cut in range(len(data) + 1):
        own(tmp_path).write_bytes(data[:cut])
        with PartialLog(tmp_path, UNIT) as log:
            check_whole(log, sum(end <= cut for end in ends))


def test_a_hole_of_zeros_and_flipped_bytes_lose_only_what_follows(tmp_path: Path) -> None:
    """Case 12."""
    data, ends = write(tmp_path, 3)
    for place in range(0, len(data), 5):
        hole = data[:place] + bytes(min(40, len(data) - place)) + data[place + 40 :]
        flipped = data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]
        for damaged in (hole, flipped):
            own(tmp_path).write_bytes(damaged)
            with PartialLog(tmp_path, UNIT) as log:
                check_whole(log, sum(end <= place for end in ends))


def test_a_cut_log_is_gone_on_with(tmp_path: Path) -> None:
    """Case 12."""
    data, ends = write(tmp_path, 3)
    own(tmp_path).write_bytes(data[: ends[1] + 7])
    with PartialLog(tmp_path, UNIT) as log:
        log.append(*attempt(2))
    with PartialLog(tmp_path, UNIT) as log:
        check_whole(log, 3)


def test_two_writers_have_logs_of_their_own_and_read_each_other(tmp_path: Path) -> None:
    with PartialLog(tmp_path, UNIT) as first:
        first.append(*attempt(0))
        with PartialLog(tmp_path, UNIT) as second:
            check_whole(second, 1)
            assert second.num_losses == 0, "the first one lives"
            second.append(*attempt(1))
            first.append(*attempt(2))
            assert len(list(tmp_path.glob("*.partial"))) == 2
    with PartialLog(tmp_path, UNIT) as log:
        check_whole(log, 3)
        log.remove()
    assert not list(tmp_path.iterdir())


def test_audio_can_be_read_when_another_writer_has_removed_the_logs(tmp_path: Path) -> None:
    with PartialLog(tmp_path, UNIT) as first:
        first.append(*attempt(0))
        with PartialLog(tmp_path, UNIT) as second:
            second.append(*attempt(1))
            first.remove()
            second.append(*attempt(2))
            check_whole(second, 3)


def test_audio_that_changed_after_it_was_logged_is_refused(tmp_path: Path) -> None:
    with PartialLog(tmp_path, UNIT) as log:
        log.append(*attempt(0))
        found = log.attempts[attempt(0)[0].key, 0]
        with own(tmp_path).open("rb+") as file:
            file.seek(found.offset + 3)
            file.write(b"?")
        with pytest.raises(DamagedAudioError, match="not what was logged"):
            found.audio()


def test_what_killed_processes_left_goes_with_the_logs(tmp_path: Path) -> None:
    (tmp_path / f"{UNIT}.0123.tar.part").write_bytes(b"half")
    (tmp_path / "another.tar").write_bytes(b"whole")
    with PartialLog(tmp_path, UNIT) as log:
        log.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["another.tar"]


def test_a_text_that_was_alone_when_its_worker_died_is_remembered(tmp_path: Path) -> None:
    """Case 17."""
    for num in range(1, 4):
        log = PartialLog(tmp_path, UNIT).__enter__()
        assert log.lonely["guilty"] == num - 1
        log.begin_alone(attempt(num)[0].key)
        log.append(*attempt(num))
        log.begin_alone("guilty")
        log._close()
    with PartialLog(tmp_path, UNIT) as log:
        assert dict(log.lonely) == {"guilty": 3}
        assert log.num_losses == 3


def test_a_text_that_was_alone_when_the_run_was_stopped_is_not_blamed(tmp_path: Path) -> None:
    """Case 26."""
    for _ in range(4):
        log = PartialLog(tmp_path, UNIT).__enter__()
        log.begin_alone("innocent")
        log.__exit__(KeyboardInterrupt, None, None)
    with PartialLog(tmp_path, UNIT) as log:
        assert log.lonely["innocent"] == 0
        assert log.num_losses == 0


def test_a_full_disk_leaves_a_whole_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 27."""
    with PartialLog(tmp_path, UNIT) as log:
        log.append(*attempt(0))

        def half(file: object, data: bytes) -> None:
            assert log._file is not None
            log._file.write(data[:50])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr("pocket_batch.units.partial._write_all", half)
            with pytest.raises(OutputError, match="no space"):
                log.append(*attempt(1))
        log.append(*attempt(1))
    with PartialLog(tmp_path, UNIT) as log:
        check_whole(log, 2)


def test_a_file_system_without_locks_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    write(tmp_path, 2)
    monkeypatch.setattr("pocket_batch.units.partial.fcntl.flock", no_locks)
    with PartialLog(tmp_path, UNIT) as log:
        check_whole(log, 2)
        log.append(*attempt(2))
        assert len(list(tmp_path.glob("*.partial"))) == 2, "the log of another may be in use"


def test_no_sample_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr("pocket_batch.units.partial.os.fsync", synced.append)
    write(tmp_path, 5)
    assert not synced
    monkeypatch.setattr("pocket_batch.units.partial.SYNC_S", 0.0)
    with PartialLog(tmp_path, UNIT) as log:
        log.append(*attempt(5))
    assert synced
