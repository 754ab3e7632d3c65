"""The card of an export: README.md as model hubs want it, and as a person reads it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pocket_batch.bcp47 import primary
from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.jobs.dataset.clips import Census
from pocket_batch.jobs.dataset.licences import hub_licence
from pocket_batch.outputs.clip_files import SPLITS
from pocket_batch.outputs.exports import SetFacts
from pocket_batch.words import duration

NAME = "README.md"
_SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)  # hubs' size_categories
_LOAD = {
    "ljspeech": '`lhotse.recipes.ljspeech.prepare_ljspeech("{name}")`',
    "piper": "The training command of Piper, with `--data.csv_path metadata.csv "
    "--data.audio_dir wav`.",
    "audiofolder": '`datasets.load_dataset("{name}")`; the library wants the package `torchcodec` '
    "for it.",
    "parquet": '`datasets.load_dataset("{name}")`; without the package `torchcodec`, then '
    '`.cast_column("audio", datasets.Audio(decode=False))` for the files as they are.',
    "nemo": "NeMo's `manifest_filepath: {name}/train_manifest.json`",
    "nemo-tarred": "NeMo's `tarred_audio_filepaths: {name}/train/audio__OP_0..N_CL_.tar` and "
    "`manifest_filepath: {name}/train/sharded_manifests/manifest__OP_0..N_CL_.json`",
    "lhotse": '`lhotse.RecordingSet.from_file("{name}/pb_recordings_train.jsonl.gz")'
    '.with_path_prefix("{name}")`, and its supervisions likewise',
    "lhotse-shar": '`lhotse.CutSet.from_shar(in_dir="{name}/train")`',
    "webdataset": '`webdataset.WebDataset("{name}/train-{{000000..NNNNNN}}.tar")`',
}
_FILES = {
    "audiofolder": "{split}/**",
    "parquet": "data/{split}-*.parquet",
    "webdataset": "{split}-*.tar",
}


def write_card(
    folder: Path,
    name: str,
    run: dict[str, Any],
    facts: SetFacts,
    census: Census,
    settings: ExportSettings,
) -> None:
    """Write the card of an export of the format `name`."""
    head = _head(name, facts, census)
    body = _body(name, run, facts, census, settings)
    (folder / NAME).write_text(f"---\n{head}---\n\n{body}", encoding="utf-8")


def _head(name: str, facts: SetFacts, census: Census) -> str:
    """YAML for machines; strings are written as JSON, which YAML reads as they are."""
    total = sum(census.num_clips.values())
    values: list[tuple[str, object]] = [
        ("license", hub_licence(facts.licence)),
        ("language", [primary(facts.language)]),
        ("pretty_name", facts.name),
        ("tags", ["audio", "speech", "synthetic"]),
        ("task_categories", ["automatic-speech-recognition", "text-to-speech"]),
        ("size_categories", [_size_category(total)]),
        ("num_clips", dict(facts.num_clips)),
    ]
    if name in _FILES:
        files = [{"split": s, "path": _FILES[name].format(split=s)} for s in _splits(census)]
        values.append(("configs", [{"config_name": "default", "data_files": files}]))
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values)


def _size_category(total: int) -> str:
    """`720` -> `n<1K`."""
    names = ("1K", "10K", "100K", "1M", "10M", "100M")
    if total < _SIZES[0]:
        return "n<1K"
    below = next((i for i, size in enumerate(_SIZES) if total < size), None)
    return f"{names[below - 1]}<n<{names[below]}" if below else "100M<n<1B"


def _splits(census: Census) -> list[str]:
    return [split for split in SPLITS if census.num_clips[split]]


def _body(
    name: str, run: dict[str, Any], facts: SetFacts, census: Census, settings: ExportSettings
) -> str:
    total_s = sum(census.seconds.values())
    parts = [
        f"# {facts.name}\n",
        f"All audio in this set is synthetic: {duration(total_s)} of speech "
        f"({total_s / 3600:.2f} hours), made from text by pocket-batch. "
        f"Licence: {facts.licence}, the strictest of voices and text.\n",
        "Do not use it to imitate a person without consent, or to pass as real speech.\n",
        _table(("Split", "Clips", "Hours"), _split_rows(census)),
        "## Speakers\n",
        _table(
            ("Speaker", "Licence", "Language", "Source"),
            [(s.name, s.licence, s.language, s.source) for s in facts.speakers],
        ),
        "## Load it\n",
        f"{_LOAD[name].format(name=facts.name)}\n",
        *_filters(run),
        *_reproduce(name, run, settings),
    ]
    return "\n".join(parts)


def _split_rows(census: Census) -> list[tuple[str, str, str]]:
    return [
        (s, f"{census.num_clips[s]:,}", f"{census.seconds[s] / 3600:.3f}") for s in _splits(census)
    ]


def _filters(run: dict[str, Any]) -> list[str]:
    """What was left out, and by which limits."""
    planned, found = run.get("planned", {}), run.get("statistics", {})
    rows = [
        *((f"text: {reason}", f"{n:,}") for reason, n in planned.get("rejects", {}).items()),
        *((f"attempt: {reason}", f"{n:,}") for reason, n in found.get("rejects", {}).items()),
        *((f"given up: {reason}", f"{n:,}") for reason, n in found.get("failures", {}).items()),
    ]
    limits = run.get("settings", {}).get("filters", {})
    told = ", ".join(f"{key} {value}" for key, value in limits.items() if value is not None)
    return [
        "## Filters\n",
        _table(("Left out", "Count"), rows) if rows else "Nothing was left out.\n",
        f"Limits: {told}.\n",
    ]


def _reproduce(name: str, run: dict[str, Any], settings: ExportSettings) -> list[str]:
    """The commands, and the versions that give the same bits on the same kind of processor."""
    versions = run.get("versions", {})
    wanted = ("pocket-batch", "torch", "onnxruntime", "hibari-tts", "piper-tts", "soundfile")
    told = ", ".join(f"{package} {versions[package]}" for package in wanted if package in versions)
    engines = ", ".join(
        " ".join(filter(None, (e.get("name"), e.get("model"), e.get("version"))))
        for e in run.get("engines", [])
    )
    return [
        "## Reproduce it\n",
        f"```sh\n{run.get('command', '')}\n{_command(name, settings)}\n```\n",
        f"Seed {run.get('seed', 0)}; engines: {engines}; {told}. The same versions on the same "
        "kind of processor give the same bits.\n",
    ]


def _command(name: str, settings: ExportSettings) -> str:
    """The command of this export, with what is not as usual."""
    usual = ExportSettings()
    words = [f"pocket-batch export DIR --format {name}"]
    if settings.audio != usual.audio:
        words.append(f"--audio {settings.audio}")
    if settings.sampling_rate_hz:
        words.append(f"--sampling-rate {settings.sampling_rate_hz}")
    if settings.loudness_lufs is not None:
        words.append(f"--loudness {settings.loudness_lufs:g}")
    if settings.shard_bytes != usual.shard_bytes:
        words.append(f"--shard-size {settings.shard_bytes}B")
    if settings.metadata != usual.metadata:
        words.append(f"--metadata {settings.metadata}")
    return " ".join([*words, *["--by-speaker"] * settings.by_speaker])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
