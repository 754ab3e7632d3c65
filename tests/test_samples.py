"""The sample book: built from its text, read back whole, and spoken so that one understands it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pocket_batch.audio.ffmpeg import decode
from pocket_batch.sources.base import read_book

SAMPLES = Path(__file__).parents[1] / "jobs" / "samples"


def test_the_sample_epub_is_what_its_script_builds(tmp_path: Path) -> None:
    built = tmp_path / "built.epub"
    subprocess.run([sys.executable, SAMPLES / "build.py", built], check=True)
    assert built.read_bytes() == (SAMPLES / "tide-clock.epub").read_bytes()


def test_both_samples_hold_the_same_words_and_the_note_is_left_out() -> None:
    epub = read_book(SAMPLES / "tide-clock.epub")
    text = read_book(SAMPLES / "tide-clock.txt")
    assert [c.title for c in epub.chapters] == [c.title for c in text.chapters]
    for ours, theirs in zip(epub.chapters, text.chapters, strict=True):
        assert [b.text for b in ours.blocks] == [b.text for b in theirs.blocks]
    assert any("cat was not counted" in dropped.text for dropped in epub.dropped)
    assert epub.cover is not None


@pytest.mark.slow
def test_the_sample_can_be_understood(
    tmp_path: Path, command: Callable[..., int], word_error_rate: Callable[..., float]
) -> None:
    """Whisper hears what was written: word error rate of the spoken sample under 10 %."""
    book = tmp_path / "tide-clock.txt"
    text = (SAMPLES / "tide-clock.txt").read_text(encoding="utf-8")
    short = os.environ.get("POCKET_BATCH_SLOW") == "short"
    book.write_text(text.split("Chapter 2")[0] if short else text, encoding="utf-8")
    words = (book, "--voice", "heart", "--format", "flac", "--log-format", "plain")
    assert command(*words) == 0
    audio = decode(tmp_path / "tide-clock.flac", 16_000).astype(np.float32) / 32768
    blocks = (block.text for chapter in read_book(book).chapters for block in chapter.blocks)
    assert word_error_rate(audio, " ".join(blocks)) < 0.10
