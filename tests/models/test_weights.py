"""A checkpoint is taken whole or not at all."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from pocket_batch.data import Precision
from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.models.architecture import load_model_config
from pocket_batch.models.weights import load_model, read_tensors


@pytest.fixture
def broken(tmp_path: Path, tiny_model: Callable[[str], Path]) -> Callable[..., Path]:
    """A copy of a checkpoint with some tensors taken out (None), added or exchanged."""

    def make(**changes: torch.Tensor | None) -> Path:
        tensors = load_file(tiny_model("lsd") / "model.safetensors")
        for name, tensor in changes.items():
            name = name.replace("__", ".")
            if tensor is None:
                del tensors[name]
            else:
                tensors[name] = tensor
        save_file(tensors, tmp_path / "model.safetensors")
        return tmp_path / "model.safetensors"

    return make


@pytest.mark.parametrize(
    ("name", "tensor", "says"),
    [
        ("flow_lm__out_norm__bias", None, "`flow_lm.out_norm.bias` is missing"),
        ("flow_lm__extra", torch.zeros(1), "`flow_lm.extra` is not part of it"),
        (
            "mimi__quantizer__output_proj__weight",
            torch.zeros(16, 31, 1),
            r"`mimi.quantizer.output_proj.weight` has shape \(16, 31, 1\), not \(16, 32, 1\)",
        ),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(
    broken: Callable[..., Path],
    tiny_model: Callable[[str], Path],
    name: str,
    tensor: torch.Tensor | None,
    says: str,
) -> None:
    config = load_model_config(tiny_model("lsd") / "config.yaml")
    with pytest.raises(ModelUnavailableError, match=says):
        load_model(config, broken(**{name: tensor}))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (torch.zeros(32, dtype=torch.int64), "`flow_lm.out_norm.bias` holds int64"),
        (torch.zeros(32, dtype=torch.bool), "`flow_lm.out_norm.bias` holds bool"),
        (torch.zeros(32, dtype=torch.complex64), "`flow_lm.out_norm.bias` holds complex64"),
        (torch.zeros(32, dtype=torch.float8_e4m3fn), "`flow_lm.out_norm.bias` holds float8"),
        (torch.full((32,), torch.nan), "`flow_lm.out_norm.bias` has values"),
        (torch.tensor([torch.inf, -torch.inf] * 16), "`flow_lm.out_norm.bias` has values"),
        (torch.full((32,), torch.inf).bfloat16(), "`flow_lm.out_norm.bias` has values"),
    ],
)
def test_a_tensor_that_cannot_be_weights_is_named(
    broken: Callable[..., Path],
    tiny_model: Callable[[str], Path],
    value: torch.Tensor,
    says: str,
) -> None:
    config = load_model_config(tiny_model("lsd") / "config.yaml")
    with pytest.raises(ModelUnavailableError, match=says):
        load_model(config, broken(flow_lm__out_norm__bias=value))


def test_large_finite_weights_are_weights(
    broken: Callable[..., Path], tiny_model: Callable[[str], Path]
) -> None:
    config = load_model_config(tiny_model("lsd") / "config.yaml")
    load_model(config, broken(flow_lm__out_norm__bias=torch.full((32,), 60_000.0).half()))


def test_many_wrong_tensors_are_counted(tiny_model: Callable[[str], Path]) -> None:
    config = load_model_config(tiny_model("small") / "config.yaml")
    with pytest.raises(ModelUnavailableError, match=r"and \d+ more"):
        load_model(config, tiny_model("lsd") / "model.safetensors")


@pytest.mark.parametrize("content", [b"", b"not safetensors", b"\xff" * 64])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelUnavailableError, match="cannot be read"):
        read_tensors(path)


def test_a_cut_file_is_refused(tmp_path: Path, tiny_model: Callable[[str], Path]) -> None:
    path = tmp_path / "model.safetensors"
    content = (tiny_model("lsd") / "model.safetensors").read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelUnavailableError, match="cannot be read"):
        read_tensors(path)


@pytest.mark.parametrize(
    ("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)]
)
def test_a_bfloat16_checkpoint_stays_so_where_the_precision_allows(
    tmp_path: Path,
    tiny_model: Callable[[str], Path],
    precision: Precision,
    dtype: torch.dtype,
) -> None:
    tensors = load_file(tiny_model("lsd") / "model.safetensors")
    path = tmp_path / "model.safetensors"
    save_file({name: tensor.bfloat16() for name, tensor in tensors.items()}, path)
    config = load_model_config(tiny_model("lsd") / "config.yaml")
    model = load_model(config, path, precision)
    assert {parameter.dtype for parameter in model.parameters()} == {dtype}
    assert model.flow_lm.emb_std.dtype == torch.float32
    latents = torch.randn(5, 32)
    assert model.mimi.decode(latents).dtype == torch.float32
    assert torch.isfinite(model.mimi.decode(latents)).all()


def test_a_key_that_no_model_has_is_an_error_that_names_the_nearest(
    tmp_path: Path, tiny_model: Callable[[str], Path]
) -> None:
    path = tmp_path / "config.yaml"
    shutil.copy(tiny_model("lsd") / "config.yaml", path)
    path.write_text(path.read_text() + "default_temprature: 0.5\n")
    with pytest.raises(UsageError, match="Did you mean `default_temperature`"):
        load_model_config(path)


def test_sizes_that_do_not_fit_each_other_are_refused(
    tmp_path: Path, tiny_model: Callable[[str], Path]
) -> None:
    path = tmp_path / "config.yaml"
    text = (tiny_model("small") / "config.yaml").read_text()
    path.write_text(text.replace("num_kv_heads: 2", "num_kv_heads: 4"))
    with pytest.raises(UsageError, match="num_kv_heads"):
        load_model_config(path)


def test_weights_in_several_files_are_refused(
    tmp_path: Path, tiny_model: Callable[[str], Path]
) -> None:
    path = tmp_path / "config.yaml"
    text = (tiny_model("lsd") / "config.yaml").read_text()
    path.write_text(text.replace("mimi:\n", "mimi:\n  weights_path: codec.safetensors\n"))
    with pytest.raises(UsageError, match=r"`mimi\.weights_path` is not supported"):
        load_model_config(path)


def test_a_model_is_loaded_without_the_compiler_of_torch(tiny_model: Callable[[str], Path]) -> None:
    code = (
        "import sys; from pathlib import Path; "
        "from pocket_batch.models.architecture import load_model_config; "
        "from pocket_batch.models.weights import load_model; "
        "folder = Path(sys.argv[1]); config = load_model_config(folder / 'config.yaml'); "
        "load_model(config, folder / 'model.safetensors'); "
        "sys.exit('torch._dynamo' in sys.modules or 'sympy' in sys.modules)"
    )
    words = [sys.executable, "-c", code, str(tiny_model("lsd"))]
    assert subprocess.run(words, check=False).returncode == 0


@pytest.mark.parametrize("precision", ["fp32", "bf16", "mixed"])
def test_a_loaded_model_does_not_change_with_its_file(
    broken: Callable[..., Path], tiny_model: Callable[[str], Path], precision: Precision
) -> None:
    path = broken()
    model = load_model(load_model_config(tiny_model("lsd") / "config.yaml"), path, precision)
    latents = torch.randn(5, 32)
    before = model.mimi.decode(latents)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 8)
        file.write(b"\xff" * (path.stat().st_size // 2))
    assert torch.equal(model.mimi.decode(latents), before)
