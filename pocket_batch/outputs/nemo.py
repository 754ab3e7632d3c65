"""NeMo's plain manifest: JSON Lines, a file a split, beside the audio.

Source: NeMo documentation, "Datasets"; nemo.collections.common.data.lhotse.nemo_adapters.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pocket_batch.bcp47 import primary
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
from pocket_batch.rows import Clip

DESCRIPTION = "train_manifest.json ... and audio files, for NeMo"
NEEDS_WAV = False
SAMPLING_RATE_HZ = None
SUFFIX = "_manifest.json"


def manifest_values(clip: Clip, path: str) -> dict[str, Any]:
    """A line of a manifest. Speakers are text: NeMo's maps of them have text as keys."""
    return {
        "audio_filepath": path,
        "duration": clip.duration_s,
        "text": clip.text,
        "normalized_text": clip.normalized_text,
        "lang": primary(clip.language),
        "speaker": clip.speaker,
        "sampling_rate": clip.sampling_rate_hz,
        "id": clip.id,
        **{name: value for name, value in clip.columns.items() if value is not None},
    }


class NemoManifest:
    """Writes audio as it comes, and the manifest of a split at the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[str, list[tuple[int, str, bytes]]] = {}

    def add(self, clip: Clip) -> None:
        """Write the audio, and remember the line."""
        lines = self._lines.setdefault(clip.split, [])
        name = f"{clip.split}/{audio_name(len(lines), clip)}"
        write_clip(self._folder, name, clip)
        lines.append((clip.position, clip.id, json_line(manifest_values(clip, name))))

    def close(self) -> list[str]:
        """Write the manifests, the lines in the order of the corpus."""
        for split, lines in self._lines.items():
            write_lines(self._folder / f"{split}{SUFFIX}", (line for _, _, line in sorted(lines)))
        return []


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> NemoManifest:
    """See `Format`."""
    return NemoManifest(folder)


def listed_line(where: str, values: dict[str, Any], split: str, audio: bytes | None) -> Listed:
    """A line of a manifest, as the validator wants it."""
    path = Path(text_of(values, "audio_filepath") or "")
    return Listed(
        where=where,
        id=text_of(values, "id") or path.stem,
        text=text_of(values, "text") or "",
        split=split,
        speaker=text_of(values, "speaker"),
        duration_s=values.get("duration"),
        num_samples=None,
        sampling_rate_hz=values.get("sampling_rate"),
        audio=audio,
        columns=values,
    )


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    listed: set[str] = set()
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        split = path.name.removesuffix(SUFFIX)
        for where, values in read_lines(path, problems):
            name = text_of(values, "audio_filepath") or ""
            if name in listed:
                problems.append(f"{where}: {name} is listed again")
            listed.add(name)
            if "duration" not in values:
                problems.append(f"{where}: no duration, which NeMo must have")
            if values.get("speaker") is not None and not isinstance(values["speaker"], str):
                problems.append(f"{where}: the speaker is not text")
            yield listed_line(where, values, split, read_audio(folder / name) if name else None)
    orphans(folder, listed, problems)
