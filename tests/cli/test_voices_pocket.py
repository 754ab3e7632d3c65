"""Adding, exporting and hearing voices of the engine `pocket`, with a tiny model in a folder."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch

from pocket_batch.config import load_voices
from pocket_batch.data import EngineSpec
from pocket_batch.engine.base import ENGINES, Samples, make_engine
from pocket_batch.engine.pocket import PocketEngine
from pocket_batch.engine.voice import VoiceState, read_state, write_state

Command = Callable[..., int]
Capture = pytest.CaptureFixture[str]
TEXT = "The rain had stopped an hour ago."


def helper(name: str) -> Any:
    """A module of the models' tests: test folders are no packages."""
    if name not in sys.modules:
        path = Path(__file__).parents[1] / "models" / f"{name}.py"
        spec = spec_from_file_location(name, path)
        assert spec
        assert spec.loader
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model that can clone."""
    folder = tmp_path_factory.mktemp("tiny")
    config = helper("make_checkpoint").variants()["lsd"]
    table = config["flow_lm"]["lookup_table"]
    tokenizer = helper("make_tokenizer").make_tokenizer(folder, table["n_bins"], table["tokenizer"])
    helper("make_checkpoint").make_checkpoint(folder, config, tokenizer)
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of the user's own for each test."""
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setitem(ENGINES, "pocket", "pocket_batch.engine.pocket:PocketEngine")
    monkeypatch.setattr("pocket_batch.cli.voices_speak.NUM_THREADS", 1)  # what suits a tiny model
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home" / "pocket-batch" / "voices"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return record(tmp_path / "ann.wav", pitch_hz=150)


def record(path: Path, pitch_hz: int) -> Path:
    """Six seconds of syllables."""
    seconds = np.arange(6 * 24_000) / 24_000
    tone = 0.3 * np.sin(2 * np.pi * pitch_hz * seconds) * np.clip(np.sin(9 * seconds), 0, 1) ** 2
    soundfile.write(path, tone, 24_000)
    return path


def shape_of(model: Path) -> tuple[int, int, int]:
    backbone = make_engine(EngineSpec("pocket", str(model))).source.config.flow_lm.transformer  # type: ignore[attr-defined]
    return backbone.num_layers, backbone.kv_heads, backbone.head_dim


