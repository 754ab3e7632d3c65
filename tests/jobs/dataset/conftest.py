"""A finished data set on disk, made without an engine."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from pocket_batch.audio.clip import encode
from pocket_batch.manifest import content_key
from pocket_batch.rows import Row, Sample, Scores, Unit, UnitDone, Value
from pocket_batch.units.store import Store
from pocket_batch.units.unit import write_done, write_unit

SPEAKERS = {"heart": ("CC-BY-4.0", 24_000), "joe": ("CC0-1.0", 22_050)}


@pytest.fixture
def finished_set(tmp_path: Path) -> Callable[..., Path]:
    """Make a set of texts, a unit a voice; rows named in `filtered` have no audio."""

    def make(
        texts: tuple[str, ...] = ("One.", "Two.", "007", "NA"),
        voices: tuple[str, ...] = ("heart",),
        filtered: tuple[str, ...] = (),
        columns: dict[str, Value] | None = None,
        undone: tuple[str, ...] = (),
    ) -> Path:
        folder = tmp_path / "set"
        folder.mkdir()
        store, lines, units = Store(folder), b"", []
        for voice in voices:
            rows = sorted(
                (_row(i, text, voice, columns or {}) for i, text in enumerate(texts)),
                key=lambda row: row.key,
            )
            own = b"".join(json.dumps(asdict(row)).encode() + b"\n" for row in rows)
            unit = Unit(content_key(voice=voice), voice, "", len(rows), 9, len(lines), len(own))
            lines += own
            units.append(unit)
            if voice not in undone:
                _speak(store, unit, rows, filtered)
        (folder / "rows.jsonl").write_bytes(lines)
        told = "".join(json.dumps(asdict(unit)) + "\n" for unit in units)
        (folder / "units.jsonl").write_text(told, encoding="utf-8")
        (folder / "run.json").write_text(json.dumps(_run(voices, filtered)), encoding="utf-8")
        return folder

    return make


def _row(position: int, text: str, voice: str, columns: dict[str, Value]) -> Row:
    name = f"u{position}-{voice}"
    return Row(
        key=content_key(text=text, voice=voice),
        id=name,
        source_id=f"u.{position}",
        position=position,
        where=f"c.txt:{position + 1}",
        text=text,
        spoken=text,
        voice=voice,
        language="en",
        group=text.casefold(),
        split="test" if position == 1 else "train",
        take=0,
        seed=position,
        columns=columns,
    )


def _speak(store: Store, unit: Unit, rows: list[Row], filtered: tuple[str, ...]) -> None:
    rate_hz = SPEAKERS[unit.voice][1]
    samples: list[tuple[Sample, bytes | None]] = []
    for row in rows:
        if row.text in filtered:
            samples.append((Sample(row.key, "filtered"), None))
            continue
        pcm = np.full(rate_hz // 10 + row.position, 500, np.int16)
        flac = encode(pcm, rate_hz, "flac")
        scores = Scores(len(pcm) / rate_hz, -3.0, -20.0, 0.0, 0.0, 0.1, 0.1, 0.0, 15.0, 3.0)
        digest = hashlib.sha256(flac).hexdigest()
        sample = Sample(row.key, "kept", len(pcm), rate_hz, "eos", row.seed, 0, digest, scores)
        samples.append((sample, flac))
    sha256, num_bytes = write_unit(store, store.folder or Path(), unit.id, samples)
    kept = [sample for sample, audio in samples if audio is not None]
    num_samples = sum(sample.num_samples for sample in kept)
    done = UnitDone(
        id=unit.id,
        voice=unit.voice,
        num_rows=len(rows),
        num_kept=len(kept),
        num_filtered=len(rows) - len(kept),
        num_errors=0,
        num_samples=num_samples,
        sampling_rate_hz=rate_hz,
        rejects={},
        failures={"too_quiet": len(rows) - len(kept)},
        sha256=sha256,
        num_bytes=num_bytes,
        compute_s=0.0,
        host="here",
    )
    write_done(store, done)


def _run(voices: tuple[str, ...], filtered: tuple[str, ...]) -> dict[str, object]:
    speakers = [
        {"name": v, "licence": SPEAKERS[v][0], "language": "en", "description": "", "source": "a|b"}
        for v in voices
    ]
    return {
        "kind": "dataset",
        "name": "set",
        "language": "en",
        "licence": "CC-BY-4.0",
        "speakers": speakers,
        "engines": [{"name": "hibari", "model": "m", "version": "1"}],
        "command": "pocket-batch dataset c.txt -o set",
        "seed": 7,
        "settings": {"splits": {"validation": 0.1, "test": 0.1, "seed": 0}, "filters": {}},
        "planned": {"rejects": {"empty_text": 3}},
        "statistics": {"rejects": {"no_eos": 2}, "failures": {"too_quiet": len(filtered)}},
        "versions": {"pocket-batch": "0.1.0"},
    }
