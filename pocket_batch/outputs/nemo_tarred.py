"""NeMo's tarred data set: tar files of audio, and a manifest for each.

Source: NeMo, scripts/speech_recognition/convert_to_tarred_audio_dataset.py.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.clip_files import json_line, read_lines, text_of, write_lines
from pocket_batch.outputs.exports import Listed, SetFacts
from pocket_batch.outputs.nemo import listed_line, manifest_values
from pocket_batch.outputs.tar_shards import TarShards, check_numbers, read_tar
from pocket_batch.rows import Clip

DESCRIPTION = "a folder a split with audio_0.tar ... and sharded manifests, for NeMo"
NEEDS_WAV = False
SAMPLING_RATE_HZ = None


class NemoTarred:
    """Writes a folder a split; tar members have bare names without a dot in the stem."""

    def __init__(self, folder: Path, settings: ExportSettings) -> None:
        self._folder = folder
        self._max_bytes = settings.shard_bytes
        self._split = ""
        self._tars: TarShards | None = None
        self._lines: list[list[bytes]] = []

    def add(self, clip: Clip) -> None:
        """Write the audio, and remember the line."""
        if clip.split != self._split or self._tars is None:
            self._end_split()
            self._split = clip.split
            top = self._folder / clip.split
            self._tars = TarShards(top, lambda i: f"audio_{i}.tar", self._max_bytes)
        name = f"{clip.id}.{clip.suffix}"
        shard = self._tars.add([(name, clip.audio)])
        if shard == len(self._lines):
            self._lines.append([])
        self._lines[shard].append(json_line({**manifest_values(clip, name), "shard_id": shard}))

    def close(self) -> list[str]:
        """Finish the last split."""
        self._end_split()
        return []

    def _end_split(self) -> None:
        if self._tars is None:
            return
        self._tars.close()
        top = self._folder / self._split
        for number, lines in enumerate(self._lines):
            write_lines(top / "sharded_manifests" / f"manifest_{number}.json", lines)
        write_lines(top / "tarred_audio_manifest.json", (x for lines in self._lines for x in lines))
        write_lines(top / "metadata.yaml", [self._metadata()])
        self._tars, self._lines = None, []

    def _metadata(self) -> bytes:
        num_clips = sum(map(len, self._lines))
        last = len(self._lines) - 1
        return (
            "version: 1.0\n"
            f"num_shards: {len(self._lines)}\n"
            f"num_samples: {num_clips}\n"
            f"tarred_audio_filepaths: audio__OP_0..{last}_CL_.tar\n"
            f"sharded_manifests: sharded_manifests/manifest__OP_0..{last}_CL_.json\n"
        ).encode()


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> NemoTarred:
    """See `Format`."""
    return NemoTarred(folder, settings)


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    for top in sorted({path.parent for path in folder.glob("*/audio_*.tar")}):
        split = top.name
        whole = list(read_lines(top / "tarred_audio_manifest.json", problems))
        parts = [
            line
            for path in sorted((top / "sharded_manifests").glob("*.json"), key=_number)
            for line in read_lines(path, [])
        ]
        if [values for _, values in whole] != [values for _, values in parts]:
            problems.append(f"{split}: tarred_audio_manifest.json is not what its shards say")
        tars = {_number(path): path for path in top.glob("audio_*.tar")}
        manifests = {_number(p): p for p in (top / "sharded_manifests").glob("manifest_*.json")}
        check_numbers(sorted({*tars, *manifests}), f"{split} shards", problems)
        for number in sorted({*tars, *manifests}):
            if number not in tars or number not in manifests:
                what = "audio" if number not in tars else "manifest"
                problems.append(f"{split}: shard {number} has no {what}")
                continue
            yield from _shard(split, tars[number], manifests[number], problems)


def _shard(split: str, tar: Path, manifest: Path, problems: list[str]) -> Iterator[Listed]:
    lines: dict[str, tuple[str, dict[str, Any]]] = {}
    for where, values in read_lines(manifest, problems):
        name = text_of(values, "audio_filepath") or ""
        if name in lines:
            problems.append(f"{split}/{where}: {name} is listed again")
        lines[name] = (f"{split}/{where}", values)
    if not lines:
        problems.append(f"{split}/{manifest.name}: no lines")
    for name, audio in read_tar(tar, problems):
        if name not in lines:
            problems.append(f"{split}/{tar.name}: {name} is in no manifest, which NeMo refuses")
            continue
        where, values = lines.pop(name)
        yield listed_line(where, values, split, audio)
    for where, values in lines.values():
        yield listed_line(where, values, split, None)


def _number(path: Path) -> int:
    """`audio_12.tar` -> 12."""
    digits = path.stem.rpartition("_")[2]
    return int(digits) if digits.isdecimal() else -1
