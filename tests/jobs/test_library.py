"""The three calls that a program makes, as the package documents them."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

import pocket_batch
from pocket_batch.errors import InputError, ModelUnavailableError, UsageError


@pytest.fixture
def model(
    tiny_model: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A model folder with a voice `alba` of its own, and caches of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "english"
    folder.mkdir()
    source = tiny_model("small")
    for path in source.iterdir():
        (folder / path.name).symlink_to(path)
    time = np.arange(48_000) / 24_000
    soundfile.write(tmp_path / "voice.wav", 0.1 * np.sin(2 * np.pi * 150 * time), 24_000)
    engine = pocket_batch.load_engine(model=str(source))
    recording = engine.voice(str(tmp_path / "voice.wav"))
    from pocket_batch.engine.voice import write_state

    (folder / "embeddings").mkdir()
    write_state(engine.engine.states.get(recording), folder / "embeddings" / "alba.safetensors")  # type: ignore[attr-defined]
    return folder


def test_a_program_gets_samples_in_three_calls(model: Path) -> None:
    engine = pocket_batch.load_engine("pocket", model=str(model))
    alba = engine.voice("alba")
    audio = engine.say("The tide came in.", alba)
    assert audio.dtype == np.float32
    assert audio.ndim == 1
    assert len(audio) >= 6 * 1920
    assert np.array_equal(audio, engine.say("The tide came in.", "alba"))
    assert not np.array_equal(audio, engine.say("The tide came in.", alba, seed=1))


def test_a_long_text_is_cut_into_sentences_with_pauses(model: Path) -> None:
    engine = pocket_batch.load_engine("pocket", model=str(model))
    alba = engine.voice("alba")
    one = engine.say("The tide came in and went.", alba)
    many = engine.say("The tide came in and went.\n\nThe clock had run down again.", alba)
    assert np.array_equal(many[: len(one)], one)
    pause = many[len(one) :]
    assert np.flatnonzero(pause)[0] >= 0.7 * engine.sampling_rate_hz


def test_the_embedded_voice_speaks_too() -> None:
    engine = pocket_batch.load_engine("hibari")
    audio = engine.say("The tide came in.", "heart")
    assert 0.5 < len(audio) / engine.sampling_rate_hz < 5


def test_the_language_is_given_by_name_or_tag() -> None:
    for language, name in (("english", "english"), ("fr-CA", "french"), ("dutch", "dutch")):
        assert pocket_batch.load_engine("pocket", language=language).engine.spec.model == name


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: pocket_batch.load_engine("pocket", language="klingon"), ModelUnavailableError),
        (lambda: pocket_batch.load_engine("hibari", language="english"), UsageError),
        (lambda: pocket_batch.load_engine("pocket", language="en", model="french"), UsageError),
        (lambda: pocket_batch.load_engine("hibari").voice("tone"), UsageError),
        (lambda: pocket_batch.load_engine("fake").say("\n", "tone"), InputError),
    ],
)
def test_what_cannot_be_is_refused(call: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_importing_the_package_imports_nothing_else() -> None:
    import subprocess

    code = "import sys; import pocket_batch; sys.exit(bool({'numpy', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