def test_a_voice_is_added_heard_and_exported(
    model: Path, command: Command, recording: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert command("voices", "add", "ann", recording, "--model", model) == 0
    said = capsys.readouterr().out
    assert "not compared" not in said
    assert 'Hear it: pocket-batch voices preview ann "Good evening."' in said
    assert "nearly" not in said
    assert command("voices", "preview", "ann", TEXT, "--model", model) == 0
    pcm, rate_hz = soundfile.read(tmp_path / "ann-preview.wav")
    assert rate_hz == 24_000
    assert len(pcm) > 0.3 * rate_hz
    out = tmp_path / "ann.safetensors"
    assert command("voices", "export", "ann", "-o", out, "--model", model) == 0
    assert command("voices", "export", "ann", "-o", out, "--model", model) == 5
    state = read_state(out, *shape_of(model))
    assert 70 <= state.num_positions <= 77
    assert command("voices", "export", "ann", "-o", out, "--model", model, "--overwrite") == 0
    assert torch.equal(read_state(out, *shape_of(model)).cache, state.cache)


def test_a_long_text_is_spoken_whole(
    model: Path, command: Command, recording: Path, tmp_path: Path
) -> None:
    command("voices", "add", "ann", recording, "--model", model)
    lengths = []
    for text in (TEXT, 4 * f"{TEXT} "):
        assert command("voices", "preview", "ann", text, "--model", model) == 0
        lengths.append(len(soundfile.read(tmp_path / "ann-preview.wav")[0]))
    assert lengths[1] > 2 * lengths[0]


def test_an_exported_state_is_a_voice_of_its_model_and_sounds_the_same(
    model: Path, command: Command, recording: Path, tmp_path: Path
) -> None:
    command("voices", "add", "ann", recording, "--model", model)
    command("voices", "preview", "ann", TEXT, "--model", model)
    command("voices", "export", "ann", "-o", "ann.safetensors", "--model", model)
    recording.unlink()
    words = ("voices", "add", "ann", "ann.safetensors", "--model", model, "--overwrite")
    assert command(*words) == 0
    voice = load_voices()[0]["ann"]
    assert voice.parameters["model"] == str(model)
    assert sorted(path.suffix for path in Path(voice.parameters["state"]).parent.iterdir()) == [
        ".safetensors",
        ".yaml",
    ]
    assert command("voices", "preview", "ann", TEXT, "-o", "again.wav") == 0
    first, again = (soundfile.read(name)[0] for name in ("ann-preview.wav", "again.wav"))
    assert np.array_equal(first, again)


def test_the_same_voice_under_another_name_is_told_of(
    model: Path, command: Command, recording: Path, tmp_path: Path, capsys: Capture
) -> None:
    command("voices", "add", "ann", recording, "--model", model)
    capsys.readouterr()
    assert command("voices", "add", "ann2", recording, "--model", model) == 0
    assert "nearly the same voice as `ann` (likeness 1.00 of 1)" in capsys.readouterr().out
    layers, heads, width = shape_of(model)
    write_state(VoiceState(torch.randn(layers, 2, 20, heads, width)), tmp_path / "o.safetensors")
    assert command("voices", "add", "other", "o.safetensors", "--model", model) == 0
    assert "nearly" not in capsys.readouterr().out


def test_only_the_new_recording_is_encoded_and_three_of_those_alike_are_named(
    model: Path,
    command: Command,
    recording: Path,
    capsys: Capture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(4):
        command("voices", "add", f"ann{number}", recording, "--model", model)
    for path in (tmp_path / "home").rglob("states/*.safetensors"):
        path.unlink()  # as on a machine where they were never used
    encoded: list[int] = []
    encode = PocketEngine.encode_prompt

    def counted(self: PocketEngine, samples: Samples) -> VoiceState:
        encoded.append(len(samples))
        return encode(self, samples)

    monkeypatch.setattr(PocketEngine, "encode_prompt", counted)
    other = record(tmp_path / "bob.wav", pitch_hz=200)
    words = ("--model", model, "--language", "de")
    capsys.readouterr()
    assert command("voices", "add", "bob", other, *words) == 0
    assert len(encoded) == 1
    shown = capsys.readouterr()
    assert "Making the voice with the model" in shown.err
    assert 'preview bob "Guten Abend."' in shown.out
    assert command("voices", "add", "ann4", recording, *words) == 0
    assert len(encoded) == 2
    assert capsys.readouterr().out.count("nearly the same voice") == 3


def test_a_state_of_another_model_is_refused_with_4(
    model: Path, command: Command, tmp_path: Path, home: Path, capsys: Capture
) -> None:
    write_state(VoiceState(torch.zeros(1, 2, 5, 2, 4)), tmp_path / "o.safetensors")
    for words in ((), ("--model", model)):
        assert command("voices", "add", "other", "o.safetensors", *words) == 4
        assert "layers.1.self_attn` are missing" in capsys.readouterr().err
    assert not home.exists()


def test_the_reference_reads_an_export(
    model: Path, command: Command, recording: Path, tmp_path: Path
) -> None:
    reference = pytest.importorskip("pocket_tts.models.model_state")
    command("voices", "export", recording, "-o", "ann.safetensors", "--model", model)
    state = reference._import_model_state(tmp_path / "ann.safetensors", torch.device("cpu"))
    assert len(state) == shape_of(model)[0]
    assert all(bool(torch.isfinite(part["cache"]).all()) for part in state.values())


def test_what_is_wrong_with_a_recording_is_said_before_a_book_and_a_preview(
    model: Path, command: Command, story: Path, tmp_path: Path, capsys: Capture
) -> None:
    seconds = np.arange(4 * 24_000) / 24_000
    tone = np.clip(2 * np.sin(900 * seconds) * np.clip(np.sin(9 * seconds), 0, 1) ** 2, -1, 1)
    soundfile.write(tmp_path / "loud.wav", tone, 24_000)
    soundfile.write(tmp_path / "noise.wav", np.random.default_rng(1).normal(0, 0.1, 72_000), 24_000)
    book = (story, "--model", model, "--dry-run", "--voice")
    for words in (("voices", "preview", "loud.wav", TEXT, "--model", model), (*book, "loud.wav")):
        assert command(*words) == 0
        shown = capsys.readouterr().err
        assert "Warning: Voice loud: It has only" in shown
        assert "of its samples are clipped" in shown
    assert command(*book, "noise.wav") == 3
    assert "not good enough" in capsys.readouterr().err
