"""A book spoken by Pocket TTS, from the command to the file, with a tiny random model."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pocket_batch.data import EngineSpec, Segment, Utterance
from pocket_batch.engine.base import make_engine
from pocket_batch.engine.voice import VoiceState, write_state
from pocket_batch.manifest import Manifest

Command = Callable[..., int]
Capture = pytest.CaptureFixture[str]
PLAIN = "kyutai/pocket-tts-without-voice-cloning/languages/english"
HERE = (
    *("--executor", "local", "--workers", 1, "--cores-per-worker", 1, "--log-format", "plain"),
    *("--set", "precision=fp32"),  # also in a child process, where `auto` is not held fast
)
# A model of chance makes noise.
SOON_OVER = ("--set", "sampling.eos_threshold=-30", "--set", "check.fail_on=never")


@pytest.fixture
def speaking(tiny_model: Callable[[str], Path], tmp_path: Path) -> tuple[object, ...]:
    """Options for a tiny model and a made-up state of a voice."""
    model = tiny_model("lsd")
    backbone = make_engine(EngineSpec("pocket", str(model))).source.config.flow_lm.transformer  # type: ignore[attr-defined]
    shape = (backbone.num_layers, 2, 5, backbone.kv_heads, backbone.head_dim)
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    write_state(VoiceState(noise), tmp_path / "ann.safetensors")
    return ("--model", model, "--voice", tmp_path / "ann.safetensors", *HERE)


def read(story: Path, name: str, kind: type) -> list[Any]:
    return list(Manifest(story.parent / "story.work" / name, kind).read())


def test_a_book_is_spoken_and_its_record_says_by_what(
    story: Path, speaking: tuple[object, ...], command: Command, capsys: Capture
) -> None:
    assert command(story, *speaking, *SOON_OVER) == 0
    said = capsys.readouterr().err
    assert said.startswith("Voice ann: from ann.safetensors (pocket ")
    assert " in fp32, " in said.partition("\n")[0]
    assert story.with_suffix(".m4b").exists()
    record = json.loads((story.parent / "story.work" / "run.json").read_text())
    assert record["engine"]["name"] == "pocket"
    assert record["engine"]["model"] == str(speaking[1])
    settings = {"version", "weights", "tokenizer", "precision", "sampling"}
    assert record["engine"]["identity"].keys() == settings
    assert record["language"] == "en"
    assert {"torch", "tokenizers", "safetensors"} <= record["versions"].keys()


def test_a_second_run_does_nothing_and_imports_no_torch(
    story: Path, speaking: tuple[object, ...], command: Command
) -> None:
    assert command(story, *speaking, *SOON_OVER) == 0
    words = [str(word) for word in (story, *speaking, *SOON_OVER)]
    code = (
        f"import sys; from pocket_batch.cli.main import main; code = main({words!r}); "
        "print('torch' in sys.modules); sys.exit(code)"
    )
    again = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert again.returncode == 0
    assert "already done" in again.stderr
    assert again.stdout == "False\n"


def test_two_voices_from_files_read_one_book_and_its_script_knows_the_files(
    story: Path, speaking: tuple[object, ...], command: Command, tmp_path: Path
) -> None:
    story.write_text("It was late. “Who is there?” asked Tom. Nobody came to the door.\n")
    bob, cast = tmp_path / "bob.safetensors", tmp_path / "story.cast.yaml"
    bob.write_bytes((tmp_path / "ann.safetensors").read_bytes())
    cast.write_text("cast: {Tom: bob.safetensors}\n")
    assert command(story, *speaking, *SOON_OVER) == 0
    before = read(story, "utterances.jsonl", Utterance)
    record = json.loads((story.parent / "story.work" / "run.json").read_text())
    assert record["cast"] == {str(bob): record["cast"][str(bob)] | {"name": "bob"}}
    assert command("script", story, *speaking[:4], *speaking[-2:]) == 0
    head, *lines = map(json.loads, story.with_suffix(".jsonl").read_text().splitlines())
    assert head["voices"] == {"ann": str(tmp_path / "ann.safetensors"), "bob": str(bob)}
    assert {line["voice"] for line in lines} == {"ann", "bob"}
    assert command(story.with_suffix(".jsonl"), *HERE, *SOON_OVER) == 0
    assert read(story, "utterances.jsonl", Utterance) == before


def test_another_temperature_is_another_take(
    story: Path, speaking: tuple[object, ...], command: Command
) -> None:
    for temperature in (0.3, 0.7):
        options = ("--temperature", temperature, "--overwrite")
        assert command(story, *speaking, *SOON_OVER, *options) == 0
    utterances = read(story, "utterances.jsonl", Utterance)
    assert len(utterances) == len({u.key for u in utterances}) == 2 * len(utterances) // 2
    segments = {s.text for s in read(story, "segments.jsonl", Segment)}
    assert len(utterances) == 2 * len(segments)


def test_no_segment_is_too_long_for_the_model_and_no_word_is_lost(
    story: Path, speaking: tuple[object, ...], command: Command
) -> None:
    sentence = (
        "One thing led to another, and nobody could say (least of all Ann) which came first; "
    )
    story.write_text("Title: Long\n\n" + sentence * 8 + "so it goes.\n", encoding="utf-8")
    assert command(story, *speaking, *SOON_OVER) == 0
    engine = make_engine(EngineSpec("pocket", str(speaking[1])))
    texts = [s.text for s in read(story, "segments.jsonl", Segment)]
    assert max(engine.count_tokens(text) for text in texts) <= 50
    assert " ".join(texts).split() == (sentence * 8 + "so it goes.").split()


def test_speech_that_has_no_end_is_cut_and_reported(
    tmp_path: Path, speaking: tuple[object, ...], command: Command, capsys: Capture
) -> None:
    book = tmp_path / "endless.txt"
    book.write_text("It never ends.\n")
    assert command(book, *speaking, "--language", "en", "--set", "sampling.eos_threshold=30") == 10
    assert "may be cut off" in capsys.readouterr().err


def test_workers_make_the_samples_that_this_process_makes(
    story: Path, speaking: tuple[object, ...], command: Command
) -> None:
    made = []
    for executor in ("local", "ray"):
        options = ("--executor", executor, "-o", story.with_name(f"{executor}.m4b"))
        assert command(story, *speaking, *SOON_OVER, *options) == 0
        audio = (story.parent / f"{executor}.work" / "audio").rglob("*.flac")
        made.append({path.name: path.read_bytes() for path in audio})
    assert len(made[0]) == 6
    assert made[0] == made[1]


def test_a_voice_that_is_not_here_is_downloaded_and_its_progress_shown(
    story: Path, fake_hub: Any, command: Command, capsys: Capture
) -> None:
    fake_hub.files = {
        f"{PLAIN}/model.safetensors": b"w" * 200_000,
        f"{PLAIN}/tokenizer.json": b"no tokenizer",
        f"{PLAIN}/embeddings/alba.safetensors": b"a" * 50_000,
    }
    assert command(story, "--voice", "alba", "--log-format", "json") == 4  # these are no weights
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    files = [event["file"] for event in events if event["event"] == "download"]
    assert files == ["model.safetensors", "tokenizer.json", "alba.safetensors"]
    last = [e for e in events if e["event"] == "downloading"][-1]
    assert last["num_bytes"] == last["total_bytes"] == 50_000
    assert not list(story.parent.glob("*.m4b"))


def test_a_default_voice_and_a_dry_run_download_nothing(
    story: Path, fake_hub: Any, command: Command, capsys: Capture
) -> None:
    assert command(story, "--dry-run", "--log-format", "plain") == 0
    assert "pocket-batch models pull english" in capsys.readouterr().err.splitlines()[0]
    for words in (("--voice", "alba"), ("--model", "english"), ("--language", "fr")):
        assert command(story, "--dry-run", "--log-format", "plain", *words) == 4
        assert "pocket-batch models pull" in capsys.readouterr().err
    assert not fake_hub.asked


@pytest.mark.usefixtures("no_hub")
def test_without_a_network_the_answer_is_quick_and_says_what_to_do(
    story: Path, command: Command, capsys: Capture
) -> None:
    started = time.monotonic()
    assert command(story, "--voice", "alba", "--log-format", "plain") == 4
    assert time.monotonic() - started < 10
    assert "pocket-batch models pull english" in capsys.readouterr().err
    assert [path.name for path in story.parent.iterdir() if path.is_file()] == ["story.txt"]
