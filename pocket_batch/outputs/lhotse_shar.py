"""Lhotse Shar: shards of cuts, and tar files of their recordings in the same order.

Source: lhotse 1.33, `lhotse.shar`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.clip_files import json_line, read_lines, text_of, write_lines
from pocket_batch.outputs.exports import Listed, SetFacts
from pocket_batch.outputs.lhotse import listed_cut, recording, supervision
from pocket_batch.outputs.tar_shards import TarShards, check_numbers, read_tar
from pocket_batch.rows import Clip

DESCRIPTION = "a folder a split with cuts.000000.jsonl.gz and recording.000000.tar, for Lhotse"
NEEDS_WAV = False
SAMPLING_RATE_HZ = None


class LhotseShar:
    """Writes a folder a split."""

    def __init__(self, folder: Path, settings: ExportSettings) -> None:
        self._folder = folder
        self._max_bytes = settings.shard_bytes
        self._split = ""
        self._tars: TarShards | None = None
        self._shard = 0
        self._lines: list[bytes] = []

    def add(self, clip: Clip) -> None:
        """Write audio and record, and remember the cut."""
        if clip.split != self._split or self._tars is None:
            self._end_split()
            self._split = clip.split
            top = self._folder / clip.split
            self._tars = TarShards(top, lambda i: f"recording.{i:06d}.tar", self._max_bytes)
        found = recording(clip, {"type": "shar", "channels": [0], "source": ""})
        members = [(f"{clip.id}.{clip.suffix}", clip.audio), (f"{clip.id}.json", json_line(found))]
        shard = self._tars.add(members)
        if shard != self._shard:
            self._write_cuts()
            self._shard = shard
        self._lines.append(json_line(_cut(clip, found)))

    def close(self) -> list[str]:
        """Finish the last split."""
        self._end_split()
        return []

    def _end_split(self) -> None:
        if self._tars is not None:
            self._tars.close()
            self._write_cuts()
        self._tars, self._shard = None, 0

    def _write_cuts(self) -> None:
        path = self._folder / self._split / f"cuts.{self._shard:06d}.jsonl.gz"
        write_lines(path, self._lines)
        self._lines = []


def _cut(clip: Clip, found: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": clip.id,
        "start": 0.0,
        "duration": clip.duration_s,
        "channel": 0,
        "supervisions": [supervision(clip)],
        "recording": found,
        "type": "MonoCut",
    }


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> LhotseShar:
    """See `Format`."""
    return LhotseShar(folder, settings)


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    tops = {p.parent for kind in ("cuts.*.gz", "recording.*.tar") for p in folder.glob(f"*/{kind}")}
    for top in sorted(tops):
        cuts = {_number(path): path for path in top.glob("cuts.*.jsonl.gz")}
        tars = {_number(path): path for path in top.glob("recording.*.tar")}
        check_numbers(sorted({*cuts, *tars}), f"{top.name} shards", problems)
        for number in sorted({*cuts, *tars}):
            if number not in cuts or number not in tars:
                what = "cuts" if number not in cuts else "recordings"
                problems.append(f"{top.name}: shard {number} has no {what}")
                continue
            yield from _shard(top.name, cuts[number], tars[number], problems)


def _shard(split: str, cuts: Path, tar: Path, problems: list[str]) -> Iterator[Listed]:
    """Cuts and recordings of a shard go together in their order."""
    audios = _pairs(tar, split, problems)
    num_cuts = 0
    for where, cut in read_lines(cuts, problems):
        num_cuts += 1
        name, audio = next(audios, ("", None))
        if Path(name).stem != cut.get("id"):
            problems.append(f"{split}/{tar.name}: `{name}` stands where {cut.get('id')} should")
            audio = None
        said = (cut.get("supervisions") or [{}])[0]
        found = cut.get("recording") or {}
        yield listed_cut(
            f"{split}/{where}", {**found, "id": text_of(cut, "id")}, said, split, audio
        )
    for name, _ in audios:
        problems.append(f"{split}/{tar.name}: {name} has no cut")
    if not num_cuts:
        problems.append(f"{split}/{cuts.name}: no cuts")


def _pairs(tar: Path, split: str, problems: list[str]) -> Iterator[tuple[str, bytes]]:
    """The audio files of a tar, each of which its record has to follow."""
    before = ""
    for name, data in read_tar(tar, problems):
        if name.endswith(".json"):
            before = ""
            continue
        if before:
            problems.append(f"{split}/{tar.name}: {before} has no .json")
        before = name
        yield name, data
    if before:
        problems.append(f"{split}/{tar.name}: {before} has no .json")


def _number(path: Path) -> int:
    """`cuts.000012.jsonl.gz` -> 12."""
    digits = path.name.split(".")[1]
    return int(digits) if digits.isdecimal() else -1
