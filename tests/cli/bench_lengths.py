"""Measures the lengths in `pocket_batch/jobs/bench/lengths.py`.

`python tests/cli/bench_lengths.py CORPUS/epub` prints them; it takes half a minute.
"""

import io
import sys
from pathlib import Path

import numpy as np

from pocket_batch.config import load_pipeline
from pocket_batch.data import Chapter, EngineSpec, Request
from pocket_batch.engine.base import make_engine
from pocket_batch.jobs.voice import named_voice
from pocket_batch.sources.base import read_book
from pocket_batch.stages.normalize import Normalize
from pocket_batch.text.segment import segment_chapter

BOOKS = (
    "pg-alice-epub3",
    "pg-pride-and-prejudice-epub2",
    "idpf-childrens-literature",
    "se-importance-of-being-earnest",
    "deb-developers-reference-en",
)
NUM_SPOKEN = 150
VOCABULARY = 4000
MAX_TOKENS = 50


def main(folder: Path) -> None:
    """Read, cut, count, speak and fit."""
    from sentencepiece import SentencePieceProcessor

    books = [read_book(folder / f"{name}.epub") for name in BOOKS]
    chapters = list(Normalize("en").run(chapter for book in books for chapter in book.chapters))
    texts = [block.text for chapter in chapters for block in chapter.blocks if block.text]
    tokenizer = SentencePieceProcessor(model_proto=train(texts))

    def count(text: str) -> int:
        return len(tokenizer.encode(text))

    found = [text for chapter in chapters for text in segments(chapter, count)]
    tokens = np.array([count(text) for text in found])
    percentiles = np.percentile(tokens, range(101), method="nearest").astype(int)
    print("segments", len(found), "words", sum(len(text.split()) for text in found))
    print("percentiles of tokens", *percentiles, "mean", round(tokens.mean(), 1))
    print("letters a token", round(sum(map(len, texts)) / sum(map(count, texts)), 2))
    spoken = sorted(found, key=count)[:: len(found) // NUM_SPOKEN]
    seconds = speak(spoken)
    print("words a minute", round(60 * sum(len(t.split()) for t in spoken) / seconds.sum()))
    for name, lengths in (("token", map(count, spoken)), ("letter", map(len, spoken))):
        slope, constant = np.polyfit(list(lengths), seconds, 1)
        print(f"seconds {constant:.3f} + {slope:.4f} a {name}")


def train(texts: list[str]) -> bytes:
    """A tokenizer of the kind and size of the released ones."""
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        model_type="unigram",
        vocab_size=VOCABULARY,
        byte_fallback=True,
        pad_id=3,
        character_coverage=1.0,
        num_threads=1,
        minloglevel=2,
        max_sentence_length=100_000,
    )
    return model.getvalue()


def segments(chapter: Chapter, count_tokens) -> list[str]:  # type: ignore[no-untyped-def]
    """The texts of a chapter's segments, as an audiobook has them."""
    settings = load_pipeline(None, {}).segment
    cut = segment_chapter(
        chapter, "", settings.pauses, "en", MAX_TOKENS, count_tokens, settings.min_words
    )
    return [segment.text for segment in cut]


def speak(texts: list[str]) -> np.ndarray:
    """How long the embedded voice is at each text, seconds."""
    engine, voice = make_engine(EngineSpec("hibari")), named_voice("heart", None)
    requests = [Request(str(n), "", text, voice, n) for n, text in enumerate(texts)]
    lengths = {int(output.key): len(output.audio) for output in engine.generate(requests)}
    return np.array([lengths[n] for n in range(len(texts))]) / engine.sampling_rate_hz


if __name__ == "__main__":
    main(Path(sys.argv[1]))
