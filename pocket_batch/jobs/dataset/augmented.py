"""Variants of clips that an augmentation made, as they lie in a set.

`augmented/<name>/ab/<unit id>.tar` has, for each variant, its FLAC file and its record; the
originals are untouched. A variant belongs to the split and the group of its original.
"""

import json
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO

from pocket_batch.errors import InputError
from pocket_batch.jobs.dataset.plan import read_rows
from pocket_batch.rows import Row, Unit
from pocket_batch.units.store import Store

FOLDER = "augmented"


@dataclass(frozen=True, slots=True)
class Variant:
    """A changed copy of a clip. `parameters` are JSON: what was done to it."""

    row: Row
    original_id: str
    parameters: str
    num_samples: int
    sampling_rate_hz: int
    audio: bytes = field(repr=False)

    def read(self) -> bytes:
        """Its FLAC file."""
        return self.audio


def variant_file(name: str, unit_id: str) -> str:
    """`("noisy", "abcd")` -> `augmented/noisy/ab/abcd.tar`."""
    return f"{FOLDER}/{name}/{unit_id[:2]}/{unit_id}.tar"


def names_of(store: Store) -> list[str]:
    """The augmentations of a set."""
    names = (name.split("/")[1] for name in store.list(FOLDER) if name.count("/") > 1)
    return sorted(set(names))


def variants_of(store: Store, unit: Unit, names: Iterable[str]) -> Iterator[Variant]:
    """All variants of the rows of a unit, of some augmentations.

    Raises:
        InputError: a tar is damaged.
    """
    for name in names:
        path = variant_file(name, unit.id)
        if store.exists(path):
            yield from read_variants(store, path)


def read_variants(store: Store, path: str) -> Iterator[Variant]:
    """The variants in one tar, in its order.

    Raises:
        InputError: it is damaged.
    """
    audio: dict[str, bytes] = {}
    try:
        with store.open(path) as file, tarfile.open(fileobj=file, mode="r:") as tar:
            for member in tar:
                content = tar.extractfile(member)
                data = content.read() if content else b""
                stem, _, suffix = member.name.rpartition(".")
                if suffix == "flac":
                    audio = {stem: data}
                    continue
                values = json.loads(data)
                (row,) = read_rows(iter(BytesIO(json.dumps(values.pop("row")).encode())))
                yield Variant(row=row, audio=audio[stem], **values)
    except (tarfile.TarError, EOFError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{store.url}/{path} is damaged ({error}).") from error
