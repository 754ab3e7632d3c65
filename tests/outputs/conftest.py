"""Small books of tones: each chapter is a burst of its own frequency and a pause."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from pocket_batch.data import Book, Cover
from pocket_batch.outputs.audiobook import ChapterMark

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
