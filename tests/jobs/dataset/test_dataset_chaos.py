"""Data sets whose workers and drivers are shot at end with the bytes of a calm run."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("slow_voice_by_name")]
SHORT = os.environ.get("POCKET_BATCH_SLOW") == "short"
ROUNDS = 1 if SHORT else 20
NUM_TEXTS = 400


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("chaos") / "corpus.txt"
    texts = [f"This is sentence number {n} of some hundred." for n in range(NUM_TEXTS)]
    texts[7] = "noeos: a sentence that never ends."
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def start(corpus_file: Path, output: Path) -> "subprocess.Popen[bytes]":
    words = ["dataset", str(corpus_file), "-o", str(output), "--voice", "slow", "--quiet"]
    words += ["--executor", "ray", "--cores-per-worker", "1", "--export", "parquet"]
    return subprocess.Popen([sys.executable, "-m", "pocket_batch", *words])


def files_of(folder: Path) -> dict[str, bytes]:
    """What must be the same: units, the plan, what was left out, and the export."""
    names = ("rows.jsonl", "units.jsonl", "rejects.jsonl", "failures.jsonl")
    paths = [*folder.rglob("*.tar"), *folder.rglob("*.parquet"), *(folder / n for n in names)]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def calm(corpus_file: Path) -> dict[str, bytes]:
    output = corpus_file.with_name("calm")
    assert start(corpus_file, output).wait(120) == 0
    return files_of(output)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killing_workers_and_drivers_at_random_changes_no_byte(
    corpus_file: Path,
    calm: dict[str, bytes],
    workers_of: Callable[[int], list[int]],
    seed: int,
) -> None:
    """Case 11."""
    rng = random.Random(seed)
    output = corpus_file.with_name(f"round{seed}")
    run = start(corpus_file, output)
    num_shots = 0
    for _ in range(4):
        time.sleep(rng.uniform(0.5, 6.0))
        if run.poll() is not None:
            break
        workers = workers_of(run.pid)
        if workers and rng.random() < 0.6:
            num_shots += 1
            os.kill(rng.choice(workers), signal.SIGKILL)
        else:
            num_shots += 1
            run.kill()
            assert run.wait(10) == -signal.SIGKILL
            run = start(corpus_file, output)
    assert run.wait(180) == 0
    print(f"seed {seed}: {num_shots} kills")
    assert files_of(output) == calm
    assert not list(output.rglob("*.part*")), "something half-written is left"
