"""What tells a model from others, and what is said when a file of it is not here."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from huggingface_hub import constants

from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models import files, hub, integrity
from pocket_batch.models.location import parse_hub
from pocket_batch.models.mirror import SUMS_FILE
from pocket_batch.models.presets import ModelSource, find_model

ENGLISH = find_model("english")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, and no mirror."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("POCKET_BATCH_MIRROR", raising=False)
    return tmp_path / "hub"


def _put_in_cache(location: str, content: bytes, commit: str = "") -> Path:
    """A file as the hub's cache has it: a link to a blob named by its hash."""
    file = parse_hub(location)
    assert file
    repository = Path(constants.HF_HUB_CACHE) / f"models--{file.repository.replace('/', '--')}"
    blob = repository / "blobs" / hashlib.sha256(content).hexdigest()
    path = repository / "snapshots" / (commit or file.revision) / file.path
    for folder in (blob.parent, path.parent):
        folder.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(content)
    path.symlink_to(os.path.relpath(blob, path.parent))
    return path


def _put_in_mirror(mirror: Path, location: str, content: bytes) -> Path:
    file = parse_hub(location)
    assert file
    path = mirror / file.repository / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _places(source: ModelSource) -> tuple[str, str]:
    own, plain = source.config.weights_path, source.config.weights_path_without_voice_cloning
    assert own
    assert plain
    return own, plain


def test_a_released_model_is_the_same_with_and_without_cloning_and_before_it_is_here() -> None:
    own, plain = _places(ENGLISH)
    before = files.model_identity(ENGLISH)
    assert own in before
    _put_in_cache(plain, b"plain")
    assert files.model_identity(ENGLISH) == before
    _put_in_cache(own, b"cloning")
    assert files.model_identity(ENGLISH) == before


def test_weights_of_a_mirror_are_told_by_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, plain = _places(ENGLISH)
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(tmp_path / "mirror"))
    for content in (b"one", b"another"):
        _put_in_mirror(tmp_path / "mirror", plain, content)
        assert hashlib.sha256(content).hexdigest() in files.model_identity(ENGLISH)


def test_what_a_mirror_notes_counts_until_the_file_is_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, plain = _places(ENGLISH)
    file = parse_hub(plain)
    assert file
    mirror = tmp_path / "mirror"
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(mirror))
    path = _put_in_mirror(mirror, plain, b"weights")
    sums = mirror / file.repository / SUMS_FILE
    sums.write_text(f"{'a' * 64}  {file.path}\n")
    assert "a" * 64 in files.model_identity(ENGLISH)
    path.write_bytes(b"replaced")
    later = sums.stat().st_mtime + 10
    os.utime(path, (later, later))
    assert hashlib.sha256(b"replaced").hexdigest() in files.model_identity(ENGLISH)


def test_a_branch_is_told_by_its_bytes_which_the_cache_knows(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    source = _at_branch(ENGLISH)
    location = source.config.weights_path or ""
    with pytest.raises(ModelUnavailableError, match="models pull mine"):
        files.model_identity(source)
    path = _put_in_cache(location, b"main", commit="c" * 40)
    refs = cache / "models--me--my" / "refs" / "main"
    refs.parent.mkdir(parents=True)
    refs.write_text("c" * 40)
    monkeypatch.setattr(integrity, "sha256_of", None)  # it is not read
    assert hub.find(location) == path
    assert hashlib.sha256(b"main").hexdigest() in files.model_identity(source)


def _at_branch(source: ModelSource) -> ModelSource:
    config = replace(
        source.config,
        weights_path="hf://me/my/model.safetensors@main",
        weights_path_without_voice_cloning=None,
    )
    return replace(source, name="mine", config=config)


def test_a_folder_is_told_by_its_bytes_and_its_configuration(
    tmp_path: Path, tiny_model: Callable[[str], Path]
) -> None:
    config = tiny_model("lsd") / "config.yaml"
    identity = files.model_identity(find_model(str(config)))
    raw = yaml.safe_load(config.read_text())
    for key, value in (("max_period", 20_000), ("num_heads", 8)):
        raw["flow_lm"]["transformer"][key] = value
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(raw))
        changed = files.model_identity(find_model(str(tmp_path)))
        assert changed != identity
        assert changed.split()[-1] == identity.split()[-1]  # the weights are the same
        identity = changed


def test_where_a_model_lies_makes_no_difference(
    tmp_path: Path, tiny_model: Callable[[str], Path]
) -> None:
    folder = tiny_model("lsd")
    raw = yaml.safe_load((folder / "config.yaml").read_text())
    tokenizer = Path(raw["flow_lm"]["lookup_table"]["tokenizer_path"])
    del raw["weights_path"], raw["flow_lm"]["lookup_table"]["tokenizer_path"]
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(raw))
    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    (tmp_path / tokenizer.name).write_bytes(tokenizer.read_bytes())
    one, other = find_model(str(folder)), find_model(str(tmp_path))
    assert files.model_identity(one) == files.model_identity(other)
    assert files.tokenizer_identity(one) == files.tokenizer_identity(other)
    (tmp_path / tokenizer.name).write_bytes(b"other")
    assert files.tokenizer_identity(one) != files.tokenizer_identity(other)


def test_a_file_is_hashed_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = tmp_path / "file", []
    path.write_bytes(b"one")
    whole = integrity.sha256_of
    monkeypatch.setattr(integrity, "sha256_of", lambda path: read.append(path) or whole(path))
    assert integrity.cached_sha256_of(path) == integrity.cached_sha256_of(path) == whole(path)
    path.write_bytes(b"other")
    assert integrity.cached_sha256_of(path) == whole(path)
    assert len(read) == 2


def test_what_is_not_here_comes_with_the_command_that_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "`pocket-batch models pull english`" in str(files.not_here(ENGLISH))
    assert "tokenizer" in str(files.not_here(ENGLISH, "tokenizer"))
    text = str(files.not_here(ENGLISH, "cloning weights"))
    for part in ("models pull english --cloning`", "terms", "kyutai/pocket-tts,", "hf auth login"):
        assert part in text
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(tmp_path / "no"))
    assert "there is no such folder" in str(files.not_here(ENGLISH))


def test_a_file_that_a_folder_lacks_is_named_and_not_to_be_pulled(
    tmp_path: Path, tiny_model: Callable[[str], Path]
) -> None:
    raw = yaml.safe_load((tiny_model("lsd") / "config.yaml").read_text())
    raw["weights_path"] = "gone.safetensors"
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(raw))
    source = find_model(str(tmp_path))
    for kind in ("weights", "cloning weights"):
        text = str(files.not_here(source, kind))
        assert f"{tmp_path}/gone.safetensors" in text
        assert "pull" not in text
    with pytest.raises(ModelUnavailableError, match=r"gone\.safetensors"):
        files.fetch_weights(source, lambda *_: None)
