"""Small books of tones: each chapter is a burst of its own frequency and a pause."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from pocket_batch.audio.clip import encode
from pocket_batch.data import Book, Cover
from pocket_batch.dataset_settings import ExportSettings
from pocket_batch.outputs.audiobook import ChapterMark
from pocket_batch.outputs.exports import SetFacts, Speaker, load_format
from pocket_batch.rows import Clip

RATE_HZ = 24_000


@dataclass(frozen=True)
class Tones:
    """The chapters of a book of tones, `speech_s` each and `pause_s` after it, not quite equal."""

    titles: tuple[str, ...]
    speech_s: float = 1.0
    pause_s: float = 0.5
    rate_hz: int = RATE_HZ

    def chapter(self, index: int) -> Iterator[NDArray[np.int16]]:
        t = np.arange(round(self.speech_s * self.rate_hz) + 37 * index) / self.rate_hz
        tone = 8000 * np.sin(2 * np.pi * (400 + 50 * (index % 20)) * t)
        yield np.asarray(tone[: len(tone) // 3], np.int16)
        yield np.asarray(tone[len(tone) // 3 :], np.int16)
        yield np.zeros(round(self.pause_s * self.rate_hz) + index, np.int16)

    def whole(self) -> NDArray[np.int16]:
        pieces = [piece for index in range(len(self.titles)) for piece in self.chapter(index)]
        return np.concatenate(pieces)

    @property
    def marks(self) -> list[ChapterMark]:
        return [
            ChapterMark(title, sum(len(piece) for piece in self.chapter(index)))
            for index, title in enumerate(self.titles)
        ]

    @property
    def starts(self) -> list[int]:
        lengths = [mark.num_samples for mark in self.marks]
        return [sum(lengths[:index]) for index in range(len(lengths))]


@pytest.fixture(scope="session")
def tones() -> Callable[..., Tones]:
    def make(titles: int | tuple[str, ...] = 3, **settings: float) -> Tones:
        if isinstance(titles, int):
            titles = tuple(f"Chapter {number}" for number in range(1, titles + 1))
        return Tones(titles, **settings)  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def book() -> Book:
    picture = io.BytesIO()
    Image.new("RGBA", (60, 80), "teal").save(picture, "WEBP")
    return Book(
        id="0",
        title="A Book: of “Tones”",
        chapters=(),
        authors=("Jane Roe", "John Doe"),
        language="en",
        date="1999",
        series="Tones",
        series_part="2",
        description="Tones,\nand pauses.",
        cover=Cover(picture.getvalue(), "image/webp"),
    )


ODD_TEXTS = ("NA", "007", "2024-01-01", 'He said "hi, there".', "Ünïcode — ok…", "null", "a|b\nc")


@pytest.fixture(scope="session")
def odd_clips() -> Callable[..., list[Clip]]:
    """Clips of texts that readers take for something else, by two voices; `suffix` wav or flac."""

    def make(suffix: str = "flac", texts: tuple[str, ...] = ODD_TEXTS, **own: object) -> list[Clip]:
        clips = []
        for number, text in enumerate(texts):
            split = "test" if number % 5 == 4 else "train"
            pcm = np.full(800 + number, 100 * number, np.int16)
            clip = Clip(
                id=f"test-drive_{number}",
                split=split,
                text=text,
                normalized_text=text,
                speaker=("dev", "joe")[number % 2],
                language="en",
                num_samples=len(pcm),
                sampling_rate_hz=16_000,
                suffix=suffix,
                audio=encode(pcm, 16_000, suffix),  # type: ignore[arg-type]
                columns={"source_id": f"test-drive.{number}", "rms_db": -20.5, "wer": None},
                position=len(texts) - number,
            )
            clips.append(replace(clip, **own))  # type: ignore[arg-type]
        return sorted(clips, key=lambda clip: clip.split != "train")

    return make


@pytest.fixture(scope="session")
def odd_facts() -> SetFacts:
    """What an exporter is told of `odd_clips`."""
    return SetFacts(
        name="odd",
        language="en",
        licence="CC-BY-4.0",
        speakers=(Speaker("dev", "CC0-1.0", "en"), Speaker("joe", "CC-BY-4.0", "en")),
        columns=(("source_id", "string"), ("rms_db", "float32"), ("wer", "float32")),
        num_clips={"train": 6, "test": 1},
        sampling_rate_hz=16_000,
    )


@pytest.fixture
def export(odd_facts: SetFacts) -> Callable[..., tuple[Path, list[str]]]:
    """Write clips in a format into a folder; returns the folder and what the exporter tells."""

    def write(
        name: str, folder: Path, clips: list[Clip], **settings: object
    ) -> tuple[Path, list[str]]:
        folder.mkdir()
        wanted = ExportSettings(**settings)  # type: ignore[arg-type]
        exporter = load_format(name).make_exporter(folder, wanted, odd_facts)
        for clip in clips:
            exporter.add(clip)
        return folder, exporter.close()

    return write
