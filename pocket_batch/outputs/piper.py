"""Piper's training list: `metadata.csv` of `file|text` or `file|speaker|text`, and WAV files.

Source: OHF-Voice/piper1-gpl, docs/TRAINING.md.
"""

from collections.abc import Iterator
from pathlib import Path

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.clip_files import orphans, read_audio, write_clip, write_lines
from pocket_batch.outputs.exports import Listed, SetFacts
from pocket_batch.rows import Clip

DESCRIPTION = "metadata.csv (file|text or file|speaker|text) and wav/, to train Piper voices"
NEEDS_WAV = True
SAMPLING_RATE_HZ = 22_050
LIST = "metadata.csv"
_MARKS = str.maketrans("|\r\n\t", "    ")


class PiperList:
    """Writes one list of all splits; a column of speakers if there are several."""

    def __init__(self, folder: Path, settings: ExportSettings, facts: SetFacts) -> None:
        self._folder = folder
        self._has_speakers = len(facts.speakers) > 1
        self._lines: list[tuple[int, str, str, bytes]] = []

    def add(self, clip: Clip) -> None:
        """Write the WAV file, and remember the line."""
        write_clip(self._folder, f"wav/{clip.id}.wav", clip)
        cells = [f"{clip.id}.wav", clip.text.translate(_MARKS)]
        if self._has_speakers:
            cells.insert(1, clip.speaker)
        self._lines.append((clip.position, clip.id, clip.split, f"{'|'.join(cells)}\n".encode()))

    def close(self) -> list[str]:
        """Write the list."""
        lines = sorted(self._lines)
        write_lines(self._folder / LIST, (line for _, _, _, line in lines))
        splits = {split for _, _, split, _ in lines}
        told = "Piper's list has no splits: it divides the clips itself while it trains."
        return [told] if len(splits) > 1 else []


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> PiperList:
    """See `Format`."""
    return PiperList(folder, settings, facts)


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    listed: set[str] = set()
    for number, line in enumerate((folder / LIST).read_bytes().split(b"\n"), 1):
        if not line:
            continue
        where = f"{LIST}:{number}"
        cells = line.decode("utf-8", "replace").split("|")
        if len(cells) not in (2, 3):
            problems.append(f"{where}: {len(cells)} columns, and 2 or 3 were wanted")
            continue
        speaker = cells[1] if len(cells) == 3 else None
        name = f"wav/{cells[0]}"
        listed.add(name)
        audio = read_audio(folder / name)
        yield Listed(where, Path(cells[0]).stem, cells[-1], None, speaker, None, None, None, audio)
    orphans(folder, listed, problems)
