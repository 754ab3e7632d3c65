"""LJSpeech: `metadata.csv` of three columns and a folder of WAV files.

Source: the LJ Speech Dataset, README; read by coqui's formatter and lhotse's recipe.
"""

from collections.abc import Iterator
from pathlib import Path

from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.clip_files import orphans, read_audio, write_clip, write_lines
from pocket_batch.outputs.exports import Listed, SetFacts
from pocket_batch.rows import Clip

DESCRIPTION = "metadata.csv (id|text|normalised text) and wavs/, for coqui, lhotse and others"
NEEDS_WAV = True
SAMPLING_RATE_HZ = None
LIST = "metadata.csv"
_MARKS = str.maketrans("|\r\n\t", "    ")  # what would be taken for the end of a cell or a line


class LJSpeech:
    """Writes all splits into one list, and one list for each split beside it."""

    def __init__(self, folder: Path, settings: ExportSettings, facts: SetFacts) -> None:
        self._folder = folder
        self._by_speaker = settings.by_speaker
        self._facts = facts
        self._lines: list[tuple[str, int, str, bytes]] = []
        self._num_changed = 0

    def add(self, clip: Clip) -> None:
        """Write the WAV file, and remember the line."""
        top = f"{clip.speaker}/" if self._by_speaker else ""
        write_clip(self._folder, f"{top}wavs/{clip.id}.wav", clip)
        text, normalized = _cell(clip.text), _cell(clip.normalized_text or clip.text)
        self._num_changed += text != clip.text or normalized != (clip.normalized_text or clip.text)
        line = f"{clip.id}|{text}|{normalized}\n".encode()
        self._lines.append((top, clip.position, clip.split, line))

    def close(self) -> list[str]:
        """Write the lists."""
        for top in sorted({line[0] for line in self._lines}):
            own = sorted(line for line in self._lines if line[0] == top)
            write_lines(self._folder / top / LIST, (line for _, _, _, line in own))
            splits = {split for _, _, split, _ in own}
            for split in splits if len(splits) > 1 else ():
                lines = (line for _, _, found, line in own if found == split)
                write_lines(self._folder / top / f"metadata_{split}.csv", lines)
        told = []
        if len(self._facts.speakers) > 1 and not self._by_speaker:
            told.append("LJSpeech has no speakers: give --by-speaker for a folder of each voice.")
        if self._num_changed:
            told.append(
                f"LJSpeech has no `|` or line break: {self._num_changed:,} texts got spaces."
            )
        return told


def _cell(text: str) -> str:
    return text.translate(_MARKS)


def make_exporter(folder: Path, settings: ExportSettings, facts: SetFacts) -> LJSpeech:
    """See `Format`."""
    return LJSpeech(folder, settings, facts)


def read_back(folder: Path, problems: list[str]) -> Iterator[Listed]:
    """See `Format`."""
    lists = sorted(folder.glob(f"*/{LIST}")) or [folder / LIST]
    listed: set[str] = set()
    for path in lists:
        speaker = path.parent.name if path.parent != folder else None
        split_of = _splits(path.parent)
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            where = f"{path.relative_to(folder).as_posix()}:{number}"
            if not line:
                continue
            cells = line.decode("utf-8", "replace").split("|")
            if len(cells) != 3:
                problems.append(f"{where}: {len(cells)} columns, and 3 were wanted")
                continue
            wav = path.parent / "wavs" / f"{cells[0]}.wav"
            listed.add(wav.relative_to(folder).as_posix())
            split = split_of.get(cells[0])
            yield Listed(
                where, cells[0], cells[1], split, speaker, None, None, None, read_audio(wav)
            )
    orphans(folder, listed, problems)


def _splits(folder: Path) -> dict[str, str]:
    """The split of each id, by the lists of splits."""
    found = {}
    for path in sorted(folder.glob("metadata_*.csv")):
        split = path.stem.removeprefix("metadata_")
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            found[line.partition("|")[0]] = split
    return found
