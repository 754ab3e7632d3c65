"""Loads an export with the library it is for, and compares what that gives with the files.

The libraries are the user's; none of them is needed to write an export.
"""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np

from pocket_batch.errors import UsageError
from pocket_batch.jobs.dataset.validate import format_of
from pocket_batch.jobs.progress import Reporter
from pocket_batch.outputs.clip_files import SPLITS
from pocket_batch.outputs.exports import load_format
from pocket_batch.units.store import Store

PACKAGES = {
    "datasets": "datasets",
    "lhotse": "lhotse",
    "webdataset": "webdataset",
    "nemo": "nemo_toolkit[asr]",
}
_READS = {
    "datasets": ("audiofolder", "parquet", "webdataset"),
    "lhotse": ("lhotse", "lhotse-shar", "ljspeech"),
    "webdataset": ("webdataset",),
    "nemo": ("nemo", "nemo-tarred"),
}
PEAK_ERROR = 1.5 / 32_768  # between two decoders of the same 16-bit file


@dataclass(frozen=True, slots=True)
class Loaded:
    """A clip as a library gives it; what it does not tell is None. Samples are (S,), or None."""

    id: str
    text: str
    speaker: str | None
    samples: Any


def load_with(source: str, library: str, name: str | None, reporter: Reporter) -> list[str]:
    """Load an export with a library; returns a line for each difference from its files.

    Args:
        source: the folder of the export.
        library: a key of `PACKAGES`.
        name: the format, if its files do not tell.
        reporter: is told what was loaded.

    Raises:
        UsageError: the library is not installed, or does not read the format.
        InputError: the format cannot be told.
    """
    if find_spec(library) is None:
        raise UsageError(
            f"{library} is not installed here. Run `pip install '{PACKAGES[library]}'`, "
            "or leave --load-with out."
        )
    folder = Store(source).folder
    if folder is None:
        raise UsageError("--load-with wants the folder of one export on this machine.")
    name = name or format_of(folder)
    if name not in _READS[library]:
        formats = ", ".join(_READS[library])
        raise UsageError(f"{library} does not read {name}: name the folder of {formats}.")
    ours = {c.id: c for c in load_format(name).read_back(folder, []) if c.audio is not None}
    problems: list[str] = []
    num = 0
    load = _datasets if library == "datasets" else _LOADERS[name]
    try:
        for clip in load(folder):
            num += 1
            listed = ours.pop(clip.id, None)
            if listed is None:
                problems.append(f"{library} gives `{clip.id}`, which is not in the files")
                continue
            found = _differences(clip, listed.text, listed.speaker, listed.audio or b"")
            problems += [f"{listed.where}: {library} gives {difference}" for difference in found]
    except Exception as error:  # noqa: BLE001  # whatever a library raises is what it makes of it
        problems.append(f"{library} cannot load it: {type(error).__name__}: {error}")
    problems += [f"{clip.where}: {library} does not give it" for clip in ours.values()]
    reporter.note("loaded", f"{library} loads {num:,} clips of {name}.", num_clips=num)
    return problems


def _differences(clip: Loaded, text: str, speaker: str | None, audio: bytes) -> Iterator[str]:
    if clip.text != text:
        yield f"the text `{clip.text[:60]}`"
    if clip.speaker is not None and speaker is not None and clip.speaker != speaker:
        yield f"the speaker `{clip.speaker}`"
    if clip.samples is None:
        return
    wanted = _decoded(audio)
    samples = np.asarray(clip.samples, np.float32).reshape(-1)
    if len(samples) != len(wanted):
        yield f"{len(samples)} samples instead of {len(wanted)}"
    elif len(samples) and float(np.abs(samples - wanted).max()) > PEAK_ERROR:
        yield "other samples"


def _decoded(audio: bytes) -> Any:
    import soundfile

    return soundfile.read(io.BytesIO(audio), dtype="float32")[0]


def _datasets(folder: Path) -> Iterator[Loaded]:
    """AudioFolder, Parquet and WebDataset by `datasets.load_dataset`, audio left packed."""
    import datasets

    with TemporaryDirectory() as cache, _without_codec():
        for split, rows in _load_datasets(folder, cache).items():
            if split not in SPLITS:
                continue
            name = next(n for n in ("audio", "flac", "wav", "opus") if n in rows.column_names)
            for row in rows.cast_column(name, datasets.Audio(decode=False)):
                inner = row.get("json") or row
                audio = row[name]["bytes"] or Path(row[name]["path"]).read_bytes()
                text = row.get("txt") or inner["text"]
                yield Loaded(inner["id"], text, inner.get("speaker"), _decoded(audio))


