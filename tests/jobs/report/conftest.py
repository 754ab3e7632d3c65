"""A work folder of a book with everything in it that a report can tell of."""

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pocket_batch.audio.flac import encode_flac
from pocket_batch.data import Dropped, Failure, Segment, Suspect, Utterance
from pocket_batch.manifest import Manifest
from pocket_batch.quality.checks import measure
from pocket_batch.records import Checked, MasteredChapter, TimedLine
from pocket_batch.work_folder import WorkFolder

RATE_HZ = 24_000
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>\x07‮ \"'&"
TEXTS = {
    1: ("Chapter one. The door.", "The door was open, and nobody had opened it.", "She went out."),
    2: (f"He wrote {HOSTILE}", "The rain had stopped an hour ago.", "The door was open again."),
}


def _key(segment_id: str) -> str:
    return (segment_id.replace("-", "") * 16)[:64]


def _tone(text: str, number: int) -> Any:
    """A tone with a quiet end, as long as the text; shape (num_samples,)."""
    num_samples = 1440 * len(text)
    samples = 0.1 * np.sin(np.arange(num_samples) * 2 * np.pi * (120 + 20 * number) / RATE_HZ)
    samples[-2400:] *= 0.001
    return samples.astype(np.float32)


def _fill(work: WorkFolder) -> None:
    """Speak the script; its fourth line fails, and two others are suspect."""
    segments, utterances, lines, checked = [], [], [], []
    chapters = []
    for number, texts in TEXTS.items():
        begin = 12_000
        for place, text in enumerate(texts, 1):
            segment = Segment(f"{number:03d}-{place:04d}", number, text, "tone", 700)
            segments.append(segment)
            key = _key(segment.id)
            if HOSTILE in text:
                lines.append(TimedLine(number, segment.id, key, begin, begin))
                continue
            samples = _tone(text, place)
            flac = encode_flac(samples, RATE_HZ)
            work.store_audio(key, flac)
            lines.append(TimedLine(number, segment.id, key, begin, begin + len(samples)))
            begin += len(samples) + 16_800
            utterances.append(
                Utterance(key, segment.id, len(samples), RATE_HZ, "eos", 7, 0, len(flac), 0.05)
            )
            scores = asdict(measure((samples * 32_767).astype(np.int16), RATE_HZ, text))
            checked.append(Checked(key, 0, 1, (), False, scores))
        noise_db = -80.0 if number == 1 else -math.inf
        levels = (-26.0, -27.0, 0.4, noise_db, 0.54, 0.7)
        chapters.append(MasteredChapter(number, f"Part {number}", begin, *levels))
    checked[1].scores.update(heard="The door was over and nobody opened it twice.", wer=0.33)
    checked[3].scores.update(unheard_of=[1, 2])
    suspects = [
        Suspect(
            _key("001-0002"), "001-0002", TEXTS[1][1], "Words were missing.", ("words_missing",)
        ),
        Suspect(_key("002-0002"), "002-0002", TEXTS[2][1], HOSTILE, ("of_the_future", "click")),
    ]
    failure = Failure(_key("002-0001"), "002-0001", TEXTS[2][0], f"It failed. {HOSTILE}", 3)
    dropped = [
        Dropped("a.xhtml:12", "note", HOSTILE),
        Dropped("b.xhtml:1", "table of contents", "1"),
    ]
    Manifest(work.file("segments.jsonl"), Segment).replace(segments)
    Manifest(work.file("utterances.jsonl"), Utterance).replace(utterances)
    Manifest(work.file("timeline.jsonl"), TimedLine).replace(lines)
    Manifest(work.file("scores.jsonl"), Checked).replace(checked)
    Manifest(work.file("chapters.jsonl"), MasteredChapter).replace(chapters)
    Manifest(work.file("checks.jsonl"), Suspect).replace(suspects)
    Manifest(work.file("failures.jsonl"), Failure).replace([failure])
    Manifest(work.file("dropped.jsonl"), Dropped).replace(dropped)
    _write_facts(work)


def _write_facts(work: WorkFolder) -> None:
    voice = {"name": "tone", "licence": "CC0-1.0 <b>", "description": HOSTILE}
    run = {
        "status": "partial",
        "fingerprint": "f",
        "language": "en",
        "voice": voice,
        "cast": {},
        "engine": {"name": "fake", "version": "1", "model": "", "identity": {"version": "1"}},
        "seed": 0,
        "settings": {
            "master": {"loudness": "lufs", "target_lufs": -23.0, "true_peak_dbtp": -1.0},
            "check": {"min_letters_per_s": 3.0, "max_letters_per_s": 40.0},
            "write": {"split_chapters": False},
        },
        "times_s": {"plan": 0.1, "speak": 2.0, "write": 1.0},
        "outputs": [{"path": "/a/story.m4b", "num_bytes": 90_000, "sha256": "ab" * 32}],
        "results": {"f": {"problem": f"It is not whole. {HOSTILE}"}},
        "versions": {"python": "3.11"},
        "finished_at": "2026-11-30T09:29:42+0000",
    }
    book = {"title": f"A Story {HOSTILE}", "authors": ["Nobody", HOSTILE], "language": "en"}
    work.file("run.json").write_text(json.dumps(run), encoding="utf-8")
    work.file("book.json").write_text(json.dumps(book), encoding="utf-8")
    work.file("lock").touch()


@pytest.fixture
def work(tmp_path: Path) -> WorkFolder:
    """Two chapters of six lines: one not spoken, two suspect, hostile texts everywhere."""
    folder = WorkFolder(tmp_path / "story.work")
    folder.path.mkdir()
    _fill(folder)
    return folder


@pytest.fixture
def key_of() -> Callable[[str], str]:
    """The content key of a segment of the folder."""
    return _key


@pytest.fixture
def hostile() -> str:
    """A text that tries to be markup, script, and the end of an attribute."""
    return HOSTILE
