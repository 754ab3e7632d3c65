"""WebDataset: tar files in which the members of a clip stand together under one key.

Source: webdataset 1.0, `webdataset.tariterators.base_plus_ext`: a key ends at the first dot.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.clip_files import common_values, json_line
from pocket_batch.outputs.exports import Listed, SetFacts
from pocket_batch.outputs.tar_shards import TarShards, check_numbers, read_tar
from pocket_batch.rows import Clip

DESCRIPTION = "train-000000.tar ... with .flac, .json and .txt of each clip, for WebDataset"
NEEDS_WAV = False
SAMPLING_RATE_HZ = None
_NAME = re.compile(r"(.+)-(\d{6})\.tar$")
_AUDIO = ("flac", "wav", "opus", "mp3", "ogg")


class WebDatasetShards:
    """Writes shards of one split after the other."""

    def __init__(self, folder: Path, settings: ExportSettings) -> None:
        self._folder = folder
        self._max_bytes = settings.shard_bytes
        self._split = ""
        self._tars: TarShards | None = None

    def add(self, clip: Clip) -> None:
        """Write the members of a clip, the same kinds for every one."""
        if clip.split != self._split or self._tars is None:
            self.close()
            self._split = split = clip.split
            self._tars = TarShards(self._folder, lambda i: f"{split}-{i:06d}.tar", self._max_bytes)
        self._tars.add(
            [
                (f"{clip.id}.{clip.suffix}", clip.audio),
                (f"{clip.id}.json", json_line(common_values(clip)).rstrip()),
                (f"{clip.id}.txt", clip.text.encode("utf-8", "backslashreplace")),
            ]
        )

    def close(self) -> list[str]:
        """Finish the last shard."""
        if self._tars is not None:
            self._tars.close()
        return []


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> WebDatasetShards:
    """See `Format`."""
    return WebDatasetShards(folder, settings)


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    numbers: dict[str, list[int]] = {}
    for path in sorted(folder.glob("*.tar")):
        match = _NAME.match(path.name)
        split = match[1] if match else None
        if match:
            numbers.setdefault(match[1], []).append(int(match[2]))
        num_clips = 0
        for key, members in _samples(path, problems):
            num_clips += 1
            yield _listed(f"{path.name}: {key}", key, members, split, problems)
        if not num_clips:
            problems.append(f"{path.name}: no clips")
    for split, found in numbers.items():
        check_numbers(found, f"{split} shards", problems)


def _samples(path: Path, problems: list[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Keys and members of what a reader takes for a clip: members of one key in a row."""
    key = ""
    members: dict[str, bytes] = {}
    for name, data in read_tar(path, problems):
        found, _, suffix = name.partition(".")
        if found != key and members:
            yield key, members
            members = {}
        if suffix in members:
            problems.append(f"{path.name}: {name} is there twice")
        key = found
        members[suffix] = data
    if members:
        yield key, members


def _listed(
    where: str, key: str, members: dict[str, bytes], split: str | None, problems: list[str]
) -> Listed:
    values: dict[str, Any] = {}
    if "json" in members:
        try:
            found = json.loads(members["json"])
            values = found if isinstance(found, dict) else {}
        except ValueError:
            problems.append(f"{where}: its .json is not JSON")
    else:
        problems.append(f"{where}: no .json")
    text = members.get("txt", b"").decode("utf-8", "replace") or str(values.get("text") or "")
    return Listed(
        where=where,
        id=key,
        text=text,
        split=split,
        speaker=values.get("speaker"),
        duration_s=values.get("duration"),
        num_samples=None,
        sampling_rate_hz=values.get("sampling_rate"),
        audio=next((members[kind] for kind in _AUDIO if kind in members), None),
        columns=values,
    )
