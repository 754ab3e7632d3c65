"""`pocket-batch models` end to end, against a hub on loopback."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from pocket_batch.models.presets import find_model

Command = Callable[..., int]
Capture = pytest.CaptureFixture[str]
GATED = "kyutai/pocket-tts"
PLAIN = "kyutai/pocket-tts-without-voice-cloning"
FOLDER = "languages/english"
WEIGHTS = f"{PLAIN}/{FOLDER}/model.safetensors"


def _weights(letter: str, num_bytes: int) -> bytes:
    data = np.frombuffer(letter.encode() * num_bytes, np.uint8)
    return bytes(save({"x": data}))


def _tokenizer(num_pieces: int) -> bytes:
    model = {"type": "WordLevel", "vocab": {f"w{n}": n for n in range(num_pieces)}}
    return json.dumps({"model": model | {"unk_token": "w0"}}).encode()


CONTENT = _weights("w", 200_000)
TOKENIZER = _tokenizer(4000)


@pytest.fixture
def served(fake_hub: Any) -> Any:
    """A hub that has the model `english`, two of its voices, and the gate."""
    fake_hub.files = {
        f"{GATED}/{FOLDER}/model.safetensors": _weights("c", 300_000),
        WEIGHTS: CONTENT,
        f"{PLAIN}/{FOLDER}/tokenizer.json": TOKENIZER,
        f"{PLAIN}/{FOLDER}/embeddings/alba.safetensors": _weights("a", 50_000),
        f"{PLAIN}/{FOLDER}/embeddings/marius.safetensors": _weights("m", 50_000),
    }
    fake_hub.small = {f"{PLAIN}/{FOLDER}/tokenizer.json"}
    fake_hub.gated = {GATED}
    return fake_hub


def test_the_list_names_every_model_and_what_is_here(
    served: Any, command: Command, capsys: Capture
) -> None:
    assert command("models") == 0
    out = capsys.readouterr().out
    assert "english_18m_refl_2026-10" in out
    assert command("models", "pull", "english") == 0
    capsys.readouterr()
    assert command("models", "list", "--json") == 0
    rows = {row["name"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert len(rows) == 27
    assert rows["english"] == {
        "name": "english",
        "language": "en",
        "parameters": 99_700_000,
        "default_voice": "alba",
        "here": {"weights": True, "cloning weights": False, "tokenizer": True, "voice": True},
    }
    assert not any(rows["german"]["here"].values())


def test_a_pulled_model_has_a_path_and_needs_no_network_again(
    served: Any, command: Command, capsys: Capture
) -> None:
    assert command("models", "path", "english") == 4
    assert "models pull english" in capsys.readouterr().err
    assert command("models", "pull", "english", "--voice", "marius") == 0
    pulled = [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()]
    served.asked.clear()
    assert command("models", "path", "english", "--voice", "marius") == 0
    assert capsys.readouterr().out.splitlines() == pulled
    assert command("models", "pull", "english") == 0
    assert not served.asked
    names = [Path(path).name for path in pulled]
    states = ["alba.safetensors", "marius.safetensors"]
    assert names == ["model.safetensors", "tokenizer.json", *states]
    assert Path(pulled[0]).read_bytes() == CONTENT


def test_the_gate_is_only_in_the_way_of_cloning(
    served: Any, command: Command, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("models", "pull", "english") == 0
    assert command("models", "pull", "english", "--cloning") == 4
    assert "hf auth login" in capsys.readouterr().err
    monkeypatch.setenv("HF_TOKEN", "good")
    assert command("models", "pull", "english", "--cloning") == 0
    assert "cloning weights" in capsys.readouterr().out


def test_weights_for_cloning_serve_for_speaking(
    served: Any, command: Command, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "good")
    assert command("models", "pull", "english", "--cloning") == 0
    served.asked.clear()
    assert command("models", "pull", "english") == 0
    assert command("models", "path", "english") == 0
    assert not served.asked


def test_verify_finds_a_flipped_byte_and_says_what_to_do(
    served: Any, command: Command, capsys: Capture
) -> None:
    assert command("models", "verify") == 0
    assert "Nothing to check" in capsys.readouterr().out
    assert command("models", "pull", "english", "--voice", "marius") == 0
    capsys.readouterr()
    assert command("models", "verify") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ok"] * 4
    assert command("models", "path", "english") == 0
    weights, tokenizer, _ = map(Path, capsys.readouterr().out.splitlines())
    for path in (weights, tokenizer):
        content = bytearray(path.read_bytes())
        content[1] ^= 1
        path.write_bytes(content)
    assert command("models", "verify", "english") == 4
    captured = capsys.readouterr()
    assert [line.split()[0] for line in captured.out.splitlines()].count("DAMAGED") == 2
    assert "models pull english" in captured.err
    for path in (weights, tokenizer):
        assert str(path.resolve()) in captured.err
        path.resolve().unlink()
    assert command("models", "pull", "english") == 0
    assert command("models", "verify", "english") == 0


def test_verify_says_what_it_cannot_check(
    command: Command, capsys: Capture, tmp_path: Path
) -> None:
    folder = tmp_path / "english"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(CONTENT)
    (folder / "tokenizer.json").write_bytes(TOKENIZER)
    assert command("models", "verify", folder) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.startswith("no usable hash") for line in lines] == [True, True]
    assert all("only files from the hub have one" in line for line in lines)


def test_a_mirror_carries_a_model_to_a_machine_without_network(
    served: Any,
    command: Command,
    capsys: Capture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "mirror"
    assert command("models", "pull", "english", "--to", folder) == 0
    assert "POCKET_BATCH_MIRROR" in capsys.readouterr().out
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "empty"))
    served.is_silent = True
    assert command("models", "path", "english") == 4
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(folder))
    capsys.readouterr()
    assert command("models", "path", "english") == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert paths[0] == folder / WEIGHTS
    assert command("models", "verify", "english") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ok"] * 3
    (folder / WEIGHTS).write_bytes(CONTENT[:-1] + b"W")
    capsys.readouterr()
    assert command("models", "verify", "english") == 4
    assert f"models pull english --to {folder}` while online" in capsys.readouterr().err
    # What a mirror holds is a model's folder too.
    source = find_model(str(folder / PLAIN / FOLDER))
    assert source.state("alba") == str(folder / PLAIN / FOLDER / "embeddings/alba.safetensors")


def test_verify_looks_into_files_whose_hash_nobody_knows(
    command: Command, capsys: Capture, tmp_path: Path
) -> None:
    folder = tmp_path / "english"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(CONTENT[:-1])
    (folder / "tokenizer.json").write_bytes(_tokenizer(3999))
    assert command("models", "verify", folder) == 4
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert [line.split()[0] for line in lines] == ["DAMAGED"] * 2
    assert "bytes of" in lines[0]
    assert "3999 pieces" in lines[1]
    assert "pull" not in captured.err
    assert captured.err.count("Copy it again") == 2


def test_a_list_of_folders_recommends_no_download(
    command: Command, capsys: Capture, tmp_path: Path
) -> None:
    folder = tmp_path / "english"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(CONTENT)
    (folder / "tokenizer.json").write_bytes(TOKENIZER)
    assert command("models", "list", folder) == 0
    assert "Download" not in capsys.readouterr().out
    assert command("models") == command("models", "list") == 0
    assert capsys.readouterr().out.count("Download a model") == 2


def test_what_is_missing_is_said_with_its_place_and_the_command_that_gets_it(
    served: Any, command: Command, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(tmp_path / "no"))
    assert command("models", "path", "english", "--cloning", "--voice", "marius") == 4
    err = capsys.readouterr().err
    assert f"in a mirror: {GATED}/{FOLDER}/model.safetensors" in err
    assert f"in a mirror: {PLAIN}/{FOLDER}/embeddings/marius.safetensors" in err
    assert "`pocket-batch models pull english --cloning --voice marius`" in err
    assert "there is no such folder" in err


def test_each_action_has_its_own_help(command: Command, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        command("models", "pull", "--help")
    pull = capsys.readouterr().out
    assert "--to" in pull
    assert "--json" not in pull
    with pytest.raises(SystemExit):
        command("models", "--help")
    out = capsys.readouterr().out
    for word in ("list", "pull", "path", "verify", "POCKET_BATCH_MIRROR"):
        assert word in out


def test_json_and_debug_may_stand_before_or_behind_the_action(
    served: Any, command: Command, capsys: Capture
) -> None:
    for words in (
        ["--json"],
        ["--json", "list"],
        ["list", "--json"],
        ["list", "--json", "--debug"],
    ):
        assert command("models", *words) == 0
        assert len(capsys.readouterr().out.splitlines()) == 27


@pytest.mark.parametrize("name", ["x" * 5000, "\udcff", "a\0b"])
def test_a_name_that_no_disk_can_hold_is_not_a_bug(
    served: Any, command: Command, capsys: Capture, name: str
) -> None:
    assert command("models", "pull", name) == 4
    assert command("models", "pull", "english", "--voice", name) == 4
    assert command("models", "path", "english", "--voice", name) == 4
    assert "this is a bug" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (("pull",), 2, "wants a model"),
        (("pull", "englsh"), 4, "Did you mean `english`?"),
        (("pull", "english", "--voice", "nobody"), 4, "nobody.safetensors"),
        (("verify", "/no/such/folder"), 4, "There is no model"),
    ],
)
def test_what_does_not_exist_is_named(
    served: Any, command: Command, capsys: Capture, words: tuple[str, ...], code: int, part: str
) -> None:
    assert command("models", *words) == code
    assert part in capsys.readouterr().err


def test_the_program_itself_uses_the_variables_of_the_hub(served: Any, tmp_path: Path) -> None:
    done = _run("pull", "english")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert f"english weights: {tmp_path}/hf/hub/models--kyutai--" in done.stdout


@pytest.mark.parametrize("kind", ["refused", "silent"])
def test_without_network_the_program_ends_in_ten_seconds(served: Any, kind: str) -> None:
    served.is_silent = kind == "silent"
    variables = {"HF_ENDPOINT": "http://127.0.0.1:9"} if kind == "refused" else {}
    start = time.monotonic()
    done = _run("pull", "english", **variables)
    assert time.monotonic() - start < 10
    assert done.returncode == 4
    assert "POCKET_BATCH_MIRROR" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _run(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "pocket_batch", "models", *words],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
