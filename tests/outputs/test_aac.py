"""AAC encoded in parts: the same length, the same marks, nothing heard at a splice."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.audio.ffmpeg import decode
from pocket_batch.audio.metadata import ChapterSpan
from pocket_batch.audio.probe import probe
from pocket_batch.data import Book
from pocket_batch.outputs import aac
from pocket_batch.outputs.audiobook import EncodeSettings, WrittenFile, write_audiobook

RATE_HZ = 24_000


@pytest.fixture
def write(tmp_path: Path, book: Book) -> Callable[..., WrittenFile]:
    def run(tones, num_threads: int, name: str = "book", **more) -> WrittenFile:
        arguments = (tones.chapter, RATE_HZ, tones.marks, book, "Anna", 1.0, -1.0)
        settings = EncodeSettings(num_threads=num_threads)
        return write_audiobook(tmp_path / f"{name}.m4b", "m4b", *arguments, settings, **more)

    return run


@given(st.lists(st.integers(0, 400 * RATE_HZ), min_size=1, max_size=30))
def test_parts_hold_each_sample_once_and_begin_at_whole_frames(lengths: list[int]) -> None:
    ends = np.cumsum(lengths).tolist()
    begins = [0, *ends[:-1]]
    spans = [ChapterSpan("", begin, end) for begin, end in zip(begins, ends, strict=True)]
    parts = aac.plan_parts(spans, RATE_HZ)
    assert parts[0].begin == parts[0].first == 0
    assert parts[-1].stop == ends[-1]
    assert parts[-1].end == len(spans)
    for before, after in pairwise(parts):
        assert (before.stop, before.end) == (after.begin, after.first)
        assert after.begin % aac.FRAME == 0
        lead_in = spans[after.first].begin - after.begin
        assert aac.LEAD_IN <= lead_in < aac.LEAD_IN + aac.FRAME
        assert before.stop - before.begin >= aac.MIN_PART_S * RATE_HZ - aac.LEAD_IN - aac.FRAME


def test_the_bytes_do_not_depend_on_the_number_of_threads(
    write: Callable, tones: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aac, "MIN_PART_S", 2)
    book = tones(7)
    one, three = write(book, 1, "one").path, write(book, 3, "three").path
    assert one.read_bytes() == three.read_bytes()


def test_parts_decode_to_what_one_encode_decodes_to(
    write: Callable, tones: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = tones(6)
    whole = decode(write(book, 2, "whole").path).astype(float)
    monkeypatch.setattr(aac, "MIN_PART_S", 2)
    parts = aac.plan_parts(chapter_spans(book), RATE_HZ)
    spliced = write(book, 2, "spliced")
    samples = decode(spliced.path).astype(float)
    assert len(parts) == 3
    assert len(samples) == len(whole) == spliced.num_samples
    original = book.whole()
    noise = [np.square(decoded - original).mean() for decoded in (whole, samples)]
    assert noise[1] == pytest.approx(noise[0], rel=0.05)
    for part in parts[1:]:
        assert not samples[part.begin - 1024 : part.begin + 1024].any()
    found = probe(spliced.path).chapters
    assert [round(chapter.begin_s * RATE_HZ) for chapter in found] == book.starts


@pytest.mark.parametrize("num_extra", [0, 1, 1023, 1024])
def test_a_tone_after_a_splice_begins_on_its_sample(
    write: Callable, tones: Callable, monkeypatch: pytest.MonkeyPatch, num_extra: int
) -> None:
    monkeypatch.setattr(aac, "MIN_PART_S", 1)
    book = tones(3, pause_s=0.5 + num_extra / RATE_HZ)
    samples = decode(write(book, 2).path).astype(float)
    original = book.whole().astype(float)
    for start in book.starts:
        burst = original[start : start + RATE_HZ]
        lags = range(-20, 21)
        near = [
            np.dot(burst, samples[max(start + k, 0) :][: len(burst)])
            for k in lags
            if start + k >= 0
        ]
        assert int(np.argmax(near)) == (20 if start else 0)


@pytest.mark.parametrize("pause_s", [0.0, 0.1, 0.17])
def test_a_book_without_silence_between_chapters_is_encoded_in_one_part(
    write: Callable, tones: Callable, monkeypatch: pytest.MonkeyPatch, pause_s: float
) -> None:
    book = tones(5, pause_s=pause_s)
    whole = write(book, 2, "whole").path.read_bytes()
    monkeypatch.setattr(aac, "MIN_PART_S", 2)
    steps: list[int] = []
    written = write(book, 2, "spliced", progress=steps.append)
    assert written.path.read_bytes() == whole
    assert sum(steps) == written.num_samples


def chapter_spans(book) -> list[ChapterSpan]:
    return [
        ChapterSpan(mark.title, start, start + mark.num_samples)
        for mark, start in zip(book.marks, book.starts, strict=True)
    ]
