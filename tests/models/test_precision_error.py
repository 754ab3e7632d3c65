"""No part of a model is further from fp32 than its precision explains; see `precision_table.py`."""

import runpy
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from pocket_batch.models.weights import load_model, read_tensors

HERE = Path(__file__).parent
table = SimpleNamespace(**runpy.run_path(str(HERE / "precision_table.py")))
VARIANTS = list(runpy.run_path(str(HERE / "make_checkpoint.py"))["variants"]())

# dB of signal to error, of what depends on the input, that each part has at least: 3 dB under what
# was measured, for tiny models under the worst of all variants.
TINY = {
    "bf16": {
        "Mimi encoder": 20,
        "voice state": 20,
        "prefill of text": 37,
        "backbone, hidden": 29,
        "backbone, EOS logit": 30,
        "flow head": 31,
        "backbone and flow head": 26,
        "Mimi decoder": 28,
    },
    "mixed": {
        "Mimi encoder": 20,
        "voice state": 13,
        "prefill of text": 31,
        "backbone, hidden": 23,
        "backbone, EOS logit": 23,
        "flow head": 31,
        "backbone and flow head": 20,
        "Mimi decoder": 26,
    },
}
FULL_SIZE = {
    "bf16": {
        "Mimi encoder": 26,
        "voice state": 25,
        "prefill of text": 38,
        "backbone, hidden": 30,
        "backbone, EOS logit": 32,
        "flow head": 32,
        "backbone and flow head": 27,
        "Mimi decoder": 33,
    },
    "mixed": {
        "Mimi encoder": 26,
        "voice state": 15,
        "prefill of text": 29,
        "backbone, hidden": 21,
        "backbone, EOS logit": 22,
        "flow head": 32,
        "backbone and flow head": 19,
        "Mimi decoder": 26,
    },
}
# What rounding the weights of a part to so few bits must show in, and nowhere else.
DAMAGES = {
    "mimi.encoder": ["Mimi encoder"],
    "mimi.decoder": ["Mimi decoder"],
    "flow_lm.flow_net": ["flow head", "backbone and flow head"],
    "flow_lm.transformer": [
        "voice state",
        "prefill of text",
        "backbone, hidden",
        "backbone, EOS logit",
        "backbone and flow head",
    ],
}
BITS = 3


@pytest.fixture(scope="module")
def exact(tiny_model: Callable[[str], Path]) -> Callable[[str], Any]:
    return cache(lambda name: table.Exact(tiny_model(name)))


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Threads inside a product wait for each other where something else runs."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_every_precision_has_bounds_for_every_part(exact: Callable[[str], Any]) -> None:
    for bounds in (TINY, FULL_SIZE):
        assert set(bounds) == set(table.PRECISIONS)
        for parts in bounds.values():
            assert parts.keys() == exact("lsd").wanted.keys()


@pytest.mark.parametrize("precision", table.PRECISIONS)
@pytest.mark.parametrize("name", VARIANTS)
def test_no_part_of_a_tiny_model_is_further_off_than_its_precision_explains(
    name: str, precision: str, exact: Callable[[str], Any]
) -> None:
    too_far = under(TINY[precision], exact(name).ratios_of(precision))
    assert not too_far, too_far


@pytest.mark.slow
def test_no_part_of_a_full_size_model_is_further_off_than_its_precision_explains(
    tiny_model: Callable[[str], Path],
) -> None:
    full_size = table.Exact(tiny_model("english"))
    for precision in table.PRECISIONS:
        too_far = under(FULL_SIZE[precision], full_size.ratios_of(precision))
        assert not too_far, (precision, too_far)


def test_fp32_is_as_near_as_numbers_get(exact: Callable[[str], Any]) -> None:
    assert all(ratio.dependent > 100 for ratio in exact("lsd").ratios_of("fp32").values())


@pytest.mark.parametrize("prefix", DAMAGES)
def test_weights_rounded_to_three_bits_are_noticed_in_their_part_alone(
    prefix: str,
    exact: Callable[[str], Any],
    tiny_model: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    weights = read_tensors(tiny_model("lsd") / "model.safetensors")
    damaged = {
        name: rounded(tensor) if name.startswith(prefix) and tensor.dim() > 1 else tensor
        for name, tensor in weights.items()
    }
    save_file(damaged, tmp_path / "model.safetensors")
    model = load_model(exact("lsd").config, tmp_path / "model.safetensors")
    found = exact("lsd").ratios(model)
    for bounds in TINY.values():
        assert sorted(under(bounds, found)) == sorted(DAMAGES[prefix])


def test_what_does_not_depend_on_the_input_does_not_count() -> None:
    """An error as large as the answer itself is 0 dB, whatever constant both have in common."""
    signal = torch.randn(200, 50, generator=torch.Generator().manual_seed(1))
    other = torch.randn(200, 50, generator=torch.Generator().manual_seed(2))
    found = table.ratio(signal + 100, signal + 100 + other)
    assert found.dependent == pytest.approx(0, abs=0.2)
    assert found.plain == pytest.approx(40, abs=0.2)


def under(bounds: dict[str, int], found: dict[str, Any]) -> dict[str, float]:
    """The parts that are further off than their bounds allow."""
    return {
        part: round(ratio.dependent, 1)
        for part, ratio in found.items()
        if ratio.dependent < bounds[part]
    }


def rounded(weight: Tensor) -> Tensor:
    """A weight whose rows have only `2 ** BITS - 1` different values."""
    scale = weight.flatten(1).abs().amax(1) / (2 ** (BITS - 1) - 1)
    scale = scale.view(-1, *[1] * (weight.dim() - 1)).clamp_min(1e-12)
    return (weight / scale).round() * scale
