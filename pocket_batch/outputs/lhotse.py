"""Lhotse's manifests: recordings and supervisions of a split, packed JSON Lines.

Source: lhotse 1.33, `Recording.to_dict` and `SupervisionSegment.to_dict`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.bcp47 import english_name
from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.clip_files import (
    audio_name,
    json_line,
    orphans,
    read_audio,
    read_lines,
    text_of,
    write_clip,
    write_lines,
)
from pocket_batch.outputs.exports import Listed, SetFacts
from pocket_batch.rows import Clip, Value

DESCRIPTION = "pb_recordings_*.jsonl.gz and pb_supervisions_*.jsonl.gz with audio, for Lhotse"
NEEDS_WAV = False
SAMPLING_RATE_HZ = None
RECORDINGS, SUPERVISIONS, END = "pb_recordings_", "pb_supervisions_", ".jsonl.gz"


def recording(clip: Clip, source: dict[str, Any]) -> dict[str, Any]:
    """A recording with its only source."""
    return {
        "id": clip.id,
        "sources": [source],
        "sampling_rate": clip.sampling_rate_hz,
        "num_samples": clip.num_samples,
        "duration": clip.duration_s,
        "channel_ids": [0],
    }


def supervision(clip: Clip) -> dict[str, Any]:
    """What is said in a recording, from its first sample to its last."""
    custom: dict[str, Value] = {"normalized_text": clip.normalized_text}
    custom |= {name: value for name, value in clip.columns.items() if value is not None}
    return {
        "id": clip.id,
        "recording_id": clip.id,
        "start": 0.0,
        "duration": clip.duration_s,
        "channel": 0,
        "text": clip.text,
        "language": english_name(clip.language),
        "speaker": clip.speaker,
        "custom": custom,
    }


class LhotseManifests:
    """Writes audio as it comes, and the manifests of a split at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[str, list[tuple[int, str, bytes, bytes]]] = {}

    def add(self, clip: Clip) -> None:
        """Write the audio, and remember its lines."""
        lines = self._lines.setdefault(clip.split, [])
        name = f"audio/{clip.split}/{audio_name(len(lines), clip)}"
        write_clip(self._folder, name, clip)
        source = {"type": "file", "channels": [0], "source": name}
        own = json_line(recording(clip, source)), json_line(supervision(clip))
        lines.append((clip.position, clip.id, *own))

    def close(self) -> list[str]:
        """Write the manifests, the lines in the order of the corpus."""
        for split, lines in self._lines.items():
            lines.sort()
            write_lines(self._folder / f"{RECORDINGS}{split}{END}", (x for _, _, x, _ in lines))
            write_lines(self._folder / f"{SUPERVISIONS}{split}{END}", (x for _, _, _, x in lines))
        return []


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> LhotseManifests:
    """See `Format`."""
    return LhotseManifests(folder)


def listed_cut(
    where: str, found: dict[str, Any], said: dict[str, Any], split: str, audio: bytes | None
) -> Listed:
    """A recording with its supervision, as the validator wants it."""
    return Listed(
        where=where,
        id=text_of(found, "id") or "",
        text=text_of(said, "text") or "",
        split=split,
        speaker=text_of(said, "speaker"),
        duration_s=found.get("duration"),
        num_samples=found.get("num_samples"),
        sampling_rate_hz=found.get("sampling_rate"),
        audio=audio,
        columns=said.get("custom") or {},
    )


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    listed: set[str] = set()
    for path in sorted(folder.glob(f"*recordings_*{END}")):
        split = path.name.removesuffix(END).rpartition("_")[2]
        said_path = path.with_name(path.name.replace("recordings", "supervisions"))
        said = {str(v.get("recording_id")): v for _, v in read_lines(said_path, problems)}
        for where, found in read_lines(path, problems):
            sources = found.get("sources") or [{}]
            name = text_of(sources[0], "source") or ""
            if name in listed:
                problems.append(f"{where}: {name} is listed again")
            listed.add(name)
            own = said.pop(str(found.get("id")), None)
            if own is None:
                problems.append(f"{where}: no supervision has this recording")
            audio = read_audio(folder / name) if name else None
            yield listed_cut(where, found, own or {}, split, audio)
        problems.extend(f"{said_path.name}: {key} is no recording" for key in said)
    orphans(folder, listed, problems)
