"""Runs under Ray that are shot at end with the samples of a calm run."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pocket_batch.audio.ffmpeg import decode
from pocket_batch.cli.bench_pipeline import write_book
from pocket_batch.data import Utterance
from pocket_batch.manifest import Manifest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("slow_voice_by_name")]
SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
ROUNDS = 1 if SHORT else 20


def start(book: Path, output: Path) -> "subprocess.Popen[bytes]":
    options = ["--voice", "slow", "--executor", "ray", "--quiet", "-o", str(output)]
    return subprocess.Popen([sys.executable, "-m", "pocket_batch", str(book), *options])


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chaos") / "book.epub"
    write_book(path, 1_500 if SHORT else 3_000)
    return path


@pytest.fixture(scope="module")
def calm(book: Path) -> np.ndarray:
    output = book.with_name("calm.flac")
    assert start(book, output).wait(120) == 0
    return decode(output)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killing_workers_and_drivers_at_random_changes_no_sample(
    book: Path, calm: np.ndarray, workers_of: Callable[[int], list[int]], seed: int
) -> None:
    rng = random.Random(seed)
    output = book.with_name(f"round{seed}.flac")
    run = start(book, output)
    for _ in range(3):
        time.sleep(rng.uniform(0.5, 6.0))
        if run.poll() is not None:
            break
        if rng.random() < 0.5:
            for pid in workers_of(run.pid):
                os.kill(pid, signal.SIGKILL)
        else:
            run.kill()
            assert run.wait(10) == -signal.SIGKILL
            run = start(book, output)
    assert run.wait(180) == 0
    np.testing.assert_array_equal(decode(output), calm)
    utterances = list(
        Manifest(book.with_name(f"round{seed}.work") / "utterances.jsonl", Utterance).read()
    )
    assert len({u.key for u in utterances}) == len(utterances), "spoken twice"
    assert not list(book.parent.glob(".*")), "something half-written is left"
