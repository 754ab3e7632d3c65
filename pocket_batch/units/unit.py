"""A finished unit: a tar of its rows' audio and records, and a small file that says it is done.

The tar has, for each row in the order of keys, `<key>.flac` if an utterance was kept, and
`<key>.json`. It holds nothing that depends on when, where or in which order it was made.
"""

import hashlib
import json
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from pocket_batch.errors import InputError, writing
from pocket_batch.rows import AttemptReject, Sample, Scores, UnitDone
from pocket_batch.units.names import unit_file
from pocket_batch.units.store import Store

DONE = "done.json"


def write_unit(
    store: Store, scratch: Path, unit_id: str, samples: Iterable[tuple[Sample, bytes | None]]
) -> tuple[str, int]:
    """Write the tar of a unit.

    Args:
        store: where the set is.
        scratch: a folder on this machine, on the disk of the set if that is local.
        unit_id: of the unit.
        samples: every row's, sorted by key, with its FLAC file if it is kept.

    Returns:
        SHA-256 and size of the tar.

    Raises:
        OutputError: it cannot be written.
    """
    path = scratch / f"{unit_id}.{uuid4().hex[:12]}.tar.part"
    try:
        with writing(path):
            scratch.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file, new_tar(file) as tar:
                for sample, audio in samples:
                    add_sample(tar, sample, audio)
            with path.open("rb") as written:
                digest = hashlib.file_digest(written, "sha256").hexdigest()
            num_bytes = path.stat().st_size
        store.put(path, unit_file(unit_id, "tar"))
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    return digest, num_bytes


def new_tar(file: BinaryIO) -> tarfile.TarFile:
    """A tar to be written, of the kind that every reader knows."""
    return tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT)


def add_member(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    """Add a file without times and owners, so that the same content gives the same bytes."""
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, BytesIO(data))


def add_sample(tar: tarfile.TarFile, sample: Sample, audio: bytes | None) -> None:
    """Add what came of one row."""
    if audio is not None:
        add_member(tar, f"{sample.key}.flac", audio)
    add_member(tar, f"{sample.key}.json", sample_json(sample))


def sample_json(sample: Sample) -> bytes:
    """A record as JSON; the same one always gives the same bytes."""
    values = {
        **_values(sample),
        "scores": sample.scores and _values(sample.scores),
        "rejects": [_values(reject) for reject in sample.rejects],
    }
    return json.dumps(values, ensure_ascii=False, sort_keys=True).encode(
        "utf-8", "backslashreplace"
    )


# Scores that data sets do not have; units are the same bytes as before there were any.
_FOR_LISTENERS = frozenset(Scores.__slots__[Scores.__slots__.index("heard") + 1 :])


def _values(record: Sample | Scores | AttemptReject) -> dict[str, Any]:
    """As `asdict` of a flat record, without its copies and without scores nobody measured."""
    values = {name: getattr(record, name) for name in record.__slots__}
    return {name: v for name, v in values.items() if v is not None or name not in _FOR_LISTENERS}


def sample_of(data: bytes) -> Sample:
    """The record that `sample_json` wrote.

    Raises:
        ValueError: it is not one.
    """
    try:
        values: dict[str, Any] = json.loads(data)
        scores = values.pop("scores")
        rejects = tuple(AttemptReject(**reject) for reject in values.pop("rejects"))
        return Sample(**values, scores=scores and Scores(**scores), rejects=rejects)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not the record of an utterance ({error})") from error


def read_unit(store: Store, unit_id: str) -> Iterator[tuple[Sample, bytes | None]]:
    """Every row of a finished unit in the order of keys, with its FLAC file if it is kept.

    Raises:
        InputError: the tar is missing or damaged.
    """
    name = unit_file(unit_id, "tar")
    audio: tuple[str, bytes] | None = None
    for member, data in _members(store, name, with_audio=True):
        if member.endswith(".flac"):
            audio = (member.removesuffix(".flac"), data)
            continue
        sample = _sample(data, f"{store.url}/{name}: {member}")
        found = audio[1] if audio and audio[0] == sample.key else None
        wanted = sample.audio_sha256 if sample.status == "kept" else ""
        if (hashlib.sha256(found).hexdigest() if found is not None else "") != wanted:
            raise _damaged(store, name, f"the audio of {sample.key} is not what was written")
        yield sample, found
        audio = None


def read_samples(store: Store, unit_id: str) -> Iterator[Sample]:
    """Every row of a finished unit in the order of keys; audio is passed over.

    Raises:
        InputError: the tar is missing or damaged.
    """
    name = unit_file(unit_id, "tar")
    for member, data in _members(store, name, with_audio=False):
        if member.endswith(".json"):
            yield _sample(data, f"{store.url}/{name}: {member}")


def _members(store: Store, name: str, with_audio: bool) -> Iterator[tuple[str, bytes]]:
    """Names and contents of a tar's members, in order; audio is empty if it is not wanted."""
    with store.reading(name), store.open(name) as file:
        try:
            with tarfile.open(fileobj=file, mode="r:") as tar:
                for member in tar:
                    if not with_audio and member.name.endswith(".flac"):
                        yield member.name, b""
                        continue
                    content = tar.extractfile(member)
                    data = content.read() if content else b""
                    if len(data) < member.size:
                        raise EOFError("it ends too early")
                    yield member.name, data
                _check_end(file, tar.offset)
        except (tarfile.TarError, EOFError) as error:
            raise _damaged(store, name, str(error)) from error


def _check_end(file: BinaryIO, offset: int) -> None:
    """After the last member come zeros alone; a damaged header looks like the end to `tarfile`."""
    file.seek(offset)
    rest = file.read(2 * tarfile.RECORDSIZE + 1)
    if len(rest) < 2 * tarfile.BLOCKSIZE or len(rest) > 2 * tarfile.RECORDSIZE or any(rest):
        raise EOFError("its members end too early")


def _damaged(store: Store, name: str, problem: str) -> InputError:
    return InputError(
        f"{store.url.rstrip('/')}/{name} is damaged ({problem}). Remove it and its "
        f".{DONE}, and the next run makes it again."
    )


def _sample(data: bytes, where: str) -> Sample:
    try:
        return sample_of(data)
    except ValueError as error:
        raise InputError(f"{where}: {error}.") from error


def write_done(store: Store, unit: UnitDone) -> None:
    """Say that a unit is done; its tar is there already.

    Raises:
        OutputError: it cannot be written.
    """
    text = json.dumps(asdict(unit), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    store.write(unit_file(unit.id, DONE), text.encode())


def read_done(store: Store, unit_id: str) -> UnitDone | None:
    """The record of a finished unit; None if it is not done, or its tar is not as it was written.

    Raises:
        InputError: the store cannot be read.
    """
    name, tar = unit_file(unit_id, DONE), unit_file(unit_id, "tar")
    if not store.exists(name) or not store.exists(tar):
        return None
    try:
        unit = UnitDone(**json.loads(store.read(name)))
    except (ValueError, TypeError):
        return None
    return unit if unit.id == unit_id and unit.num_bytes == store.size(tar) else None


def done_ids(store: Store) -> set[str]:
    """The ids of all units that say they are done."""
    names = (name.rpartition("/")[2] for name in store.list("units"))
    return {name.removesuffix(f".{DONE}") for name in names if name.endswith(f".{DONE}")}
