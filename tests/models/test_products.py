"""Products with prepared weights: right, and a row for itself, with torch's private operators and
without them."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from pocket_batch.models import products
from pocket_batch.models.products import Int8Product, Product, round_rows

NUM_ROWS, NUM_INPUTS, NUM_OUTPUTS = 64, 96, 80
EIGHT_BITS = 0.015  # relative error of a product of numbers rounded to 8 bits


@pytest.fixture(params=["oneDNN", "stock"])
def operators(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the private operators of torch, and where there are none."""
    if request.param == "stock":
        monkeypatch.setattr(products, "_has_onednn", lambda namespace, operator: False)


def make_tensors(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, a weight and a bias, in float32."""
    torch.manual_seed(seed)
    weight = torch.randn(NUM_OUTPUTS, NUM_INPUTS) / NUM_INPUTS**0.5
    return torch.randn(NUM_ROWS, NUM_INPUTS), weight, torch.randn(NUM_OUTPUTS)


def error(found: Tensor, wanted: Tensor) -> float:
    """Relative to the norm of what is wanted."""
    return float((found.double() - wanted).norm() / wanted.norm())


@pytest.mark.usefixtures("operators")
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-6), (torch.bfloat16, 4e-3)])
def test_a_product_is_that_of_a_linear_layer(dtype: torch.dtype, limit: float) -> None:
    x, weight, bias = (tensor.to(dtype) for tensor in make_tensors())
    product = Product(weight, bias)
    wanted = F.linear(x.double(), weight.double(), bias.double())
    assert error(product(x), wanted) < limit
    assert error(product.gelu(x), F.gelu(wanted, approximate="tanh")) < 2 * limit


@pytest.mark.usefixtures("operators")
def test_eight_bits_are_nearly_as_good() -> None:
    x, weight, bias = make_tensors()
    product = Int8Product(weight, bias)
    wanted = F.linear(x.double(), weight.double(), bias.double())
    found = product(x.bfloat16())
    assert found.dtype == torch.bfloat16
    assert error(found, wanted) < EIGHT_BITS
    assert error(product.gelu(x.bfloat16()), F.gelu(wanted, approximate="tanh")) < EIGHT_BITS


def test_eight_bits_without_private_operators_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, weight, bias = make_tensors()
    with_private = Int8Product(weight, bias)(x.bfloat16())
    monkeypatch.setattr(products, "_has_onednn", lambda namespace, operator: False)
    assert torch.equal(Int8Product(weight, bias)(x.bfloat16()), with_private)


@pytest.mark.usefixtures("operators")
def test_rows_of_any_size_fit_into_eight_bits() -> None:
    x, weight, _ = make_tensors()
    sizes = torch.logspace(-30, 30, NUM_ROWS)[:, None]
    x = (x * sizes).bfloat16()
    x[7] = 0
    found = Int8Product(weight)(x)
    wanted = F.linear(x.double(), weight.double())
    assert torch.isfinite(found).all()
    assert not found[7].any()
    for row in (0, 20, NUM_ROWS - 1):
        assert error(found[row], wanted[row]) < 2 * EIGHT_BITS


def test_codes_of_a_row_span_eight_bits() -> None:
    codes, scales = round_rows(torch.tensor([[-2.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0]]))
    assert codes.dtype == torch.uint8
    assert codes.tolist() == [[1, 128, 192, 255], [128, 128, 128, 128]]
    assert scales[0].item() == pytest.approx(2 / 127)


@pytest.mark.parametrize("kind", ["fp32", "bf16", "int8"])
def test_the_bits_of_a_row_depend_on_no_other(kind: str) -> None:
    x, weight, bias = make_tensors()
    dtype = torch.float32 if kind == "fp32" else torch.bfloat16
    x = x.to(dtype)
    product: Product | Int8Product
    if kind == "int8":
        product = Int8Product(weight, bias)
    else:
        product = Product(weight.to(dtype), bias.to(dtype))
    wanted = product(x)
    for num_rows in (8, 16, 24, 32, 40):
        for first in (0, 8, 24):
            others = torch.randn(num_rows, NUM_INPUTS).to(dtype) * 100
            others[5] = x[first + 5]
            assert torch.equal(product(others)[5], wanted[first + 5]), (num_rows, first)


@pytest.mark.skipif(
    not hasattr(torch.ops.onednn, "qlinear_pointwise"), reason="this torch has no such operator"
)
def test_largest_codes_add_up_on_this_processor_or_stock_operators_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, weight, _ = make_tensors()
    wanted = Int8Product(weight)(x.bfloat16())
    exact = products.multiply_int8
    monkeypatch.setattr(
        products, "multiply_int8", lambda *args: exact(*args).clamp(-(2**15), 2**15)
    )
    products.sums_are_exact.cache_clear()
    try:
        assert not products.sums_are_exact()
        assert torch.equal(Int8Product(weight)(x.bfloat16()), wanted)
    finally:
        products.sums_are_exact.cache_clear()


@pytest.mark.usefixtures("operators")
def test_a_weight_of_zeros_gives_zeros() -> None:
    x, weight, _ = make_tensors()
    assert not Int8Product(torch.zeros_like(weight))(x.bfloat16()).any()
