"""Mirrors carry hashes with their files, and a file of weights tells how long it should be."""

import hashlib
import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from pocket_batch.models import hub, integrity, mirror

REVISION = "0123456789abcdef" * 2 + "01234567"
REPOSITORY = "kyutai/some-model"
WEIGHTS = f"{REPOSITORY}/languages/x/model.safetensors"
TOKENIZER = f"{REPOSITORY}/languages/x/tokenizer.json"
LOCATION = f"hf://{WEIGHTS}@{REVISION}"
CONTENT = save({"x": np.arange(30_000, dtype=np.int32)})


@pytest.fixture
def served(fake_hub: Any) -> Any:
    """A hub with weights and a tokenizer that is small enough for git."""
    fake_hub.files = {WEIGHTS: CONTENT, TOKENIZER: b'{"a": 1}'}
    fake_hub.small = {TOKENIZER}
    return fake_hub


def test_a_copy_for_a_mirror_comes_with_its_hash(served: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    for name in (WEIGHTS, TOKENIZER):
        location = f"hf://{name}@{REVISION}"
        assert mirror.copy_to_mirror(location, hub.fetch(location), folder) == folder / name
    sums = (folder / REPOSITORY / "SHA256SUMS").read_text()
    assert f"{hashlib.sha256(CONTENT).hexdigest()}  languages/x/model.safetensors\n" in sums
    assert len(sums.splitlines()) == 2


def test_many_processes_may_fill_a_mirror(served: Any, tmp_path: Path) -> None:
    folder, copies = tmp_path / "mirror", []
    context = multiprocessing.get_context("fork")
    names = [f"{REPOSITORY}/languages/x/{n}.json" for n in range(8)]
    for name in names:
        served.files[name] = name.encode()
        path = hub.fetch(f"hf://{name}@{REVISION}")
        arguments = (f"hf://{name}@{REVISION}", path, folder)
        copies.append(context.Process(target=mirror.copy_to_mirror, args=arguments))
    for copy in copies:
        copy.start()
    for copy in copies:
        copy.join()
    assert len((folder / REPOSITORY / "SHA256SUMS").read_text().splitlines()) == len(names)
    assert not list(folder.rglob("*.part"))


@pytest.mark.parametrize(
    ("sums", "says"),
    [
        (None, "notes it"),
        (b"other  file\n", "notes it"),
        (b"nonsense  languages/x/model.safetensors\n", "is no hash"),
        (b"\xff\xfe" * 40 + b"  languages/x/model.safetensors\n", "is no hash"),
    ],
)
def test_a_mirror_without_a_usable_hash_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sums: bytes | None, says: str
) -> None:
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(tmp_path))
    path = tmp_path / WEIGHTS
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    file = tmp_path / REPOSITORY / "SHA256SUMS"
    if sums is not None:
        file.write_bytes(sums)
    digest, why = mirror.expected_digest(LOCATION, path)
    assert digest == ""
    assert says in why
    right = hashlib.sha256(CONTENT).hexdigest()
    file.write_text(f"{right.upper()} *languages/x/model.safetensors\n")
    assert mirror.expected_digest(LOCATION, path) == (right, "")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not safetensors"),
        (b"plain text, and longer than eight bytes", "not safetensors"),
        (b"\x04" + bytes(7) + b"[12]", "header"),
        (CONTENT[:-1], "bytes of"),
        (CONTENT + b"x", "bytes of"),
        (CONTENT, ""),
    ],
)
def test_a_safetensors_file_is_as_long_as_its_header_says(
    tmp_path: Path, content: bytes, says: str
) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    problem = integrity.safetensors_problem(path)
    assert says in problem
    assert bool(says) == bool(problem)
