"""What all tests share: the corpus when it is there, small books, and a run without a terminal."""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.cli.main import main

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files beside the repository; tests that want it are skipped without."""
    folder = REPOSITORY.parent / "shared" / "corpus"
    if not folder.is_dir():
        pytest.skip("the corpus is not on this machine")
    return folder


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """A text of two chapters, five sentences and one repeated line."""
    path = tmp_path / "story.txt"
    path.write_text(
        "Title: A Small Story\nAuthor: Nobody\n\nChapter 1. Out\n\n"
        "The door was open, and nobody had opened it. She went out all the same.\n\n"
        "The rain had stopped an hour ago.\n\nChapter 2. Back\n\n"
        "She came back before the lamps were lit. The rain had stopped an hour ago.\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny random Pocket TTS checkpoint, by the name of its variant."""
    folder = tmp_path_factory.mktemp("models")
    helpers = REPOSITORY / "tests" / "models"
    make_tokenizer = runpy.run_path(str(helpers / "make_tokenizer.py"))["make_tokenizer"]
    checkpoints = runpy.run_path(str(helpers / "make_checkpoint.py"))
    configs = checkpoints["variants"]() | checkpoints["full_size"]()

    def make(name: str) -> Path:
        if not (folder / name).exists():
            table = configs[name]["flow_lm"]["lookup_table"]
            (folder / f"{name}-text").mkdir()
            tokenizer = make_tokenizer(folder / f"{name}-text", table["n_bins"], table["tokenizer"])
            checkpoints["make_checkpoint"](folder / name, configs[name], tokenizer)
        return folder / name

    return make


@pytest.fixture
def command() -> Callable[..., int]:
    """Run `pocket-batch` in this process with words; the exit code comes back."""

    def run(*words: object) -> int:
        return main([str(word) for word in words])

    return run