def _load_datasets(folder: Path, cache: str) -> Any:
    import datasets

    datasets.disable_progress_bars()
    tars = {split: sorted(map(str, folder.glob(f"{split}-*.tar"))) for split in SPLITS}
    files = {split: paths for split, paths in tars.items() if paths}
    if files:
        return datasets.load_dataset("webdataset", data_files=files, cache_dir=cache)
    return datasets.load_dataset(str(folder.resolve()), cache_dir=cache)


@contextmanager
def _without_codec() -> Iterator[None]:
    """Let `datasets` list audio files without torchcodec, which it asks for and does not use."""
    if "torchcodec" in sys.modules or find_spec("torchcodec") is not None:
        yield
        return
    import datasets.config  # looks for the real package first

    assert datasets.config
    encoders = ModuleType("torchcodec.encoders")
    encoders.AudioEncoder = None  # type: ignore[attr-defined]
    sys.modules["torchcodec"] = ModuleType("torchcodec")
    sys.modules["torchcodec.encoders"] = encoders
    try:
        yield
    finally:
        del sys.modules["torchcodec"], sys.modules["torchcodec.encoders"]


def _webdataset(folder: Path) -> Iterator[Loaded]:
    import json

    import webdataset

    paths = [str(path) for path in sorted(folder.glob("*.tar"))]
    for sample in webdataset.WebDataset(paths, shardshuffle=False, empty_check=False):
        values = json.loads(sample["json"])
        audio = next(sample[kind] for kind in ("flac", "wav", "opus") if kind in sample)
        text = sample["txt"].decode()
        yield Loaded(sample["__key__"], text, values.get("speaker"), _decoded(audio))


def _lhotse(folder: Path) -> Iterator[Loaded]:
    import lhotse

    for path in sorted(folder.glob("*recordings_*.jsonl.gz")):
        said = path.with_name(path.name.replace("recordings", "supervisions"))
        cuts = lhotse.CutSet.from_manifests(
            recordings=lhotse.RecordingSet.from_file(path).with_path_prefix(folder),
            supervisions=lhotse.SupervisionSet.from_file(said),
        )
        yield from _cuts(cuts)


def _shar(folder: Path) -> Iterator[Loaded]:
    import lhotse

    for top in sorted({path.parent for path in folder.glob("*/cuts.*.jsonl.gz")}):
        yield from _cuts(lhotse.CutSet.from_shar(in_dir=top))


def _cuts(cuts: Any) -> Iterator[Loaded]:
    for cut in cuts:
        said = cut.supervisions[0]
        yield Loaded(cut.recording.id, said.text, said.speaker, cut.load_audio())


def _ljspeech(folder: Path) -> Iterator[Loaded]:
    from lhotse import CutSet
    from lhotse.recipes.ljspeech import prepare_ljspeech

    with TemporaryDirectory() as out:
        for path in [p for p in (folder, *sorted(folder.glob("*"))) if (p / "wavs").is_dir()]:
            found = prepare_ljspeech(path, out)
            cuts = CutSet.from_manifests(
                recordings=found["recordings"], supervisions=found["supervisions"]
            )
            for clip in _cuts(cuts):
                yield Loaded(clip.id, clip.text, None, clip.samples)


def _nemo(folder: Path) -> Iterator[Loaded]:
    """By the reader that NeMo's own data loaders use."""
    from nemo.collections.common.data.lhotse.nemo_adapters import LazyNeMoIterator

    for path in sorted(folder.glob("*_manifest.json")):
        yield from _nemo_cuts(LazyNeMoIterator(str(path)))


def _nemo_tarred(folder: Path) -> Iterator[Loaded]:
    from nemo.collections.common.data.lhotse.nemo_adapters import LazyNeMoTarredIterator

    for top in sorted(path.parent for path in folder.glob("*/tarred_audio_manifest.json")):
        manifests = sorted(map(str, (top / "sharded_manifests").glob("*.json")))
        tars = sorted(map(str, top.glob("audio_*.tar")))
        yield from _nemo_cuts(LazyNeMoTarredIterator(manifest_path=manifests, tar_paths=tars))


def _nemo_cuts(cuts: Any) -> Iterator[Loaded]:
    for cut in cuts:
        custom = cut.custom or {}
        name = str(custom.get("id") or cut.id)
        yield Loaded(name, cut.supervisions[0].text, custom.get("speaker"), cut.load_audio())


_LOADERS: dict[str, Callable[[Path], Iterator[Loaded]]] = {
    "audiofolder": _datasets,
    "parquet": _datasets,
    "webdataset": _webdataset,
    "lhotse": _lhotse,
    "lhotse-shar": _shar,
    "ljspeech": _ljspeech,
    "nemo": _nemo,
    "nemo-tarred": _nemo_tarred,
}
